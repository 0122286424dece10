package span

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/pipe"
	"axflow/stage"
)

// everything is the set, as PostgreSQL writes it, that holds every index.
const everything = "{(,)}"

// Want says which indices of a stage an operator's verb takes, and from where.
type Want struct {
	StageKey
	Generation int16
	Set        shard.Set // empty: every index, the plan task's too
	Ready      bool
	Flights    bool
	Parked     []ParkReason
}

// Took is indices that a verb has taken out of one row and owes a place, or a success.
type Took struct {
	Header
	Set    shard.Set
	Parked ParkReason // why they were parked; 0: they were not
	Worker uuid.UUID  // whose flight they were in; zero: in none
	Left   int        // indices that the flight still holds
}

// Take takes indices of a stage for a verb. The caller has locked the run, its flights and the stage in an open
// transaction, and ends it.
func Take(ctx context.Context, conn Conn, w Want) ([]Took, error) {
	want := everything
	if !w.Set.Empty() {
		want = w.Set.String()
	}
	q := db.New(conn)
	var all []Took
	add := func(t taken, err error, more Took) error {
		if err == nil {
			more.Header, more.Set = t.Header, t.set
			all = append(all, more)
		}
		return err
	}
	if w.Flights {
		rows, err := q.TakeStageFlights(ctx, db.TakeStageFlightsParams{RunID: w.Run, Ord: w.Ord, Generation: w.Generation, Want: want})
		if err != nil {
			return nil, fmt.Errorf("taking indices out of flights: %w", err)
		}
		for _, r := range rows {
			t, err := fromTake(db.TakeFromFlightsRow{ID: r.ID, RunID: r.RunID, ReadyAt: r.ReadyAt, VersionID: r.VersionID, Ord: r.Ord,
				Generation: r.Generation, Kind: r.Kind, Attempt: r.Attempt, Delivery: r.Delivery, Losses: r.Losses, Level: r.Level,
				Namespace: r.Namespace, Queue: r.Queue, Key: r.Key, Taken: r.Taken})
			if err := add(t, err, Took{Worker: r.WorkerID, Left: int(r.Remaining)}); err != nil {
				return nil, err
			}
		}
	}
	if w.Ready {
		rows, err := q.TakeStageReady(ctx, db.TakeStageReadyParams{RunID: w.Run, Ord: w.Ord, Generation: w.Generation, Want: want})
		if err != nil {
			return nil, fmt.Errorf("taking ready indices: %w", err)
		}
		for _, r := range rows {
			t, err := fromTake(db.TakeFromFlightsRow(r))
			if err := add(t, err, Took{}); err != nil {
				return nil, err
			}
		}
	}
	if len(w.Parked) > 0 {
		reasons := make([]int16, len(w.Parked))
		for i, r := range w.Parked {
			reasons[i] = int16(r)
		}
		rows, err := q.TakeStageParked(ctx, db.TakeStageParkedParams{RunID: w.Run, Ord: w.Ord, Generation: w.Generation, Want: want, Reasons: reasons})
		if err != nil {
			return nil, fmt.Errorf("taking parked indices: %w", err)
		}
		for _, r := range rows {
			t, err := fromTake(db.TakeFromFlightsRow{ID: r.ID, RunID: r.RunID, ReadyAt: r.ReadyAt, VersionID: r.VersionID, Ord: r.Ord,
				Generation: r.Generation, Kind: r.Kind, Attempt: r.Attempt, Delivery: r.Delivery, Losses: r.Losses, Level: r.Level,
				Namespace: r.Namespace, Queue: r.Queue, Key: r.Key, Taken: r.Taken})
			if err := add(t, err, Took{Parked: ParkReason(r.Reason)}); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// Put is indices that a verb gives a place, exactly as their header says.
type Put struct {
	Header
	Set shard.Set
	// Park is why they are parked; 0: they are ready.
	Park ParkReason
}

// PutAll gives indices of one stage their places. The caller holds the locks that Take asks for, has put the stage into
// state (planning, running or cancelling), and ends the transaction. It returns the ready rows that it made.
func PutAll(ctx context.Context, conn Conn, key StageKey, generation int16, state stage.StageState, puts []Put) ([]Ready, error) {
	places := newPlacing([]db.LockStagesRow{{RunID: key.Run, Ord: key.Ord, Generation: generation, State: int16(state)}})
	for _, p := range puts {
		if p.Set.Empty() {
			continue
		}
		if p.Park != 0 {
			places.park(p.Header, p.Set, p.Park, "")
			continue
		}
		places.put(p.Header, p.Set, Released, 0, p.Set.Len())
	}
	var made []db.PlaceReadyRow
	to := pipe.New()
	places.queue(ctx, to, []uuid.UUID{key.Run}, &made)
	if err := to.Send(ctx, conn); err != nil {
		return nil, fmt.Errorf("placing indices: %w", err)
	}
	return places.made(made), nil
}

// Mark appends successes of indices that the caller has taken out of the three tables, under the attempt of each, with one
// output. The caller holds the locks that Take asks for.
func Mark(ctx context.Context, conn Conn, key StageKey, generation int16, took []Took, output []byte) error {
	p := db.AppendMarksParams{RunID: key.Run, Ord: key.Ord, Generation: generation, ExecutionID: uuid.Nil, Output: output}
	for _, t := range took {
		if t.Set.Empty() {
			continue
		}
		p.Attempts = append(p.Attempts, t.Attempt)
		p.Todos = append(p.Todos, t.Set.String())
	}
	if len(p.Todos) == 0 {
		return nil
	}
	if err := db.New(conn).AppendMarks(ctx, p); err != nil {
		return fmt.Errorf("appending successes: %w", err)
	}
	return nil
}
