package rest

import (
	"context"

	"axflow/api/gen"
)

// ListFlows is not made yet.
func (h *Handlers) ListFlows(_ context.Context, _ gen.ListFlowsRequestObject) (gen.ListFlowsResponseObject, error) {
	return nil, errUnmade
}

// GetFlow is not made yet.
func (h *Handlers) GetFlow(_ context.Context, _ gen.GetFlowRequestObject) (gen.GetFlowResponseObject, error) {
	return nil, errUnmade
}

// GetParamsSchema is not made yet.
func (h *Handlers) GetParamsSchema(_ context.Context, _ gen.GetParamsSchemaRequestObject) (gen.GetParamsSchemaResponseObject, error) {
	return nil, errUnmade
}

// ListFlowVersions is not made yet.
func (h *Handlers) ListFlowVersions(_ context.Context, _ gen.ListFlowVersionsRequestObject) (gen.ListFlowVersionsResponseObject, error) {
	return nil, errUnmade
}

// GetAdvice is not made yet.
func (h *Handlers) GetAdvice(_ context.Context, _ gen.GetAdviceRequestObject) (gen.GetAdviceResponseObject, error) {
	return nil, errUnmade
}
