package worker

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"axflow/shard"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/stage"
)

// One result that the database will not store does not hold up the others: it becomes a failure of its own.
func TestPoisonedResult(t *testing.T) {
	var bad atomic.Int32
	l := newLab(t, shards(func(_ context.Context, _ day, s shard.Shard) (string, error) {
		if s.Index == 37 {
			bad.Store(2) // this shard's two times are before PostgreSQL's calendar
		}
		return "", nil
	}), func(c *Config) {
		c.Slots = 1
		c.Clock = func() time.Time {
			if bad.Add(-1) >= 0 {
				return time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC)
			}
			bad.Store(0)
			return time.Now()
		}
	})
	l.release("a", 100, counted)
	l.hand("a", shard.Span(0, 100), func(h *handOut) { h.par = 1 })
	l.state("a", stage.StageFailed)
	want(t, "succeeded", l.count(`SELECT count(*) FROM ax.result WHERE outcome = 10`), 99)
	r := l.one("a", 37)
	want(t, "outcome", r.outcome, stage.Failed)
	want(t, "code", r.failure.Code, CodeRefused)
	wantText(t, "message", r.failure.Message, "timestamp")
	wantSet(t, "dead", l.set("parked", "a"), shard.Of(37))
	want(t, "poisoned", l.w.Stats().Poisoned, 1)
	want(t, "faults", l.w.Stats().Faults, 0)
	l.check()
}

// The network fails after the commit and before its answer: the batch is repeated, refused, and done; the leader is
// told to look, because what the lost answer said is not known.
func TestCommitWhoseAnswerIsLost(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		cut  int32 // which answer: the transaction of failures has two
		want stage.StageState
	}{"of successes": {nil, 1, stage.StageSucceeded}, "of failures": {stage.Permanent(errors.New("no")), 2, stage.StageFailed},
		"amid failures": {stage.Permanent(errors.New("no")), 1, stage.StageFailed}} {
		t.Run(name, func(t *testing.T) {
			proceed := make(chan struct{})
			l := newLab(t, shards(func(context.Context, day, shard.Shard) (string, error) {
				<-proceed
				return "", tc.err
			}), func(c *Config) { c.Beat, c.FinishConns = time.Hour, 1 })
			l.release("a", 4, counted)
			// A first commit, so that the connection exists and knows the statements.
			id := l.hand("a", shard.Span(1, 4), func(h *handOut) { h.mute = true })
			one := l.hand("a", shard.Of(0))
			proceed <- struct{}{}
			l.hears("the first commit", func(n hint.Engine) bool { return len(n.Left) == 1 && n.Left[0].Flight == one })
			l.bus.ToWorker(l.w.ID(), hint.Worker{IDs: []uuid.UUID{id}})
			l.stats("three run", func(s Stats) bool { return s.Started == 4 })
			l.cut.armed.Store(tc.cut)
			close(proceed)
			l.state("a", tc.want)
			l.hears("the flight is over", func(n hint.Engine) bool {
				return len(n.Left) == 1 && n.Left[0].Flight == id && n.Left[0].Left == 0 && n.Look && len(n.Stages) > 0
			})
			want(t, "cuts", l.cut.cuts.Load(), 1)
			want(t, "results", l.count(`SELECT count(*) FROM ax.result`), 4)
			want(t, "faults", l.w.Stats().Faults, 1)
			l.check()
		})
	}
}

// The session is killed in the middle of a commit: it is repeated on a new one.
func TestKilledConnection(t *testing.T) {
	l := newLab(t, shards(func(context.Context, day, shard.Shard) (string, error) { return "", nil }), nil)
	l.release("a", 100, counted)
	unlock := l.lock(`LOCK TABLE ax.result IN EXCLUSIVE MODE`)
	l.hand("a", shard.Span(0, 100))
	l.blocked(1)
	l.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	l.stats("it is repeated", func(s Stats) bool { return s.Faults > 0 })
	unlock()
	l.state("a", stage.StageSucceeded)
	want(t, "results", l.count(`SELECT count(*) FROM ax.result`), 100)
	l.check()
}

