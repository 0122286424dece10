package span_test

import (
	"testing"
	"time"

	"axflow/shard"
	"axflow/sql/span"
	"axflow/stage"
)

func TestFinishAppendsAndDecides(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 10)
	e := f.flight(0, shard.Span(0, 10), f.worker)
	c := f.conn()

	part := f.report(e, 0, shard.Span(0, 4), stage.Succeeded)
	part.Last = false
	r := f.finish(c, part)
	wantSet(t, "accepted", r.Accepted[0].Set, shard.Span(0, 4))
	want(t, "decided", len(r.Decided), 0)
	wantSet(t, "in flight", f.set("flight", 0), shard.Span(4, 10))
	want(t, "state", f.state(0), stage.StageRunning)
	f.check()

	r = f.finish(c, f.report(e, 0, shard.Span(4, 10), stage.Succeeded))
	want(t, "decided", len(r.Decided), 1)
	want(t, "state", f.state(0), stage.StageSucceeded)
	want(t, "flights", f.count(`SELECT count(*) FROM ax.flight`), 0)
	want(t, "results", f.results(0), 10)
	want(t, "stored count", f.count(`SELECT succeeded FROM ax.stage`), 10)
	f.check()
}

// A commit whose answer was lost is repeated, with more results: what was accepted is not accepted again.
func TestFinishRepeatedWithMore(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 10)
	e := f.flight(0, shard.Span(0, 10), f.worker)
	c := f.conn()
	first := f.report(e, 0, shard.Of(0, 2, 4), stage.Succeeded)
	first.Last = false
	f.finish(c, first)
	r := f.finish(c, f.report(e, 0, shard.Span(0, 10), stage.Succeeded))
	wantSet(t, "accepted", r.Accepted[0].Set, shard.Span(0, 10).Minus(shard.Of(0, 2, 4)))
	want(t, "results", f.results(0), 10)
	want(t, "state", f.state(0), stage.StageSucceeded)
	r = f.finish(c, f.report(e, 0, shard.Span(0, 10), stage.Succeeded))
	want(t, "accepted after the end", len(r.Accepted), 0)
	want(t, "results", f.results(0), 10)
	f.check()
}

func TestFinishRepeatsFailuresOnce(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 10)
	e := f.flight(0, shard.Span(0, 10), f.worker)
	c := f.conn()
	rep := f.report(e, 0, shard.Span(0, 5), stage.Failed)
	for range 3 {
		f.finish(c, rep)
	}
	want(t, "retries", f.count(`SELECT sum(n) FROM ax.ready`), 5)
	want(t, "results", f.results(0), 5)
	f.check()
}

// Of the two ends of one index that race, the first counts and the other is refused, in either order.
func TestOneEndAnIndex(t *testing.T) {
	for _, first := range []stage.Outcome{stage.Succeeded, stage.TimedOut} {
		f := newFixture(t)
		f.stage(0, 1)
		e := f.flight(0, shard.Span(0, 1), f.worker)
		second := stage.TimedOut
		if first == stage.TimedOut {
			second = stage.Succeeded
		}
		c := f.conn()
		f.finish(c, f.report(e, 0, shard.Span(0, 1), first))
		r := f.finish(c, f.report(e, 0, shard.Span(0, 1), second))
		want(t, "accepted late", len(r.Accepted), 0)
		want(t, "results", f.results(0), 1)
		want(t, "ready", f.count(`SELECT count(*) FROM ax.ready`), map[bool]int{true: 0, false: 1}[first == stage.Succeeded])
		f.check()
	}
}

func TestAnotherWorkersReportIsRefused(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 3)
	e := f.flight(0, shard.Span(0, 3), f.newWorker())
	r := f.finish(f.conn(), f.report(e, 0, shard.Span(0, 3), stage.Succeeded))
	want(t, "accepted", len(r.Accepted), 0)
	want(t, "results", f.results(0), 0)
	wantSet(t, "in flight", f.set("flight", 0), shard.Span(0, 3))
	f.check()
}

