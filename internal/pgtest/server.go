package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/internal/pg"
	"axflow/sql"
)

// EnvDatabase names the environment variable that points at a server to use instead of starting one.
const EnvDatabase = "AX_TEST_DATABASE_URL"

// startTimeout is generous: a loaded machine with two cores builds and runs other packages meanwhile.
const startTimeout = 2 * time.Minute

// Server is a server that tests make databases on.
type Server struct {
	// PG is the embedded server; nil when AX_TEST_DATABASE_URL names one.
	PG *pg.Server

	admin string // URL of database postgres
	once  sync.Once
	err   error
	name  string // of the migrated template

	mu sync.Mutex // CREATE DATABASE copies a template that nobody may use meanwhile: one at a time
}

// shared is the one server of this test binary. The process is its owner, and its end ends it.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// Shared gives the server that all tests of this binary share, and starts it if need be. It ends with the process.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = open(settings) })
	if shared.err != nil {
		t.Fatalf("pgtest: %v", shared.err)
	}
	return shared.server
}

// Own starts a server for this test alone, which may kill and restart it (through PG); it ends with the test.
func Own(t testing.TB, opts ...Option) *DB {
	t.Helper()
	o := options(opts)
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	s, err := start(ctx, o.settings)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		if err := s.PG.Stop(ctx); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return s.create(t, o)
}

// settings suit many short tests: little memory, no background work that a test did not ask for.
var settings = map[string]string{"shared_buffers": "64MB", "max_connections": "300"}

func open(settings map[string]string) (*Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if admin := os.Getenv(EnvDatabase); admin != "" {
		return &Server{admin: admin}, nil
	}
	return start(ctx, settings)
}

func start(ctx context.Context, settings map[string]string) (*Server, error) {
	s, err := pg.Start(ctx, pg.Config{
		Ephemeral: true, Settings: settings, StartTimeout: startTimeout, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	return &Server{PG: s, admin: s.SocketURL("postgres")}, nil
}

// template gives the migrated template's name, made at the first call.
func (s *Server) template(ctx context.Context) (string, error) {
	s.once.Do(func() {
		name := "axt_template_" + word()
		if s.err = s.exec(ctx, "CREATE DATABASE "+name); s.err != nil {
			return
		}
		if s.err = sql.Migrate(ctx, s.url(name)); s.err != nil {
			s.err = errors.Join(s.err, s.exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"))
			return
		}
		s.name = name
	})
	return s.name, s.err
}

// exec runs one statement in database postgres.
func (s *Server) exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return fmt.Errorf("connecting to the test server: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// url is the address of a database on the server.
func (s *Server) url(db string) string {
	if s.PG != nil {
		return s.PG.SocketURL(db)
	}
	u, err := url.Parse(s.admin)
	if err != nil {
		return s.admin // pgx says what is wrong with it
	}
	u.Path = "/" + db
	return u.String()
}

// word is a random name's end, in the letters that PostgreSQL takes without quotes.
func word() string { return strings.ToLower(rand.Text()[:16]) }
