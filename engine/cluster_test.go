package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"time"

	"github.com/google/uuid"

	"axflow/engine"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/stage"
)

// exec runs a statement, as an operator's verb would.
func (c *cluster) exec(sql string, args ...any) {
	c.t.Helper()
	if _, err := c.pool.Exec(c.ctx, sql, args...); err != nil {
		c.t.Fatal(err)
	}
	c.bus.ToEngine(hint.Engine{Policies: true})
}

// number reads one number.
func (c *cluster) number(sql string, args ...any) int {
	c.t.Helper()
	var n int
	if err := c.pool.QueryRow(c.ctx, sql, args...).Scan(&n); err != nil {
		c.t.Fatal(err)
	}
	return n
}

// eventually waits until a number is what it should be.
func (c *cluster) until(what string, want int, sql string, args ...any) {
	c.t.Helper()
	pgtest.Eventually(c.t, 60*time.Second, func() (bool, string) {
		n := c.number(sql, args...)
		return n == want, what + ": " + strconv.Itoa(n) + ", want " + strconv.Itoa(want)
	})
}

// failOver puts a new engine in the place of the one that leads; what only the old one's memory held is gone.
func (c *cluster) failOver() {
	c.t.Helper()
	c.stopEngine()
	e, err := engine.New(c.config)
	if err != nil {
		c.t.Fatal(err)
	}
	c.runEngine(e)
}

func (c *cluster) startIn(f flow.Definition, n int, change func(int, *control.Start)) []uuid.UUID {
	c.t.Helper()
	v, err := c.client.Register(c.ctx, f)
	if err != nil {
		c.t.Fatal(err)
	}
	ids := make([]uuid.UUID, 0, n)
	for len(ids) < n {
		starts := make([]control.Start, min(n-len(ids), 4000))
		for i := range starts {
			starts[i].Version = v
			if change != nil {
				change(len(ids)+i, &starts[i])
			}
		}
		started, err := c.client.Start(c.ctx, control.Batch{Trigger: "test"}, starts)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, s := range started {
			ids = append(ids, s.Run)
		}
	}
	return ids
}

// puppet is a worker that does nothing by itself: the test says which of its tasks end, and when.
type puppet struct {
	c        *cluster
	id       uuid.UUID
	circuits atomic.Pointer[string] // what its heartbeats say of circuits
}

// puppet registers a worker that beats until the test ends.
func (c *cluster) puppet(slots int, flows ...flow.Definition) *puppet {
	c.t.Helper()
	p := &puppet{c: c, id: uuid.Must(uuid.NewV7())}
	handlers := `{`
	for _, f := range flows {
		for ord := range f.Graph().Stages {
			if len(handlers) > 1 {
				handlers += ","
			}
			handlers += `"` + f.Graph().HandlerKey(ord) + `":` + strconv.Itoa(slots)
		}
	}
	handlers += `}`
	q := db.New(c.pool)
	if err := q.RegisterWorker(c.ctx, db.RegisterWorkerParams{ID: p.id, Namespace: "default", Host: "puppet", Labels: []string{}, Handlers: []byte(handlers)}); err != nil {
		c.t.Fatal(err)
	}
	c.bus.ToEngine(hint.Engine{Workers: true})
	ctx, stop := context.WithCancel(c.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				beat := db.BeatParams{ID: p.id, Handlers: []byte(handlers), Running: []byte("[]")}
				if said := p.circuits.Load(); said != nil {
					beat.Circuits = []byte(*said)
				}
				_, _ = q.Beat(ctx, beat)
			}
		}
	}()
	c.t.Cleanup(func() { stop(); <-done })
	return p
}

// says makes its heartbeats tell of one circuit.
func (p *puppet) says(circuit string, ok, fail, streak int, tripped bool) {
	text := fmt.Sprintf(`{%q: {"ok": %d, "fail": %d, "streak": %d, "tripped": %v, "error": "connection refused"}}`, circuit, ok, fail, streak, tripped)
	p.circuits.Store(&text)
}

