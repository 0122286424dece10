package control_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/shard"
	"axflow/sql/history"
	"axflow/stage"
)

// two is stages a and b, one after the other.
func two() *flow.Flow[none] {
	a := stage.New("a", nop)
	return flow.New("two", a, stage.New("b", nop).After(a))
}

// fan is a sharded stage of four shards, one aligned to it, and one that joins them.
func fan() *flow.Flow[none] {
	a := shard.New("a", plan, part, stage.Retry{MaxAttempts: 1})
	b := shard.Aligned("b", a, part, stage.Retry{MaxAttempts: 1})
	return flow.New("fan", a, b, stage.New("join", nop).After(b))
}

func TestDryRunsTellAndTouchNothing(t *testing.T) {
	h := newHouse(t, two())
	dry := me
	dry.DryRun = true
	told := h.did(h.client.Cancel(h.ctx, h.run, false, dry))
	want(t, "the run", h.runState(), stage.RunRunning)
	want(t, "ready", h.count(`SELECT count(*) FROM ax.ready`), 1)
	want(t, "audit", h.count(`SELECT count(*) FROM ax.audit`), 0)
	done := h.did(h.client.Cancel(h.ctx, h.run, false, me))
	want(t, "touches", len(done), len(told))
	for i := range done {
		want(t, "what", done[i].What, told[i].What)
		want(t, "indices", done[i].Indices.Equal(told[i].Indices), true)
	}
	want(t, "audit", h.count(`SELECT count(*) FROM ax.audit WHERE verb = 'cancel' AND actor = 'tester' AND reason = 'a test' AND target = 'run/' || $1`, h.run.String()), 1)
	want(t, "journal", h.count(`SELECT count(*) FROM ax.journal WHERE kind = 'cancel' AND actor = 'tester'`), 1)
	h.resolve()
	want(t, "the run", h.runState(), stage.RunCancelled)
	h.check(history.Options{Ended: true})
}

func TestCancelWhere(t *testing.T) {
	h := newHouse(t, two())
	h.start()
	h.start()
	_, err := h.client.CancelWhere(h.ctx, control.Filter{}, false, me)
	h.refused(control.CodeInvalid, err)
	s, err := h.client.CancelWhere(h.ctx, control.Filter{Tags: map[string]string{"team": "red"}}, false, me)
	if err != nil || len(s.Runs) != 0 {
		t.Errorf("runs of another team: %v, %v", s, err)
	}
	s, err = h.client.CancelWhere(h.ctx, control.Filter{Flows: []string{"two"}, Tags: map[string]string{"team": "blue"}, Since: time.Now().Add(-time.Hour), Most: 2}, false, me)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "runs", len(s.Runs), 2)
	want(t, "more", s.More, true)
	want(t, "failed", s.Failed(), 0)
	h.resolve()
	want(t, "cancelled runs", h.count(`SELECT count(*) FROM ax.run WHERE state = 12`), 2)
	h.check(history.Options{})
}

func TestPauseAndResume(t *testing.T) {
	h := newHouse(t, two())
	h.handOut()
	want(t, "touches", len(h.did(h.client.Pause(h.ctx, control.HoldRun, h.run.String(), me))), 1)
	want(t, "asks to give back", h.count(`SELECT count(*) FROM ax.ask WHERE kind = 2`), 1)
	want(t, "touches of the second", len(h.did(h.client.Pause(h.ctx, control.HoldRun, h.run.String(), me))), 0)
	h.did(h.client.Pause(h.ctx, control.HoldQueue, "default", me))
	h.did(h.client.Pause(h.ctx, control.HoldFlow, "two", me))
	holds, err := h.client.Holds(h.ctx)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "holds", len(holds), 3)
	_, err = h.client.Pause(h.ctx, control.HoldFlow, "nobody", me)
	h.refused(control.CodeNotFound, err)
	_, err = h.client.Pause(h.ctx, "planet", "x", me)
	h.refused(control.CodeInvalid, err)
	for _, x := range holds {
		want(t, "touches", len(h.did(h.client.Resume(h.ctx, x.Kind, x.Name, me))), 1)
		want(t, "touches of the second", len(h.did(h.client.Resume(h.ctx, x.Kind, x.Name, me))), 0)
	}
	want(t, "audit", h.count(`SELECT count(*) FROM ax.audit WHERE verb IN ('pause', 'resume')`), 6)
	h.check(history.Options{Grace: time.Hour})
}

