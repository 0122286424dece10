package span

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/sql/db"
	"axflow/sql/pipe"
)

// Await parks one index of a worker's flight until the run that its attempt has started ends: the flight holds it no
// more, its stage stays open. The caller has an open transaction, in which it starts that run or has locked the run's row
// FOR SHARE and seen it open, and ends it. waits is false if the index is not this worker's any more or its stage does
// not run on: the caller then rolls back.
func Await(ctx context.Context, conn Conn, worker uuid.UUID, at Handback) (waits bool, err error) {
	key := StageKey{at.Run, at.Ord}
	var rows []db.TakeFromFlightsRow
	var locked []db.LockStagesRow
	p := pipe.New()
	_, _ = p.TakeFromFlights(ctx, db.TakeFromFlightsParams{WorkerID: &worker, Executions: []uuid.UUID{at.Execution}, Wanted: []string{at.Set.String()}})
	pipe.Rows(p, &rows)
	lockStages(ctx, p, []StageKey{key}, &locked)
	if err := p.Send(ctx, conn); err != nil {
		return false, fmt.Errorf("taking what waits for a run: %w", err)
	}
	places := newPlacing(locked)
	for _, row := range rows {
		t, err := fromTake(row)
		if err != nil {
			return false, err
		}
		if t.set.Empty() {
			continue
		}
		if _, reason := places.put(t.Header, t.set, Awaiting, 0, t.set.Len()); reason == Child {
			waits = true
		}
	}
	if !waits {
		return false, nil
	}
	p = pipe.New()
	places.queue(ctx, p, []uuid.UUID{at.Run}, nil)
	if err := p.Send(ctx, conn); err != nil {
		return false, fmt.Errorf("parking what waits for a run: %w", err)
	}
	return true, nil
}
