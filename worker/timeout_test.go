package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"axflow/shard"
	"axflow/stage"
)

func TestTimeout(t *testing.T) {
	causes := make(chan error, 1)
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return "", ctx.Err()
	}, stage.Timeout{Execution: 30 * time.Millisecond}, stage.Retry{InitialInterval: 3 * time.Second, Jitter: stage.NoJitter}), nil)
	l.release("a", 1, "")
	l.hand("a", single)
	r := l.one("a", 0)
	want(t, "cause", errors.Is(<-causes, ErrTimeout), true)
	want(t, "outcome", r.outcome, stage.TimedOut)
	want(t, "code", r.failure.Code, CodeTimeout)
	wantText(t, "message", r.failure.Message, "30ms")
	if took := r.finished.Sub(r.started); took < 30*time.Millisecond || took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	// It is tried again, never at once.
	want(t, "later", l.count(`SELECT count(*) FROM ax.ready WHERE attempt = 2 AND not_before - ready_at > interval '2.8 s'`), 1)
	l.check()
}

// A handler that ends well although its time has run out has ended well.
func TestSuccessInSpiteOfTimeout(t *testing.T) {
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		<-ctx.Done()
		return "done", nil
	}, stage.Timeout{Execution: 30 * time.Millisecond}), nil)
	l.release("a", 1, "")
	l.hand("a", single)
	l.state("a", stage.StageSucceeded)
	want(t, "output", l.one("a", 0).output, `"done"`)
	l.check()
}

// A handler that ignores its context ends without itself; its slot stays taken, and what it returns is dropped.
func TestTimeoutOfAHandlerThatDoesNotReturn(t *testing.T) {
	free := make(chan struct{})
	l := newLab(t, shards(func(_ context.Context, _ day, s shard.Shard) (string, error) {
		if s.Index == 0 {
			<-free
		}
		return "late", nil
	}, stage.Timeout{Execution: 30 * time.Millisecond}), func(c *Config) {
		c.Slots, c.Abandon = 1, 20*time.Millisecond
	})
	l.release("a", 2, counted)
	l.hand("a", shard.Span(0, 2), func(h *handOut) { h.par = 1 })
	r := l.one("a", 0)
	want(t, "outcome", r.outcome, stage.TimedOut)
	want(t, "ready", l.count(`SELECT count(*) FROM ax.ready WHERE attempt = 2`), 1)
	// The leader is told that the pool has no slot left.
	l.eventually("the heartbeat does not tell", `SELECT handlers->>$1 = '0' FROM ax.worker`, l.flow.Graph().HandlerKey(0))
	want(t, "shard 1 has not started", len(l.results("a", 1)), 0)
	close(free)
	l.stats("the handler has returned", func(s Stats) bool { return s.Late == 1 })
	want(t, "shard 1", l.one("a", 1).output, `"late"`)
	want(t, "results of shard 0", len(l.results("a", 0)), 1)
	l.eventually("the heartbeat does not tell", `SELECT handlers->>$1 = '1' FROM ax.worker`, l.flow.Graph().HandlerKey(0))
	l.check()
}

// What is not started in time goes back without an attempt.
func TestDispatchTimeout(t *testing.T) {
	free := make(chan struct{})
	started := make(chan struct{}, 10)
	l := newLab(t, shards(func(context.Context, day, shard.Shard) (string, error) {
		started <- struct{}{}
		<-free
		return "", nil
	}, stage.Timeout{Dispatch: 100 * time.Millisecond}), nil)
	l.release("a", 10, counted)
	l.hand("a", shard.Span(0, 10), func(h *handOut) { h.par = 2 })
	<-started
	<-started
	l.eventually("nothing goes back", `SELECT sum(n) = 8 FROM ax.ready WHERE attempt = 1 AND delivery = 1 AND not_before <= now()`)
	close(free)
	wantSet(t, "ready", l.set("ready", "a"), shard.Span(2, 10))
	l.stats("two end", func(s Stats) bool { return s.Succeeded == 2 && s.Returned == 8 })
	l.check()
}

// Thousands of time-outs that come and go do not disturb those that stay.
func TestWatchdogSeesShortTimeoutsAmongLongOnes(t *testing.T) {
	l := newLab(t, shards(func(ctx context.Context, _ day, s shard.Shard) (string, error) {
		if s.Index%1000 == 999 {
			<-ctx.Done()
			return "", ctx.Err()
		}
		return "", nil
	}, stage.Timeout{Execution: 40 * time.Millisecond}, stage.Retry{MaxAttempts: 1}), nil)
	l.release("a", 5000, counted)
	l.hand("a", shard.Span(0, 5000))
	l.state("a", stage.StageFailed)
	wantSet(t, "dead", l.set("parked", "a"), shard.Of(999, 1999, 2999, 3999, 4999))
	l.check()
}

func TestErrorIsBounded(t *testing.T) {
	f := failure{Code: strings.Repeat("c", 300), Message: strings.Repeat("\x01", 100_000), Stack: strings.Repeat("é", 100_000)}
	b := f.encode()
	if len(b) > maxFailure {
		t.Errorf("%d bytes, want %d at most", len(b), maxFailure)
	}
	short := failure{Code: "c", Message: "m"}.encode()
	want(t, "a short one", string(short), `{"code":"c","message":"m"}`)
	wantText(t, "a long one", string(failure{Code: "c", Message: strings.Repeat("m", 10_000)}.encode()), "mmm… (", "bytes more)")
}
