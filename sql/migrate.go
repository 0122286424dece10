package sql

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	versionTable = "ax.schema_version"
	// migrateLock is the advisory lock that makes concurrent migrations take turns ("ax" in ASCII, then 1).
	migrateLock = 0x6178_0001
	// minServer is PostgreSQL 15: multirange aggregates over multiranges came with it.
	minServer = 150000
)

// ErrSchemaOlder says that the database's schema is older than this binary needs.
var ErrSchemaOlder = errors.New("the database's schema is older than this binary: run `ax migrate`")

// ErrSchemaNewer says that the database's schema is newer than this binary knows.
var ErrSchemaNewer = errors.New("the database's schema is newer than this binary: upgrade the binary")

// Migrate brings the database at url to this binary's schema and makes the partitions of the coming days.
// Any number of processes may call it at once: they take turns under an advisory lock, the first migrates
// and the others find nothing left to do. A database that is newer than the binary is left alone and
// reported as ErrSchemaNewer.
func Migrate(ctx context.Context, url string) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("reading the database URL: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("connecting to migrate: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := checkServer(conn.PgConn()); err != nil {
		return err
	}
	// The session's end releases the lock, however this function ends.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(migrateLock)); err != nil {
		return fmt.Errorf("waiting for the migration lock: %w", err)
	}
	if _, err := conn.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS ax"); err != nil {
		return fmt.Errorf("creating schema ax: %w", err)
	}
	if err := Check(ctx, conn); err != nil && !errors.Is(err, ErrSchemaOlder) {
		return err
	}
	pool := stdlib.OpenDB(*cfg)
	defer func() { _ = pool.Close() }()
	provider, err := newProvider(pool)
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	return EnsurePartitions(ctx, conn, time.Now(), DefaultAhead)
}

// newProvider is what runs the embedded migrations.
func newProvider(pool *sql.DB) (*goose.Provider, error) {
	store, err := database.NewStore(database.DialectPostgres, versionTable)
	if err != nil {
		return nil, fmt.Errorf("opening the version table: %w", err)
	}
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("opening the migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectCustom, pool, dir, goose.WithStore(store))
	if err != nil {
		return nil, fmt.Errorf("reading the migrations: %w", err)
	}
	return provider, nil
}

// Check compares the database's schema with this binary's. It returns nil when they are equal,
// ErrSchemaOlder or ErrSchemaNewer (wrapped, with both versions) when they are not.
func Check(ctx context.Context, q Querier) error {
	want, err := latest()
	if err != nil {
		return err
	}
	var have int64
	err = q.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM "+versionTable+" WHERE is_applied").Scan(&have)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "42P01" || pg.Code == "3F000") { // no such table, no such schema
		have, err = 0, nil
	}
	switch {
	case err != nil:
		return fmt.Errorf("reading the schema's version: %w", err)
	case have < want:
		return fmt.Errorf("%w (database %d, binary %d)", ErrSchemaOlder, have, want)
	case have > want:
		return fmt.Errorf("%w (database %d, binary %d)", ErrSchemaNewer, have, want)
	}
	return nil
}

// Querier is what a pool, a connection and a transaction have in common here.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// latest is the newest embedded migration's number.
func latest() (int64, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("listing the embedded migrations: %d found: %w", len(files), err)
	}
	return goose.NumericComponent(files[len(files)-1])
}

func checkServer(c *pgconn.PgConn) error {
	text := c.ParameterStatus("server_version")
	var major int
	if _, err := fmt.Sscanf(text, "%d", &major); err != nil {
		return fmt.Errorf("reading the server's version %q: %w", text, err)
	}
	if major*10000 < minServer {
		return fmt.Errorf("PostgreSQL %s is too old: AX needs 15 or newer", text)
	}
	return nil
}
