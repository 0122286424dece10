package control

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/sql/db"
	"axflow/sql/payload"
	"axflow/stage"
)

// The limits of webhooks.
const (
	MaxWebhooks     = 100 // of a namespace
	MaxWebhookName  = 100 // bytes
	MaxWebhookFlows = 100
)

// secretBytes is how many random bytes a webhook's secret has.
const secretBytes = 32

// WebhookEvents are what a webhook can be told.
var WebhookEvents = []string{"run.succeeded", "run.failed", "run.cancelled", "run.late"}

// NewWebhook is a webhook to make.
type NewWebhook struct {
	Name   string
	URL    string   // see webhook.Rules
	Events []string // of WebhookEvents; at least one
	Flows  []string // empty: all
}

// Webhook is a URL that is told when runs end or are late. Its secret is not shown.
type Webhook struct {
	ID            uuid.UUID
	Name, URL     string
	Events, Flows []string
	CreatedAt     time.Time
	CreatedBy     string
	FailingSince  *time.Time // nothing was taken since
	DisabledAt    *time.Time // its receiver has said that it is gone; asking for a delivery enables it again
}

// Delivery is what a webhook was or is to be told.
type Delivery struct {
	ID          uuid.UUID
	Event       string // of WebhookEvents, or "ping"
	Run         *uuid.UUID
	State       string // "pending", "delivered" or "failed"
	Attempts    int
	Status      int    // HTTP status of the last answer; 0: there was none
	Error       string // of the last attempt
	CreatedAt   time.Time
	NextAt      time.Time // of the next attempt, while it is pending
	DeliveredAt *time.Time
}

// AddWebhook makes a webhook and returns it with the secret that its deliveries are signed with: "whsec_" and base64. The
// secret is shown here and nowhere else.
func (c *Client) AddWebhook(ctx context.Context, n NewWebhook, who Who) (Webhook, string, error) {
	if err := c.checkWebhook(n); err != nil {
		return Webhook{}, "", err
	}
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // it never fails
	secret := "whsec_" + base64.StdEncoding.EncodeToString(raw)
	w := Webhook{ID: uuid.Must(uuid.NewV7()), Name: n.Name, URL: n.URL, Events: n.Events, Flows: n.Flows, CreatedBy: who.Actor}
	if w.Flows == nil {
		w.Flows = []string{}
	}
	sealed, err := c.sealPayload(ctx, payload.Place{Kind: payload.Secret, Run: w.ID}, []byte(secret))
	if err != nil {
		return Webhook{}, "", err
	}
	_, err = c.admin(ctx, "add_webhook", "webhook/"+w.ID.String(), who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		if err := q.LockWebhooks(ctx, c.cfg.Namespace); err != nil {
			return nil, nil, fmt.Errorf("locking the webhooks: %w", err)
		}
		there, err := q.CountWebhooks(ctx, db.CountWebhooksParams{Namespace: c.cfg.Namespace, Name: n.Name})
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("counting the webhooks: %w", err)
		case there.Same > 0:
			return nil, nil, &Error{Code: CodeConflict, Field: "/name", Text: fmt.Sprintf("there is a webhook %q: delete it first, or take another name", n.Name)}
		case there.N >= MaxWebhooks:
			return nil, nil, &Error{Code: CodeConflict, Text: fmt.Sprintf("there are %d webhooks, which is the limit: delete one that is not used", there.N)}
		}
		w.CreatedAt, err = q.AddWebhook(ctx, db.AddWebhookParams{ID: w.ID, Namespace: c.cfg.Namespace, Name: w.Name, Url: w.URL, Secret: sealed,
			Events: w.Events, Flows: w.Flows, CreatedBy: w.CreatedBy})
		if err != nil {
			return nil, nil, fmt.Errorf("storing webhook %q: %w", w.Name, err)
		}
		return says(fmt.Sprintf("webhook %q is made", w.Name)), map[string]any{"name": w.Name, "url": w.URL, "events": w.Events, "flows": w.Flows}, nil
	})
	if err != nil {
		return Webhook{}, "", err
	}
	return w, secret, nil
}

