package rest

import (
	"context"

	"axflow/api/gen"
)

// ListRuns is not made yet.
func (h *Handlers) ListRuns(_ context.Context, _ gen.ListRunsRequestObject) (gen.ListRunsResponseObject, error) {
	return nil, errUnmade
}

// GetRun is not made yet.
func (h *Handlers) GetRun(_ context.Context, _ gen.GetRunRequestObject) (gen.GetRunResponseObject, error) {
	return nil, errUnmade
}

// GetRunParams is not made yet.
func (h *Handlers) GetRunParams(_ context.Context, _ gen.GetRunParamsRequestObject) (gen.GetRunParamsResponseObject, error) {
	return nil, errUnmade
}

// GetRunResult is not made yet.
func (h *Handlers) GetRunResult(_ context.Context, _ gen.GetRunResultRequestObject) (gen.GetRunResultResponseObject, error) {
	return nil, errUnmade
}

// ListFailures is not made yet.
func (h *Handlers) ListFailures(_ context.Context, _ gen.ListFailuresRequestObject) (gen.ListFailuresResponseObject, error) {
	return nil, errUnmade
}

// ListJournal is not made yet.
func (h *Handlers) ListJournal(_ context.Context, _ gen.ListJournalRequestObject) (gen.ListJournalResponseObject, error) {
	return nil, errUnmade
}

// ExplainRun is not made yet.
func (h *Handlers) ExplainRun(_ context.Context, _ gen.ExplainRunRequestObject) (gen.ExplainRunResponseObject, error) {
	return nil, errUnmade
}