func TestRetryRevivesDeadShardsAndThoseThatFollow(t *testing.T) {
	h := newHouse(t, fan())
	h.live(failing(0, 2))
	want(t, "the run", h.runState(), stage.RunFailed)
	want(t, "a", h.state(0), stage.StageFailed)
	want(t, "b", h.state(1), stage.StageUpstreamFailed)
	_, err := h.client.RetryShards(h.ctx, h.run, "a", shard.Of(1), me)
	h.refused(control.CodeConflict, err)
	h.did(h.client.RetryShards(h.ctx, h.run, "a", shard.Of(2), me))
	_, err = h.client.Retry(h.ctx, h.run, me)
	h.refused(control.CodeConflict, err)
	want(t, "b", h.state(1), stage.StageRunning)
	want(t, "b's generation", h.count(`SELECT generation FROM ax.stage WHERE run_id = $1 AND ord = 1`, h.run), 1)
	h.live(nil)
	want(t, "the run", h.runState(), stage.RunSucceeded)
	want(t, "executions of b", h.count(`SELECT count(*) FROM ax.result WHERE ord = 1 AND shard >= 0`), 4)
	h.check(history.Options{Ended: true})
}

func TestRerunShardsRerunOnlyWhatDepends(t *testing.T) {
	h := newHouse(t, fan())
	h.live(nil)
	want(t, "the run", h.runState(), stage.RunSucceeded)
	_, err := h.client.RerunShards(h.ctx, h.run, "a", shard.Of(4), me)
	h.refused(control.CodeInvalid, err)
	h.did(h.client.RerunShards(h.ctx, h.run, "a", shard.Of(1, 3), me))
	_, err = h.client.RerunShards(h.ctx, h.run, "a", shard.Of(1), me)
	h.refused(control.CodeConflict, err)
	want(t, "a", h.state(0), stage.StageRunning)
	want(t, "ready", h.count(`SELECT count(*) FROM ax.ready WHERE ord = 0 AND attempt = 2 AND todo = '{[1,2),[3,4)}'`), 1)
	want(t, "b waits for them", h.count(`SELECT count(*) FROM ax.parked WHERE ord = 1 AND reason = 4 AND attempt = 2 AND todo = '{[1,2),[3,4)}'`), 1)
	want(t, "join's generation", h.count(`SELECT generation FROM ax.stage WHERE run_id = $1 AND ord = 2`, h.run), 2)
	h.check(history.Options{Grace: time.Hour})
	h.live(nil)
	want(t, "the run", h.runState(), stage.RunSucceeded)
	for ord, n := range []int{6, 6, 2} {
		want(t, "executions", h.count(`SELECT count(*) FROM ax.result WHERE ord = $1 AND shard >= 0`, ord), n)
	}
	h.check(history.Options{Ended: true})
}

// A rerun shard that dies is dead, though it had succeeded before.
func TestRerunShardsThatFail(t *testing.T) {
	h := newHouse(t, fan())
	h.live(nil)
	h.did(h.client.RerunShards(h.ctx, h.run, "b", shard.Of(0), me))
	h.exec(`UPDATE ax.stage SET max_attempts = 2 WHERE ord = 1`)
	h.live(failing(1, 0))
	want(t, "b", h.state(1), stage.StageFailed)
	want(t, "a ran once", h.count(`SELECT count(*) FROM ax.result WHERE ord = 0 AND shard >= 0`), 4)
	want(t, "the run", h.runState(), stage.RunFailed)
	h.check(history.Options{Ended: true})
}

func TestSkip(t *testing.T) {
	h := newHouse(t, fan())
	h.did(h.client.Skip(h.ctx, h.run, "join", me)) // waits
	want(t, "touches of the second", len(h.did(h.client.Skip(h.ctx, h.run, "join", me))), 0)
	h.resolve()
	h.handOut()
	h.work(nil) // the plan
	h.did(h.client.SkipShards(h.ctx, h.run, "a", shard.Of(0), me))
	h.handOut()
	h.did(h.client.SkipShards(h.ctx, h.run, "a", shard.Of(1), me)) // in flight: fenced
	want(t, "touches of the second", len(h.did(h.client.SkipShards(h.ctx, h.run, "a", shard.Of(1), me))), 0)
	h.live(failing(0, 2))
	want(t, "a", h.state(0), stage.StageFailed)
	h.did(h.client.SkipShards(h.ctx, h.run, "a", shard.Of(2), me)) // dead
	want(t, "a", h.state(0), stage.StageSucceeded)
	_, err := h.client.SkipShards(h.ctx, h.run, "a", shard.Of(3), me)
	h.refused(control.CodeConflict, err)
	want(t, "results of a", h.count(`SELECT count(*) FROM ax.result WHERE ord = 0 AND shard >= 0`), 2)
	h.live(nil)
	want(t, "join", h.state(2), stage.StageSkipped)
	h.check(history.Options{Ended: true})
}

