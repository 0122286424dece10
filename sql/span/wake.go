package span

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/pipe"
)

// Wake makes ready again the indices that wait for those of the given runs that have ended or are gone. It is safe to
// repeat.
func Wake(ctx context.Context, conn Conn, fence axsql.Fence, children []uuid.UUID) (Receipt, error) {
	if len(children) == 0 {
		return Receipt{}, nil
	}
	receipt, err := wake(ctx, conn, fence, children)
	if err != nil {
		rollback(ctx, conn)
		return Receipt{}, fmt.Errorf("waking what waits for %d runs: %w", len(children), axsql.Fenced(err))
	}
	return receipt, nil
}

func wake(ctx context.Context, conn Conn, fence axsql.Fence, children []uuid.UUID) (Receipt, error) {
	var ended []db.ChildrenOfRow
	p := pipe.New()
	p.Text("begin")
	_ = fence.Hold(ctx, p.Queries)
	_, _ = p.ChildrenOf(ctx, children)
	pipe.Rows(p, &ended)
	if err := p.Send(ctx, conn); err != nil {
		return Receipt{}, err
	}
	keys := make([]StageKey, 0, len(ended))
	for _, c := range ended {
		keys = append(keys, StageKey{c.ParentRun, c.Ord})
	}
	_, _, parents := columns(keys)
	if len(keys) == 0 {
		rollback(ctx, conn)
		return Receipt{}, nil
	}
	var locked []db.LockStagesRow
	var waiting []db.WaitingRowsRow
	p = pipe.New()
	lockStages(ctx, p, keys, &locked)
	_, _ = p.WaitingRows(ctx, parents)
	pipe.Rows(p, &waiting)
	if err := p.Send(ctx, conn); err != nil {
		return Receipt{}, err
	}
	take, err := rowsOf(ended, waiting)
	if err != nil {
		return Receipt{}, err
	}
	if len(take.Ids) == 0 {
		rollback(ctx, conn)
		return Receipt{}, nil
	}
	var rows []db.UnparkRow
	p = pipe.New()
	_, _ = p.Unpark(ctx, take)
	pipe.Rows(p, &rows)
	if err := p.Send(ctx, conn); err != nil {
		return Receipt{}, err
	}
	places := newPlacing(locked)
	for _, row := range rows {
		t, err := fromUnpark(row)
		if err != nil {
			return Receipt{}, err
		}
		places.put(t.Header, t.set, Released, 0, t.set.Len())
	}
	var receipt Receipt
	err = places.commit(ctx, conn, keys, &receipt)
	return receipt, err
}

// rowsOf finds the parked rows of tasks whose runs have ended.
func rowsOf(ended []db.ChildrenOfRow, waiting []db.WaitingRowsRow) (db.UnparkParams, error) {
	type task struct {
		StageKey
		generation, attempt int16
	}
	free := make(map[task]*indices, len(ended))
	for _, c := range ended {
		t := task{StageKey{c.ParentRun, c.Ord}, c.Generation, c.Attempt}
		if free[t] == nil {
			free[t] = new(indices)
		}
		free[t].add(c.Shard)
	}
	take := db.UnparkParams{Reason: int16(Child)}
	for _, w := range waiting {
		x := free[task{StageKey{w.RunID, w.Ord}, w.Generation, w.Attempt}]
		if x == nil {
			continue
		}
		set, err := shard.ParseSet(w.Todo)
		if err != nil {
			return take, fmt.Errorf("reading parked row %s: %w", w.ID, err)
		}
		if s := set.Intersect(x.set()); !s.Empty() {
			take.Ids, take.Wanted = append(take.Ids, w.ID), append(take.Wanted, s.String())
		}
	}
	return take, nil
}
