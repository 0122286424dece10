package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"axflow/shard"
)

// Generated is the output of one shard of the stage "generate".
type Generated struct {
	Orders   int64 `json:"orders"`
	Payments int64 `json:"payments"`
}

// planGenerate divides the ids 1 to rows into shards of 50,000.
func planGenerate(_ context.Context, p Params) (shard.Plan, error) {
	return shard.IntRange(1, p.rows()+1).Base(50_000).Between(1, 512), nil
}

// generateShard is the handler of one shard of the stage "generate". The function that it returns runs in the
// transaction that also finishes the shard: its rows are there exactly once, even if a worker is killed at the
// worst moment and the shard runs again elsewhere.
func generateShard(ctx context.Context, p Params, s shard.Shard) (func(context.Context, pgx.Tx) (Generated, error), error) {
	run, err := runOf(ctx)
	if err != nil {
		return nil, err
	}
	l := newLedger(p)
	lo, hi := s.Ints()
	return func(ctx context.Context, tx pgx.Tx) (g Generated, err error) {
		if err := mustOwn(ctx, tx, run); err != nil {
			return g, err
		}
		// Nothing is there, unless somebody reruns a shard that has succeeded.
		for _, emptying := range []string{
			`DELETE FROM recon_order WHERE id >= $1 AND id < $2`,
			`DELETE FROM recon_payment WHERE order_id >= $1 AND order_id < $2`,
		} {
			if _, err := tx.Exec(ctx, emptying, lo, hi); err != nil {
				return g, fmt.Errorf("emptying ids %d to %d: %w", lo, hi-1, err)
			}
		}
		g.Orders, err = copyIn(ctx, tx, "recon_order", []string{"id", "cents"}, l.orders(lo, hi), func(o Order, row []any) {
			row[0], row[1] = o.ID, o.Cents
		})
		if err != nil {
			return g, err
		}
		g.Payments, err = copyIn(ctx, tx, "recon_payment", []string{"id", "order_id", "cents"}, l.payments(lo, hi), func(p Payment, row []any) {
			row[0], row[1], row[2] = p.ID, p.Order, p.Cents
		})
		return g, err
	}, nil
}

// copyIn streams values into a table with COPY, the fastest way in, and returns how many there were.
func copyIn[T any](ctx context.Context, tx pgx.Tx, table string, columns []string, values iter.Seq[T], fill func(T, []any)) (int64, error) {
	next, stop := iter.Pull(values)
	defer stop()
	row := make([]any, len(columns))
	n, err := tx.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		v, ok := next()
		if !ok {
			return nil, nil
		}
		fill(v, row)
		return row, nil
	}))
	if err != nil {
		return 0, fmt.Errorf("copying into %s: %w", table, err)
	}
	return n, nil
}
