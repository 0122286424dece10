package pgtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// DB is one test's own database.
type DB struct {
	// Pool is connected to the database; it is closed at the end of the test.
	Pool *pgxpool.Pool
	// URL is the database's address, over the unix socket where there is one.
	URL string
	// Name is the database's name.
	Name string
	// Server is where it lives. A test may restart only a server of its own (see Own).
	Server *Server
}

// Option changes what New and Own make.
type Option func(*option)

type option struct {
	empty    bool
	settings map[string]string
	pool     func(*pgxpool.Config)
}

func options(opts []Option) option {
	o := option{settings: map[string]string{}}
	for name, value := range settings {
		o.settings[name] = value
	}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// Empty makes a database without any migration.
func Empty() Option { return func(o *option) { o.empty = true } }

// Setting sets a setting of the server; only Own heeds it.
func Setting(name, value string) Option { return func(o *option) { o.settings[name] = value } }

// Pool changes the pool's configuration before it connects.
func Pool(change func(*pgxpool.Config)) Option { return func(o *option) { o.pool = change } }

// New makes a database for this test on the shared server, migrated unless Empty is given, and drops it at the
// end of the test, whoever is still connected. The pool has at most 16 connections unless Pool says otherwise.
func New(t testing.TB, opts ...Option) *DB {
	t.Helper()
	return Shared(t).create(t, options(opts))
}

// New makes another database on the server of d, for tests that need two.
func (s *Server) New(t testing.TB, opts ...Option) *DB {
	t.Helper()
	return s.create(t, options(opts))
}

func (s *Server) create(t testing.TB, o option) *DB {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	from := "template0"
	if !o.empty {
		var err error
		if from, err = s.template(ctx); err != nil {
			t.Fatalf("pgtest: making the template: %v", err)
		}
	}
	d := &DB{Name: "axt_" + word(), Server: s}
	d.URL = s.url(d.Name)
	// The default strategy logs every page of the template (some 35 ms); copying its files is a little faster but
	// needs two checkpoints, which the tests beside this one would feel.
	s.mu.Lock()
	err := s.exec(ctx, "CREATE DATABASE "+d.Name+" TEMPLATE "+from)
	s.mu.Unlock()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() { s.drop(t, d.Name) })
	cfg, err := pgxpool.ParseConfig(d.URL)
	if err != nil {
		t.Fatalf("pgtest: reading the URL: %v", err)
	}
	cfg.MaxConns = 16
	if o.pool != nil {
		o.pool(cfg)
	}
	if d.Pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		t.Fatalf("pgtest: connecting: %v", err)
	}
	t.Cleanup(d.Pool.Close)
	return d
}

// drop removes a database; one on a server that the test has left dead goes with the server.
func (s *Server) drop(t testing.TB, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
		t.Logf("pgtest: dropping the test's database: %v", err)
	}
}
