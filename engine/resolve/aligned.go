package resolve

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/pipe"
	"axflow/sql/span"
	"axflow/stage"
)

// Align moves what the upstream of an aligned stage has finished from the stage's parked rows to ready, and
// gives up on the shards whose upstream shard will not succeed any more. It is computed from what both stages
// still hold, after their run is locked, so it is safe to repeat and needs no memory of what it did before. It
// returns false when somebody else holds the run: try again soon.
func (r *Resolver) Align(ctx context.Context, conn Conn, key span.StageKey) (span.Receipt, bool, error) {
	var heads []db.LockRunsRow
	var stages []db.StagesOfRow
	p := pipe.New()
	p.Text("begin")
	_ = r.Fence.Hold(ctx, p.Queries)
	_, _ = p.LockRuns(ctx, []uuid.UUID{key.Run})
	pipe.Rows(p, &heads)
	_, _ = p.StagesOf(ctx, []uuid.UUID{key.Run})
	pipe.Rows(p, &stages)
	if err := p.Send(ctx, conn); err != nil {
		rollback(ctx, conn)
		return span.Receipt{}, false, fmt.Errorf("reading run %s to align: %w", key.Run, axsql.Fenced(err))
	}
	receipt, err := r.align(ctx, conn, key, heads, stages)
	if err != nil || len(receipt.Ready)+len(receipt.Decided) == 0 {
		rollback(ctx, conn)
	}
	if len(heads) > 0 || err != nil {
		return receipt, true, err
	}
	held, err := db.New(conn).OpenAmong(ctx, []uuid.UUID{key.Run}) // an ended run needs no further look
	if err != nil {
		return receipt, false, fmt.Errorf("looking whether run %s is open: %w", key.Run, err)
	}
	return receipt, len(held) == 0, nil
}

func (r *Resolver) align(ctx context.Context, conn Conn, key span.StageKey, heads []db.LockRunsRow, stages []db.StagesOfRow) (span.Receipt, error) {
	if len(heads) == 0 {
		return span.Receipt{}, nil
	}
	q := db.New(conn)
	v, err := r.Versions.Get(ctx, q, heads[0].VersionID)
	if err != nil {
		return span.Receipt{}, err
	}
	byOrd := make(map[int]db.StagesOfRow, len(stages))
	for _, s := range stages {
		byOrd[int(s.Ord)] = s
	}
	mine, up := byOrd[int(key.Ord)], byOrd[v.Graph.Stages[key.Ord].AlignedTo]
	if stage.StageState(mine.State) != stage.StageRunning {
		return span.Receipt{}, nil
	}
	waiting, _, _, err := remaining(ctx, q, mine)
	if err != nil || len(waiting) == 0 {
		return span.Receipt{}, err
	}
	_, held, passed, err := remaining(ctx, q, up)
	if err != nil {
		return span.Receipt{}, err
	}
	var succeeded, skipped, lost shard.Set
	all := shard.Span(0, int(max(up.ShardTotal, 0)))
	var open shard.Set
	for _, h := range held {
		open = open.Union(h)
	}
	succeeded = all.Minus(open)
	if stage.StageState(up.State).Decided() {
		skipped, lost = passed, open.Minus(passed) // nothing of a decided stage runs any more
	}
	return span.MoveAligned(ctx, conn, key, waiting, succeeded, skipped, lost)
}

// remaining are the rows of a stage that wait for aligned shards, the sets of all its rows, and what of it was skipped.
func remaining(ctx context.Context, q *db.Queries, s db.StagesOfRow) (waiting map[uuid.UUID]shard.Set, held []shard.Set, skipped shard.Set, err error) {
	rows, err := q.RemainingOf(ctx, db.RemainingOfParams{RunID: s.RunID, Ord: s.Ord, Generation: s.Generation})
	if err != nil {
		return nil, nil, skipped, fmt.Errorf("reading what stage %d still holds: %w", s.Ord, err)
	}
	waiting = make(map[uuid.UUID]shard.Set)
	held = make([]shard.Set, 0, len(rows))
	for _, row := range rows {
		set, err := shard.ParseSet(row.Todo)
		if err != nil {
			return nil, nil, skipped, fmt.Errorf("reading the set of row %s: %w", row.ID, err)
		}
		held = append(held, set)
		if row.Place != 3 {
			continue
		}
		switch span.ParkReason(row.Reason) {
		case span.Aligned:
			waiting[row.ID] = set
		case span.Skipped:
			skipped = skipped.Union(set)
		}
	}
	return waiting, held, skipped, nil
}
