package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/bench/measure"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/pg"
	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/hint"
	"axflow/stage"
)

// made goes up when histories are made otherwise, so that old ones are not used.
const made = 1

// namespaces have 80, 15 and 5 percent of the runs.
var namespaces = []string{"default", "finance", "lab"}

// server is where the bench's databases are.
type server struct {
	url   string
	close func()
}

// openServer starts the lasting server in a folder, or takes the one that the environment names.
func openServer(ctx context.Context, dir string) (*server, error) {
	if u := os.Getenv(measure.URLVariable); u != "" {
		return &server{u, func() {}}, nil
	}
	if dir == "" {
		data, err := pg.DefaultDir()
		if err != nil {
			return nil, fmt.Errorf("looking for a folder: %w", err)
		}
		dir = filepath.Join(filepath.Dir(data), "bench")
	}
	settings := map[string]string{"shared_buffers": "1GB", "maintenance_work_mem": "512MB", "max_wal_size": "8GB"}
	for _, s := range measure.Settings() {
		settings[s.Name] = s.Value
	}
	p, err := pg.Start(ctx, pg.Config{Dir: dir, Settings: settings})
	if err != nil {
		return nil, fmt.Errorf("starting PostgreSQL in %s: %w", dir, err)
	}
	return &server{p.SocketURL("postgres"), func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_ = p.Stop(ctx) // or the kernel does
	}}, nil
}

// database is the URL of a database of the server.
func (s *server) database(name string) (string, error) {
	u, err := url.Parse(s.url)
	if err != nil {
		return "", fmt.Errorf("reading the server's URL: %w", err)
	}
	u.Path = "/" + name
	return u.String(), nil
}

func (s *server) exec(ctx context.Context, statements ...string) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return fmt.Errorf("connecting to the bench's PostgreSQL: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, q := range statements {
		if _, err := conn.Exec(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

// history is a database full of runs.
type history struct {
	url    string
	pool   *pgxpool.Pool
	newest time.Time
	token  string
}

// open connects to a database and makes a token.
func open(ctx context.Context, dbURL string) (*history, error) {
	pc, err := pgxpool.ParseConfig(dbURL)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err)
	}
	axsql.ConfigurePool(pc)
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("opening the pool: %w", err)
	}
	h := &history{url: dbURL, pool: pool}
	if h.token, err = h.newToken(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return h, nil
}

func (h *history) newToken(ctx context.Context) (string, error) {
	me := access.Principal{Actor: "local:bench", Namespace: namespaces[0], Role: gen.RoleAdmin, Via: gen.MeViaLocal}
	_, secret, err := access.CreateToken(ctx, h.pool, me, access.NewToken{Name: "bench " + uuid.NewString(), Role: gen.RoleViewer, Life: 6 * time.Hour})
	if err != nil {
		return "", fmt.Errorf("making a token: %w", err)
	}
	return secret, nil
}

// database is the name of the database of the history of a size.
func (z size) database() string { return fmt.Sprintf("ax_api_%d_%d_%d", z.runs, z.results, made) }

// history opens the history of a size, made before or now.
func (s *server) history(ctx context.Context, out io.Writer, z size, fresh bool) (*history, error) {
	name := z.database()
	dbURL, err := s.database(name)
	if err != nil {
		return nil, err
	}
	kept, err := s.usable(ctx, dbURL, name)
	if err != nil {
		return nil, err
	}
	if fresh || !kept {
		say(out, "making %d runs with some %d results in database %s; the next invocation uses them again\n", z.runs, z.results, name)
		began := time.Now()
		if err := s.make(ctx, out, z, name); err != nil {
			return nil, err
		}
		say(out, "made in %s\n", time.Since(began).Round(time.Second))
	} else {
		say(out, "database %s was made before; -fresh makes it anew\n", name)
	}
	h, err := open(ctx, dbURL)
	if err != nil {
		return nil, err
	}
	var runs, results, bytes float64
	if err := h.pool.QueryRow(ctx, `SELECT max(created_at), count(*)::float8, pg_database_size(current_database())::float8 FROM ax.run`).Scan(&h.newest, &runs, &bytes); err != nil {
		return nil, fmt.Errorf("looking at the history: %w", err)
	}
	if err := h.pool.QueryRow(ctx, `SELECT sum(c.reltuples)::float8 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'ax.result'::regclass AND c.reltuples > 0`).Scan(&results); err != nil {
		return nil, fmt.Errorf("looking at the history: %w", err)
	}
	say(out, "history: %.0f runs, %.0f results, %.1f GB\n", runs, results, bytes/(1<<30))
	return h, nil
}

