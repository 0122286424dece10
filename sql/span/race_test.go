package span_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/span"
	"axflow/stage"
)

// fence is the term that the fixture's leader holds.
func (f *fixture) fence() axsql.Fence {
	f.t.Helper()
	f.exec(`INSERT INTO ax.lease (name, epoch, holder, expires_at, renewed_at) VALUES ('leader', 1, 'test', now() + '1 hour', now())
	        ON CONFLICT DO NOTHING`)
	return axsql.Fence{Name: "leader", Epoch: 1}
}

func (f *fixture) seize() ([]span.SeizedFlight, span.Receipt) {
	f.t.Helper()
	seized, receipt, err := span.Seize(f.ctx, f.conn(), f.fence(), 100)
	if err != nil {
		f.t.Fatal(err)
	}
	return seized, receipt
}

// together lets calls block on a row that a third session holds, and then lets them go at once. Which one gets
// the row first is PostgreSQL's queue: the order in which they came.
func (f *fixture) together(lock string, args []any, calls ...func()) {
	f.t.Helper()
	holder := f.conn()
	if _, err := holder.Exec(f.ctx, "begin"); err != nil {
		f.t.Fatal(err)
	}
	if _, err := holder.Exec(f.ctx, lock, args...); err != nil {
		f.t.Fatal(err)
	}
	var wg sync.WaitGroup
	early := make(chan int, len(calls)) // nobody gets by while the row is held
	for i, call := range calls {
		wg.Go(func() { call(); early <- i })
		f.blockedUnless(i+1, func() bool { return len(early) > 0 })
	}
	if _, err := holder.Exec(f.ctx, "commit"); err != nil {
		f.t.Fatal(err)
	}
	wg.Wait()
}

// Two workers finish the last two flights of a stage at the same moment: both have deleted their flight when they
// come to the stage, and neither sees the other's deletion before its commit. Exactly one must decide.
func TestLastTwoFlightsDecideOnce(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 10)
	other := f.newWorker()
	a, b := f.flight(0, shard.Span(0, 5), f.worker), f.flight(0, shard.Span(5, 10), other)
	ca, cb := f.conn(), f.conn()
	var ra, rb span.Receipt
	var ea, eb error
	f.together(`SELECT 1 FROM ax.stage WHERE run_id = $1 FOR UPDATE`, []any{f.run},
		func() {
			ra, ea = span.Finish(f.ctx, ca, f.worker, []span.Report{f.report(a, 0, shard.Span(0, 5), stage.Succeeded)})
		},
		func() {
			rb, eb = span.Finish(f.ctx, cb, other, []span.Report{f.report(b, 0, shard.Span(5, 10), stage.Succeeded)})
		})
	if err := errors.Join(ea, eb); err != nil {
		t.Fatal(err)
	}
	want(t, "decisions", len(ra.Decided)+len(rb.Decided), 1)
	want(t, "state", f.state(0), stage.StageSucceeded)
	f.check()
}

// Two workers retire into the same two stages, each reporting them in the opposite order.
func TestOppositeOrdersDoNotDeadlock(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 200)
	f.stage(1, 200)
	workers := []uuid.UUID{f.worker, f.newWorker()}
	var mu sync.Mutex
	decided := 0
	for i := range 50 {
		var wg sync.WaitGroup
		for w, worker := range workers {
			ix := shard.Of(2*(i*2+w), 2*(i*2+w)+1)
			reports := []span.Report{
				f.report(f.flight(0, ix, worker), 0, ix, stage.Succeeded),
				f.report(f.flight(1, ix, worker), 1, ix, stage.Succeeded),
			}
			if w == 1 {
				reports[0], reports[1] = reports[1], reports[0]
			}
			conn := f.conn()
			wg.Go(func() {
				r, err := span.Finish(f.ctx, conn, worker, reports)
				if err != nil {
					t.Errorf("round %d worker %d: %v", i, w, err)
				}
				mu.Lock()
				decided += len(r.Decided)
				mu.Unlock()
				_ = conn.Close(f.ctx)
			})
		}
		wg.Wait()
	}
	want(t, "results", f.results(0)+f.results(1), 400)
}

