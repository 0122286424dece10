package axflow_test

import (
	"context"
	"sync/atomic"
	"testing"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

type sale struct {
	Region string `json:"region"`
	Audit  bool   `json:"audit"`
}

// A flow that chooses one of two branches, joins them again, and has parts that only some runs need.
func TestConditionsAndBranches(t *testing.T) {
	var planned atomic.Int64
	choose := stage.New("choose", func(_ context.Context, o sale) (string, error) { return o.Region, nil })
	branch := func(name string) *stage.Stage[sale, string] {
		return stage.New(name, func(context.Context, sale) (string, error) { return "by " + name, nil }, stage.OnBranch(choose, name)).After(choose)
	}
	eu, us := branch("eu"), branch("us")
	join := stage.New("join", func(ctx context.Context, _ sale) (string, error) {
		if s, err := eu.Output(ctx); err == nil {
			return s, nil
		}
		return us.Output(ctx)
	}, stage.WithRule(stage.NoneFailedMinOneSuccess)).After(eu, us)
	audit := shard.New("audit", func(context.Context, sale) (shard.Plan, error) {
		planned.Add(1)
		return shard.N(3), nil
	}, func(context.Context, sale, shard.Shard) (int, error) { return 1, nil },
		stage.When(func(_ context.Context, o sale) (bool, error) { return o.Audit, nil })).After(choose)
	report := stage.New("report", func(ctx context.Context, _ sale) (int, error) {
		sum := 0
		for _, n := range audit.Outputs(ctx) {
			sum += n
		}
		return sum, nil
	}).After(audit)
	f := flow.New("orders", choose, eu, us, join, audit, report)
	l := open(t, nil, f)

	id := start(l, f, sale{Region: "us", Audit: true})
	l.ends(id, stage.RunSucceeded)
	l.wantStates(id, map[string]stage.StageState{"eu": stage.StageSkipped, "us": stage.StageSucceeded, "join": stage.StageSucceeded, "audit": stage.StageSucceeded, "report": stage.StageSucceeded})
	wantOutput(l, id, join, "by us")
	wantOutput(l, id, report, 3)

	id = start(l, f, sale{Region: "eu"})
	l.ends(id, stage.RunSucceeded)
	l.wantStates(id, map[string]stage.StageState{"eu": stage.StageSucceeded, "us": stage.StageSkipped, "audit": stage.StageSkipped, "report": stage.StageSkipped})
	wantOutput(l, id, join, "by eu")

	id = start(l, f, sale{Region: "mars"})
	l.ends(id, stage.RunSucceeded)
	l.wantStates(id, map[string]stage.StageState{"eu": stage.StageSkipped, "us": stage.StageSkipped, "join": stage.StageSkipped})
	want(t, "plans", planned.Load(), 1)
}
