package rest

import (
	"context"

	"axflow/api/gen"
)

// ActOnRun is not made yet.
func (h *Handlers) ActOnRun(_ context.Context, _ gen.ActOnRunRequestObject) (gen.ActOnRunResponseObject, error) {
	return nil, errUnmade
}

// ActOnStage is not made yet.
func (h *Handlers) ActOnStage(_ context.Context, _ gen.ActOnStageRequestObject) (gen.ActOnStageResponseObject, error) {
	return nil, errUnmade
}

// ActOnRuns is not made yet.
func (h *Handlers) ActOnRuns(_ context.Context, _ gen.ActOnRunsRequestObject) (gen.ActOnRunsResponseObject, error) {
	return nil, errUnmade
}

// HoldFlow is not made yet.
func (h *Handlers) HoldFlow(_ context.Context, _ gen.HoldFlowRequestObject) (gen.HoldFlowResponseObject, error) {
	return nil, errUnmade
}
