package span

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"axflow/sql/db"
	"axflow/sql/pipe"
	"axflow/stage"
)

// active are the states that a stage is decided from.
var active = []int16{int16(stage.StagePlanning), int16(stage.StageRunning), int16(stage.StageCancelling)}

// live are the states in which a stage may have ready rows.
var live = []int16{int16(stage.StagePlanning), int16(stage.StageRunning)}

// lockStages queues the locking of stages; dst may be nil.
func lockStages(ctx context.Context, p *pipe.Pipe, keys []StageKey, dst *[]db.LockStagesRow) {
	runs, ords, distinct := columns(keys)
	_, _ = p.LockStages(ctx, db.LockStagesParams{StageRuns: runs, Ords: ords, RunIds: distinct})
	if dst != nil {
		pipe.Rows(p, dst)
	}
}

// retireStages queues the deciding of (locked) stages.
func retireStages(ctx context.Context, p *pipe.Pipe, keys []StageKey, dst *[]db.RetireStagesRow) {
	runs, ords, distinct := columns(keys)
	_, _ = p.RetireStages(ctx, db.RetireStagesParams{StageRuns: runs, Ords: ords, RunIds: distinct, Active: active})
	pipe.Rows(p, dst)
}

// columns sorts the keys, drops twins, and splits them into arrays; the last is the distinct runs, which every
// statement on a partitioned table names so that only their partitions are locked.
func columns(keys []StageKey) (runs []uuid.UUID, ords []int16, distinct []uuid.UUID) {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b StageKey) int {
		return cmp.Or(compareIDs(a.Run, b.Run), cmp.Compare(a.Ord, b.Ord))
	})
	keys = slices.Compact(keys)
	runs, ords = make([]uuid.UUID, len(keys)), make([]int16, len(keys))
	for i, k := range keys {
		runs[i], ords[i] = k.Run, k.Ord
	}
	return runs, ords, slices.Compact(slices.Clone(runs))
}

func compareIDs(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }
