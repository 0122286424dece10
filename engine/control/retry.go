package control

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/span"
	"axflow/stage"
)

// Retry gives a run's failed work another chance: the dead indices of its stages get as many further attempts as the
// stage's policy has, and those that fail-fast or an expiry cancelled with them run too; the plan and what succeeded stay,
// and what failed with them is decided anew. Nothing to retry is CodeConflict.
func (c *Client) Retry(ctx context.Context, id uuid.UUID, who Who) ([]Touch, error) {
	return c.retry(ctx, "retry", id, "", noIndices, who)
}

// RetryShards is Retry for some shards of one stage; an empty set means all that have failed for good. A shard that has
// not is left alone; if none has it is CodeConflict.
func (c *Client) RetryShards(ctx context.Context, id uuid.UUID, stageName string, set shard.Set, who Who) ([]Touch, error) {
	return c.retry(ctx, "retry", id, stageName, set, who)
}

// RetryWhere is Retry for every run that the filter picks; default states: running and failed.
func (c *Client) RetryWhere(ctx context.Context, f Filter, who Who) (Sweep, error) {
	return c.sweep(ctx, f, []stage.RunState{stage.RunRunning, stage.RunFailed},
		func(ctx context.Context, id uuid.UUID) ([]Touch, error) { return c.Retry(ctx, id, who) })
}

// RetryStageWhere is RetryShards of all that has failed of one stage, for every run that the filter picks; default states: running
// and failed.
func (c *Client) RetryStageWhere(ctx context.Context, f Filter, stageName string, who Who) (Sweep, error) {
	return c.sweep(ctx, f, []stage.RunState{stage.RunRunning, stage.RunFailed},
		func(ctx context.Context, id uuid.UUID) ([]Touch, error) {
			return c.RetryShards(ctx, id, stageName, noIndices, who)
		})
}

// Replay is RetryShards, for dead letters: an empty set is all of the stage's, stageName "" all of the run's. It acts at once.
func (c *Client) Replay(ctx context.Context, id uuid.UUID, stageName string, set shard.Set, who Who) ([]Touch, error) {
	return c.retry(ctx, "replay", id, stageName, set, who)
}

func (c *Client) retry(ctx context.Context, verb string, id uuid.UUID, stageName string, set shard.Set, who Who) ([]Touch, error) {
	touched, d, err := c.act(ctx, id, verb, stageName, who, func(ctx context.Context, d *deed) error {
		if err := d.notCancelling(); err != nil {
			return err
		}
		ords, err := d.named(stageName)
		if err != nil {
			return err
		}
		if err := d.lock(ctx); err != nil {
			return err
		}
		n := 0
		for _, ord := range ords {
			k, err := d.retryStage(ctx, ord, set)
			if err != nil {
				return err
			}
			n += k
		}
		switch {
		case n > 0:
			d.detail["indices"] = n
			return nil
		case stageName == "":
			return d.conflict("run %s has no failed work to retry", id)
		case set.Empty():
			return d.conflict("stage %q of run %s has no failed work to retry: it is %s", stageName, id, d.state(ords[0]))
		default:
			return d.conflict("none of the shards %s of stage %q of run %s has failed for good: those that have succeeded can be rerun", some(set), stageName, id)
		}
	})
	if err != nil {
		return nil, err
	}
	return touched, c.cancelChildren(ctx, d, who)
}

// named are the stages that a verb with a stage's name, or without one, is about.
func (d *deed) named(stageName string) ([]int16, error) {
	if stageName != "" {
		ord, err := d.ord(stageName)
		return []int16{ord}, err
	}
	ords := make([]int16, len(d.v.Graph.Stages))
	for i := range ords {
		ords[i] = int16(i)
	}
	return ords, nil
}

