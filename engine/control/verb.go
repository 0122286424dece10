package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/sql/db"
	"axflow/sql/span"
)

// Who says who acts and why: the run's journal and the audit keep it. Every verb takes one.
type Who struct {
	Actor  string
	Reason string
	// DryRun makes a verb a question: it does all it would do, under the same locks, and takes it back, so that its touches
	// are exactly those that the verb would have at this moment, and its error the one that it would have. Nothing is
	// written, and nobody is told.
	DryRun bool
}

// verb runs one operator act under the run's lock.
func (c *Client) verb(ctx context.Context, id uuid.UUID, act func(pgx.Tx, *db.Queries, db.LockRunRow) error) error {
	return pgx.BeginTxFunc(ctx, c.cfg.Pool, pgx.TxOptions{BeginQuery: "begin; " + span.BoundIdle}, func(tx pgx.Tx) error {
		q := db.New(tx)
		run, err := q.LockRun(ctx, id)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && run.Namespace != c.cfg.Namespace {
			return notFound(id)
		}
		if err != nil {
			return fmt.Errorf("locking run %s: %w", id, err)
		}
		return act(tx, q, run)
	})
}

func journal(ctx context.Context, q *db.Queries, id uuid.UUID, kind string, who Who, detail map[string]any) error {
	if who.Reason != "" {
		detail["reason"] = who.Reason
	}
	return span.Write(ctx, q, kind, who.Actor, []span.Entry{{Run: id, Ord: -1, Detail: detail}})
}

func numbers[S ~int16](states []S) []int16 {
	out := make([]int16, len(states))
	for i, s := range states {
		out[i] = int16(s)
	}
	return out
}
