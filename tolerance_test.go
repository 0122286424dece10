package axflow_test

import (
	"context"
	"errors"
	"testing"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

type amount struct {
	N     int  `json:"n"`
	Fails int  `json:"fails"` // so many shards fail
	Hang  bool `json:"hang"`
}

// What the joining stage sees when some shards have failed for good.
func TestToleranceAndFailFast(t *testing.T) {
	handle := func(_ context.Context, p amount, s shard.Shard) (int, error) {
		if s.Index < p.Fails {
			return 0, stage.Permanent(errors.New("bad data"))
		}
		return 1, nil
	}
	ten := func(context.Context, amount) (shard.Plan, error) { return shard.N(10), nil }
	lenient := shard.New("lenient", ten, handle, stage.Tolerate(2))
	join := stage.New("join", func(ctx context.Context, _ amount) (int, error) {
		c, err := lenient.Counts(ctx)
		if err != nil {
			return 0, err
		}
		sum := 0
		for _, n := range lenient.Outputs(ctx) {
			sum += n
		}
		return 100*c.Total + 10*c.Failed + sum, nil
	}).After(lenient)
	f := flow.New("tolerant", lenient, join)
	strict := shard.New("strict", func(context.Context, amount) (shard.Plan, error) { return shard.N(5000), nil },
		func(ctx context.Context, p amount, s shard.Shard) (int, error) {
			if s.Index == 0 {
				return 0, stage.Permanent(errors.New("bad data"))
			}
			<-ctx.Done() // the others would run for ever
			return 0, ctx.Err()
		}, stage.FailFast())
	g := flow.New("strict", strict)
	l := open(t, nil, f, g)

	id := start(l, f, amount{Fails: 2})
	l.ends(id, stage.RunSucceeded)
	wantOutput(l, id, join, 1028) // ten shards, two failed, eight outputs of 1
	id = start(l, f, amount{Fails: 3})
	l.ends(id, stage.RunFailed)
	l.wantStates(id, map[string]stage.StageState{"lenient": stage.StageFailed, "join": stage.StageUpstreamFailed})

	id = start(l, g, amount{})
	l.ends(id, stage.RunFailed)
	l.wantStates(id, map[string]stage.StageState{"strict": stage.StageFailed})
	want(t, "dead letters", l.count(`SELECT sum(n)::int FROM ax.parked WHERE run_id = $1 AND reason = 1`, id), 1)
	want(t, "cancelled", l.count(`SELECT sum(n)::int FROM ax.parked WHERE run_id = $1 AND reason = 2`, id), 4999)
}