// Flights locked in opposite orders by two calls of one worker, such as a repeat beside its original.
func TestRepeatBesideOriginal(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 20)
	for range 20 {
		f.exec(`DELETE FROM ax.result`)
		f.exec(`UPDATE ax.stage SET state = 2, finished_at = NULL, succeeded = 0`)
		a, b := f.flight(0, shard.Span(0, 10), f.worker), f.flight(0, shard.Span(10, 20), f.worker)
		ra, rb := f.report(a, 0, shard.Span(0, 10), stage.Succeeded), f.report(b, 0, shard.Span(10, 20), stage.Succeeded)
		c1, c2 := f.conn(), f.conn()
		var wg sync.WaitGroup
		wg.Go(func() { f.finishQuietly(c1, ra, rb) })
		wg.Go(func() { f.finishQuietly(c2, rb, ra) })
		wg.Wait()
		want(t, "results", f.results(0), 20)
		want(t, "state", f.state(0), stage.StageSucceeded)
		_, _ = c1.Close(f.ctx), c2.Close(f.ctx)
	}
	f.check()
}

func (f *fixture) finishQuietly(conn span.Conn, reports ...span.Report) {
	if _, err := span.Finish(f.ctx, conn, f.worker, reports); err != nil {
		f.t.Errorf("finish: %v", err)
	}
}

// A finish and a seizure of the same flight: whichever has the row first wins, nothing is lost or doubled.
func TestFinishAgainstSeize(t *testing.T) {
	for _, finishFirst := range []bool{true, false} {
		t.Run(fmt.Sprintf("finishFirst=%t", finishFirst), func(t *testing.T) {
			f := newFixture(t)
			fence := f.fence()
			f.stage(0, 10)
			e := f.flight(0, shard.Span(0, 10), f.worker)
			f.exec(`DELETE FROM ax.worker`)
			c1, c2 := f.conn(), f.conn()
			rep := f.report(e, 0, shard.Span(0, 6), stage.Succeeded)
			rep.Last = false
			finish := func() { f.finishQuietly(c1, rep) }
			seize := func() {
				if _, _, err := span.Seize(f.ctx, c2, fence, 100); err != nil {
					t.Errorf("seize: %v", err)
				}
			}
			calls := []func(){finish, seize}
			if !finishFirst {
				calls[0], calls[1] = seize, finish
			}
			f.together(`SELECT 1 FROM ax.flight WHERE id = $1 FOR UPDATE`, []any{e}, calls...)
			if finishFirst {
				wantSet(t, "ready", f.set("ready", 0), shard.Span(6, 10))
				want(t, "results", f.results(0), 6)
			} else {
				wantSet(t, "ready", f.set("ready", 0), shard.Span(0, 10))
				want(t, "results", f.results(0), 0)
			}
			want(t, "delivery", f.count(`SELECT delivery FROM ax.ready`), 2)
			want(t, "attempt", f.count(`SELECT attempt FROM ax.ready`), 1)
			want(t, "journal", f.count(`SELECT count(*) FROM ax.journal WHERE kind = 'seized'`), 1)
			f.check()
		})
	}
}

// A finish and a give-back of overlapping indices.
func TestFinishAgainstGiveBack(t *testing.T) {
	for _, finishFirst := range []bool{true, false} {
		f := newFixture(t)
		f.stage(0, 10)
		e := f.flight(0, shard.Span(0, 10), f.worker)
		c1, c2 := f.conn(), f.conn()
		rep := f.report(e, 0, shard.Span(0, 6), stage.Succeeded)
		rep.Last = false
		calls := []func(){
			func() { f.finishQuietly(c1, rep) },
			func() {
				if _, err := span.Return(f.ctx, c2, f.worker, span.GivenBack, []span.Handback{{Execution: e, Run: f.run, Set: shard.Span(4, 10)}}); err != nil {
					t.Errorf("return: %v", err)
				}
			},
		}
		right := shard.Span(6, 10)
		if !finishFirst {
			calls[0], calls[1] = calls[1], calls[0]
			right = shard.Span(4, 10)
		}
		f.together(`SELECT 1 FROM ax.flight WHERE id = $1 FOR UPDATE`, []any{e}, calls...)
		wantSet(t, "ready", f.set("ready", 0), right)
		want(t, "results", f.results(0), 10-right.Len())
		f.check()
	}
}

