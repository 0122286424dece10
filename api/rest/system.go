package rest

import (
	"context"

	"axflow/api/gen"
)

// Health is not made yet.
func (h *Handlers) Health(_ context.Context, _ gen.HealthRequestObject) (gen.HealthResponseObject, error) {
	return nil, errUnmade
}

// Ready is not made yet.
func (h *Handlers) Ready(_ context.Context, _ gen.ReadyRequestObject) (gen.ReadyResponseObject, error) {
	return nil, errUnmade
}

// Metrics is not made yet.
func (h *Handlers) Metrics(_ context.Context, _ gen.MetricsRequestObject) (gen.MetricsResponseObject, error) {
	return nil, errUnmade
}

// GetServer is not made yet.
func (h *Handlers) GetServer(_ context.Context, _ gen.GetServerRequestObject) (gen.GetServerResponseObject, error) {
	return nil, errUnmade
}

// GetMe is not made yet.
func (h *Handlers) GetMe(_ context.Context, _ gen.GetMeRequestObject) (gen.GetMeResponseObject, error) {
	return nil, errUnmade
}