// While results cannot be committed, no more than Buffer of them wait; then nothing starts.
func TestBackPressure(t *testing.T) {
	l := newLab(t, shards(func(context.Context, day, shard.Shard) (string, error) { return "", nil }), func(c *Config) {
		c.BatchSize, c.Buffer, c.FinishConns = 5, 20, 1
	})
	l.release("a", 500, counted)
	unlock := l.lock(`LOCK TABLE ax.result IN EXCLUSIVE MODE`)
	id := l.hand("a", shard.Span(0, 500))
	l.stats("the buffer is full", func(s Stats) bool { return s.Waiting >= 20 })
	l.blocked(1)
	// The executors wait: none of them holds a task.
	l.stats("nothing runs", func(Stats) bool { return l.w.open() == 0 })
	if n := l.w.Stats().Started; n > 24 {
		t.Errorf("%d tasks have started, want 20 and one a slot at most", n)
	}
	unlock()
	l.state("a", stage.StageSucceeded)
	l.hears("the flight is over", func(n hint.Engine) bool { return len(n.Left) == 1 && n.Left[0].Flight == id && n.Left[0].Left == 0 })
	if n := l.w.Stats().Batches; n < 100 {
		t.Errorf("%d commits of at most 5 results for 500", n)
	}
	l.check()
}

// A flight that was taken away while its results were on their way is dropped with what is left of it.
func TestRefusedReportDropsTheFlight(t *testing.T) {
	proceed := make(chan struct{})
	causes := make(chan error, 4)
	l := newLab(t, shards(func(ctx context.Context, _ day, s shard.Shard) (string, error) {
		if s.Index == 0 {
			<-proceed
			return "", nil
		}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return "", ctx.Err()
	}), func(c *Config) { c.Beat = time.Hour })
	l.release("a", 4, counted)
	id := l.hand("a", shard.Span(0, 4), func(h *handOut) { h.par = 2 })
	l.stats("two run", func(s Stats) bool { return s.Started == 2 })
	l.exec(`DELETE FROM ax.flight WHERE id = $1`, id)
	l.hand("a", shard.Span(0, 4), func(h *handOut) { h.worker, h.mute = uuid.New(), true })
	close(proceed)
	want(t, "cause", errors.Is(<-causes, ErrLost), true)
	l.stats("the flight is dropped", func(s Stats) bool { return s.Lost == 1 })
	want(t, "results", l.count(`SELECT count(*) FROM ax.result`), 0)
	l.check()
	want(t, "started", l.w.Stats().Started, 3)
}

// halve keeps every result once and in order.
func TestHalve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var reports []span.Report
		n, last := 0, 0
		for range rapid.IntRange(1, 5).Draw(t, "reports") {
			r := span.Report{Execution: uuid.New(), Last: rapid.Bool().Draw(t, "last")}
			for range rapid.IntRange(1, 5).Draw(t, "results") {
				r.Results = append(r.Results, span.Result{Index: int32(n)})
				n++
			}
			if r.Last {
				last++
			}
			reports = append(reports, r)
		}
		first, second := halve(reports)
		var got []span.Result
		sizes := [2]int{}
		for i, half := range [][]span.Report{first, second} {
			for _, r := range half {
				got = append(got, r.Results...)
				sizes[i] += len(r.Results)
				if r.Last {
					last--
				}
			}
		}
		for i, r := range got {
			if int(r.Index) != i {
				t.Fatalf("result %d is at place %d", r.Index, i)
			}
		}
		if len(got) != n || last != 0 || n > 1 && (sizes[0] != n/2 || sizes[1] != n-n/2) {
			t.Fatalf("%d results in halves of %v, %d lasts too many or few", n, sizes, last)
		}
	})
}