func TestRetryThenDeadLetter(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 4)
	e := f.flight(0, shard.Span(0, 4), f.worker)
	c := f.conn()
	rep := f.report(e, 0, shard.Span(0, 4), stage.Succeeded)
	rep.Results[1].Outcome, rep.Results[3].Outcome = stage.Failed, stage.Failed
	rep.Results[3].Again = false // permanent
	r := f.finish(c, rep)
	want(t, "ready rows", len(r.Ready), 1)
	wantSet(t, "ready", f.set("ready", 0), shard.Of(1))
	wantSet(t, "parked", f.set("parked", 0), shard.Of(3))
	want(t, "attempt", f.count(`SELECT attempt FROM ax.ready`), 2)
	// 2 s, on a grid of 100 ms: due between 2.0 and 2.2 s from now.
	want(t, "due", f.count(`SELECT (not_before - ready_at BETWEEN '2 s' AND '2.2 s')::int FROM ax.ready`), 1)
	want(t, "state", f.state(0), stage.StageRunning)
	f.check()

	f.exec(`DELETE FROM ax.ready`)
	e = f.flightAt(0, shard.Of(1), f.worker, 3, 1)
	f.finish(c, f.report(e, 0, shard.Of(1), stage.Failed)) // the third of three attempts
	want(t, "state", f.state(0), stage.StageFailed)
	wantSet(t, "parked", f.set("parked", 0), shard.Of(1, 3))
	want(t, "failed", f.count(`SELECT failed FROM ax.stage`), 2)
	want(t, "succeeded", f.count(`SELECT succeeded FROM ax.stage`), 2)
	f.check()
}

// A failed batch makes few rows: delays that differ by their jitter share a grid.
func TestFailedBatchMakesFewRows(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 1000)
	e := f.flight(0, shard.Span(0, 1000), f.worker)
	rep := f.report(e, 0, shard.Span(0, 1000), stage.Failed)
	for i := range rep.Results {
		rep.Results[i].Delay = 2*time.Second + time.Duration(i)*2*time.Millisecond // 0..2 s of jitter
	}
	f.finish(f.conn(), rep)
	if n := f.count(`SELECT count(*) FROM ax.ready`); n > 25 {
		t.Errorf("%d ready rows for one failed batch, want at most 25", n)
	}
	want(t, "ready", f.count(`SELECT sum(n) FROM ax.ready`), 1000)
	f.check()
}

func TestInterruptedKeepsItsAttempt(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 2)
	e := f.flight(0, shard.Span(0, 2), f.worker)
	f.finish(f.conn(), f.report(e, 0, shard.Span(0, 2), stage.Interrupted))
	want(t, "attempt", f.count(`SELECT attempt FROM ax.ready`), 1)
	want(t, "delivery", f.count(`SELECT delivery FROM ax.ready`), 2)
	want(t, "due now", f.count(`SELECT (not_before <= now())::int FROM ax.ready`), 1)
	f.check()
}

func TestGiveBackLeavesNoTrace(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 10)
	e := f.flight(0, shard.Span(0, 10), f.worker)
	c := f.conn()
	r, err := span.Return(f.ctx, c, f.worker, span.GivenBack, []span.Handback{{Execution: e, Run: f.run, Ord: 0, Set: shard.Span(4, 10)}})
	if err != nil {
		t.Fatal(err)
	}
	wantSet(t, "taken", r.Accepted[0].Set, shard.Span(4, 10))
	wantSet(t, "ready", f.set("ready", 0), shard.Span(4, 10))
	want(t, "attempt and delivery", f.count(`SELECT attempt + delivery FROM ax.ready`), 2)
	f.check()
	// Given back and finished at once: the finish finds only what is still there.
	r2 := f.finish(c, f.report(e, 0, shard.Span(0, 10), stage.Succeeded))
	wantSet(t, "accepted", r2.Accepted[0].Set, shard.Span(0, 4))
	f.check()
}

func TestCancellingStageParksWhatComesBack(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 6)
	e := f.flight(0, shard.Span(0, 6), f.worker)
	f.exec(`UPDATE ax.stage SET state = 3`)
	rep := f.report(e, 0, shard.Span(0, 6), stage.Succeeded)
	rep.Results[0].Outcome = stage.Interrupted
	rep.Results[1].Outcome = stage.Failed
	f.finish(f.conn(), rep)
	want(t, "state", f.state(0), stage.StageCancelled)
	wantSet(t, "parked", f.set("parked", 0), shard.Of(0, 1))
	want(t, "cancelled", f.count(`SELECT cancelled FROM ax.stage`), 2)
	f.check()
}

func TestLaterGenerationDropsOldWork(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 2)
	e := f.flight(0, shard.Span(0, 2), f.worker)
	f.exec(`UPDATE ax.stage SET generation = 2, state = 0, shard_total = NULL`)
	f.finish(f.conn(), f.report(e, 0, shard.Span(0, 2), stage.Failed))
	want(t, "ready", f.count(`SELECT count(*) FROM ax.ready`), 0)
	want(t, "state", f.state(0), stage.StageWaiting)
}