// retryStage moves failed indices of a stage back to ready, and lets what depends on them wait for them again.
func (d *deed) retryStage(ctx context.Context, ord int16, set shard.Set) (int, error) {
	was := d.state(ord)
	reasons := []span.ParkReason{span.Dead, span.Poison, span.Expired}
	switch was {
	case stage.StageFailed:
		if d.stages[ord].Verdict != nil {
			reasons = append(reasons, span.Cancelled)
		}
	case stage.StagePlanning, stage.StageRunning, stage.StageSucceeded:
	default:
		return 0, nil
	}
	took, err := d.take(ctx, ord, set, false, false, reasons...)
	if err != nil || len(took) == 0 {
		return 0, err
	}
	to, most := stage.StageRunning, 0
	puts := make([]span.Put, 0, len(took))
	for _, t := range took {
		if t.Kind == span.Plan {
			to = stage.StagePlanning
		}
		most = max(most, int(t.Attempt))
		puts = append(puts, span.Put{Header: revived(t), Set: t.Set})
	}
	if err := d.reopenStage(ctx, ord, to, most+d.v.Graph.Stages[ord].Retry.MaxAttempts); err != nil {
		return 0, err
	}
	if err := d.put(ctx, ord, puts); err != nil {
		return 0, err
	}
	all := setOf(took)
	for _, p := range puts {
		d.touch(ord, p.Set, "runs again as attempt %d", p.Attempt)
	}
	if was == stage.StageSucceeded {
		return all.Len(), d.followRerun(ctx, ord, all)
	}
	return all.Len(), d.followRetry(ctx, ord, all)
}

// revived is the header that parked indices become ready with: what failed has its next attempt, what was cancelled before
// it could fail is delivered once more.
func revived(t span.Took) span.Header {
	h := t.Header
	if t.Parked == span.Cancelled {
		h.Delivery++
		return h
	}
	h.Attempt, h.Delivery, h.Losses = h.Attempt+1, 1, 0
	return h
}

// followRetry lets what failed because of some shards of a stage wait for them again: of the stages that are aligned to
// it the same shards, of others the stage, in its next generation.
func (d *deed) followRetry(ctx context.Context, ord int16, set shard.Set) error {
	repaired := map[int16]bool{}
	if err := d.repairAligned(ctx, ord, set, repaired); err != nil {
		return err
	}
	return d.reset(ctx, d.v.Graph.Descendants(int(ord)), func(s lockedStage) bool {
		state := stage.StageState(s.State)
		return s.Ord != ord && !repaired[s.Ord] && (state == stage.StageUpstreamFailed || state == stage.StageSkipped && !skippedByHand(s))
	})
}

// repairAligned lets aligned shards wait again that were given up because their upstream shard had failed.
func (d *deed) repairAligned(ctx context.Context, ord int16, set shard.Set, repaired map[int16]bool) error {
	for _, dep := range d.alignedTo(ord) {
		state := d.state(dep)
		if d.stages[dep].ShardTotal == nil || state != stage.StageRunning && !state.CanMove(stage.StageRunning) || state == stage.StageWaiting {
			continue
		}
		took, err := d.take(ctx, dep, set, false, false, span.UpstreamFailed)
		if err != nil {
			return err
		}
		if len(took) == 0 {
			continue
		}
		repaired[dep] = true
		puts := make([]span.Put, 0, len(took))
		for _, t := range took {
			puts = append(puts, span.Put{Header: t.Header, Set: t.Set, Park: span.Aligned})
		}
		if err := d.reopenStage(ctx, dep, stage.StageRunning, 0); err != nil {
			return err
		}
		if err := d.put(ctx, dep, puts); err != nil {
			return err
		}
		d.touch(dep, setOf(took), "waits again for the shards of %s", d.name(ord))
		if err := d.repairAligned(ctx, dep, setOf(took), repaired); err != nil {
			return err
		}
	}
	return nil
}

// alignedTo are the stages whose shards follow those of a stage.
func (d *deed) alignedTo(ord int16) []int16 {
	var all []int16
	for _, dep := range d.v.Graph.Dependents(int(ord)) {
		if s := d.v.Graph.Stages[dep]; s.Kind == stage.Aligned && s.AlignedTo == int(ord) {
			all = append(all, int16(dep))
		}
	}
	return all
}

func (d *deed) held(ctx context.Context, ord int16) (map[heldIn]shard.Set, error) {
	s := d.stages[ord]
	rows, err := d.q.RemainingOf(ctx, remainingOf(d.run.RunID, s))
	if err != nil {
		return nil, fmt.Errorf("reading what stage %s of run %s still holds: %w", d.name(ord), d.run.RunID, err)
	}
	held := make(map[heldIn]shard.Set)
	for _, r := range rows {
		set, err := shard.ParseSet(r.Todo)
		if err != nil {
			return nil, fmt.Errorf("reading the set of row %s: %w", r.ID, err)
		}
		at := heldIn{place: r.Place, reason: span.ParkReason(r.Reason)}
		held[at] = held[at].Union(set)
	}
	return held, nil
}
