package resolve_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/engine/control"
	"axflow/sql/history"
	"axflow/sql/span"
	"axflow/stage"
)

var me = control.Who{Actor: "test"}

// A cancel comes while a piece is being handed out: it waits for the run, then sees the flight, and tells its worker.
func TestCancelSeesWhatWasHandedOutBeforeIt(t *testing.T) {
	for _, force := range []bool{false, true} {
		t.Run(fmt.Sprintf("force=%t", force), func(t *testing.T) {
			h := newHouse(t, chain(2))
			box := h.bus.SubscribeWorker(h.worker)
			defer box.Close()
			tx, err := h.conn().Begin(h.ctx)
			if err != nil {
				t.Fatal(err)
			}
			flight := h.handOut(tx)[0]
			end := h.waits(func() {
				if _, err := h.client.Cancel(h.ctx, h.run, force, me); err != nil {
					t.Errorf("cancel: %v", err)
				}
			})
			want(t, "the stages are free while the cancel waits", h.free("ax.stage"), true)
			if err := tx.Commit(h.ctx); err != nil {
				t.Fatal(err)
			}
			end()
			want(t, "words to the worker", len(box.Take()), 1)
			if force {
				want(t, "flights", h.count(`SELECT count(*) FROM ax.flight`), 0)
				want(t, "accepted late", len(h.finish(h.conn(), flight, 0, stage.Succeeded).Accepted), 0)
			} else {
				want(t, "asks", h.count(`SELECT count(*) FROM ax.ask WHERE execution_id = $1 AND kind = 1`, flight), 1)
				h.finish(h.conn(), flight, 0, stage.Interrupted)
			}
			want(t, "the first stage", h.state(0), stage.StageCancelled)
			h.resolve()
			want(t, "the run", h.runState(), stage.RunCancelled)
			h.check(history.Options{Ended: true})
		})
	}
}

func TestCancelParksWhatIsReady(t *testing.T) {
	h := newHouse(t, chain(2))
	if _, err := h.client.Cancel(h.ctx, h.run, false, me); err != nil {
		t.Fatal(err)
	}
	want(t, "ready", h.count(`SELECT count(*) FROM ax.ready`), 0)
	want(t, "parked as cancelled", h.count(`SELECT count(*) FROM ax.parked WHERE reason = 2`), 1)
	want(t, "the first stage", h.state(0), stage.StageCancelled)
	want(t, "the second stage", h.state(1), stage.StageCancelled)
	h.resolve()
	want(t, "the run", h.runState(), stage.RunCancelled)
	h.check(history.Options{Ended: true})
}

// A finish and a cancel of the same flight, in either order. What has succeeded before the cancel has succeeded; what
// the cancel has parked by force is fenced.
func TestFinishAgainstCancel(t *testing.T) {
	for _, force := range []bool{false, true} {
		for _, finishFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("force=%t,finishFirst=%t", force, finishFirst), func(t *testing.T) {
				h := newHouse(t, chain(2))
				flight := h.handOut(h.pool)[0]
				c := h.conn()
				var accepted int
				calls := []func(){
					func() { accepted = len(h.finish(c, flight, 0, stage.Succeeded).Accepted) },
					func() {
						if _, err := h.client.Cancel(h.ctx, h.run, force, me); err != nil {
							t.Errorf("cancel: %v", err)
						}
					},
				}
				if !finishFirst {
					calls[0], calls[1] = calls[1], calls[0]
				}
				h.together(flight, calls...)
				fenced := force && !finishFirst
				want(t, "accepted", accepted == 1, !fenced)
				first := stage.StageSucceeded
				if fenced {
					first = stage.StageCancelled
				}
				want(t, "the first stage", h.state(0), first)
				want(t, "the second stage", h.state(1), stage.StageCancelled)
				h.resolve()
				want(t, "the run", h.runState(), stage.RunCancelled)
				h.check(history.Options{Ended: true})
			})
		}
	}
}

