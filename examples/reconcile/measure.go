package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Volume is the output of the stage "measure": how much there is to compare, and in which range of order ids.
type Volume struct {
	Orders   int64 `json:"orders"`
	Payments int64 `json:"payments"`
	Lo       int64 `json:"lo"`
	Hi       int64 `json:"hi"` // exclusive
}

// measureTables is the handler of the stage "measure".
func measureTables(ctx context.Context, _ Params) (func(context.Context, pgx.Tx) (Volume, error), error) {
	run, err := runOf(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx pgx.Tx) (v Volume, err error) {
		if err := mustOwn(ctx, tx, run); err != nil {
			return v, err
		}
		if _, err := tx.Exec(ctx, `ANALYZE recon_order, recon_payment`); err != nil {
			return v, fmt.Errorf("gathering statistics: %w", err)
		}
		// A range that only one of the tables reaches must be compared too.
		err = tx.QueryRow(ctx, `
			SELECT o.n, p.n, coalesce(least(o.lo, p.lo), 0), coalesce(greatest(o.hi, p.hi), 0)
			FROM (SELECT count(*) AS n, min(id) AS lo, max(id) + 1 AS hi FROM recon_order) o,
			     (SELECT count(*) AS n, min(order_id) AS lo, max(order_id) + 1 AS hi FROM recon_payment) p`).
			Scan(&v.Orders, &v.Payments, &v.Lo, &v.Hi)
		if err != nil {
			return v, fmt.Errorf("counting rows: %w", err)
		}
		return v, nil
	}, nil
}
