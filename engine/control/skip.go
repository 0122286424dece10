package control

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

// byHand begins the reason of stages that an operator has skipped: no retry and no rerun of something else takes that back.
const byHand = "skipped by "

func skippedByHand(s lockedStage) bool { return strings.HasPrefix(s.Reason, byHand) }

// Skip skips a stage: what of it waits, is ready, runs (reports of it are refused and its worker is told to stop) or is dead never
// runs; what has succeeded stays. Its dependents go by their trigger rules. A stage that is skipped already is left alone;
// one that has succeeded, was cancelled or is being cancelled is CodeConflict.
func (c *Client) Skip(ctx context.Context, id uuid.UUID, stageName string, who Who) ([]Touch, error) {
	return c.skip(ctx, "skip", id, stageName, noIndices, who)
}

// SkipShards is Skip for some shards of a stage whose shards are known. Of a piece of work that runs on only the report of
// the skipped shards is refused.
func (c *Client) SkipShards(ctx context.Context, id uuid.UUID, stageName string, set shard.Set, who Who) ([]Touch, error) {
	if set.Empty() {
		return nil, &Error{Code: CodeInvalid, Field: "/shards", Text: "no shards were named: name some, or skip the stage"}
	}
	return c.skip(ctx, "skip_shards", id, stageName, set, who)
}

// SkipWhere is Skip for every run that the filter picks; default states: running and failed.
func (c *Client) SkipWhere(ctx context.Context, f Filter, stageName string, who Who) (Sweep, error) {
	return c.sweep(ctx, f, []stage.RunState{stage.RunRunning, stage.RunFailed},
		func(ctx context.Context, id uuid.UUID) ([]Touch, error) { return c.Skip(ctx, id, stageName, who) })
}

func (c *Client) skip(ctx context.Context, verb string, id uuid.UUID, stageName string, set shard.Set, who Who) ([]Touch, error) {
	touched, d, err := c.act(ctx, id, verb, stageName, who, func(ctx context.Context, d *deed) error {
		ord, err := d.steer(ctx, stageName)
		if err != nil {
			return err
		}
		if !set.Empty() {
			if err := d.known(ord, set); err != nil {
				return err
			}
			d.detail["indices"] = set.String()
		}
		return d.skip(ctx, ord, set, who)
	})
	if err != nil {
		return nil, err
	}
	return touched, c.cancelChildren(ctx, d, who)
}

// known refuses shards that the stage does not have, or does not have yet.
func (d *deed) known(ord int16, set shard.Set) error {
	total := d.stages[ord].ShardTotal
	if total == nil || d.state(ord) == stage.StageWaiting {
		return d.conflict("stage %q of run %s is %s and its shards are not known: name the stage as a whole", d.name(ord), d.run.RunID, d.state(ord))
	}
	if out := set.Minus(shard.Span(0, int(*total))); !out.Empty() {
		return &Error{Code: CodeInvalid, Field: "/shards", Text: fmt.Sprintf("stage %q of run %s has %d shards, from 0 on, not %s", d.name(ord), d.run.RunID, *total, some(out))}
	}
	return nil
}

