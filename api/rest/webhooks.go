package rest

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/engine/control"
)

// ListWebhooks lists the namespace's webhooks by name, without their secrets.
func (h *Handlers) ListWebhooks(ctx context.Context, _ gen.ListWebhooksRequestObject) (gen.ListWebhooksResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.Webhooks(ctx)
	if err != nil {
		return nil, err
	}
	list := gen.ListWebhooks200JSONResponse{Items: make([]gen.Webhook, len(all))}
	for i, w := range all {
		list.Items[i] = webhookBody(w)
	}
	return list, nil
}

// CreateWebhook makes a webhook; its secret is in this answer and nowhere else.
func (h *Handlers) CreateWebhook(ctx context.Context, req gen.CreateWebhookRequestObject) (gen.CreateWebhookResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	n := control.NewWebhook{Name: req.Body.Name, URL: req.Body.Url, Flows: req.Body.Flows}
	for _, e := range req.Body.Events {
		n.Events = append(n.Events, string(e))
	}
	w, secret, err := c.AddWebhook(ctx, n, who(ctx, req.Body.Reason, nil))
	if err != nil {
		return nil, err
	}
	return gen.CreateWebhook201JSONResponse{Webhook: webhookBody(w), Secret: secret}, nil
}

// GetWebhook shows a webhook without its secret.
func (h *Handlers) GetWebhook(ctx context.Context, req gen.GetWebhookRequestObject) (gen.GetWebhookResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	w, err := c.Webhook(ctx, req.Webhook)
	if err != nil {
		return nil, err
	}
	return gen.GetWebhook200JSONResponse(webhookBody(w)), nil
}

// DeleteWebhook deletes a webhook and what it has not been told.
func (h *Handlers) DeleteWebhook(ctx context.Context, req gen.DeleteWebhookRequestObject) (gen.DeleteWebhookResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.DropWebhook(ctx, req.Webhook, who(ctx, nil, nil)); err != nil {
		return nil, err
	}
	return gen.DeleteWebhook204Response{}, nil
}

// TestWebhook asks for a delivery of a ping.
func (h *Handlers) TestWebhook(ctx context.Context, req gen.TestWebhookRequestObject) (gen.TestWebhookResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	d, err := c.PingWebhook(ctx, req.Webhook, who(ctx, nil, nil))
	if err != nil {
		return nil, err
	}
	return gen.TestWebhook202JSONResponse(deliveryBody(d)), nil
}

// ListDeliveries lists what a webhook was told, newest first.
func (h *Handlers) ListDeliveries(ctx context.Context, req gen.ListDeliveriesRequestObject) (gen.ListDeliveriesResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	list := []string{"deliveries", c.Namespace(), req.Webhook.String()}
	at, err := place(list, req.Params.Cursor, 8+len(uuid.UUID{}))
	if err != nil {
		return nil, err
	}
	var before time.Time
	var id uuid.UUID
	if at != nil {
		before, id = time.UnixMicro(int64(binary.BigEndian.Uint64(at))), uuid.UUID(at[8:])
	}
	most := pageSize(req.Params.Limit)
	all, err := c.Deliveries(ctx, req.Webhook, before, id, most+1) // one more tells whether there is a next page
	if err != nil {
		return nil, err
	}
	page := gen.ListDeliveries200JSONResponse{Items: make([]gen.Delivery, 0, len(all))}
	if len(all) > most {
		all = all[:most]
		last := all[most-1]
		page.NextCursor = pageCursor(list, append(binary.BigEndian.AppendUint64(nil, uint64(last.CreatedAt.UnixMicro())), last.ID[:]...))
	}
	for _, d := range all {
		page.Items = append(page.Items, deliveryBody(d))
	}
	return page, nil
}

// Redeliver asks for a delivery again.
func (h *Handlers) Redeliver(ctx context.Context, req gen.RedeliverRequestObject) (gen.RedeliverResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	d, err := c.Redeliver(ctx, req.Webhook, req.Delivery, who(ctx, nil, nil))
	if err != nil {
		return nil, err
	}
	return gen.Redeliver202JSONResponse(deliveryBody(d)), nil
}

func webhookBody(w control.Webhook) gen.Webhook {
	body := gen.Webhook{Id: w.ID, Name: w.Name, Url: w.URL, Events: make([]gen.WebhookEvent, len(w.Events)), Flows: w.Flows, CreatedAt: w.CreatedAt,
		CreatedBy: w.CreatedBy, FailingSince: w.FailingSince, DisabledAt: w.DisabledAt}
	for i, e := range w.Events {
		body.Events[i] = gen.WebhookEvent(e)
	}
	return body
}

func deliveryBody(d control.Delivery) gen.Delivery {
	body := gen.Delivery{Id: d.ID, Event: gen.DeliveryEvent(d.Event), Run: d.Run, State: gen.DeliveryState(d.State), Attempts: d.Attempts,
		Status: opt(d.Status), Error: opt(d.Error), CreatedAt: d.CreatedAt, DeliveredAt: d.DeliveredAt}
	if d.State == "pending" {
		body.NextAt = &d.NextAt
	}
	return body
}
