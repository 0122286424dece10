package rest

import (
	"context"
	"fmt"

	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/shard"
	"axflow/sql/db"
)

// The bounds of what is read of a stage.
const (
	mostDurations     = 10_000
	mostFailureGroups = 100
	mostRanges        = 100 // of a failure group's shards
)

// GetStage is a stage with its counts, how long its shards took, and why some are dead.
func (h *Handlers) GetStage(ctx context.Context, req gen.GetStageRequestObject) (gen.GetStageResponseObject, error) {
	c, run, g, ord, err := h.stageOf(ctx, req.Run, req.Stage)
	if err != nil {
		return nil, err
	}
	p, err := c.Progress(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	var status *control.StageProgress
	for i := range p.Stages {
		if p.Stages[i].Ord == ord {
			status = &p.Stages[i]
		}
	}
	if status == nil {
		return nil, errNoStage(run, req.Stage)
	}
	detail := gen.StageDetail{Status: stageStatus(*status), At: p.At}
	q, generation := h.reads(), int16(status.Generation)
	took, err := q.StageDurations(ctx, db.StageDurationsParams{RunID: req.Run, Ord: int16(ord), Generation: generation, Most: mostDurations})
	if err != nil {
		return nil, slow(fmt.Errorf("reading the durations of stage %s of run %s: %w", req.Stage, req.Run, err), "try again")
	}
	detail.Durations = &gen.Durations{Samples: int(took.Samples)}
	if took.Samples > 0 {
		detail.Durations.P50S, detail.Durations.P95S, detail.Durations.P99S, detail.Durations.MaxS = &took.P50S, &took.P95S, &took.P99S, &took.MaxS
	}
	groups, err := q.DeadOfStage(ctx, db.DeadOfStageParams{RunID: req.Run, Ord: int16(ord), Generation: generation, Most: mostFailureGroups})
	if err != nil {
		return nil, slow(fmt.Errorf("reading the dead shards of stage %s of run %s: %w", req.Stage, req.Run, err), "list the dead letters instead")
	}
	first := make([]int32, len(groups))
	for i, dead := range groups {
		first[i] = dead.First
	}
	failures := make(map[int32]control.Failure)
	if len(first) > 0 {
		rows, err := q.NewestFailures(ctx, db.NewestFailuresParams{RunID: req.Run, Ord: int16(ord), Generation: generation, Shards: first})
		if err != nil {
			return nil, fmt.Errorf("reading the errors of stage %s of run %s: %w", req.Stage, req.Run, err)
		}
		for _, r := range rows {
			failures[r.Shard] = control.FailureOf(r.Error)
		}
	}
	for _, dead := range groups {
		set, err := shard.ParseSet(dead.Todo)
		if err != nil {
			return nil, fmt.Errorf("reading the dead shards of stage %s of run %s: %w", req.Stage, req.Run, err)
		}
		group := gen.FailureGroup{Fingerprint: dead.Fingerprint, Count: int(dead.N), Shards: opt(setText(set, mostRanges))}
		if f := h.failure(ctx, g.Flow, req.Stage, failures[dead.First]); f != nil {
			group.Example = *f
		}
		detail.Failures = append(detail.Failures, group)
	}
	return gen.GetStage200JSONResponse(detail), nil
}

// GetOutput is what a stage or a shard returned.
func (h *Handlers) GetOutput(ctx context.Context, req gen.GetOutputRequestObject) (gen.GetOutputResponseObject, error) {
	c, run, _, _, err := h.stageOf(ctx, req.Run, req.Stage)
	if err != nil {
		return nil, err
	}
	index := 0
	if req.Params.Shard != nil {
		index = *req.Params.Shard
	}
	out, err := c.Output(ctx, req.Run, req.Stage, index)
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return rawJSON("null"), nil
	}
	return rawJSON(h.redact(ctx, Payload{Kind: "output", Flow: run.Flow, Stage: req.Stage, JSON: out})), nil
}
