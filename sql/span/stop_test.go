package span_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

func (f *fixture) stageKey(ord int) span.StageKey { return span.StageKey{Run: f.run, Ord: int16(ord)} }

// How a stage of ten shards ends, by what is parked of it, what it tolerates and its verdict: worked out by hand.
func TestRetireByToleranceAndVerdict(t *testing.T) {
	type parked map[span.ParkReason]int
	f := newFixture(t)
	for i, c := range []struct {
		what             string
		parked           parked
		state            stage.StageState // before
		tolerate, failed int
		verdict          bool
		right            stage.StageState
	}{
		{"nothing parked", nil, stage.StageRunning, 0, 0, false, stage.StageSucceeded},
		{"one dead", parked{span.Dead: 1}, stage.StageRunning, 0, 1, false, stage.StageFailed},
		{"one dead of one tolerated", parked{span.Dead: 1}, stage.StageRunning, 1, 1, false, stage.StageSucceeded},
		{"two dead of one tolerated", parked{span.Dead: 2}, stage.StageRunning, 1, 2, false, stage.StageFailed},
		{"poison counts", parked{span.Dead: 1, span.Poison: 1}, stage.StageRunning, 1, 2, false, stage.StageFailed},
		{"expired counts", parked{span.Expired: 2}, stage.StageRunning, 1, 2, false, stage.StageFailed},
		{"discarded counts", parked{span.Discarded: 2}, stage.StageRunning, 1, 2, false, stage.StageFailed},
		{"upstream counts", parked{span.Dead: 1, span.UpstreamFailed: 1}, stage.StageRunning, 1, 2, false, stage.StageFailed},
		{"upstream alone", parked{span.UpstreamFailed: 2}, stage.StageRunning, 1, 2, false, stage.StageUpstreamFailed},
		{"upstream tolerated", parked{span.UpstreamFailed: 2}, stage.StageRunning, 2, 2, false, stage.StageSucceeded},
		{"all skipped", parked{span.Skipped: 10}, stage.StageRunning, 0, 0, false, stage.StageSkipped},
		{"some skipped", parked{span.Skipped: 9}, stage.StageRunning, 0, 0, false, stage.StageSucceeded},
		{"skipped and tolerated", parked{span.Skipped: 9, span.Dead: 1}, stage.StageRunning, 1, 1, false, stage.StageSucceeded},
		{"cancelled", parked{span.Cancelled: 1}, stage.StageCancelling, 5, 0, false, stage.StageCancelled},
		{"stopped", parked{span.Cancelled: 1}, stage.StageCancelling, 5, 0, true, stage.StageFailed},
		{"stopped, all done", nil, stage.StageCancelling, 0, 0, true, stage.StageSucceeded},
		{"stopped, skipped", parked{span.Skipped: 10}, stage.StageCancelling, 0, 0, true, stage.StageSkipped},
		{"cancelled, one dead", parked{span.Cancelled: 1, span.Dead: 1}, stage.StageCancelling, 0, 1, false, stage.StageFailed},
		{"cancelled, one dead tolerated", parked{span.Cancelled: 1, span.Dead: 1}, stage.StageCancelling, 1, 1, false, stage.StageCancelled},
		{"waits for a run", parked{span.Child: 1}, stage.StageRunning, 0, 0, false, stage.StageRunning},
	} {
		f.stage(i, 10)
		var verdict *int
		if c.verdict {
			verdict = new(int(stage.StageFailed))
		}
		f.exec(`UPDATE ax.stage SET state = $2, tolerate = nullif($3::int, 0), verdict = $4 WHERE ord = $1`, i, int(c.state), c.tolerate, verdict)
		at := 0
		for reason, n := range c.parked {
			f.parked(i, shard.Span(at, at+n), reason)
			at += n
		}
		if _, err := span.Retire(f.ctx, f.pool, []span.StageKey{f.stageKey(i)}, nil); err != nil {
			t.Fatal(err)
		}
		want(t, c.what, f.state(i), c.right)
		if c.right.Decided() {
			want(t, c.what+": failed", f.count(`SELECT failed FROM ax.stage WHERE ord = $1`, i), c.failed)
		}
	}
}

// A plan that was never made: skipped by its condition, dead, expired, or stopped. It tolerates nothing, whatever the stage does.
func TestRetireOfPlans(t *testing.T) {
	f := newFixture(t)
	for i, c := range []struct {
		reason span.ParkReason
		right  stage.StageState
	}{
		{span.Skipped, stage.StageSkipped}, {span.Dead, stage.StageFailed}, {span.Expired, stage.StageFailed},
		{span.Poison, stage.StageFailed}, {span.Discarded, stage.StageFailed}, {span.Cancelled, stage.StageCancelled},
	} {
		f.exec(`INSERT INTO ax.stage (run_id, ord, state, ready_at, tolerate) VALUES ($1, $2, 1, now(), 7)`, f.run, i)
		f.parked(i, shard.Span(span.PlanIndex, 0), c.reason)
		if _, err := span.Retire(f.ctx, f.pool, []span.StageKey{f.stageKey(i)}, nil); err != nil {
			t.Fatal(err)
		}
		want(t, fmt.Sprint("parked for reason ", c.reason), f.state(i), c.right)
	}
}