func TestStaleLeaderSeizesNothing(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 1)
	f.flight(0, shard.Span(0, 1), uuid.Must(uuid.NewV7()))
	fence := f.fence()
	f.exec(`UPDATE ax.lease SET epoch = 2`)
	_, _, err := span.Seize(f.ctx, f.conn(), fence, 100)
	if !errors.Is(err, axsql.ErrFenced) {
		t.Fatalf("seize of a stale epoch: %v, want ErrFenced", err)
	}
	want(t, "ready", f.count(`SELECT count(*) FROM ax.ready`), 0)
	want(t, "flights", f.count(`SELECT count(*) FROM ax.flight`), 1)
}

func TestStaleLeaderTakesNothingAway(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 1)
	e := f.flight(0, shard.Span(0, 1), f.worker)
	fence := f.fence()
	f.exec(`UPDATE ax.lease SET epoch = 2`)
	_, err := span.SeizeFrom(f.ctx, f.conn(), fence, []span.Handback{{Execution: e, Run: f.run, Set: shard.Of(0)}})
	if !errors.Is(err, axsql.ErrFenced) {
		t.Fatalf("taking away in a term that is over: %v, want ErrFenced", err)
	}
	want(t, "ready", f.count(`SELECT count(*) FROM ax.ready`), 0)
	want(t, "flights", f.count(`SELECT count(*) FROM ax.flight`), 1)
}

// A take-over waits for the transaction that holds the fence, and the fence does not hold up renewals.
func TestFenceHoldsTakeOver(t *testing.T) {
	f := newFixture(t)
	fence := f.fence()
	c := f.conn()
	tx, err := c.Begin(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(f.ctx, `WITH held AS (SELECT 1 FROM ax.lease WHERE name = $1 AND epoch = $2 FOR KEY SHARE) SELECT count(*) FROM held`, fence.Name, fence.Epoch); err != nil {
		t.Fatal(err)
	}
	f.exec(`UPDATE ax.lease SET expires_at = now() + '1 minute', renewed_at = now()`) // a renewal passes
	taken := make(chan error, 1)
	go func() {
		_, err := f.pool.Exec(f.ctx, `UPDATE ax.lease SET epoch = epoch + 1`)
		taken <- err
	}()
	f.blocked(1)
	if err := tx.Commit(f.ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
	want(t, "epoch", f.count(`SELECT epoch FROM ax.lease`), 2)
}

// An index that was lost alone PoisonCap times from the third delivery on is parked; neighbours of a lost piece
// and interruptions never count.
func TestPoison(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 3)
	gone := uuid.Must(uuid.NewV7())
	f.flight(0, shard.Span(0, 2), gone)
	f.exec(`INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, reason, namespace, queue, todo)
	        VALUES (gen_random_uuid(), $1, now(), now(), 1, 1, 0, 1, 0, 1, 1, 0, 2, 3, 'default', 'default', '{[2,3)}')`, f.run)
	f.seize()
	want(t, "losses of a piece", f.count(`SELECT losses FROM ax.ready`), 0)
	f.exec(`DELETE FROM ax.ready`)
	f.flightAt(0, shard.Of(1), f.worker, 1, 9)
	for loss := 1; loss <= span.PoisonCap; loss++ {
		f.exec(`INSERT INTO ax.flight (id, run_id, worker_id, ready_at, dispatched_at, version_id, epoch, par, ord, generation, kind,
		                               attempt, delivery, losses, level, namespace, queue, todo)
		        VALUES ($1, $2, $3, now(), now(), 1, 1, 1, 0, 1, 0, 1, $4, $5, 2, 'default', 'default', '{[0,1)}')`,
			uuid.Must(uuid.NewV7()), f.run, gone, span.AloneFrom+loss-1, loss-1)
		f.seize()
		if loss < span.PoisonCap {
			want(t, "losses", f.count(`SELECT losses FROM ax.ready`), loss)
			f.exec(`DELETE FROM ax.ready`)
		}
	}
	want(t, "poisoned", f.count(`SELECT count(*) FROM ax.parked WHERE reason = $1 AND todo = '{[0,1)}'`, int(span.Poison)), 1)
	want(t, "ready", f.count(`SELECT count(*) FROM ax.ready`), 0)
	f.check()
}
