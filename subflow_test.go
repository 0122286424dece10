package axflow_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"axflow"
	"axflow/flow"
	"axflow/stage"
	"axflow/worker"
)

// A stage that runs a sub-flow takes its result, holds no slot while it waits, fails with it, and passes a cancel on.
func TestSubFlow(t *testing.T) {
	var fails atomic.Int64
	working := make(chan struct{}, 1)
	double := stage.New("double", func(ctx context.Context, a amount) (int, error) {
		if a.Hang {
			working <- struct{}{}
			<-ctx.Done()
			return 0, ctx.Err()
		}
		if fails.Add(-1) >= 0 {
			return 0, stage.Permanent(errors.New("not today"))
		}
		return 2 * a.N, nil
	})
	child := flow.New("doubling", double)
	first := stage.New("first", func(_ context.Context, a amount) (int, error) { return a.N + 1, nil })
	sub := flow.Sub("sub", child, double, func(ctx context.Context, a amount) (amount, error) {
		n, err := first.Output(ctx)
		return amount{N: n, Hang: a.Hang}, err
	}, stage.Retry{MaxAttempts: 2, InitialInterval: 1, Jitter: stage.NoJitter}).After(first)
	last := stage.New("last", func(ctx context.Context, _ amount) (int, error) {
		n, err := sub.Output(ctx)
		return n + 100, err
	}).After(sub)
	parent := flow.New("parent", first, sub, last)
	l := open(t, nil, parent, child)
	children := func(state stage.RunState) int {
		return l.count(`SELECT count(*) FROM ax.run WHERE flow = 'doubling' AND trigger = 'child' AND state = $1`, state)
	}

	id := start(l, parent, amount{N: 4})
	l.ends(id, stage.RunSucceeded)
	wantOutput(l, id, sub, 10)
	wantOutput(l, id, last, 110)
	want(t, "runs of the sub-flow", children(stage.RunSucceeded), 1)
	want(t, "results of the stage", l.count(`SELECT count(*) FROM ax.result WHERE run_id = $1 AND ord = 1`, id), 1)

	fails.Store(1) // the second attempt starts a run of its own
	id = start(l, parent, amount{N: 1})
	l.ends(id, stage.RunSucceeded)
	wantOutput(l, id, last, 104)
	want(t, "failed runs", children(stage.RunFailed), 1)

	fails.Store(2)
	id = start(l, parent, amount{N: 1})
	l.ends(id, stage.RunFailed)
	l.wantStates(id, map[string]stage.StageState{"sub": stage.StageFailed, "last": stage.StageUpstreamFailed})

	fails.Store(0)
	id = start(l, parent, amount{Hang: true})
	<-working
	l.eventually("the parent does not wait", `SELECT count(*) = 1 FROM ax.parked WHERE run_id = $1 AND reason = 7`, id)
	if _, err := l.p.Client().Cancel(l.ctx, id, false, axflow.Who{Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	l.ends(id, stage.RunCancelled)
	l.eventually("the child is not cancelled", `SELECT count(*) = 1 FROM ax.run WHERE flow = 'doubling' AND state = 12`)
}

// More tasks wait for sub-flows than the worker has slots, and the sub-flows need such slots themselves.
func TestWaitingForSubFlowsHoldsNoSlot(t *testing.T) {
	square := stage.New("square", func(_ context.Context, a amount) (int, error) { return a.N * a.N, nil })
	child := flow.New("squaring", square)
	// A sub-flow in a sub-flow: the middle one waits too.
	mid := flow.Sub("mid", child, square, func(_ context.Context, a amount) (amount, error) { return a, nil })
	middle := flow.New("middle", mid)
	top := flow.Sub("top", middle, mid, func(_ context.Context, a amount) (amount, error) { return a, nil })
	parent := flow.New("top", top)
	l := open(t, func(c *axflow.Config) { c.TuneWorker = func(w *worker.Config) { w.Slots = 1 } }, parent, middle, child)
	params := make([]amount, 20)
	for i := range params {
		params[i].N = i
	}
	ids, err := axflow.StartMany(l.ctx, l.p.Client(), parent, params)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		l.ends(id, stage.RunSucceeded)
		wantOutput(l, id, top, i*i)
	}
	want(t, "runs in all", l.count(`SELECT count(*) FROM ax.run`), 60)
	want(t, "attempts of those that wait", l.count(`SELECT max(attempt) FROM ax.result`), 1)
}
