package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"axflow/stage"
)

// The Heartbeat time-out counts from the start, and from each sign of life on.
func TestSilentHandlerTimesOut(t *testing.T) {
	started, beat, beaten := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var cause error
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		close(started)
		<-beat
		stage.Heartbeat(ctx)
		close(beaten)
		<-ctx.Done()
		cause = context.Cause(ctx)
		return "", ctx.Err()
	}, stage.Timeout{Execution: 24 * time.Hour, Heartbeat: time.Hour}, stage.Retry{InitialInterval: 10 * time.Second, Jitter: stage.NoJitter}), nil)
	l.release("a", 1, "")
	l.hand("a", single)
	<-started
	p := l.w.pools[0]
	sign := func() time.Duration { return time.Duration(p.tasks.sign.Load()) }
	p.mu.Lock()
	first := sign()
	p.mu.Unlock()
	want(t, "when to look again", p.expire(first+time.Hour-1), first+time.Hour)
	close(beat)
	<-beaten
	p.mu.Lock()
	second := sign()
	p.mu.Unlock()
	if second <= first {
		t.Fatalf("the sign of life is of %v, before it %v", second, first)
	}
	p.expire(second + time.Hour - 1) // the first hour is over, the second is not
	want(t, "results", l.count(`SELECT count(*) FROM ax.result`), 0)
	want(t, "timed out", l.w.Stats().TimedOut, 0)
	p.expire(second + time.Hour)
	r := l.one("a", 0)
	want(t, "outcome", r.outcome, stage.TimedOut)
	want(t, "code", r.failure.Code, "heartbeat_timeout")
	wantText(t, "message", r.failure.Message, "1h0m0s", "stage.Heartbeat")
	want(t, "cause", errors.Is(cause, ErrSilent), true)
	want(t, "not tried again at once", l.count(`SELECT count(*) FROM ax.ready WHERE attempt = 2 AND not_before >= now() + interval '8 s'`), 1)
	l.check()
}

// A policy can say that silence is not worth a retry.
func TestSilenceIsNotRetriedWhenListed(t *testing.T) {
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}, stage.Timeout{Heartbeat: 50 * time.Millisecond}, stage.Retry{NonRetryable: []string{CodeSilent}}), nil)
	l.release("a", 1, "")
	l.hand("a", single)
	l.state("a", stage.StageFailed)
	want(t, "outcome", l.one("a", 0).outcome, stage.TimedOut)
	l.check()
}
