package rest

import (
	"context"

	"axflow/api/gen"
)

// ListWebhooks is not made yet.
func (h *Handlers) ListWebhooks(_ context.Context, _ gen.ListWebhooksRequestObject) (gen.ListWebhooksResponseObject, error) {
	return nil, errUnmade
}

// CreateWebhook is not made yet.
func (h *Handlers) CreateWebhook(_ context.Context, _ gen.CreateWebhookRequestObject) (gen.CreateWebhookResponseObject, error) {
	return nil, errUnmade
}

// GetWebhook is not made yet.
func (h *Handlers) GetWebhook(_ context.Context, _ gen.GetWebhookRequestObject) (gen.GetWebhookResponseObject, error) {
	return nil, errUnmade
}

// DeleteWebhook is not made yet.
func (h *Handlers) DeleteWebhook(_ context.Context, _ gen.DeleteWebhookRequestObject) (gen.DeleteWebhookResponseObject, error) {
	return nil, errUnmade
}

// TestWebhook is not made yet.
func (h *Handlers) TestWebhook(_ context.Context, _ gen.TestWebhookRequestObject) (gen.TestWebhookResponseObject, error) {
	return nil, errUnmade
}

// ListDeliveries is not made yet.
func (h *Handlers) ListDeliveries(_ context.Context, _ gen.ListDeliveriesRequestObject) (gen.ListDeliveriesResponseObject, error) {
	return nil, errUnmade
}

// Redeliver is not made yet.
func (h *Handlers) Redeliver(_ context.Context, _ gen.RedeliverRequestObject) (gen.RedeliverResponseObject, error) {
	return nil, errUnmade
}