// flights are what it holds, oldest first.
func (p *puppet) flights() []db.FlightsRow {
	p.c.t.Helper()
	all, err := db.New(p.c.pool).Flights(p.c.ctx)
	if err != nil {
		p.c.t.Fatal(err)
	}
	mine := slices.DeleteFunc(all, func(f db.FlightsRow) bool { return f.WorkerID != p.id || f.Todo == "{}" })
	slices.SortFunc(mine, func(a, b db.FlightsRow) int { return a.DispatchedAt.Compare(b.DispatchedAt) })
	return mine
}

// await waits until it holds n flights.
func (p *puppet) await(n int) []db.FlightsRow {
	p.c.t.Helper()
	var got []db.FlightsRow
	pgtest.Eventually(p.c.t, 60*time.Second, func() (bool, string) {
		got = p.flights()
		return len(got) == n, "flights: " + strconv.Itoa(len(got)) + ", want " + strconv.Itoa(n)
	})
	return got
}

// end ends the first n indices of a flight (all: -1), and tells the leader. They are long ones, so that nothing is handed out
// ahead.
func (p *puppet) end(f db.FlightsRow, n int, r span.Result) {
	p.c.t.Helper()
	todo, err := shard.ParseSet(f.Todo)
	if err != nil {
		p.c.t.Fatal(err)
	}
	now := time.Now()
	report := span.Report{Execution: f.ID, Run: f.RunID, Ord: f.Ord, MaxAttempts: 3}
	for i := range todo.All() {
		if n >= 0 && len(report.Results) == n {
			break
		}
		r.Index, r.Started, r.Finished = int32(i), now, now
		report.Results = append(report.Results, r)
	}
	left := todo.Len() - len(report.Results)
	report.Last = left == 0
	conn, err := p.c.pool.Acquire(p.c.ctx)
	if err != nil {
		p.c.t.Fatal(err)
	}
	defer conn.Release()
	receipt, err := span.Finish(p.c.ctx, conn, p.id, []span.Report{report})
	if err != nil {
		p.c.t.Fatal(err)
	}
	news := hint.Engine{Ready: receipt.Ready, Left: []hint.Left{{Flight: f.ID, Left: left, Done: len(report.Results), Busy: time.Duration(len(report.Results)) * time.Minute}}}
	for _, d := range receipt.Decided {
		news.Stages = append(news.Stages, d.StageKey)
	}
	p.c.bus.ToEngine(news)
}

var ok = span.Result{Outcome: stage.Succeeded}

// plan ends a plan task with so many shards.
func (p *puppet) plan(f db.FlightsRow, shards int) {
	p.c.t.Helper()
	conn, err := p.c.pool.Acquire(p.c.ctx)
	if err != nil {
		p.c.t.Fatal(err)
	}
	defer conn.Release()
	now := time.Now()
	receipt, err := span.FinishPlan(p.c.ctx, conn, p.id, span.PlanReport{Execution: f.ID, Run: f.RunID, Ord: f.Ord, Started: now, Finished: now,
		Layout: stage.Layout{Total: shards, Cut: stage.Cut{Kind: stage.CutCount}}})
	if err != nil {
		p.c.t.Fatal(err)
	}
	p.c.bus.ToEngine(hint.Engine{Ready: receipt.Ready, Left: []hint.Left{{Flight: f.ID}}, Stages: []span.StageKey{{Run: f.RunID, Ord: f.Ord}}})
}

// canary is a flow that nothing holds back.
var canary = flow.New("canary", stage.New("sings", nop))

// settle returns when the leader has taken in all that was sent before, has read its policies and all tables again, and has
// handed out what it wants to.
func (c *cluster) settle() {
	c.t.Helper()
	if !c.sings {
		c.sings = true
		c.worker(nil, canary)
	}
	for range 2 {
		c.bus.ToEngine(hint.Engine{Look: true, Policies: true, Workers: true})
		p0 := stage.P0
		c.end(stage.RunSucceeded, c.startIn(canary, 1, func(_ int, s *control.Start) { s.Queue, s.Level = "canary", &p0 })...)
	}
}

// tellRows tells the leader of changed ready rows.
func (c *cluster) tellRows(rows ...string) {
	var ids []uuid.UUID
	for _, r := range rows {
		ids = append(ids, uuid.MustParse(r))
	}
	c.bus.ToEngine(hint.Engine{IDs: ids})
}
