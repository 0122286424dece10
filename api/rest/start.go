package rest

import (
	"context"

	"axflow/api/gen"
)

// StartRun is not made yet.
func (h *Handlers) StartRun(_ context.Context, _ gen.StartRunRequestObject) (gen.StartRunResponseObject, error) {
	return nil, errUnmade
}