func (c *Client) checkWebhook(n NewWebhook) error {
	invalid := func(field, format string, args ...any) error {
		return &Error{Code: CodeInvalid, Field: field, Text: fmt.Sprintf(format, args...)}
	}
	if err := storable(named{"/name", "the name", n.Name}, named{"/url", "the URL", n.URL}); err != nil {
		return err
	}
	if len(n.Name) < 1 || len(n.Name) > MaxWebhookName {
		return invalid("/name", "the name has %d bytes: use 1 to %d", len(n.Name), MaxWebhookName)
	}
	if err := c.cfg.Webhooks.Check(n.URL); err != nil {
		return invalid("/url", "%s", err)
	}
	if len(n.Events) == 0 {
		return invalid("/events", "the webhook has no events: use some of %q", WebhookEvents)
	}
	for i, e := range n.Events {
		switch {
		case !slices.Contains(WebhookEvents, e):
			return invalid(fmt.Sprintf("/events/%d", i), "there is no event %q: use some of %q", e, WebhookEvents)
		case slices.Contains(n.Events[:i], e):
			return invalid(fmt.Sprintf("/events/%d", i), "the event %q is named twice: remove one", e)
		}
	}
	if len(n.Flows) > MaxWebhookFlows {
		return invalid("/flows", "the webhook names %d flows; the limit is %d: leave them out for all flows", len(n.Flows), MaxWebhookFlows)
	}
	for i, f := range n.Flows {
		if err := stage.CheckName("flow", f); err != nil {
			return invalid(fmt.Sprintf("/flows/%d", i), "%s", err)
		}
	}
	return nil
}

// Webhooks lists the namespace's webhooks by name.
func (c *Client) Webhooks(ctx context.Context) ([]Webhook, error) {
	rows, err := c.q.Webhooks(ctx, c.cfg.Namespace)
	if err != nil {
		return nil, fmt.Errorf("listing webhooks: %w", err)
	}
	all := make([]Webhook, len(rows))
	for i, r := range rows {
		all[i] = webhookOf(db.WebhookRow(r))
	}
	return all, nil
}

// Webhook returns a webhook.
func (c *Client) Webhook(ctx context.Context, id uuid.UUID) (Webhook, error) {
	row, err := c.q.Webhook(ctx, db.WebhookParams{Namespace: c.cfg.Namespace, ID: id})
	if errors.Is(err, pgx.ErrNoRows) {
		return Webhook{}, noWebhook(id)
	}
	if err != nil {
		return Webhook{}, fmt.Errorf("reading webhook %s: %w", id, err)
	}
	return webhookOf(row), nil
}

// DropWebhook deletes a webhook. What it has not been told it will not be; the list of its deliveries goes too.
func (c *Client) DropWebhook(ctx context.Context, id uuid.UUID, who Who) error {
	_, err := c.admin(ctx, "drop_webhook", "webhook/"+id.String(), who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		row, err := q.DropWebhook(ctx, db.DropWebhookParams{Namespace: c.cfg.Namespace, ID: id})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, nil, noWebhook(id)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("deleting webhook %s: %w", id, err)
		}
		// The leader deletes what was delivered, some at a time.
		if _, err := q.DropPendingOf(ctx, id); err != nil {
			return nil, nil, fmt.Errorf("deleting the deliveries of webhook %s: %w", id, err)
		}
		return says(fmt.Sprintf("webhook %q is deleted", row.Name)), map[string]any{"name": row.Name, "url": row.Url}, nil
	})
	return err
}

