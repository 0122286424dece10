package rest

import (
	"context"

	"axflow/api/gen"
)

// ListLogs is not made yet.
func (h *Handlers) ListLogs(_ context.Context, _ gen.ListLogsRequestObject) (gen.ListLogsResponseObject, error) {
	return nil, errUnmade
}

// ListRunning is not made yet.
func (h *Handlers) ListRunning(_ context.Context, _ gen.ListRunningRequestObject) (gen.ListRunningResponseObject, error) {
	return nil, errUnmade
}