// usable tells whether a database is there and its schema is this binary's.
func (s *server) usable(ctx context.Context, dbURL, name string) (bool, error) {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return false, fmt.Errorf("connecting to the bench's PostgreSQL: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name).Scan(&there); err != nil || !there {
		return false, err
	}
	data, err := pgx.Connect(ctx, dbURL)
	if err != nil {
		return false, fmt.Errorf("connecting to %s: %w", name, err)
	}
	defer func() { _ = data.Close(context.WithoutCancel(ctx)) }()
	if err := axsql.Check(ctx, data); errors.Is(err, axsql.ErrSchemaOlder) || errors.Is(err, axsql.ErrSchemaNewer) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("looking at the schema of %s: %w", name, err)
	}
	return true, nil
}

// make makes the history under another name, and gives it its own when it is whole.
func (s *server) make(ctx context.Context, out io.Writer, z size, name string) error {
	making := name + "_making"
	if err := s.exec(ctx, "DROP DATABASE IF EXISTS "+making+" WITH (FORCE)", "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)", "CREATE DATABASE "+making); err != nil {
		return err
	}
	dbURL, err := s.database(making)
	if err != nil {
		return err
	}
	if err := axsql.Migrate(ctx, dbURL); err != nil {
		return fmt.Errorf("making the schema: %w", err)
	}
	if err := fill(ctx, out, dbURL, z); err != nil {
		return err
	}
	return s.exec(ctx, "ALTER DATABASE "+making+" RENAME TO "+name)
}

//go:embed fill.sql
var fillSQL string

// fill writes the runs, a day in a transaction.
func fill(ctx context.Context, out io.Writer, dbURL string, z size) error {
	pool, err := pgxpool.New(ctx, dbURL)
	if err != nil {
		return fmt.Errorf("opening the pool: %w", err)
	}
	defer pool.Close()
	if err := register(ctx, pool); err != nil {
		return err
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer conn.Release()
	today := axsql.Day(time.Now())
	shards := max(1, z.results/z.runs-3) // beside them a run has a plan and two single stages
	for day := range z.days {
		at := today.AddDate(0, 0, day-z.days)
		if err := axsql.EnsurePartitions(ctx, conn, at, 0); err != nil {
			return fmt.Errorf("making partitions: %w", err)
		}
		first, last := z.runs*day/z.days, z.runs*(day+1)/z.days
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			// The parameters go in as settings, because a script takes none.
			if _, err := tx.Exec(ctx, `SELECT set_config('synchronous_commit', 'off', true), set_config('bench.first', $1, true), set_config('bench.last', $2, true),
				set_config('bench.day', $3, true), set_config('bench.shards', $4, true), set_config('bench.large', $5, true), set_config('bench.open', $6, true)`,
				fmt.Sprint(first), fmt.Sprint(last), at.Format(time.RFC3339), fmt.Sprint(shards), fmt.Sprint(z.large), fmt.Sprint(day >= z.days-2)); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, fillSQL)
			return err
		})
		if err != nil {
			return fmt.Errorf("writing the runs of %s: %w", at.Format(time.DateOnly), err)
		}
		say(out, "  %s: %d runs\n", at.Format(time.DateOnly), last-first)
	}
	if _, err := conn.Exec(ctx, "VACUUM (ANALYZE, FREEZE)"); err != nil {
		return fmt.Errorf("vacuuming: %w", err)
	}
	if _, err := conn.Exec(ctx, "CHECKPOINT"); err != nil {
		return fmt.Errorf("asking for a checkpoint: %w", err)
	}
	return nil
}

// params are those of the history's runs.
type params struct {
	Date     string `json:"date"`
	Region   string `json:"region"`
	Customer string `json:"customer"`
	Rows     int    `json:"rows"`
}

// register registers the history's twelve flows in every namespace.
func register(ctx context.Context, pool *pgxpool.Pool) error {
	bus, err := hint.New(hint.Config{})
	if err != nil {
		return fmt.Errorf("setting the hints up: %w", err)
	}
	c, err := control.NewClient(ctx, control.Config{Pool: pool, Bus: bus})
	if err != nil {
		return err
	}
	nothing := struct{}{}
	for i := range 12 {
		extract := stage.New("extract", func(context.Context, params) (struct{}, error) { return nothing, nil })
		load := shard.New("load", func(_ context.Context, p params) (shard.Plan, error) { return shard.N(p.Rows), nil },
			func(context.Context, params, shard.Shard) (struct{}, error) { return nothing, nil }).After(extract)
		report := stage.New("report", func(context.Context, params) (struct{}, error) { return nothing, nil }).After(load)
		f := flow.New(flowName(i), extract, load, report).With(flow.Searchable("region", "customer"))
		for _, ns := range namespaces {
			if _, err := c.In(ns).Register(ctx, f); err != nil {
				return fmt.Errorf("registering %s: %w", f.Name(), err)
			}
		}
	}
	return nil
}

func flowName(i int) string { return fmt.Sprintf("flow-%02d", i) }
