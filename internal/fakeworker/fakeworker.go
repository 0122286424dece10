// Package fakeworker is the smallest worker that obeys the protocol, for tests of the engine: it runs no handlers but
// asks a function how each index ends.
package fakeworker

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/stage"
)

// Worker finishes what it is handed, in batches, as fast as it comes.
type Worker struct {
	ID       uuid.UUID
	Pool     *pgxpool.Pool
	Bus      *hint.Bus
	Handlers map[string]int
	Labels   []string
	// End says how an index ends. Default: it succeeds.
	End func(span.Assignment, int) span.Result
	// Plan answers plan tasks. Required for flows with sharded stages.
	Plan func(span.Assignment) stage.Layout
	// Beat is the time between heartbeats. Default 200 ms.
	Beat time.Duration
	// Circuits, if not nil, is asked with every heartbeat what to say of circuits, as worker.circuits holds it.
	Circuits func() []byte
	// Answered, if not nil, gets every heartbeat's answer.
	Answered func(db.BeatRow)
	// Report and PlanReport, if not nil, may change what is reported, such as what a stage tolerates.
	Report     func(span.Assignment, *span.Report)
	PlanReport func(span.Assignment, *span.PlanReport)
	// Seen, if not nil, is told of every assignment before it is worked on.
	Seen func(span.Assignment)

	held map[uuid.UUID]bool
}

// Run registers and works until ctx ends; it leaves as a crashed process does, without a word.
func (w *Worker) Run(ctx context.Context) error {
	if w.Beat == 0 {
		w.Beat = 200 * time.Millisecond
	}
	w.held = make(map[uuid.UUID]bool)
	handlers, err := json.Marshal(w.Handlers)
	if err != nil {
		return fmt.Errorf("encoding the handlers: %w", err)
	}
	q := db.New(w.Pool)
	if err := q.RegisterWorker(ctx, db.RegisterWorkerParams{ID: w.ID, Namespace: "default", Host: "test", Labels: append([]string{}, w.Labels...), Handlers: handlers}); err != nil {
		return fmt.Errorf("registering: %w", err)
	}
	box := w.Bus.SubscribeWorker(w.ID)
	defer box.Close()
	w.Bus.ToEngine(hint.Engine{Workers: true})
	tick := time.NewTicker(w.Beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-box.C():
			var all []span.Assignment
			for _, n := range box.Take() {
				all = append(all, n.Flights...)
			}
			if err := w.work(ctx, all); err != nil && ctx.Err() == nil {
				return err
			}
		case <-tick.C:
			if err := w.beat(ctx, q, handlers); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// beat also adopts flights that no hint told of.
func (w *Worker) beat(ctx context.Context, q *db.Queries, handlers []byte) error {
	p := db.BeatParams{ID: w.ID, Handlers: handlers, Running: []byte("[]")}
	if w.Circuits != nil {
		p.Circuits = w.Circuits()
	}
	row, err := q.Beat(ctx, p)
	if err != nil {
		return fmt.Errorf("beating: %w", err)
	}
	if w.Answered != nil {
		w.Answered(row)
	}
	rows, err := q.AssignedFlights(ctx, db.AssignedFlightsParams{WorkerID: w.ID, Ids: row.Flights})
	if err != nil {
		return fmt.Errorf("reading flights: %w", err)
	}
	var all []span.Assignment
	for _, r := range rows {
		set, err := shard.ParseSet(r.Todo)
		if err != nil {
			return fmt.Errorf("reading flight %s: %w", r.ID, err)
		}
		all = append(all, span.Assignment{Set: set, Par: int(r.Par), DispatchedAt: r.DispatchedAt, Header: span.Header{ID: r.ID, Run: r.RunID,
			VersionID: r.VersionID, Ord: r.Ord, Generation: r.Generation, Kind: span.Kind(r.Kind), Attempt: r.Attempt, Delivery: r.Delivery}})
	}
	return w.work(ctx, all)
}

// work finishes assignments, all shards in one transaction.
func (w *Worker) work(ctx context.Context, all []span.Assignment) error {
	var reports []span.Report
	var news hint.Engine
	now := time.Now()
	conn, err := w.Pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("finishing: %w", err)
	}
	defer conn.Release()
	for _, a := range all {
		if w.held[a.ID] {
			continue
		}
		w.held[a.ID] = true
		if w.Seen != nil {
			w.Seen(a)
		}
		news.Left = append(news.Left, hint.Left{Flight: a.ID, Done: a.Set.Len(), Busy: time.Duration(a.Set.Len()) * 10 * time.Microsecond})
		if a.Kind == span.Plan {
			plan := span.PlanReport{Execution: a.ID, Run: a.Run, Ord: a.Ord, Started: now, Finished: now, Layout: w.Plan(a)}
			if w.PlanReport != nil {
				w.PlanReport(a, &plan)
			}
			receipt, err := span.FinishPlan(ctx, conn, w.ID, plan)
			if err != nil {
				return err
			}
			w.tell(&news, receipt)
			news.Stages = append(news.Stages, span.StageKey{Run: a.Run, Ord: a.Ord})
			continue
		}
		report := span.Report{Execution: a.ID, Run: a.Run, Ord: a.Ord, MaxAttempts: 3, Last: true}
		for i := range a.Set.All() {
			r := span.Result{Outcome: stage.Succeeded}
			if w.End != nil {
				r = w.End(a, i)
			}
			r.Index, r.Started, r.Finished = int32(i), now, now
			report.Results = append(report.Results, r)
		}
		if w.Report != nil {
			w.Report(a, &report)
		}
		reports = append(reports, report)
	}
	if len(reports) > 0 {
		receipt, err := span.Finish(ctx, conn, w.ID, reports)
		if err != nil {
			return err
		}
		w.tell(&news, receipt)
	}
	w.Bus.ToEngine(news)
	return nil
}

func (w *Worker) tell(news *hint.Engine, receipt span.Receipt) {
	for _, id := range receipt.Asked {
		w.Bus.ToWorker(id, hint.Worker{Asks: true})
	}
	news.Ready = append(news.Ready, receipt.Ready...)
	for _, d := range receipt.Decided {
		news.Stages = append(news.Stages, d.StageKey)
	}
}