func TestMarkSuccess(t *testing.T) {
	h := newHouse(t, fan())
	_, err := h.client.MarkSuccess(h.ctx, h.run, "join", shard.Set{}, []byte("{"), me)
	h.refused(control.CodeInvalid, err)
	_, err = h.client.MarkSuccess(h.ctx, h.run, "join", shard.Set{}, make([]byte, control.MaxStageOutput+1), me)
	h.refused(control.CodeInvalid, err)
	h.handOut()
	h.work(nil)
	h.handOut()
	h.did(h.client.MarkSuccess(h.ctx, h.run, "a", shard.Of(1), []byte(`"by hand"`), me)) // in flight
	h.live(failing(0, 2))
	want(t, "the run", h.runState(), stage.RunFailed)
	h.did(h.client.MarkSuccess(h.ctx, h.run, "a", shard.Of(2), nil, me)) // dead
	want(t, "touches of the second", len(h.did(h.client.MarkSuccess(h.ctx, h.run, "a", shard.Of(2), nil, me))), 0)
	want(t, "a", h.state(0), stage.StageSucceeded)
	out, err := h.client.Output(h.ctx, h.run, "a", 1)
	if err != nil || string(out) != `"by hand"` {
		t.Errorf("output %s, %v", out, err)
	}
	h.did(h.client.MarkSuccess(h.ctx, h.run, "join", shard.Set{}, []byte("7"), me)) // waits
	want(t, "join", h.state(2), stage.StageSucceeded)
	h.live(nil)
	want(t, "the run", h.runState(), stage.RunSucceeded)
	h.check(history.Options{Ended: true})
}

func TestMarkAndSkipWhatIsNotPlanned(t *testing.T) {
	h := newHouse(t, fan())
	h.did(h.client.MarkSuccess(h.ctx, h.run, "a", shard.Set{}, nil, me))
	want(t, "a", h.state(0), stage.StageSucceeded)
	h.live(nil)
	want(t, "the run", h.runState(), stage.RunSucceeded)
	h.run = h.start()
	h.did(h.client.Skip(h.ctx, h.run, "a", me))
	want(t, "a", h.state(0), stage.StageSkipped)
	h.live(nil)
	want(t, "join", h.state(2), stage.StageSkipped)
	h.check(history.Options{Ended: true})
}

func TestLevels(t *testing.T) {
	h := newHouse(t, two())
	box := h.bus.SubscribeEngine()
	defer box.Close()
	p0, p5 := stage.P0, stage.P5
	h.did(h.client.SetLevel(h.ctx, h.run, "", &p5, me))
	want(t, "level", h.count(`SELECT level FROM ax.ready`), 5)
	news := box.Take()
	want(t, "hinted rows", len(news[len(news)-1].IDs), 1)
	want(t, "touches of the second", len(h.did(h.client.SetLevel(h.ctx, h.run, "", &p5, me))), 0)
	h.did(h.client.SetLevel(h.ctx, h.run, "a", &p0, me))
	want(t, "level", h.count(`SELECT level FROM ax.ready`), 0)
	h.handOut()
	h.did(h.client.Demote(h.ctx, h.run, "a", me))
	want(t, "level in flight", h.count(`SELECT level FROM ax.flight`), 1)
	h.did(h.client.SetLevel(h.ctx, h.run, "a", nil, me))
	want(t, "level in flight", h.count(`SELECT level FROM ax.flight`), 5)
	h.did(h.client.Expedite(h.ctx, h.run, "", me))
	want(t, "level in flight", h.count(`SELECT level FROM ax.flight`), 4)
	bad := stage.Level(9)
	_, err := h.client.SetLevel(h.ctx, h.run, "", &bad, me)
	h.refused(control.CodeInvalid, err)
	h.live(nil)
	_, err = h.client.SetLevel(h.ctx, h.run, "", &p0, me)
	h.refused(control.CodeConflict, err)
	h.check(history.Options{Ended: true})
}