// PingWebhook asks for a delivery of "ping", and enables a webhook that is disabled.
func (c *Client) PingWebhook(ctx context.Context, id uuid.UUID, who Who) (Delivery, error) {
	return c.deliver(ctx, "ping_webhook", id, who, func(ctx context.Context, q *db.Queries) (db.DeliveriesRow, error) {
		row, err := q.AddPing(ctx, db.AddPingParams{ID: uuid.Must(uuid.NewV7()), WebhookID: id, Namespace: c.cfg.Namespace})
		return db.DeliveriesRow(row), err
	})
}

// Redeliver asks for a delivery again, whatever became of it, with the same content and id, and enables a webhook that is
// disabled. Its tries begin anew.
func (c *Client) Redeliver(ctx context.Context, id, delivery uuid.UUID, who Who) (Delivery, error) {
	return c.deliver(ctx, "redeliver", id, who, func(ctx context.Context, q *db.Queries) (db.DeliveriesRow, error) {
		row, err := q.Redeliver(ctx, db.RedeliverParams{Namespace: c.cfg.Namespace, WebhookID: id, ID: delivery})
		if errors.Is(err, pgx.ErrNoRows) {
			err = &Error{Code: CodeNotFound, Text: fmt.Sprintf("there is no delivery %s of webhook %s here", delivery, id)}
		}
		return db.DeliveriesRow(row), err
	})
}

func (c *Client) deliver(ctx context.Context, verb string, id uuid.UUID, who Who, ask func(context.Context, *db.Queries) (db.DeliveriesRow, error)) (Delivery, error) {
	var d Delivery
	_, err := c.admin(ctx, verb, "webhook/"+id.String(), who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		name, err := q.EnableWebhook(ctx, db.EnableWebhookParams{Namespace: c.cfg.Namespace, ID: id})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, nil, noWebhook(id)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("enabling webhook %s: %w", id, err)
		}
		row, err := ask(ctx, q)
		if err != nil {
			return nil, nil, err
		}
		d = deliveryOf(row)
		return says(fmt.Sprintf("webhook %q gets %s %s", name, d.Event, d.ID)), map[string]any{"name": name, "delivery": d.ID, "event": d.Event}, nil
	})
	return d, err
}

// Deliveries lists a webhook's deliveries, newest first, from behind the one that was made at the time with the id; the zero
// values are the newest.
func (c *Client) Deliveries(ctx context.Context, id uuid.UUID, before time.Time, beforeID uuid.UUID, most int) ([]Delivery, error) {
	if _, err := c.Webhook(ctx, id); err != nil {
		return nil, err
	}
	if before.IsZero() {
		before, beforeID = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), uuid.Max
	}
	rows, err := c.q.Deliveries(ctx, db.DeliveriesParams{WebhookID: id, Namespace: c.cfg.Namespace, Before: before, BeforeID: beforeID, Most: int32(min(most, 1001))})
	if err != nil {
		return nil, fmt.Errorf("listing the deliveries of webhook %s: %w", id, err)
	}
	all := make([]Delivery, len(rows))
	for i, r := range rows {
		all[i] = deliveryOf(r)
	}
	return all, nil
}

func noWebhook(id uuid.UUID) error {
	return &Error{Code: CodeNotFound, Text: fmt.Sprintf("there is no webhook %s here", id)}
}

func webhookOf(r db.WebhookRow) Webhook {
	return Webhook{ID: r.ID, Name: r.Name, URL: r.Url, Events: r.Events, Flows: r.Flows, CreatedAt: r.CreatedAt, CreatedBy: r.CreatedBy,
		FailingSince: r.FailingSince, DisabledAt: r.DisabledAt}
}

func deliveryOf(r db.DeliveriesRow) Delivery {
	d := Delivery{ID: r.ID, Event: r.Event, Run: r.RunID, State: r.State, Attempts: int(r.Attempts), CreatedAt: r.CreatedAt, NextAt: r.NextAt,
		DeliveredAt: r.DeliveredAt}
	if r.Status != nil {
		d.Status = int(*r.Status)
	}
	if r.Error != nil {
		d.Error = *r.Error
	}
	return d
}
