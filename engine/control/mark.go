package control

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/payload"
	"axflow/sql/span"
	"axflow/stage"
)

// The greatest outputs that MarkSuccess takes, in bytes: what workers accept by default.
const (
	MaxStageOutput = 1 << 20
	MaxShardOutput = 64 << 10
)

// MarkSuccess makes what is left of a stage (set empty) or some of its shards succeed with the given output, a JSON value or
// nil, as if a worker had reported it: every shard with the same. A stage that waits, or whose plan is not made, can be
// marked as a whole: an unsharded one takes the output, a sharded one counts as having had no shards and takes none. What
// has succeeded is left alone; a stage that was skipped or cancelled is CodeConflict.
func (c *Client) MarkSuccess(ctx context.Context, id uuid.UUID, stageName string, set shard.Set, output []byte, who Who) ([]Touch, error) {
	if len(output) > 0 && !json.Valid(output) {
		return nil, &Error{Code: CodeInvalid, Field: "/output", Text: "the output is not valid JSON: quote a text, or leave the output out"}
	}
	touched, d, err := c.act(ctx, id, "mark_success", stageName, who, func(ctx context.Context, d *deed) error {
		ord, err := d.ord(stageName)
		if err != nil {
			return err
		}
		if err := d.notCancelling(); err != nil {
			return err
		}
		most, what := MaxStageOutput, "stage"
		if d.v.Graph.Stages[ord].Kind != stage.Single {
			most, what = MaxShardOutput, "shard"
		}
		if len(output) > most {
			return &Error{Code: CodeTooLarge, Field: "/output", Text: fmt.Sprintf("the output is %d bytes; the limit of a %s is %d: store the data elsewhere and give a reference", len(output), what, most)}
		}
		if err := d.lock(ctx); err != nil {
			return err
		}
		if !set.Empty() {
			single := d.v.Graph.Stages[ord].Kind == stage.Single && set.Equal(shard.Of(0))
			if err := d.known(ord, set); err != nil && !single {
				return err
			}
			d.detail["indices"] = set.String()
		}
		sealed, err := c.sealPayload(ctx, payload.Place{Kind: payload.Output, Run: id, Ord: int(ord)}, output)
		if err != nil {
			return err
		}
		return d.mark(ctx, ord, set, sealed)
	})
	if err != nil {
		return nil, err
	}
	return touched, c.cancelChildren(ctx, d, who)
}

// MarkSuccessWhere is MarkSuccess of a whole stage for every run that the filter picks; default states: running and failed.
func (c *Client) MarkSuccessWhere(ctx context.Context, f Filter, stageName string, output []byte, who Who) (Sweep, error) {
	return c.sweep(ctx, f, []stage.RunState{stage.RunRunning, stage.RunFailed},
		func(ctx context.Context, id uuid.UUID) ([]Touch, error) {
			return c.MarkSuccess(ctx, id, stageName, noIndices, output, who)
		})
}

func (d *deed) mark(ctx context.Context, ord int16, set shard.Set, output []byte) error {
	was, name, id := d.state(ord), d.name(ord), d.run.RunID
	switch {
	case was == stage.StageSucceeded && set.Empty():
		return nil
	case was == stage.StageCancelling || was == stage.StageCancelled || was == stage.StageSkipped:
		return d.conflict("stage %q of run %s is %s: rerun it, then mark it", name, id, was)
	case was == stage.StageUpstreamFailed && d.stages[ord].ShardTotal == nil:
		if err := d.reset(ctx, []int{int(ord)}, func(lockedStage) bool { return true }); err != nil {
			return err
		}
		if err := d.reopenRun(ctx); err != nil {
			return err
		}
	}
	if d.state(ord) == stage.StageWaiting {
		if err := d.markWaiting(ctx, ord, output); err != nil {
			return err
		}
		return d.followDecision(ctx, ord, was)
	}
	took, err := d.take(ctx, ord, set, true, true, span.Dead, span.Cancelled, span.Skipped, span.Aligned, span.UpstreamFailed, span.Poison,
		span.Child, span.Expired, span.Discarded)
	if err != nil || len(took) == 0 {
		return err
	}
	if err := d.reopenFor(ctx, ord, took); err != nil {
		return err
	}
	if d.state(ord) == stage.StagePlanning {
		if len(output) > 0 {
			return d.noOutput(ord)
		}
		if _, err := d.q.FreezeEmpty(ctx, db.FreezeEmptyParams{RunID: id, Ord: ord, Generation: d.stages[ord].Generation}); err != nil {
			return fmt.Errorf("marking stage %s of run %s: %w", name, id, err)
		}
	}
	if err := span.Mark(ctx, d.tx, d.key(ord), d.stages[ord].Generation, took, output); err != nil {
		return fmt.Errorf("stage %s of run %s: %w", name, id, err)
	}
	all := setOf(took)
	d.touch(ord, all, "is marked as succeeded")
	d.news.Stages = append(d.news.Stages, d.key(ord))
	switch was {
	case stage.StageSucceeded:
		return d.followRerun(ctx, ord, all)
	case stage.StageFailed, stage.StageUpstreamFailed:
		return d.followRetry(ctx, ord, all)
	default:
		return nil
	}
}

func (d *deed) noOutput(ord int16) error {
	return &Error{Code: CodeInvalid, Field: "/output", Text: fmt.Sprintf("stage %q has no shards yet that could have an output: leave the output out", d.name(ord))}
}

// markWaiting decides a stage that has not begun.
func (d *deed) markWaiting(ctx context.Context, ord int16, output []byte) error {
	id, s := d.run.RunID, &d.stages[ord]
	total := int32(0)
	if d.v.Graph.Stages[ord].Kind == stage.Single {
		total = 1
	} else if len(output) > 0 {
		return d.noOutput(ord)
	}
	if _, err := d.q.DecideWaiting(ctx, db.DecideWaitingParams{State: int16(stage.StageSucceeded), Reason: "marked as succeeded", Total: &total,
		Succeeded: total, RunID: id, Ord: ord, Generation: s.Generation}); err != nil {
		return fmt.Errorf("marking stage %s of run %s: %w", d.name(ord), id, err)
	}
	if total == 1 {
		one := []span.Took{{Header: span.Header{Attempt: 1}, Set: shard.Of(0)}}
		if err := span.Mark(ctx, d.tx, d.key(ord), s.Generation, one, output); err != nil {
			return fmt.Errorf("stage %s of run %s: %w", d.name(ord), id, err)
		}
	}
	s.State = int16(stage.StageSucceeded)
	d.touch(ord, noIndices, "is marked as succeeded")
	d.news.Stages = append(d.news.Stages, d.key(ord))
	return nil
}