// The failure that is one too many stops the stage in its own transaction: what is ready is parked, the other worker is
// asked, and the stage fails when that one has answered.
func TestFailFastStopsTheStage(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 10)
	f.exec(`UPDATE ax.stage SET tolerate = 1`)
	other := f.newWorker()
	mine, theirs := f.flight(0, shard.Span(0, 3), f.worker), f.flight(0, shard.Span(3, 5), other)
	f.ready(0, shard.Span(5, 10))
	c := f.conn()
	one := func(i int) span.Report {
		r := f.report(mine, 0, shard.Of(i), stage.Failed)
		r.FailFast, r.Last = true, false
		r.Results[0].Again, r.Results[0].Fingerprint = false, "boom"
		return r
	}
	r := f.finish(c, one(0))
	want(t, "asked of the tolerated failure", len(r.Asked), 0)
	want(t, "state", f.state(0), stage.StageRunning)
	f.check()
	r = f.finish(c, one(1))
	want(t, "asked", len(r.Asked), 2)
	want(t, "state", f.state(0), stage.StageCancelling)
	want(t, "ready", f.count(`SELECT count(*) FROM ax.ready`), 0)
	want(t, "cancelled", f.count(`SELECT sum(n) FROM ax.parked WHERE reason = 2`), 5)
	want(t, "asks", f.count(`SELECT count(*) FROM ax.ask WHERE kind = 1`), 2)
	want(t, "fingerprints", f.count(`SELECT count(*) FROM ax.parked WHERE reason = 1 AND fingerprint = 'boom'`), 2)
	f.check()
	f.finish(c, f.report(mine, 0, shard.Of(2), stage.Succeeded))
	want(t, "state while another worker drains", f.state(0), stage.StageCancelling)
	if _, err := span.Finish(f.ctx, c, other, []span.Report{f.report(theirs, 0, shard.Span(3, 5), stage.Interrupted)}); err != nil {
		t.Fatal(err)
	}
	want(t, "state", f.state(0), stage.StageFailed)
	want(t, "counts", f.count(`SELECT succeeded * 100 + failed * 10 + cancelled FROM ax.stage`), 127)
	want(t, "says why", f.count(`SELECT count(*) FROM ax.stage WHERE reason = 'fail fast: 2 failed, 1 tolerated'`), 1)
	f.check()
}

// What fails while its stage is being stopped has spent its attempt: a later retry must not give it the same one again.
func TestFailureInStoppedStageSpendsItsAttempt(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 2)
	mine := f.flight(0, shard.Span(0, 2), f.worker)
	f.exec(`UPDATE ax.stage SET state = 3, verdict = 11`)
	f.finish(f.conn(), f.report(mine, 0, shard.Of(0), stage.Failed))
	f.finish(f.conn(), f.report(mine, 0, shard.Of(1), stage.Interrupted))
	want(t, "parked with the next attempt", f.count(`SELECT count(*) FROM ax.parked WHERE reason = 2 AND attempt = 2 AND todo @> 0`), 1)
	want(t, "parked with this attempt", f.count(`SELECT count(*) FROM ax.parked WHERE reason = 2 AND attempt = 1 AND todo @> 1`), 1)
	f.check()
}

// Without FailFast a stage goes on, however much has failed; the leader's call stops it, once.
func TestFailFastByTheLeader(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 4)
	e := f.flight(0, shard.Span(0, 2), f.worker)
	f.ready(0, shard.Span(2, 4))
	rep := f.report(e, 0, shard.Span(0, 2), stage.Failed)
	rep.Results[0].Again, rep.Results[1].Again = false, false
	f.finish(f.conn(), rep)
	want(t, "state", f.state(0), stage.StageRunning)
	fence := f.fence()
	for i := range 2 {
		r, err := span.FailFast(f.ctx, f.conn(), fence, []span.StageKey{f.stageKey(0)})
		if err != nil {
			t.Fatal(err)
		}
		want(t, "decided", len(r.Decided), 1-i)
	}
	want(t, "state", f.state(0), stage.StageFailed)
	f.check()
}