func (d *deed) skip(ctx context.Context, ord int16, set shard.Set, who Who) error {
	was, name, id := d.state(ord), d.name(ord), d.run.RunID
	switch {
	case was == stage.StageSkipped && set.Empty():
		return nil
	case was == stage.StageCancelled || was == stage.StageCancelling:
		return d.conflict("stage %q of run %s is %s: it will not run anyway", name, id, was)
	case was == stage.StageUpstreamFailed && d.stages[ord].ShardTotal == nil:
		if err := d.reset(ctx, []int{int(ord)}, func(lockedStage) bool { return true }); err != nil {
			return err
		}
		if err := d.reopenRun(ctx); err != nil {
			return err
		}
	}
	reason := byHand + who.Actor
	if who.Reason != "" {
		reason += ": " + who.Reason
	}
	if d.state(ord) == stage.StageWaiting {
		if _, err := d.q.DecideWaiting(ctx, db.DecideWaitingParams{State: int16(stage.StageSkipped), Reason: reason, RunID: id, Ord: ord,
			Generation: d.stages[ord].Generation}); err != nil {
			return fmt.Errorf("skipping stage %s of run %s: %w", name, id, err)
		}
		d.stages[ord].State = int16(stage.StageSkipped)
		d.touch(ord, noIndices, "is skipped")
		d.news.Stages = append(d.news.Stages, d.key(ord))
		return d.followDecision(ctx, ord, was)
	}
	reasons := []span.ParkReason{span.Dead, span.Aligned, span.UpstreamFailed, span.Poison, span.Child, span.Expired}
	if d.stages[ord].Verdict != nil { // what was cancelled with the dead is skipped with them
		reasons = append(reasons, span.Cancelled)
	}
	took, err := d.take(ctx, ord, set, true, true, reasons...)
	if err != nil {
		return err
	}
	if len(took) == 0 {
		return d.nothingLeft(ctx, ord, set, span.Skipped, "skip")
	}
	if err := d.reopenFor(ctx, ord, took); err != nil {
		return err
	}
	puts := make([]span.Put, 0, len(took))
	for _, t := range took {
		puts = append(puts, span.Put{Header: t.Header, Set: t.Set, Park: span.Skipped})
	}
	if err := d.put(ctx, ord, puts); err != nil {
		return err
	}
	if set.Empty() {
		if err := d.q.SetStageReason(ctx, db.SetStageReasonParams{Reason: reason, RunID: id, Ord: ord}); err != nil {
			return fmt.Errorf("saying why stage %s of run %s is skipped: %w", name, id, err)
		}
	}
	d.touch(ord, setOf(took), "is skipped")
	return d.followDecision(ctx, ord, was)
}

// reopenFor opens a decided stage again whose indices were taken, and remembers runs that they waited for.
func (d *deed) reopenFor(ctx context.Context, ord int16, took []span.Took) error {
	to := stage.StageRunning
	for _, t := range took {
		if t.Kind == span.Plan {
			to = stage.StagePlanning
		}
		if t.Parked == span.Child {
			var keep []int16
			for other := range d.stages {
				if int16(other) != ord {
					keep = append(keep, int16(other))
				}
			}
			children, err := d.q.OpenChildren(ctx, db.OpenChildrenParams{ParentRun: d.run.RunID, Keep: keep})
			if err != nil {
				return fmt.Errorf("looking for runs that stage %s of run %s has started: %w", d.name(ord), d.run.RunID, err)
			}
			d.children = append(d.children, children...)
		}
	}
	d.retire[ord] = true
	if !d.state(ord).Decided() {
		return nil
	}
	return d.reopenStage(ctx, ord, to, 0)
}

// nothingLeft is what a verb says that found nothing to take: nothing if the shards are where it would have put them.
func (d *deed) nothingLeft(ctx context.Context, ord int16, set shard.Set, at span.ParkReason, verb string) error {
	held, err := d.held(ctx, ord)
	if err != nil {
		return err
	}
	there := held[heldIn{place: 3, reason: at}]
	if set.Empty() && !there.Empty() || !set.Empty() && there.ContainsSet(set) {
		return nil
	}
	return d.conflict("there is nothing to %s in stage %q of run %s: it is %s, and what was named has succeeded or was given up", verb, d.name(ord), d.run.RunID, d.state(ord))
}

// followDecision lets stages be decided anew that were decided by a stage's end that an operator has changed.
func (d *deed) followDecision(ctx context.Context, ord int16, was stage.StageState) error {
	if was != stage.StageFailed && was != stage.StageUpstreamFailed {
		return nil
	}
	return d.reset(ctx, d.v.Graph.Descendants(int(ord)), func(s lockedStage) bool {
		state := stage.StageState(s.State)
		planned := d.v.Graph.Stages[s.Ord].Kind == stage.Aligned && s.ShardTotal != nil
		return s.Ord != ord && !planned && (state == stage.StageUpstreamFailed || state == stage.StageSkipped && !skippedByHand(s))
	})
}
