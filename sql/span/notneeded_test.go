package span_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"axflow/shard"
	"axflow/sql/span"
	"axflow/stage"
)

// A condition that is false skips a single stage and a plan, with a result that says so.
func TestNotNeededSkips(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 1)
	e := f.flight(0, shard.Of(0), f.worker)
	f.finish(f.conn(), f.report(e, 0, shard.Of(0), stage.NotNeeded))
	want(t, "state", f.state(0), stage.StageSkipped)
	f.finish(f.conn(), f.report(f.planning(1), 1, shard.Span(span.PlanIndex, 0), stage.NotNeeded))
	want(t, "state of the planned", f.state(1), stage.StageSkipped)
	want(t, "stages that say so", f.count(`SELECT count(*) FROM ax.stage WHERE reason = 'its condition was false'`), 2)
	want(t, "results", f.count(`SELECT count(*) FROM ax.result WHERE outcome = 13`), 2)
	want(t, "skipped", f.count(`SELECT count(*) FROM ax.parked WHERE reason = 3`), 2)
	f.check()
}

func (f *fixture) planKeyed(ord int, r span.PlanReport) (span.Receipt, error) {
	r.Execution, r.Run, r.Ord = f.planning(ord), f.run, int16(ord)
	r.Started, r.Finished = time.Now(), time.Now()
	return span.FinishPlan(f.ctx, f.conn(), f.worker, r)
}

// Shards with keys of their own are ready by key; without, they take the stage's. The plan freezes what is tolerated.
func TestPlanGroupsByKey(t *testing.T) {
	f := newFixture(t)
	var items []stage.Item
	for i := range 9 {
		items = append(items, stage.Item{Key: []string{"a", "b", ""}[i%3]})
	}
	if _, err := f.planKeyed(0, span.PlanReport{KeyGroup: "g", Tolerate: 2, Layout: stage.Layout{Total: 9, Items: items}}); err != nil {
		t.Fatal(err)
	}
	want(t, "rows", f.count(`SELECT count(*) FROM ax.ready`), 3)
	want(t, "of a", f.count(`SELECT count(*) FROM ax.ready WHERE key = 'g/a' AND n = 3 AND todo = '{[0,1),[3,4),[6,7)}'`), 1)
	want(t, "of the empty key", f.count(`SELECT count(*) FROM ax.ready WHERE key = 'g/' AND todo @> 2`), 1)
	want(t, "tolerated", f.count(`SELECT tolerate FROM ax.stage`), 2)
	f.check()

	f.exec(`INSERT INTO ax.stage (run_id, ord, state, ready_at, key) VALUES ($1, 1, 1, now(), 'f/b/x')`, f.run)
	e := f.flight(1, shard.Span(span.PlanIndex, 0), f.worker)
	f.plan(e, 1, stage.Layout{Total: 4})
	want(t, "with the stage's key", f.count(`SELECT n FROM ax.ready WHERE ord = 1 AND key = 'f/b/x'`), 4)
	f.check()
}

// A key whose indices lie far apart has several rows: a cut would write a long set again and again.
func TestPlanSplitsScatteredKeys(t *testing.T) {
	f := newFixture(t)
	items := make([]stage.Item, 500)
	for i := range items {
		items[i].Key = []string{"a", "b"}[i%2]
	}
	if _, err := f.planKeyed(0, span.PlanReport{KeyGroup: "g", Layout: stage.Layout{Total: 500, Items: items}}); err != nil {
		t.Fatal(err)
	}
	want(t, "rows of a", f.count(`SELECT count(*) FROM ax.ready WHERE key = 'g/a'`), 3) // 250 ranges, 100 a row
	f.check()
}

func TestPlanOfTooManyKeysIsRefused(t *testing.T) {
	f := newFixture(t)
	items := make([]stage.Item, span.MaxPlanKeys+1)
	for i := range items {
		items[i].Key = fmt.Sprint(i)
	}
	_, err := f.planKeyed(0, span.PlanReport{KeyGroup: "g", Layout: stage.Layout{Total: len(items), Items: items}})
	var keys *span.PlanKeysError
	if !errors.As(err, &keys) || keys.Keys != 10_001 || !strings.Contains(err.Error(), "10001 distinct keys, at most 10000") {
		t.Errorf("error %v", err)
	}
	want(t, "state", f.state(0), stage.StagePlanning)
	want(t, "flights", f.count(`SELECT count(*) FROM ax.flight`), 1)
}
