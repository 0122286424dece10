package resolve

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"axflow/sql/db"
	"axflow/stage"
)

// CodeGraph marks runs whose flow version this engine cannot read.
const CodeGraph = "graph_unreadable"

// runFrom are the states that a run ends from.
var runFrom = func() []int16 {
	var states []int16
	for _, s := range stage.RunFrom(stage.RunSucceeded) {
		states = append(states, int16(s))
	}
	return states
}()

func sortIDs(ids []uuid.UUID) {
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
}

func distinct(ids []uuid.UUID) []uuid.UUID {
	ids = slices.Clone(ids)
	sortIDs(ids)
	return slices.Compact(ids)
}

func pgError(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) || pgconn.SafeToRetry(err)
}

func rollback(ctx context.Context, conn db.DBTX) {
	_, _ = conn.Exec(context.WithoutCancel(ctx), "rollback")
}