// The same verb twice at once: one outcome, and both callers hear the truth.
func TestTwiceAtOnce(t *testing.T) {
	h := newHouse(t, fan())
	h.live(failing(0, 1))
	var wg sync.WaitGroup
	touched, errs := make([][]control.Touch, 2), make([]error, 2)
	for i := range 2 {
		wg.Go(func() { touched[i], errs[i] = h.client.Retry(h.ctx, h.run, me) })
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("errors %v and %v, want one refusal", errs[0], errs[1])
	}
	want(t, "ready", h.count(`SELECT sum(n) FROM ax.ready`), 1)
	want(t, "audit", h.count(`SELECT count(*) FROM ax.audit WHERE verb = 'retry'`), 1)
	for i := range 2 {
		wg.Go(func() { touched[i], errs[i] = h.client.Skip(h.ctx, h.run, "join", me) })
	}
	wg.Wait()
	want(t, "touches", len(touched[0])+len(touched[1]), 1)
	want(t, "errors", errs[0] == nil && errs[1] == nil, true)
	h.live(nil)
	want(t, "the run", h.runState(), stage.RunSucceeded)
	h.check(history.Options{Ended: true})
}

// Retry against cancel, skip against finish: whoever has the run or the flight first wins, and nothing is lost.
func TestAgainstEachOther(t *testing.T) {
	h := newHouse(t, fan())
	var wg sync.WaitGroup
	for range 3 {
		h.run = h.start()
		h.live(failing(0, 1))
		wg.Go(func() { _, _ = h.client.Retry(h.ctx, h.run, me) })
		wg.Go(func() { _, _ = h.client.Cancel(h.ctx, h.run, false, me) })
		wg.Wait()
		h.live(nil)
		h.run = h.start()
		h.resolve()
		h.handOut()
		h.work(nil)
		h.handOut()
		wg.Go(func() { h.work(nil) })
		wg.Go(func() { _, _ = h.client.Skip(h.ctx, h.run, "a", me) })
		wg.Wait()
		h.live(nil)
		want(t, "ended", h.runState().Ended(), true)
	}
	h.check(history.Options{Ended: true})
}

func TestRunsOfOthersAreNotThere(t *testing.T) {
	h := newHouse(t, two())
	_, err := h.client.Cancel(h.ctx, uuid.Must(uuid.NewV7()), false, me)
	h.refused(control.CodeNotFound, err)
	_, err = h.client.Skip(h.ctx, h.run, "nobody", me)
	h.refused(control.CodeNotFound, err)
}

// A cancel reaches the runs that the run has started, and only those of stages that are not teardowns' own.
func TestCancelCascades(t *testing.T) {
	h := newHouse(t, two())
	parent, child := h.run, h.start()
	h.exec(`INSERT INTO ax.child (parent_run, ord, generation, shard, attempt, child_run) VALUES ($1, 0, 1, 0, 1, $2)`, parent, child)
	h.exec(`WITH r AS (DELETE FROM ax.ready WHERE run_id = $1 RETURNING *)
	        INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, reason, namespace, queue, key, todo)
	        SELECT id, run_id, now(), ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, 7, namespace, queue, key, todo FROM r`, parent)
	dry := me
	dry.DryRun = true
	told := h.did(h.client.Cancel(h.ctx, parent, false, dry))
	done := h.did(h.client.Cancel(h.ctx, parent, false, me))
	want(t, "touches", len(done), len(told))
	want(t, "touched runs", done[0].Run != done[len(done)-1].Run, true)
	h.resolve()
	want(t, "cancelled runs", h.count(`SELECT count(*) FROM ax.run WHERE state = 12`), 2)
	h.check(history.Options{Ended: true})
}

// Without force a teardown outlives the cancel; with force it does not.
func TestCancelLeavesTeardowns(t *testing.T) {
	for _, force := range []bool{false, true} {
		up := stage.New("up", nop)
		work := stage.New("work", nop).After(up)
		h := newHouse(t, flow.New("tidy", up, work, stage.New("down", nop, stage.Teardown(up)).After(work)))
		h.handOut()
		h.work(nil)
		h.resolve()
		h.did(h.client.Cancel(h.ctx, h.run, force, me))
		h.live(nil)
		right := stage.StageSucceeded
		if force {
			right = stage.StageCancelled
		}
		want(t, "the teardown", h.state(2), right)
		want(t, "the work", h.state(1), stage.StageCancelled)
		want(t, "the run", h.runState(), stage.RunCancelled)
		h.check(history.Options{Ended: true})
	}
}

func TestProgressSaysWhatIsHeld(t *testing.T) {
	h := newHouse(t, two())
	h.did(h.client.Pause(h.ctx, control.HoldFlow, "two", me))
	p, err := h.client.Progress(h.ctx, h.run)
	if err != nil || len(p.Held) != 1 || p.Held[0].Kind != control.HoldFlow {
		t.Errorf("held by %v, %v", p.Held, err)
	}
}
