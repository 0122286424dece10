package worker

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"axflow/shard"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/stage"
)

// planLimit bounds one try to store a plan: the inputs of a million shards take some seconds.
const planLimit = 5 * time.Minute

// runPlan computes a stage's shards and stores them in a transaction of its own.
func (t *task) runPlan() {
	layout, err := t.plan()
	if err == nil {
		err = checkLayout(layout)
	}
	if err == nil && t.f.h.version.graph.ShardKeyGroup(int(t.f.Ord)) != "" {
		err = checkKeys(layout)
	}
	if err == nil && t.stopped() != nil {
		err = t.stopped()
	}
	if err == nil {
		layout.Items, err = t.sealItems(layout.Items)
	}
	if err == nil {
		err = t.storePlan(layout)
	}
	if t.verdict == reported {
		t.settle(nil, err)
	}
}

func (t *task) plan() (layout stage.Layout, err error) {
	c, err := t.call()
	if err != nil {
		return layout, err
	}
	defer t.recovered(&err)
	layout, err = t.f.h.def.Handler.Plan(stage.WithEnv(t, t), c.Params)
	return layout, t.failed(err)
}

// checkLayout tells what is wrong with a plan that cannot be stored.
func checkLayout(l stage.Layout) error {
	bad := func(format string, args ...any) error {
		return stage.Permanent(faultf(CodePlan, format, args...))
	}
	switch {
	case l.Total < 0:
		return bad("the plan has %d shards: give 0 or more", l.Total)
	case l.Total > shard.MaxShards:
		return bad("the plan has %d shards, at most %d are allowed: put more into each shard", l.Total, shard.MaxShards)
	case l.Items != nil && len(l.Items) != l.Total:
		return bad("the plan has %d shards and %d items: give one item for each shard, or none", l.Total, len(l.Items))
	}
	for i := range l.Items {
		key, input := l.Items[i].Key, l.Items[i].Input
		switch {
		case !utf8.ValidString(key) || strings.ContainsRune(key, 0):
			return bad("the key of shard %d is not UTF-8 or has a NUL character: encode it", i)
		case len(key) > shard.MaxKeyLen:
			return bad("the key of shard %d is %d bytes long, at most %d are allowed: use its hash", i, len(key), shard.MaxKeyLen)
		case len(input) > DefaultMaxStageOutput:
			return bad("the input of shard %d has %d bytes, at most %d are allowed: store where it is instead", i, len(input), DefaultMaxStageOutput)
		}
	}
	return nil
}

// checkKeys tells whether a plan's shards have more keys than can have limits of their own.
func checkKeys(l stage.Layout) error {
	keys := make(map[string]struct{})
	for i := range l.Items {
		if keys[l.Items[i].Key] = struct{}{}; len(keys) > span.MaxPlanKeys {
			return stage.Permanent(faultf(CodePlan, "the shards of the plan have more than %d different keys, which is the limit where each has limits of its own (shard %d has key %q): key by something coarser, such as a customer instead of an order, or remove the stage's Key",
				span.MaxPlanKeys, i, clip(l.Items[i].Key)))
		}
	}
	return nil
}

// storePlan freezes the plan, trying again until the database answers. It returns what is wrong with the plan.
func (t *task) storePlan(layout stage.Layout) error {
	f := t.f
	w := f.pool.w
	report := span.PlanReport{Execution: f.ID, Run: f.Run, Ord: f.Ord, Started: w.clk.db(t.begun), Finished: w.clk.db(w.clk.now()),
		Layout: layout, SkipEmpty: f.h.spec.SkipEmpty, KeyGroup: f.h.version.graph.ShardKeyGroup(int(f.Ord)),
		Tolerate: stage.Tolerated(f.h.spec.Tolerate, f.h.spec.TolerateShare, layout.Total)}
	if report.Finished.Before(report.Started) {
		report.Finished = report.Started
	}
	unsure := false
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		receipt, poison, err := w.tryPlan(f, report)
		switch {
		case err == nil:
			t.planned(layout, &report, &receipt, unsure)
			return nil
		case poison:
			return stage.Permanent(faultf(CodeRefused, "the database would not store the plan: %s", err))
		case w.hard.Err() != nil: // the worker has been stopped; the plan will be seized
			t.verdict = dropped
			return err
		}
		unsure = true
		w.count.faults.Add(1)
		w.log.Error("storing a plan failed; it is repeated until it succeeds", append(f.attrs(), "err", err)...)
		w.pause(w.hard, pause)
	}
}

func (w *Worker) tryPlan(f *flight, report span.PlanReport) (receipt span.Receipt, poison bool, err error) {
	ctx, cancel := context.WithTimeout(w.hard, planLimit)
	defer cancel()
	conn, err := w.cfg.Pool.Acquire(ctx)
	if err != nil {
		return receipt, false, fmt.Errorf("storing a plan: %w", err)
	}
	defer conn.Release()
	receipt, err = span.FinishPlan(ctx, conn, f.worker, report)
	if err != nil && ctx.Err() == nil {
		poison = poisonous(err, conn.Conn())
	}
	return receipt, poison, err
}

// planned tells the leader what a stored plan has released. Without acceptance the plan was not this worker's any
// more, or was stored by an earlier try.
func (t *task) planned(layout stage.Layout, report *span.PlanReport, receipt *span.Receipt, unsure bool) {
	f := t.f
	w := f.pool.w
	accepted := len(receipt.Accepted) > 0 && !receipt.Accepted[0].Set.Empty()
	if !accepted && !unsure {
		w.count.fenced.Add(1)
		t.verdict = dropped
		return
	}
	t.verdict = committed
	w.count.succeeded.Add(1)
	news := hint.Engine{Look: unsure, Stages: []span.StageKey{{Run: f.Run, Ord: f.Ord}},
		Left: []hint.Left{{Flight: f.ID, Left: 0, Done: 1, Busy: report.Finished.Sub(report.Started)}}}
	w.learn(&news, receipt)
	if accepted && layout.Total > 0 {
		cut := layout.Cut
		w.heads.put(span.StageKey{Run: f.Run, Ord: f.Ord}, head{generation: f.Generation, total: layout.Total, cut: &cut, items: f.Generation})
	}
	w.cfg.Bus.ToEngine(news)
}
