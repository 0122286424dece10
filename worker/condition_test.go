package worker

import (
	"context"
	"errors"
	"testing"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// conditional is a stage "a" with an output, and a stage "b" that runs if that is what it should be.
func conditional(cond func(context.Context, string) (bool, error), ran *int) flow.Definition {
	a := stage.New("a", func(context.Context, day) (string, error) { return "left", nil })
	return flow.New("f", a, stage.New("b", func(context.Context, day) (string, error) {
		*ran++
		return "done", nil
	}, stage.When(func(ctx context.Context, _ day) (bool, error) {
		out, err := a.Output(ctx)
		if err != nil {
			return false, err
		}
		return cond(ctx, out)
	})).After(a))
}

func TestCondition(t *testing.T) {
	for _, c := range []struct {
		name    string
		cond    func(context.Context, string) (bool, error)
		outcome stage.Outcome
		ran     int
		code    string
	}{
		{"true", func(_ context.Context, out string) (bool, error) { return out == "left", nil }, stage.Succeeded, 1, ""},
		{"false", func(_ context.Context, out string) (bool, error) { return out == "right", nil }, stage.NotNeeded, 0, ""},
		{"error", func(context.Context, string) (bool, error) { return true, codedErr("odd") }, stage.Failed, 0, "odd"},
		{"panic", func(context.Context, string) (bool, error) { panic("no") }, stage.Failed, 0, CodePanic},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := 0
			l := newLab(t, conditional(c.cond, &ran), nil)
			l.release("a", 1, "")
			l.hand("a", single)
			l.state("a", stage.StageSucceeded)
			l.release("b", 1, "")
			l.hand("b", single)
			r := l.one("b", 0)
			want(t, "outcome", r.outcome, c.outcome)
			want(t, "code", r.failure.Code, c.code)
			want(t, "calls of the handler", ran, c.ran)
			switch c.outcome {
			case stage.NotNeeded:
				l.state("b", stage.StageSkipped)
				l.hearsStage("b")
				want(t, "parked as skipped", l.count(`SELECT count(*) FROM ax.parked WHERE reason = 3 AND todo = '{[0,1)}'`), 1)
				want(t, "counted", l.w.Stats().NotNeeded, 1)
			case stage.Failed: // it is an attempt as any other
				want(t, "to be tried again", l.count(`SELECT count(*) FROM ax.ready WHERE attempt = 2 AND not_before > now()`), 1)
			}
			l.check()
		})
	}
}

// The condition of a sharded stage is asked before its plan, once, and not for its shards.
func TestConditionOfAPlan(t *testing.T) {
	for _, holds := range []bool{true, false} {
		asked, plans := 0, 0
		l := newLab(t, flow.New("f", shard.New("a", func(context.Context, day) (shard.Plan, error) {
			plans++
			return shard.N(2), nil
		}, func(context.Context, day, shard.Shard) (string, error) { return "x", nil },
			stage.When(func(context.Context, day) (bool, error) { asked++; return holds, nil }))), nil)
		l.planning("a")
		l.hand("a", planSet)
		if holds {
			l.state("a", stage.StageRunning)
			l.exec(`DELETE FROM ax.ready`)
			l.hand("a", shard.Span(0, 2))
			l.state("a", stage.StageSucceeded)
		} else {
			l.state("a", stage.StageSkipped)
			want(t, "outcome of the plan", l.one("a", -1).outcome, stage.NotNeeded)
		}
		want(t, "asked", asked, 1)
		want(t, "planned", plans, map[bool]int{true: 1, false: 0}[holds])
		l.check()
	}
}

func TestBranch(t *testing.T) {
	ran := ""
	choose := stage.New("choose", func(context.Context, day) (string, error) { return "right", nil })
	branch := func(name string) *stage.Stage[day, string] {
		return stage.New(name, func(context.Context, day) (string, error) { ran += name; return name, nil }, stage.OnBranch(choose, name)).After(choose)
	}
	l := newLab(t, flow.New("f", choose, branch("left"), branch("right")), nil)
	for _, name := range []string{"choose", "left", "right"} {
		l.release(name, 1, "")
		l.hand(name, single)
		l.eventually(name+" is not decided", `SELECT state >= 10 FROM ax.stage WHERE run_id = $1 AND ord = $2`, l.run, l.ord(name))
	}
	l.state("left", stage.StageSkipped)
	l.state("right", stage.StageSucceeded)
	want(t, "branches that ran", ran, "right")
	l.check()
}

// What a joining stage learns of its upstreams' shards, failed ones that were tolerated included.
func TestCounts(t *testing.T) {
	up := shard.New("up", func(context.Context, day) (shard.Plan, error) { return shard.N(10), nil },
		func(context.Context, day, shard.Shard) (string, error) { return "", nil }, stage.Tolerate(3))
	single1 := stage.New("one", func(context.Context, day) (string, error) { return "", nil })
	other := stage.New("other", func(context.Context, day) (string, error) { return "", nil })
	var got, one stage.ShardCounts
	var running, foreign error
	join := stage.New("join", func(ctx context.Context, _ day) (string, error) {
		var err error
		if got, err = up.Counts(ctx); err != nil {
			return "", err
		}
		if one, err = stage.CountsOf(ctx, single1.Def()); err != nil {
			return "", err
		}
		_, foreign = stage.CountsOf(ctx, other.Def())
		return "", nil
	}).After(up, single1)
	early := stage.New("early", func(ctx context.Context, _ day) (string, error) {
		_, running = up.Counts(ctx)
		return "", nil
	}, stage.WithRule(stage.OneDone)).After(up)
	l := newLab(t, flow.New("f", up, single1, other, join, early), nil)
	l.release("up", 10, counted)
	l.release("early", 1, "")
	l.hand("early", single)
	l.state("early", stage.StageSucceeded)
	wantText(t, "counts of a stage that runs", running.Error(), "running", "once it has ended")
	l.exec(`UPDATE ax.stage SET state = 10, succeeded = 6, failed = 3, skipped = 1 WHERE run_id = $1 AND ord = $2`, l.run, l.ord("up"))
	l.exec(`UPDATE ax.stage SET state = 13 WHERE run_id = $1 AND ord = $2`, l.run, l.ord("one")) // it was skipped without ever being released
	l.release("join", 1, "")
	l.hand("join", single)
	l.state("join", stage.StageSucceeded)
	want(t, "counts", got, stage.ShardCounts{Total: 10, Succeeded: 6, Failed: 3, Skipped: 1})
	want(t, "counts of an unsharded stage", one, stage.ShardCounts{Total: 1, Skipped: 1})
	want(t, "a stage that is no upstream", errors.Is(foreign, stage.ErrNotUpstream), true)
	if err := l.end(); err != nil {
		t.Error(err)
	}
}
