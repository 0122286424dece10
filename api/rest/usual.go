package rest

import (
	"context"

	"axflow/api/gen"
)

// ListUsual tells how long the runs of each flow usually take.
func (h *Handlers) ListUsual(context.Context, gen.ListUsualRequestObject) (gen.ListUsualResponseObject, error) {
	return gen.ListUsual200JSONResponse{Items: []gen.FlowUsual{}}, nil
}

// GetRunUsual tells what runs of a run's flow usually take, and when this one may end.
func (h *Handlers) GetRunUsual(ctx context.Context, req gen.GetRunUsualRequestObject) (gen.GetRunUsualResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	p, err := c.Progress(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	out := gen.RunUsual{Flow: p.Run.Flow, At: p.At, Stages: []gen.StageUsual{}, ElapsedS: p.At.Sub(p.Run.CreatedAt).Seconds()}
	if p.Run.FinishedAt != nil {
		out.ElapsedS = p.Run.FinishedAt.Sub(p.Run.CreatedAt).Seconds()
	}
	return gen.GetRunUsual200JSONResponse(out), nil
}
