package worker

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"axflow/stage"
)

// What a handler says of itself rides in the heartbeat, and is a sign of life.
func TestProgressRidesInTheHeartbeat(t *testing.T) {
	say := make(chan func(context.Context))
	said := make(chan struct{})
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		for f := range say {
			f(ctx)
			said <- struct{}{}
		}
		return "", nil
	}), nil)
	l.release("a", 1, "")
	l.hand("a", single)
	tell := func(f func(context.Context)) {
		t.Helper()
		say <- f
		<-said
	}
	shows := func(what string) {
		t.Helper()
		l.eventually("the heartbeat does not show "+what, `SELECT running->0 @> $1::jsonb AND (running->0) - 'execution' - 'index' - 'started' - 'at' = $1::jsonb FROM ax.worker`, what)
	}
	shows(`{}`)
	l.eventually("a handler that has said nothing has", `SELECT NOT running->0 ? 'at' FROM ax.worker`)
	tell(func(ctx context.Context) { stage.Progress(ctx, 3, 10) })
	shows(`{"done": 3, "total": 10}`)
	l.eventually("it does not say when", `SELECT (running->0->>'at')::timestamptz BETWEEN now() - interval '1 min' AND now() + interval '1 s' FROM ax.worker`)
	tell(func(ctx context.Context) { stage.Progress(ctx, 4.5, 0) })
	shows(`{"done": 4.5}`)
	tell(func(ctx context.Context) { stage.Detail(ctx, "page 3\xff\x00") })
	shows(`{"done": 4.5, "detail": "page 3��"}`)
	tell(func(ctx context.Context) { stage.Detail(ctx, strings.Repeat("€", 1000)) })
	shows(`{"done": 4.5, "detail": "` + strings.Repeat("€", 65) + `…"}`) // 195 and 3 bytes of 200
	tell(func(ctx context.Context) { stage.Progress(ctx, math.NaN(), math.Inf(1)); stage.Detail(ctx, "") })
	shows(`{}`)
	tell(func(ctx context.Context) { stage.Progress(ctx, int64(7), 7) })
	shows(`{"done": 7, "total": 7}`)
	close(say)
	l.one("a", 0)
	l.check()
}

// Progress keeps a stage with a Heartbeat time-out alive, as Heartbeat does.
func TestProgressIsASignOfLife(t *testing.T) {
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		begun := time.Now()
		for i := 0; time.Since(begun) < 3*time.Second; i++ {
			if i%2 == 0 {
				stage.Progress(ctx, i, 0)
			} else {
				stage.Detail(ctx, "still here")
			}
			select {
			case <-ctx.Done():
				return "", context.Cause(ctx)
			case <-time.After(20 * time.Millisecond):
			}
		}
		return "", nil
	}, stage.Timeout{Heartbeat: time.Second}), nil)
	l.release("a", 1, "")
	l.hand("a", single)
	want(t, "outcome", l.one("a", 0).outcome, stage.Succeeded)
	l.check()
}

// The heartbeat lists the longest running first, and no more than its limit.
func TestTheLongestRunningAreListed(t *testing.T) {
	w := &Worker{clk: newClock(nil)}
	w.clk.born = time.Now().Add(-time.Hour)
	for range 2 {
		p := newPool(w, "k", 4)
		w.pools = append(w.pools, p)
		f := &flight{pool: p}
		for i := range maxRunning {
			x := &task{f: f, index: int32(i), begun: time.Duration(maxRunning-i) * time.Second}
			x.next, p.tasks = p.tasks, x
		}
	}
	var list []running
	if err := json.Unmarshal(w.longRunning(), &list); err != nil {
		t.Fatal(err)
	}
	want(t, "listed", len(list), maxRunning)
	for i, r := range list {
		if right := int32(maxRunning - 1 - i/2); r.Index != right {
			t.Fatalf("place %d: index %d, want %d", i, r.Index, right)
		}
	}
}