// A budget strikes a stage that runs, in the generation that it was given for, and nothing else. Every state is tried.
func TestExpireHeedsTheStage(t *testing.T) {
	f := newFixture(t)
	fence := f.fence()
	c := f.conn()
	for _, state := range stage.StageStates() {
		for _, generation := range []int16{0, 1, 2} {
			f.exec(`DELETE FROM ax.stage`)
			f.exec(`DELETE FROM ax.parked`)
			f.exec(`DELETE FROM ax.ready`)
			f.exec(`DELETE FROM ax.expiry`)
			f.exec(`INSERT INTO ax.stage (run_id, ord, generation, state, shard_total) VALUES ($1, 0, 1, $2, 2)`, f.run, int16(state))
			f.exec(`INSERT INTO ax.expiry (run_id, ord, generation, expires_at) VALUES ($1, 0, 1, now())`, f.run)
			f.ready(0, shard.Of(0))
			f.parked(0, shard.Of(1), span.Child)
			if _, err := span.Expire(f.ctx, c, fence, []span.Expiry{{StageKey: f.stageKey(0), Generation: generation}}); err != nil {
				t.Fatal(err)
			}
			strikes := generation == 1 && (state == stage.StagePlanning || state == stage.StageRunning)
			right, expired := state, 0
			if strikes {
				right, expired = stage.StageFailed, 2
			}
			what := fmt.Sprintf("generation %d on %s", generation, state)
			want(t, what, f.state(0), right)
			want(t, what+": expired", f.count(`SELECT coalesce(sum(n), 0) FROM ax.parked WHERE reason = 8`), expired)
			want(t, what+": budgets left", f.count(`SELECT count(*) FROM ax.expiry`), map[bool]int{true: 0, false: 1}[generation >= 1])
		}
	}
}

// An expired stage waits for what is in flight, and fails with it.
func TestExpiryDrains(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 3)
	e := f.flight(0, shard.Span(0, 2), f.worker)
	f.ready(0, shard.Of(2))
	r, err := span.Expire(f.ctx, f.conn(), f.fence(), []span.Expiry{{StageKey: f.stageKey(0), Generation: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Asked) != 1 || r.Asked[0] != f.worker {
		t.Errorf("asked %v, want %v", r.Asked, f.worker)
	}
	want(t, "state", f.state(0), stage.StageCancelling)
	f.check()
	rep := f.report(e, 0, shard.Span(0, 2), stage.Succeeded)
	rep.Results[1].Outcome = stage.Interrupted
	f.finish(f.conn(), rep)
	want(t, "state", f.state(0), stage.StageFailed)
	want(t, "counts", f.count(`SELECT succeeded * 100 + failed * 10 + cancelled FROM ax.stage`), 111)
	f.check()
}

// A leader whose term is over stops nothing.
func TestStopsAreFenced(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 1)
	f.ready(0, shard.Of(0))
	f.parked(0, shard.Of(0), span.Dead)
	stale := f.fence()
	stale.Epoch--
	c := f.conn()
	if _, err := span.Expire(f.ctx, c, stale, []span.Expiry{{StageKey: f.stageKey(0), Generation: 1}}); err == nil {
		t.Error("a stale leader expired a stage")
	}
	if _, err := span.FailFast(f.ctx, c, stale, []span.StageKey{f.stageKey(0)}); err == nil {
		t.Error("a stale leader stopped a stage")
	}
	want(t, "state", f.state(0), stage.StageRunning)
}

// The failure too many races with a hand-out that holds the ready row: in either order nothing stays ready, and every
// flight is asked.
func TestFailFastAgainstHandOut(t *testing.T) {
	for _, cutFirst := range []bool{true, false} {
		t.Run(fmt.Sprint("cut first ", cutFirst), func(t *testing.T) {
			f := newFixture(t)
			f.stage(0, 10)
			e := f.flight(0, shard.Of(0), f.worker)
			id := f.ready(0, shard.Span(1, 10))
			rep := f.report(e, 0, shard.Of(0), stage.Failed)
			rep.FailFast, rep.Results[0].Again = true, false
			a, b := f.product(), f.product()
			var asked []uuid.UUID
			var ea, eb error
			stop := func() {
				var r span.Receipt
				r, ea = span.Finish(f.ctx, a, f.worker, []span.Report{rep})
				asked = r.Asked
			}
			hand := func() { _, eb = db.New(b).CutSpans(f.ctx, f.cuts(cut{id, shard.Span(1, 4)})) }
			calls := []func(){hand, stop}
			if !cutFirst {
				calls = []func(){stop, hand}
			}
			f.together(`SELECT 1 FROM ax.ready WHERE id = $1 FOR UPDATE`, []any{id}, calls...)
			if err := errors.Join(ea, eb); err != nil {
				t.Fatal(err)
			}
			flights := f.count(`SELECT count(*) FROM ax.flight`)
			want(t, "ready", f.count(`SELECT count(*) FROM ax.ready`), 0)
			want(t, "asks", f.count(`SELECT count(*) FROM ax.ask a JOIN ax.flight f ON f.id = a.execution_id`), flights)
			want(t, "workers asked", len(asked), min(flights, 1))
			if cutFirst {
				want(t, "flights", flights, 1)
			}
			f.check()
		})
	}
}