// together lets calls come to a flight that somebody holds, in this order, and then go.
func (h *house) together(flight uuid.UUID, calls ...func()) {
	h.t.Helper()
	tx, err := h.conn().Begin(h.ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := tx.Exec(h.ctx, `SELECT 1 FROM ax.flight WHERE id = $1 FOR UPDATE`, flight); err != nil {
		h.t.Fatal(err)
	}
	var ends []func()
	for _, call := range calls {
		ends = append(ends, h.waits(call))
		want(h.t, "the stages are free while a call waits for the flight", h.free("ax.stage"), true)
	}
	if err := tx.Commit(h.ctx); err != nil {
		h.t.Fatal(err)
	}
	for _, end := range ends {
		end()
	}
}

// A rerun of a stage that is running, and its worker's report, in either order: the report counts in the old generation
// or not at all, and the new generation starts over.
func TestFinishAgainstRerun(t *testing.T) {
	for _, outcome := range []stage.Outcome{stage.Succeeded, stage.Failed} {
		for _, finishFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("outcome=%d,finishFirst=%t", outcome, finishFirst), func(t *testing.T) {
				h := newHouse(t, chain(2))
				flight := h.handOut(h.pool)[0]
				c := h.conn()
				var accepted int
				calls := []func(){
					func() { accepted = len(h.finish(c, flight, 0, outcome).Accepted) },
					func() {
						if _, err := h.client.Rerun(h.ctx, h.run, "a", me); err != nil {
							t.Errorf("rerun: %v", err)
						}
					},
				}
				if !finishFirst {
					calls[0], calls[1] = calls[1], calls[0]
				}
				h.together(flight, calls...)
				want(t, "accepted", accepted == 1, finishFirst)
				want(t, "flights", h.count(`SELECT count(*) FROM ax.flight`), 0)
				want(t, "ready", h.count(`SELECT count(*) FROM ax.ready`), 0)
				want(t, "the first stage", h.state(0), stage.StageWaiting)
				h.resolve() // releases generation 2
				want(t, "the first stage", h.state(0), stage.StageRunning)
				want(t, "its ready generation", h.count(`SELECT generation FROM ax.ready`), 2)
				h.finish(c, h.handOut(h.pool)[0], 0, stage.Succeeded)
				h.resolve()
				h.finish(c, h.handOut(h.pool)[0], 1, stage.Succeeded)
				h.resolve()
				want(t, "the run", h.runState(), stage.RunSucceeded)
				want(t, "results of generation 2", h.count(`SELECT count(*) FROM ax.result WHERE generation = 2`), 2)
				h.check(history.Options{Ended: true})
			})
		}
	}
}

// Dropping the dead letters and what waits is part of a rerun: the next generation begins with nothing.
func TestRerunBeginsWithNothing(t *testing.T) {
	h := newHouse(t, chain(2))
	c := h.conn()
	dead := h.report(h.handOut(h.pool)[0], 0, stage.Failed)
	dead[0].Results[0].Again = false
	if _, err := span.Finish(h.ctx, c, h.worker, dead); err != nil {
		t.Fatal(err)
	}
	h.resolve()
	want(t, "the run", h.runState(), stage.RunFailed)
	want(t, "dead", h.count(`SELECT count(*) FROM ax.parked`), 1)
	if _, err := h.client.Rerun(h.ctx, h.run, "a", me); err != nil {
		t.Fatal(err)
	}
	want(t, "dead after the rerun", h.count(`SELECT count(*) FROM ax.parked`), 0)
	h.resolve()
	if _, err := h.client.Rerun(h.ctx, h.run, "a", me); err != nil { // while it is ready
		t.Fatal(err)
	}
	want(t, "ready after the rerun", h.count(`SELECT count(*) FROM ax.ready`), 0)
	h.resolve()
	h.check(history.Options{Grace: time.Hour})
}

// An operator's retry meets the resolver that ends the run: the retry waits, opens the run again, and the dead index
// runs once more.
func TestRetryAgainstTheEndOfItsRun(t *testing.T) {
	h := newHouse(t, chain(1))
	c := h.conn()
	dead := h.report(h.handOut(h.pool)[0], 0, stage.Failed)
	dead[0].Results[0].Again = false
	if _, err := span.Finish(h.ctx, c, h.worker, dead); err != nil {
		t.Fatal(err)
	}
	// The retry holds the run until the parked row is free; the resolver comes meanwhile and leaves the run alone.
	tx, err := h.conn().Begin(h.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(h.ctx, `SELECT 1 FROM ax.parked FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	var n int
	end := h.waits(func() {
		touched, err := h.client.Retry(h.ctx, h.run, me)
		if err != nil {
			t.Errorf("retry: %v", err)
		}
		n = control.Indices(touched)
	})
	a := h.resolve()
	want(t, "busy runs", len(a.Busy.Runs), 1)
	want(t, "ended runs", len(a.Ended), 0)
	if err := tx.Commit(h.ctx); err != nil {
		t.Fatal(err)
	}
	end()
	want(t, "indices that run again", n, 1)
	want(t, "the run", h.runState(), stage.RunRunning)
	want(t, "attempt", h.count(`SELECT attempt FROM ax.ready`), 2)
	h.finish(c, h.handOut(h.pool)[0], 0, stage.Succeeded)
	h.resolve()
	want(t, "the run", h.runState(), stage.RunSucceeded)
	h.check(history.Options{Ended: true})
}

// Once the context is over nothing of a verb is left behind.
func TestVerbWithoutPatienceChangesNothing(t *testing.T) {
	h := newHouse(t, chain(1))
	flight := h.handOut(h.pool)[0]
	tx, err := h.conn().Begin(h.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(h.ctx, `SELECT 1 FROM ax.flight WHERE id = $1 FOR UPDATE`, flight); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(h.ctx)
	end := h.waits(func() {
		if _, err := h.client.Cancel(ctx, h.run, true, me); err == nil {
			t.Error("a cancel whose context ended: no error")
		}
	})
	cancel()
	end()
	if err := tx.Rollback(h.ctx); err != nil {
		t.Fatal(err)
	}
	want(t, "the run", h.runState(), stage.RunRunning)
	want(t, "the stage", h.state(0), stage.StageRunning)
	want(t, "flights", h.count(`SELECT count(*) FROM ax.flight`), 1)
}
