package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/engine/dispatch/board"
	"axflow/sql/db"
	"axflow/sql/versions"
)

// ViewOptions says how much ReadBoard reads. The zero value is the default of each.
type ViewOptions struct {
	// Board has the engine's settings. NewID is set.
	Board board.Config
	// PerLane is how many spans of one stage, queue and level are read at most, the first ones. Default 500.
	PerLane int
	// Only, if not empty, restricts the spans to these queues; workers, flights and policies are always all of them.
	Only []Queue
}

// Queue names a queue.
type Queue struct{ Namespace, Name string }

// View is the dispatcher's books as the tables have them.
type View struct {
	*board.Board
	// Off are the kill switches that are off.
	Off Switches
	// HeldRuns are paused; none of their spans is on the Board.
	HeldRuns map[uuid.UUID]bool
	// Cut is how many lanes have more spans than were read.
	Cut int
}

// ReadBoard makes a Board from the tables, by the functions with which the leader makes its own: what it says of a span is
// what holds in the leader, but for news of the last moment and for what the leader alone remembers (turns, and
// whether a worker that was overloaded has recovered). q should be a transaction's that sees one moment; the Board must not be
// used to hand anything out.
func ReadBoard(ctx context.Context, q *db.Queries, cache *versions.Cache, now time.Time, opts ViewOptions) (*View, error) {
	if opts.PerLane == 0 {
		opts.PerLane = 500
	}
	opts.Board.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	b, err := board.New(opts.Board)
	if err != nil {
		return nil, fmt.Errorf("setting the board up: %w", err)
	}
	v := &View{Board: b, HeldRuns: make(map[uuid.UUID]bool)}
	if err := v.policies(ctx, q, &opts); err != nil {
		return nil, err
	}
	if err := v.workers(ctx, q); err != nil {
		return nil, err
	}
	if err := v.flights(ctx, q, cache); err != nil {
		return nil, err
	}
	if err := v.spans(ctx, q, cache, now, &opts); err != nil {
		return nil, err
	}
	return v, nil
}

func (v *View) policies(ctx context.Context, q *db.Queries, opts *ViewOptions) error {
	var rows policyRows
	if err := rows.read(ctx, q); err != nil {
		return err
	}
	p := rows.policies()
	_ = p.apply(v.Board, &rules{}) // the leader goes by the engine's settings too where a queue's are wrong
	if p.still {
		v.SetDecay(0)
	}
	v.Off = p.off
	for id := range p.runs {
		v.HeldRuns[id] = true
	}
	learned, err := q.Learned(ctx)
	if err != nil {
		return fmt.Errorf("reading learned costs: %w", err)
	}
	for _, row := range learned {
		v.Learn(row.Handler, time.Duration(row.MeanNs), int(row.Samples))
	}
	return nil
}

func (v *View) workers(ctx context.Context, q *db.Queries) error {
	rows, err := q.Workers(ctx)
	if err != nil {
		return fmt.Errorf("reading the workers: %w", err)
	}
	list := make([]Worker, 0, len(rows))
	for i := range rows {
		w, err := readWorker(&rows[i])
		if err != nil {
			continue // the leader passes over it too
		}
		list = append(list, w)
	}
	o := newOverload(Overload{})
	o.mark(list, func(*Worker) float64 { return 0 })
	for i := range list {
		v.SetWorker(list[i].Worker)
	}
	return nil
}

func (v *View) flights(ctx context.Context, q *db.Queries, cache *versions.Cache) error {
	rows, err := q.Flights(ctx)
	if err != nil {
		return fmt.Errorf("reading the flights: %w", err)
	}
	for i := range rows {
		set, err := flightSet(&rows[i])
		if err != nil {
			return err
		}
		version, err := cache.Get(ctx, q, rows[i].VersionID)
		if cache.Unreadable(err) {
			continue
		}
		if err != nil {
			return err
		}
		v.AddFlight(boardFlight(version, &rows[i], set.Len()))
	}
	rates, err := q.Rates(ctx)
	if err != nil {
		return fmt.Errorf("reading start rates: %w", err)
	}
	for i := range rates {
		v.SetRate(rateState(&rates[i]))
	}
	return nil
}

func (v *View) spans(ctx context.Context, q *db.Queries, cache *versions.Cache, now time.Time, opts *ViewOptions) error {
	lanes, err := q.ReadyLanes(ctx)
	if err != nil {
		return fmt.Errorf("looking for what is ready: %w", err)
	}
	held := make([]uuid.UUID, 0, len(v.HeldRuns))
	for id := range v.HeldRuns {
		held = append(held, id)
	}
	for _, lane := range lanes {
		if !opts.wants(lane.Namespace, lane.Queue) {
			continue
		}
		version, err := cache.Get(ctx, q, lane.VersionID)
		if cache.Unreadable(err) {
			continue
		}
		if err != nil {
			return err
		}
		rows, err := q.LaneSpans(ctx, db.LaneSpansParams{Namespace: lane.Namespace, Queue: lane.Queue, Level: lane.Level,
			VersionID: lane.VersionID, Ord: lane.Ord, HeldRuns: held, PerLane: int32(opts.PerLane)})
		if err != nil {
			return fmt.Errorf("reading the spans of stage %d at P%d in queue %s: %w", lane.Ord, lane.Level, lane.Queue, err)
		}
		if len(rows) >= opts.PerLane {
			v.Cut++
		}
		for i := range rows {
			r, err := readySpan((*db.ReadySpansRow)(&rows[i]))
			if err != nil {
				return err
			}
			v.AddSpan(now, BoardSpan(version, &r))
		}
	}
	return nil
}

func (o *ViewOptions) wants(namespace, queue string) bool {
	if len(o.Only) == 0 {
		return true
	}
	for _, q := range o.Only {
		if q.Namespace == namespace && q.Name == queue {
			return true
		}
	}
	return false
}
