package sql

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// MigrateTo brings an empty database to an older version, as a binary of then would have, without partitions.
func MigrateTo(ctx context.Context, url string, version int64) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	pool := stdlib.OpenDB(*cfg)
	defer func() { _ = pool.Close() }()
	if _, err := pool.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS ax"); err != nil {
		return err
	}
	provider, err := newProvider(pool)
	if err != nil {
		return err
	}
	if _, err := provider.UpTo(ctx, version); err != nil {
		return fmt.Errorf("migrating to version %d: %w", version, err)
	}
	return nil
}
