package resolve

import (
	"bytes"
	"context"
	"slices"

	"github.com/google/uuid"

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

func rollback(ctx context.Context, conn db.DBTX) {
	_, _ = conn.Exec(context.WithoutCancel(ctx), "rollback")
}
