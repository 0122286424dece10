package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"axflow/stage"
)

// RetryAfter takes the place of the policy's interval. Nothing makes it shorter, and nothing longer by more than a
// hundredth.
func TestRetryAfter(t *testing.T) {
	asked := 3150 * time.Millisecond
	l := newLab(t, oneStage(func(context.Context, day) (string, error) {
		return "", stage.RetryAfter(asked, errors.New("busy"))
	}, stage.Retry{MaxAttempts: 2, InitialInterval: time.Hour, MaximumInterval: time.Hour}), nil)
	l.release("a", 1, "")
	l.hand("a", single)
	r := l.one("a", 0)
	want(t, "outcome", r.outcome, stage.Failed)
	want(t, "message", r.failure.Message, "busy")
	var attempt int
	var wait float64
	if err := l.pool.QueryRow(l.ctx, `SELECT attempt, extract(epoch FROM not_before - ready_at)::float8 FROM ax.ready`).Scan(&attempt, &wait); err != nil {
		t.Fatal(err)
	}
	want(t, "attempt", attempt, 2)
	if wait < 3.15 || wait > 3.15+0.032 {
		t.Errorf("it waits %v s, want 3.15 and 0.032 more at most", wait)
	}
	l.exec(`DELETE FROM ax.ready`)
	l.hand("a", single, func(h *handOut) { h.attempt = 2 }) // the last attempt: what it asks for does not matter
	l.state("a", stage.StageFailed)
	l.check()
}

func TestOnGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(stage.MaxRetryAfter)).Draw(t, "d"))
		g := onGrid(d)
		if g < d || g-d >= max(10*time.Millisecond, d/100+1) || g%(10*time.Millisecond) != 0 {
			t.Fatalf("%v becomes %v", d, g)
		}
	})
}

// An operator's retry raises the limit; the handler sees it in the last attempts.
func TestRaisedAttemptsAreSeen(t *testing.T) {
	var infos []stage.Info
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		info, _ := stage.InfoFrom(ctx)
		infos = append(infos, info)
		return "", errors.New("no")
	}, stage.Retry{MaxAttempts: 3}), nil)
	l.release("a", 1, "")
	for attempt := 2; attempt <= 4; attempt++ {
		if attempt == 4 {
			l.exec(`DELETE FROM ax.parked; UPDATE ax.stage SET state = 2, max_attempts = 5 WHERE ord = 0`)
		}
		l.hand("a", single, func(h *handOut) { h.attempt = attempt })
		l.eventually("no result", `SELECT count(*) = $1 FROM ax.result`, attempt-1)
		l.eventually("the flight stays", `SELECT count(*) = 0 FROM ax.flight`)
		l.exec(`DELETE FROM ax.ready`)
	}
	for i, limit := range []int{3, 3, 5} {
		want(t, "attempt", infos[i].Attempt, i+2)
		want(t, "attempts", infos[i].MaxAttempts, limit)
	}
	if err := l.end(); err != nil {
		t.Error(err)
	}
}
