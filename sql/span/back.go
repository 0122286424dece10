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

// Handback is indices of a flight that go back without a result.
type Handback struct {
	Execution uuid.UUID
	Run       uuid.UUID
	Ord       int16
	Set       shard.Set
}

// Return takes indices out of a worker's flights and puts them where Destination says: the one way back for
// what has not started (GivenBack). What the worker does not hold any more is ignored.
func Return(ctx context.Context, conn Conn, worker uuid.UUID, why Reason, backs []Handback) (Receipt, error) {
	return giveBack(ctx, conn, nil, &worker, why, backs)
}

// SeizeFrom takes single indices from workers that live but have held them past every time-out, and hands them out
// again under the next delivery.
func SeizeFrom(ctx context.Context, conn Conn, fence axsql.Fence, backs []Handback) (Receipt, error) {
	return giveBack(ctx, conn, &fence, nil, Seized, backs)
}

func giveBack(ctx context.Context, conn Conn, fence *axsql.Fence, worker *uuid.UUID, why Reason, backs []Handback) (Receipt, error) {
	params := db.TakeFromFlightsParams{WorkerID: worker}
	keys := make([]StageKey, 0, len(backs))
	for _, b := range backs {
		params.Executions = append(params.Executions, b.Execution)
		params.Wanted = append(params.Wanted, b.Set.String())
		keys = append(keys, StageKey{b.Run, b.Ord})
	}
	var rows []db.TakeFromFlightsRow
	var locked []db.LockStagesRow
	p := pipe.New()
	if fence != nil {
		p.Text("begin")
		_ = fence.Hold(ctx, p.Queries)
	} else {
		begin(p)
	}
	_, _ = p.TakeFromFlights(ctx, params)
	pipe.Rows(p, &rows)
	lockStages(ctx, p, keys, &locked)
	if err := p.Send(ctx, conn); err != nil {
		rollback(ctx, conn)
		return Receipt{}, fmt.Errorf("returning %d flights: %w", len(backs), axsql.Fenced(err))
	}
	var receipt Receipt
	places := newPlacing(locked)
	for _, row := range rows {
		t, err := fromTake(row)
		if err != nil {
			rollback(ctx, conn)
			return Receipt{}, err
		}
		receipt.Accepted = append(receipt.Accepted, Accepted{t.ID, t.set})
		if !t.set.Empty() {
			places.put(t.Header, t.set, why, 0, t.set.Len())
		}
	}
	if err := places.commit(ctx, conn, keys, &receipt); err != nil {
		return Receipt{}, fmt.Errorf("placing %d returned flights: %w", len(backs), err)
	}
	return receipt, nil
}

// SeizedFlight is a flight that Seize took from a worker that is gone.
type SeizedFlight struct {
	Header
	Worker uuid.UUID
	Set    shard.Set
}

// Seize takes up to most flights whose worker is not registered any more and hands their work out again under
// the next delivery. The fence makes it the current leader's alone.
func Seize(ctx context.Context, conn Conn, fence axsql.Fence, most int) ([]SeizedFlight, Receipt, error) {
	var rows []db.SeizeOrphansRow
	p := pipe.New()
	p.Text("begin")
	_ = fence.Hold(ctx, p.Queries)
	_, _ = p.SeizeOrphans(ctx, int32(most))
	pipe.Rows(p, &rows)
	if err := p.Send(ctx, conn); err != nil {
		rollback(ctx, conn)
		return nil, Receipt{}, fmt.Errorf("seizing orphaned flights: %w", axsql.Fenced(err))
	}
	if len(rows) == 0 {
		rollback(ctx, conn)
		return nil, Receipt{}, nil
	}
	seized := make([]SeizedFlight, 0, len(rows))
	keys := make([]StageKey, 0, len(rows))
	for _, row := range rows {
		t, err := fromSeize(row)
		if err != nil {
			rollback(ctx, conn)
			return nil, Receipt{}, err
		}
		seized = append(seized, SeizedFlight{t.Header, row.WorkerID, t.set})
		keys = append(keys, StageKey{t.Run, t.Ord})
	}
	var locked []db.LockStagesRow
	p = pipe.New()
	lockStages(ctx, p, keys, &locked)
	if err := p.Send(ctx, conn); err != nil {
		rollback(ctx, conn)
		return nil, Receipt{}, fmt.Errorf("locking the stages of %d orphaned flights: %w", len(rows), err)
	}
	places := newPlacing(locked)
	for _, s := range seized {
		if !s.Set.Empty() {
			places.put(s.Header, s.Set, Seized, 0, s.Set.Len())
		}
	}
	var receipt Receipt
	entries := seizures(seized)
	actor := fmt.Sprintf("leader/%d", fence.Epoch)
	note := func(to *pipe.Pipe) error { return Write(ctx, to.Queries, "seized", actor, entries) }
	if err := places.commit(ctx, conn, keys, &receipt, note); err != nil {
		return nil, Receipt{}, fmt.Errorf("placing %d orphaned flights: %w", len(rows), axsql.Fenced(err))
	}
	return seized, receipt, nil
}

// seizures are the journal's words for whose work was taken: the one thing about a seizure that no row says
// afterwards.
func seizures(seized []SeizedFlight) []Entry {
	entries := make([]Entry, 0, len(seized))
	for _, s := range seized {
		entries = append(entries, Entry{Run: s.Run, Ord: s.Ord, Generation: s.Generation, Detail: map[string]any{
			"execution": s.ID, "worker": s.Worker, "indices": s.Set.String(), "attempt": s.Attempt, "delivery": s.Delivery}})
	}
	return entries
}
