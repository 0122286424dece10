package axflow_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"axflow"
	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
	"axflow/worker"
)

// 3,000 tasks fail at once, because what they all call is down for a moment, and come back. The retry window turns that
// into a stream: the downstream sees a bounded load, spread over the time that the window makes it last.
func TestIncidentRetryStorm(t *testing.T) {
	const tasks, retries, per = 3000, 100, 100 * time.Millisecond
	var mu sync.Mutex
	var calls []time.Time // of retries, as the downstream sees them
	var down atomic.Int64
	storm := flow.New("storm", shard.New("call", func(context.Context, struct{}) (shard.Plan, error) { return shard.N(tasks), nil },
		func(ctx context.Context, _ struct{}, _ shard.Shard) (struct{}, error) {
			if info, _ := stage.InfoFrom(ctx); info.Attempt == 1 {
				down.Add(1)
				return struct{}{}, errors.New("503 service unavailable")
			}
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, time.Now())
			return struct{}{}, nil
		}, stage.Retry{InitialInterval: time.Second, Jitter: stage.NoJitter}, stage.RetryWindow{Retries: retries, Per: per}))
	l := open(t, func(c *axflow.Config) { c.TuneWorker = func(w *worker.Config) { w.Slots = 64 } }, storm)
	id := start(l, storm, struct{}{})
	l.ends(id, stage.RunSucceeded)
	want(t, "first attempts", down.Load(), tasks)
	want(t, "retries", len(calls), tasks)
	slices.SortFunc(calls, time.Time.Compare)
	// At most 100 in any 100 ms means at most 1,000 in any second; a busy machine may move some starts by some moments.
	most, first := 0, 0
	for last := range calls {
		for calls[last].Sub(calls[first]) >= time.Second {
			first++
		}
		most = max(most, last-first+1)
	}
	if most > 1500 {
		t.Errorf("%d retries started within one second, want 1,000 and some", most)
	}
	// The first 100 start at once, the others need 29 windows.
	if lasted := calls[len(calls)-1].Sub(calls[0]); lasted < 25*per {
		t.Errorf("all retries came within %v, want them spread over %v", lasted, 29*per)
	}
	want(t, "attempts", l.count(`SELECT max(attempt) FROM ax.result WHERE run_id = $1 AND shard >= 0`, id), 2)
}
