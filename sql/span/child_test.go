package span_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/shard"
	"axflow/sql/span"
	"axflow/stage"
)

// child makes the open run that an index has started.
func (f *fixture) child(ord, index int) uuid.UUID {
	f.t.Helper()
	id := uuid.Must(uuid.NewV7())
	f.exec(`INSERT INTO ax.run (run_id, version_id, state, level, created_at, namespace, flow, queue, trigger, params)
	        VALUES ($1, 1, 1, 2, now(), 'default', 'f', 'default', 'child', '{}')`, id)
	f.exec(`INSERT INTO ax.child (parent_run, ord, generation, shard, attempt, child_run) VALUES ($1, $2, 1, $3, 1, $4)`, f.run, ord, index, id)
	return id
}

func (f *fixture) end(run uuid.UUID) {
	f.t.Helper()
	f.exec(`UPDATE ax.run SET state = 10, finished_at = now() WHERE run_id = $1`, run)
}

// await parks an index as its handler's worker does.
func (f *fixture) await(worker, flight uuid.UUID, ord, index int) (waits bool) {
	f.t.Helper()
	c := f.product()
	err := pgx.BeginFunc(f.ctx, c, func(tx pgx.Tx) (err error) {
		waits, err = span.Await(f.ctx, tx.Conn(), worker, span.Handback{Execution: flight, Run: f.run, Ord: int16(ord), Set: shard.Of(index)})
		if err == nil && !waits {
			err = pgx.ErrTxCommitRollback
		}
		return err
	})
	if waits && err != nil || !waits && !errors.Is(err, pgx.ErrTxCommitRollback) {
		f.t.Fatal(err)
	}
	return waits
}

func (f *fixture) wake(children ...uuid.UUID) span.Receipt {
	f.t.Helper()
	r, err := span.Wake(f.ctx, f.product(), f.fence(), children)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// An index waits for its run without a flight, keeps its stage open, and comes back with the same attempt when the run ends.
func TestAwaitThenWake(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 3)
	f.exec(`UPDATE ax.stage SET key = 'g/k'`)
	e := f.flight(0, shard.Span(0, 3), f.worker)
	f.exec(`UPDATE ax.flight SET key = 'g/k'`)
	one, two := f.child(0, 1), f.child(0, 2)
	want(t, "waits", f.await(f.worker, e, 0, 1), true)
	want(t, "waits", f.await(f.worker, e, 0, 2), true)
	want(t, "waits twice", f.await(f.worker, e, 0, 2), false)
	wantSet(t, "in flight", f.set("flight", 0), shard.Of(0))
	wantSet(t, "parked", f.set("parked", 0), shard.Of(1, 2))
	f.check()
	f.finish(f.conn(), f.report(e, 0, shard.Of(0), stage.Succeeded))
	want(t, "state", f.state(0), stage.StageRunning)

	want(t, "woken by open runs", len(f.wake(one, two).Ready), 0)
	f.end(two)
	r := f.wake(one, two)
	want(t, "woken", len(r.Ready), 1)
	wantSet(t, "ready", f.set("ready", 0), shard.Of(2))
	wantSet(t, "parked", f.set("parked", 0), shard.Of(1))
	want(t, "attempt and delivery", f.count(`SELECT attempt * 10 + delivery FROM ax.ready WHERE key = 'g/k'`), 11)
	want(t, "woken again", len(f.wake(one, two).Ready), 0)
	f.check()
	// A run that is gone will not end any more.
	f.exec(`DELETE FROM ax.run WHERE run_id = $1`, one)
	want(t, "woken by a lost run", len(f.wake(one).Ready), 1)
	f.check()
}

// What is not this worker's, or belongs to a stage that does not run on, does not wait.
func TestAwaitHeedsFlightAndStage(t *testing.T) {
	f := newFixture(t)
	for _, state := range stage.StageStates() {
		for _, generation := range []int{1, 2} {
			f.exec(`DELETE FROM ax.stage`)
			f.exec(`DELETE FROM ax.flight`)
			f.exec(`DELETE FROM ax.parked`)
			f.stage(0, 2)
			e := f.flight(0, shard.Span(0, 2), f.worker)
			f.exec(`UPDATE ax.stage SET state = $1, generation = $2`, int(state), generation)
			right := generation == 1 && (state == stage.StageRunning || state == stage.StagePlanning)
			if got := f.await(f.worker, e, 0, 0); got != right {
				t.Errorf("generation %d, %s: waits %t, want %t", generation, state, got, right)
			}
			want(t, "in flight", f.set("flight", 0).Len(), map[bool]int{true: 1, false: 2}[right])
		}
	}
	f.exec(`DELETE FROM ax.stage`)
	f.stage(0, 2)
	want(t, "another worker's", f.await(f.newWorker(), f.flight(0, shard.Of(0), f.worker), 0, 0), false)
}

// Waking an attempt that was retried, or a generation that was rerun, does nothing.
func TestWakeHeedsTheAttempt(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 1)
	c := f.child(0, 0)
	f.end(c)
	f.parked(0, shard.Of(0), span.Child)
	f.exec(`UPDATE ax.parked SET attempt = 2`)
	want(t, "woken by an earlier attempt's run", len(f.wake(c).Ready), 0)
	f.exec(`UPDATE ax.parked SET attempt = 1, generation = 2`)
	f.exec(`UPDATE ax.stage SET generation = 2`)
	want(t, "woken by an earlier generation's run", len(f.wake(c).Ready), 0)
	f.exec(`UPDATE ax.parked SET generation = 1, reason = 2`)
	f.exec(`UPDATE ax.stage SET generation = 1`)
	want(t, "woken though cancelled", len(f.wake(c).Ready), 0)
}

// The run's end races with the parking of who waits for it: the end waits for the row lock and then finds the parked row.
func TestAwaitAgainstTheEnd(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 1)
	e := f.flight(0, shard.Of(0), f.worker)
	child := f.child(0, 0)
	c, leader := f.product(), f.product()
	tx, err := c.Begin(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(f.ctx, `SELECT 1 FROM ax.run WHERE run_id = $1 AND finished_at IS NULL FOR SHARE`, child); err != nil {
		t.Fatal(err)
	}
	fence := f.fence()
	woken := make(chan int, 1)
	go func() {
		if _, err := leader.Exec(f.ctx, `UPDATE ax.run SET state = 10, finished_at = now() WHERE run_id = $1`, child); err != nil {
			t.Error(err)
		}
		r, err := span.Wake(f.ctx, leader, fence, []uuid.UUID{child})
		if err != nil {
			t.Error(err)
		}
		woken <- len(r.Ready)
	}()
	f.blocked(1)
	waits, err := span.Await(f.ctx, tx.Conn(), f.worker, span.Handback{Execution: e, Run: f.run, Set: shard.Of(0)})
	if err != nil || !waits {
		t.Fatalf("waits %t, %v", waits, err)
	}
	if err := tx.Commit(f.ctx); err != nil {
		t.Fatal(err)
	}
	want(t, "woken", <-woken, 1)
	wantSet(t, "ready", f.set("ready", 0), shard.Of(0))
	f.check()
}
