package measure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// URLVariable is the environment variable that names an existing server (a URL of a role that may create
// databases). Without it, Open starts an embedded one.
const URLVariable = "AX_BENCH_DATABASE_URL"

// Server is the PostgreSQL of a bench. It is safe for concurrent use.
type Server struct {
	url  string
	stop func() error
	made atomic.Int64
}

// Open gives the bench its PostgreSQL: the one that AX_BENCH_DATABASE_URL names, after a check of its settings,
// or a new embedded one with Settings, whose data is removed by Close. log takes warnings; nil means
// slog.Default.
func Open(ctx context.Context, log *slog.Logger) (*Server, error) {
	if log == nil {
		log = slog.Default()
	}
	s := &Server{url: os.Getenv(URLVariable), stop: func() error { return nil }}
	if s.url == "" {
		var err error
		if s.url, s.stop, err = embedded(ctx, log); err != nil {
			return nil, fmt.Errorf("starting PostgreSQL for the bench: %w", err)
		}
	}
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to the bench's PostgreSQL: %w", err), s.stop())
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := check(ctx, conn, log); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// URL is the server's URL: what another bench program takes as AX_BENCH_DATABASE_URL.
func (s *Server) URL() string { return s.url }

// Close stops the server if Open started it.
func (s *Server) Close() error {
	if err := s.stop(); err != nil {
		return fmt.Errorf("stopping the bench's PostgreSQL: %w", err)
	}
	return nil
}

// Fresh makes an empty database and gives its URL and the function that drops it, connections or not. It asks
// for a checkpoint first, so that every contestant begins with the same clean buffers and no checkpoint falls
// due while it runs.
func (s *Server) Fresh(ctx context.Context) (dbURL string, drop func() error, err error) {
	name := fmt.Sprintf("ax_bench_%d_%d", os.Getpid(), s.made.Add(1))
	if dbURL, err = withDatabase(s.url, name); err != nil {
		return "", nil, err
	}
	if err := s.exec(ctx, "CHECKPOINT", "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)", "CREATE DATABASE "+name); err != nil {
		return "", nil, fmt.Errorf("making database %s: %w", name, err)
	}
	drop = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if err := s.exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			return fmt.Errorf("dropping database %s: %w", name, err)
		}
		return nil
	}
	return dbURL, drop, nil
}

func (s *Server) exec(ctx context.Context, statements ...string) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, q := range statements {
		if _, err := conn.Exec(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// withDatabase is the same server's URL for another database.
func withDatabase(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "", fmt.Errorf("the server's URL does not begin with postgres://: set %s as a URL, not as key=value words", URLVariable)
	}
	u.Path = "/" + name
	return u.String(), nil
}
