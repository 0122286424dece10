package control

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
)

// admin runs one verb that concerns no single run: what it changes and its audit are one transaction. do returns what it
// touches, and detail for the audit; touching nothing leaves no trace. Then the engine is told.
func (c *Client) admin(ctx context.Context, verb, target string, who Who, do func(context.Context, *db.Queries) ([]Touch, map[string]any, error)) ([]Touch, error) {
	if err := who.check(); err != nil {
		return nil, err
	}
	var touched []Touch
	err := pgx.BeginTxFunc(ctx, c.cfg.Pool, pgx.TxOptions{BeginQuery: "begin; " + span.BoundIdle}, func(tx pgx.Tx) error {
		q := db.New(tx)
		var detail map[string]any
		var err error
		if touched, detail, err = do(ctx, q); err != nil {
			return err
		}
		if who.DryRun || len(touched) == 0 {
			return errDry
		}
		return audit(ctx, q, c.cfg.Namespace, verb, target, who, detail)
	})
	switch {
	case errors.Is(err, errDry):
		return touched, nil
	case err != nil:
		return nil, err
	}
	c.cfg.Bus.ToEngine(hint.Engine{Policies: true})
	return touched, nil
}

// says is the touch of something that is no run.
func says(what string) []Touch { return []Touch{{Ord: -1, What: what}} }
