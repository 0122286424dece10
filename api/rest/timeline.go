package rest

import (
	"context"

	"axflow/api/gen"
)

// GetTimeline tells when each stage of a run waited, ran and backed off.
func (h *Handlers) GetTimeline(ctx context.Context, req gen.GetTimelineRequestObject) (gen.GetTimelineResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	p, err := c.Progress(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	out := gen.Timeline{Run: req.Run, At: p.At, From: p.Run.CreatedAt, FinishedAt: p.Run.FinishedAt, Stages: make([]gen.StageTimeline, len(p.Stages))}
	for i, s := range p.Stages {
		out.Stages[i] = gen.StageTimeline{Name: s.Name, State: stageState(s.State), Generation: s.Generation, WaitingFrom: p.Run.CreatedAt,
			ReadyAt: s.ReadyAt, FinishedAt: s.FinishedAt}
	}
	return gen.GetTimeline200JSONResponse(out), nil
}
