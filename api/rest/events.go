package rest

import (
	"context"

	"axflow/api/gen"
)

// StreamEvents is not made yet.
func (h *Handlers) StreamEvents(_ context.Context, _ gen.StreamEventsRequestObject) (gen.StreamEventsResponseObject, error) {
	return nil, errUnmade
}
