package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"axflow/flow"
	"axflow/shard"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/stage"
)

func planned(plan func(context.Context, day) (shard.Plan, error), opts ...stage.Option) flow.Definition {
	return flow.New("f", shard.New("a", plan, func(_ context.Context, _ day, s shard.Shard) (string, error) { return s.Key, nil }, opts...))
}

func TestPlan(t *testing.T) {
	l := newLab(t, planned(func(ctx context.Context, p day) (shard.Plan, error) {
		info, _ := stage.InfoFrom(ctx)
		if info.Index != -1 || info.Total != 0 {
			return shard.Plan{}, errors.New("a plan is index -1 of 0")
		}
		return shard.Keys([]string{p.Day, "b", "c"}), nil
	}), nil)
	l.planning("a")
	id := l.hand("a", planSet)
	l.state("a", stage.StageRunning)
	want(t, "total", l.count(`SELECT shard_total FROM ax.stage`), 3)
	wantSet(t, "ready", l.set("ready", "a"), shard.Span(0, 3))
	want(t, "the plan's result", l.one("a", -1).outcome, stage.Succeeded)
	l.hearsStage("a")
	l.hears("the ready row", func(n hint.Engine) bool {
		return len(n.Ready) == 1 && n.Ready[0].Set.Equal(shard.Span(0, 3)) && n.Ready[0].Kind == span.Shards && len(n.Left) == 1 && n.Left[0].Flight == id && n.Left[0].Left == 0
	})
	// The shards get their keys.
	l.exec(`DELETE FROM ax.ready`)
	l.hand("a", shard.Span(0, 3))
	l.state("a", stage.StageSucceeded)
	want(t, "output", l.one("a", 0).output, `"2026-01-01"`)
	want(t, "output", l.one("a", 2).output, `"c"`)
	l.check()
}

func TestEmptyPlans(t *testing.T) {
	for name, tc := range map[string]struct {
		opts []stage.Option
		want stage.StageState
	}{"succeeds": {nil, stage.StageSucceeded}, "skips": {[]stage.Option{stage.SkipWhenEmpty()}, stage.StageSkipped}} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, planned(func(context.Context, day) (shard.Plan, error) { return shard.N(0), nil }, tc.opts...), nil)
			l.planning("a")
			l.hand("a", planSet)
			l.state("a", tc.want)
			l.hearsStage("a")
			l.check()
		})
	}
}

func TestPlanOverTheLimit(t *testing.T) {
	l := newLab(t, planned(func(context.Context, day) (shard.Plan, error) { return shard.N(1_000_001), nil }), nil)
	l.planning("a")
	l.hand("a", planSet)
	l.state("a", stage.StageFailed)
	r := l.one("a", -1)
	want(t, "retryable", r.failure.Retryable, false)
	wantText(t, "message", r.failure.Message, "1000001", "1000000")
	want(t, "inputs", l.count(`SELECT count(*) FROM ax.shard_input`), 0)
	l.check()
}

func TestLayoutsThatCannotBeStored(t *testing.T) {
	for name, tc := range map[string]struct {
		layout stage.Layout
		says   string
	}{
		"less than none":  {stage.Layout{Total: -1}, "-1 shards"},
		"too many":        {stage.Layout{Total: 1_000_001}, "at most 1000000"},
		"items missing":   {stage.Layout{Total: 2, Items: []stage.Item{{Key: "a"}}}, "2 shards and 1 items"},
		"a key with NUL":  {stage.Layout{Total: 1, Items: []stage.Item{{Key: "a\x00"}}}, "NUL"},
		"a broken key":    {stage.Layout{Total: 1, Items: []stage.Item{{Key: "\xff"}}}, "UTF-8"},
		"a long key":      {stage.Layout{Total: 1, Items: []stage.Item{{Key: string(make([]rune, 501))}}}, "NUL"},
		"a large input":   {stage.Layout{Total: 1, Items: []stage.Item{{Input: make([]byte, 1<<20+1)}}}, "1048577 bytes"},
		"nothing":         {stage.Layout{}, ""},
		"some with items": {stage.Layout{Total: 1, Items: []stage.Item{{Key: "é"}}}, ""},
	} {
		err := checkLayout(tc.layout)
		switch {
		case tc.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.says != "" && err == nil:
			t.Errorf("%s: no error", name)
		case err != nil:
			wantText(t, name, err.Error(), tc.says)
			want(t, name, stage.IsPermanent(err), true)
		}
	}
}

func TestFailingPlanIsRetried(t *testing.T) {
	l := newLab(t, planned(func(context.Context, day) (shard.Plan, error) { return shard.Plan{}, errors.New("not now") }), nil)
	l.planning("a")
	l.hand("a", planSet)
	want(t, "outcome", l.one("a", -1).outcome, stage.Failed)
	want(t, "ready", l.count(`SELECT count(*) FROM ax.ready WHERE kind = 1 AND attempt = 2 AND todo = '{[-1,0)}' AND not_before > now()`), 1)
	l.check()
}

// Two executions of one plan, because the first worker was taken for dead: the first to finish is taken.
func TestPlanThatRunsTwice(t *testing.T) {
	proceed := make(chan struct{})
	started := make(chan struct{}, 2)
	l := newLab(t, planned(func(context.Context, day) (shard.Plan, error) {
		started <- struct{}{}
		<-proceed
		return shard.N(7), nil
	}), func(c *Config) { c.Beat = time.Hour })
	l.planning("a")
	first := l.hand("a", planSet)
	<-started
	l.exec(`DELETE FROM ax.flight WHERE id = $1`, first)
	l.hand("a", planSet, func(h *handOut) { h.delivery = 2 })
	<-started
	close(proceed)
	l.state("a", stage.StageRunning)
	l.stats("the other is refused", func(s Stats) bool { return s.Fenced == 1 || s.Lost == 1 })
	want(t, "total", l.count(`SELECT shard_total FROM ax.stage`), 7)
	want(t, "ready", l.count(`SELECT count(*) FROM ax.ready`), 1)
	want(t, "results", l.count(`SELECT count(*) FROM ax.result`), 1)
	l.check()
}

// The worker's connection dies while it stores a plan: the plan is stored once.
func TestPlanIsStoredInSpiteOfALostConnection(t *testing.T) {
	l := newLab(t, planned(func(context.Context, day) (shard.Plan, error) { return shard.N(7), nil }), nil)
	l.planning("a")
	unlock := l.lock(`SELECT 1 FROM ax.stage WHERE run_id = $1 FOR UPDATE`, l.run)
	l.hand("a", planSet)
	l.blocked(1)
	l.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	l.stats("it is tried again", func(s Stats) bool { return s.Faults > 0 })
	unlock()
	l.state("a", stage.StageRunning)
	want(t, "ready", l.count(`SELECT sum(n) FROM ax.ready`), 7)
	l.check()
}
