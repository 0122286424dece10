package span_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/span"
	"axflow/stage"
)

// planning makes a stage that plans, with its plan task in flight.
func (f *fixture) planning(ord int) uuid.UUID {
	f.t.Helper()
	f.exec(`INSERT INTO ax.stage (run_id, ord, state, ready_at) VALUES ($1, $2, 1, now())`, f.run, ord)
	return f.flight(ord, shard.Span(span.PlanIndex, 0), f.worker)
}

func (f *fixture) plan(e uuid.UUID, ord int, layout stage.Layout) span.Receipt {
	f.t.Helper()
	now := time.Now()
	r, err := span.FinishPlan(f.ctx, f.conn(), f.worker, span.PlanReport{Execution: e, Run: f.run, Ord: int16(ord), Started: now, Finished: now, Layout: layout})
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func TestPlanFreezesOnce(t *testing.T) {
	f := newFixture(t)
	e := f.planning(0)
	r := f.plan(e, 0, stage.Layout{Total: 1_000_000, Cut: stage.Cut{Kind: stage.CutCount, Hi: 50_000_000}})
	want(t, "ready rows", len(r.Ready), 1)
	wantSet(t, "ready", f.set("ready", 0), shard.Span(0, 1_000_000))
	want(t, "total", f.count(`SELECT shard_total FROM ax.stage`), 1_000_000)
	want(t, "state", f.state(0), stage.StageRunning)
	// The same worker again, and a second worker that was handed the plan as well: both are too late.
	want(t, "repeat", len(f.plan(e, 0, stage.Layout{Total: 7}).Ready), 0)
	late := f.flight(0, shard.Span(span.PlanIndex, 0), f.worker)
	if r, err := span.FinishPlan(f.ctx, f.conn(), f.newWorker(), span.PlanReport{Execution: late, Run: f.run, Layout: stage.Layout{Total: 7}}); err != nil || len(r.Accepted) != 0 {
		t.Errorf("another worker's plan: %v, %v", r, err)
	}
	f.exec(`DELETE FROM ax.flight`)
	want(t, "total", f.count(`SELECT shard_total FROM ax.stage`), 1_000_000)
	f.check()
}

func TestEmptyPlanDecides(t *testing.T) {
	f := newFixture(t)
	r := f.plan(f.planning(0), 0, stage.Layout{})
	want(t, "decided", len(r.Decided), 1)
	want(t, "state", f.state(0), stage.StageSucceeded)
	now := time.Now()
	if _, err := span.FinishPlan(f.ctx, f.conn(), f.worker, span.PlanReport{Execution: f.planning(1), Run: f.run, Ord: 1, Started: now, Finished: now, SkipEmpty: true}); err != nil {
		t.Fatal(err)
	}
	want(t, "state with SkipEmpty", f.state(1), stage.StageSkipped)
	f.check()
}

func TestPlanStoresInputs(t *testing.T) {
	f := newFixture(t)
	layout := stage.Layout{Total: 600, Cut: stage.Cut{Kind: stage.CutList}}
	for i := range 600 {
		layout.Items = append(layout.Items, stage.Item{Key: fmt.Sprint("k", i), Input: []byte(fmt.Sprint(i))})
	}
	f.plan(f.planning(0), 0, layout)
	want(t, "chunks", f.count(`SELECT count(*) FROM ax.shard_input`), 3)
	want(t, "key of shard 599", f.count(`SELECT count(*) FROM ax.shard_input WHERE chunk = 2 AND keys[599 - 512 + 1] = 'k599' AND inputs[599 - 512 + 1] = '599'`), 1)
	f.check()
}

func TestPlanOfCancelledStage(t *testing.T) {
	f := newFixture(t)
	e := f.planning(0)
	f.exec(`UPDATE ax.stage SET state = 3`)
	r := f.plan(e, 0, stage.Layout{Total: 5})
	want(t, "ready", len(r.Ready), 0)
	want(t, "state", f.state(0), stage.StageCancelled)
	f.check()
}

func TestFailedPlanRetriesAndThenFailsTheStage(t *testing.T) {
	f := newFixture(t)
	e := f.planning(0)
	c := f.conn()
	plan := shard.Span(span.PlanIndex, 0)
	f.finish(c, f.report(e, 0, plan, stage.Failed))
	wantSet(t, "ready", f.set("ready", 0), plan)
	want(t, "kind", f.count(`SELECT kind FROM ax.ready`), int(span.Plan))
	want(t, "state", f.state(0), stage.StagePlanning)
	f.exec(`DELETE FROM ax.ready`)
	rep := f.report(f.flightAt(0, plan, f.worker, 3, 1), 0, plan, stage.TimedOut)
	f.finish(c, rep)
	want(t, "state", f.state(0), stage.StageFailed)
	wantSet(t, "dead", f.set("parked", 0), plan)
	f.check()
}
