package axflow_test

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"axflow"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/sql/history"
	"axflow/stage"
)

// A stage's limit is exact over two workers and two runs: never more than three at once, and three when there is work.
func TestLimitIsExactAcrossWorkers(t *testing.T) {
	ctx := pgtest.Context(t, 60*time.Second)
	d := pgtest.New(t)
	var running, most, done atomic.Int64
	limited := flow.New("limited", shard.New("work",
		func(context.Context, struct{}) (shard.Plan, error) { return shard.N(60), nil },
		func(ctx context.Context, _ struct{}, _ shard.Shard) (struct{}, error) {
			n := running.Add(1)
			defer running.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			work, stop := context.WithTimeout(ctx, 5*time.Millisecond)
			defer stop()
			<-work.Done()
			done.Add(1)
			return struct{}{}, nil
		}, stage.Limit(3)))
	for i := range 2 {
		p, err := axflow.Open(ctx, axflow.Config{DatabaseURL: d.URL, Flows: []flow.Definition{limited}, Engine: i == 0,
			Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			t.Fatal(err)
		}
		run, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- p.Run(run) }()
		defer func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			p.Close()
		}()
		if i == 0 {
			continue
		}
		ids, err := axflow.StartMany(ctx, p.Client(), limited, make([]struct{}, 2))
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if err := axflow.Wait(ctx, p.Client(), id); err != nil {
				t.Error(err)
			}
		}
	}
	if most.Load() != 3 || done.Load() != 120 {
		t.Errorf("%d ran at once and %d in all, want 3 and 120", most.Load(), done.Load())
	}
	found, err := history.Check(ctx, d.Pool, history.Options{Ended: true})
	if err != nil || len(found) > 0 {
		t.Errorf("history: %v %v", found, err)
	}
}
