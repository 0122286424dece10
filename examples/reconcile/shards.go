package main

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"

	"axflow/shard"
	"axflow/stage"
)

// Diff is the output of one shard of the stage "reconcile". The differences themselves are in the table
// recon_difference: there may be more of them than an output should hold.
type Diff struct {
	Entries int64        `json:"entries"` // orders and payments compared
	Found   map[Kind]int `json:"found"`
	First   []Difference `json:"first"` // at most three
}

// planReconcile asks how many rows there are and makes a shard of each 50,000, but at most 64 shards. It runs once a
// run, after the data is there; its answer is stored and stays.
func planReconcile(ctx context.Context, _ Params) (shard.Plan, error) {
	v, err := measure.Output(ctx) // typed: a Volume
	if err != nil {
		return shard.Plan{}, err
	}
	return shard.Count(max(v.Orders, v.Payments)).Base(50_000).Between(1, 64), nil
}

// reconcileShard is the handler of one shard of the stage "reconcile": it compares the shard's part of the order
// ids. What it finds is stored in the transaction that also finishes the shard.
func reconcileShard(ctx context.Context, _ Params, s shard.Shard) (func(context.Context, pgx.Tx) (Diff, error), error) {
	run, err := runOf(ctx)
	if err != nil {
		return nil, err
	}
	v, err := measure.Output(ctx)
	if err != nil {
		return nil, err
	}
	lo, hi := s.Range(v.Lo, v.Hi)
	return func(ctx context.Context, tx pgx.Tx) (Diff, error) {
		diff := Diff{Found: map[Kind]int{}}
		if err := mustOwn(ctx, tx, run); err != nil {
			return diff, err
		}
		found, err := compare(entries(ctx, tx, lo, hi, &diff.Entries))
		if err != nil {
			return diff, err
		}
		for _, d := range found {
			diff.Found[d.Kind]++
		}
		if len(found) > 0 {
			stage.Log(ctx).Info("orders and payments differ", "found", diff.Found, "first", found[0])
		}
		diff.First = found[:min(3, len(found))]
		return diff, store(ctx, tx, lo, hi, found)
	}, nil
}

// entries streams the orders and payments of the order ids [lo, hi), sorted by them, and counts them. Both sides
// come from indexes in that order already, so PostgreSQL only merges them.
func entries(ctx context.Context, tx pgx.Tx, lo, hi int64, n *int64) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		rows, err := tx.Query(ctx, `
			SELECT id, false, cents FROM recon_order WHERE id >= $1 AND id < $2
			UNION ALL
			SELECT order_id, true, cents FROM recon_payment WHERE order_id >= $1 AND order_id < $2
			ORDER BY 1`, lo, hi)
		if err != nil {
			yield(entry{}, fmt.Errorf("reading ids %d to %d: %w", lo, hi-1, err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			var e entry
			err := rows.Scan(&e.order, &e.payment, &e.cents)
			if err != nil {
				err = fmt.Errorf("reading ids %d to %d: %w", lo, hi-1, err)
			}
			stage.Progress(ctx, e.order-lo, hi-lo)
			if *n++; !yield(e, err) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(entry{}, fmt.Errorf("reading ids %d to %d: %w", lo, hi-1, err))
		}
	}
}

// store writes the differences of the order ids [lo, hi).
func store(ctx context.Context, tx pgx.Tx, lo, hi int64, found []Difference) error {
	// Nothing is there, unless somebody reruns a shard that has succeeded.
	if _, err := tx.Exec(ctx, `DELETE FROM recon_difference WHERE order_id >= $1 AND order_id < $2`, lo, hi); err != nil {
		return fmt.Errorf("emptying ids %d to %d: %w", lo, hi-1, err)
	}
	columns := []string{"order_id", "kind", "ordered", "paid"}
	_, err := copyIn(ctx, tx, "recon_difference", columns, slices.Values(found), func(d Difference, row []any) {
		row[0], row[1], row[2], row[3] = d.Order, string(d.Kind), d.Ordered, d.Paid
	})
	return err
}
