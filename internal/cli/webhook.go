package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/api/gen"
)

func (a *app) webhookCommand() *cobra.Command {
	return a.group("webhook", "Webhooks: what AX tells other systems of runs", a.webhookCreateCommand(), a.webhookListCommand(), a.webhookShowCommand(),
		a.webhookTestCommand(), a.deliveriesCommand(), a.redeliverCommand(), a.webhookDeleteCommand())
}

// webhookEvents are what a webhook can be told of.
var webhookEvents = []string{"run.succeeded", "run.failed", "run.cancelled", "run.late"}

func (a *app) webhookCreateCommand() *cobra.Command {
	var events, flows []string
	var reason string
	var asJSON bool
	cmd := &cobra.Command{Use: "create NAME URL", Short: "Have AX tell a URL what happens to runs; prints the signing secret, which is shown this once", Args: takes("NAME", "URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			body := gen.NewWebhook{Name: args[0], Url: args[1], Flows: flows, Reason: opt(reason)}
			for _, e := range events {
				event := gen.WebhookEvent(e)
				if !event.Valid() {
					return usagef("--event %q is unknown: there are %s%s", e, listed(webhookEvents), didYouMean(e, webhookEvents))
				}
				body.Events = append(body.Events, event)
			}
			return a.with(cmd.Context(), func(ctx context.Context, s *session) error {
				r, err := takeAny[gen.CreatedWebhook](answered(s.api.CreateWebhookWithResponse(ctx, body)))
				if err != nil {
					return err
				}
				if asJSON {
					return a.json(r.raw)
				}
				a.say("%s", r.is.Secret)
				a.complain("webhook %q (%s) is told of %s; keep the secret, which signs what it gets: it is not shown again", r.is.Webhook.Name, r.is.Webhook.Id, eventText(r.is.Webhook.Events))
				return nil
			})
		}}
	f := cmd.Flags()
	f.StringSliceVar(&events, "event", []string{"run.failed"}, "what it is told of: "+strings.Join(webhookEvents, ", "))
	f.StringSliceVar(&flows, "flow", nil, "only of runs of these flows (default all)")
	f.StringVar(&reason, "reason", "", "why; the audit keeps it")
	addJSON(cmd, &asJSON)
	a.completeFlag(cmd, "event", fixed(webhookEvents...))
	a.completeFlag(cmd, "flow", flowNames)
	return cmd
}

func eventText(events []gen.WebhookEvent) string {
	texts := make([]string, len(events))
	for i, e := range events {
		texts[i] = string(e)
	}
	return strings.Join(texts, ", ")
}

func (a *app) webhookListCommand() *cobra.Command {
	return list(a, listing[gen.Webhook]{use: "list", short: "List webhooks by name, without their secrets", none: "there are no webhooks",
		page: func(ctx context.Context, s *session, _ []string, _ *int, _ *string) (answer, error) {
			return s.api.ListWebhooksWithResponse(ctx)
		},
		head: []string{"WEBHOOK", "NAME", "URL", "EVENTS", "FLOWS", "STATE"},
		row: func(w gen.Webhook) []string {
			flows, state := "all", "good"
			if len(w.Flows) > 0 {
				flows = listed(w.Flows)
			}
			if w.FailingSince != nil {
				state = "failing since " + clockTime(*w.FailingSince)
			}
			return []string{w.Id.String(), w.Name, w.Url, eventText(w.Events), flows, state}
		}})
}

// findWebhook reads a webhook's id, or looks for the one with a name.
func (s *session) findWebhook(ctx context.Context, text string) (uuid.UUID, error) {
	if id, err := uuid.Parse(text); err == nil {
		return id, nil
	}
	r, err := take(s.api.ListWebhooksWithResponse(ctx))
	if err != nil {
		return uuid.Nil, err
	}
	var names []string
	for _, w := range r.is.Items {
		if w.Name == text {
			return w.Id, nil
		}
		names = append(names, w.Name)
	}
	return uuid.Nil, usagef("there is no webhook %q%s: `webhook list` shows them", text, didYouMean(text, names))
}

// webhookNames proposes webhooks.
func webhookNames(ctx context.Context, s *session, _ []string, _ string) []string {
	r, err := take(s.api.ListWebhooksWithResponse(ctx))
	if err != nil {
		return nil
	}
	names := make([]string, len(r.is.Items))
	for i, w := range r.is.Items {
		names[i] = w.Name + "\t" + w.Url
	}
	return names
}

func (a *app) webhookShowCommand() *cobra.Command {
	return a.asking(asking{use: "show WEBHOOK", short: "Show a webhook, by name or id", args: takes("WEBHOOK"), complete: nth(webhookNames),
		ask: func(ctx context.Context, s *session, args []string) ([]byte, func() error, error) {
			id, err := s.findWebhook(ctx, args[0])
			if err != nil {
				return nil, nil, err
			}
			r, err := take(s.api.GetWebhookWithResponse(ctx, id))
			if err != nil {
				return nil, nil, err
			}
			return r.raw, func() error {
				a.fact("webhook", r.is.Id.String())
				a.fact("name", r.is.Name)
				a.fact("url", r.is.Url)
				a.fact("events", eventText(r.is.Events))
				a.fact("flows", listed(r.is.Flows))
				a.fact("made", clockTime(r.is.CreatedAt)+" by "+r.is.CreatedBy)
				if r.is.FailingSince != nil {
					a.fact("failing", "since "+clockTime(*r.is.FailingSince)+": `"+a.Name+" webhook deliveries "+args[0]+"` says why")
				}
				return nil
			}, nil
		}})
}

func (a *app) webhookTestCommand() *cobra.Command {
	return a.asking(asking{use: "test WEBHOOK", short: "Send a `ping` now", args: takes("WEBHOOK"), complete: nth(webhookNames),
		ask: func(ctx context.Context, s *session, args []string) ([]byte, func() error, error) {
			id, err := s.findWebhook(ctx, args[0])
			if err != nil {
				return nil, nil, err
			}
			r, err := takeAny[gen.Delivery](answered(s.api.TestWebhookWithResponse(ctx, id)))
			if err != nil {
				return nil, nil, err
			}
			return r.raw, func() error {
				a.say("delivery %s is on its way: `%s webhook deliveries %s` shows what became of it", r.is.Id, a.Name, args[0])
				return nil
			}, nil
		}})
}

func (a *app) redeliverCommand() *cobra.Command {
	return a.asking(asking{use: "redeliver WEBHOOK DELIVERY", short: "Try a delivery again, now", args: takes("WEBHOOK", "DELIVERY"), complete: nth(webhookNames),
		ask: func(ctx context.Context, s *session, args []string) ([]byte, func() error, error) {
			delivery, err := uuid.Parse(args[1])
			if err != nil {
				return nil, nil, usagef("%q is no delivery's id: `webhook deliveries %s` shows them", args[1], args[0])
			}
			id, err := s.findWebhook(ctx, args[0])
			if err != nil {
				return nil, nil, err
			}
			r, err := takeAny[gen.Delivery](answered(s.api.RedeliverWithResponse(ctx, id, delivery)))
			if err != nil {
				return nil, nil, err
			}
			return r.raw, func() error { a.say("delivery %s is on its way again", r.is.Id); return nil }, nil
		}})
}

func (a *app) deliveriesCommand() *cobra.Command {
	return list(a, listing[gen.Delivery]{use: "deliveries WEBHOOK", short: "List what was delivered or not, the newest first", none: "nothing has been delivered yet", least: 50,
		args: takes("WEBHOOK"), complete: nth(webhookNames),
		page: func(ctx context.Context, s *session, args []string, limit *int, cursor *string) (answer, error) {
			id, err := s.findWebhook(ctx, args[0])
			if err != nil {
				return nil, err
			}
			return s.api.ListDeliveriesWithResponse(ctx, id, &gen.ListDeliveriesParams{Limit: limit, Cursor: cursor})
		},
		head: []string{"DELIVERY", "EVENT", "RUN", "STATE", "TRIES", "ANSWER", "MADE", "NEXT TRY", "ERROR"},
		row: func(d gen.Delivery) []string {
			run, answer, next := "", "", ""
			if d.Run != nil {
				run = d.Run.String()
			}
			if d.Status != nil {
				answer = fmt.Sprint(*d.Status)
			}
			if d.NextAt != nil && d.State == gen.DeliveryStatePending {
				next = clockTime(*d.NextAt)
			}
			return []string{d.Id.String(), string(d.Event), run, string(d.State), fmt.Sprint(d.Attempts), answer, age(&d.CreatedAt), next, oneLine(value(d.Error))}
		}})
}

func (a *app) webhookDeleteCommand() *cobra.Command {
	return &cobra.Command{Use: "delete WEBHOOK", Short: "Delete a webhook and what it has not delivered", Args: takes("WEBHOOK"), ValidArgsFunction: a.completing(nth(webhookNames)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(ctx context.Context, s *session) error {
				id, err := s.findWebhook(ctx, args[0])
				if err != nil {
					return err
				}
				if err := none(s.api.DeleteWebhookWithResponse(ctx, id)); err != nil {
					return err
				}
				a.say("webhook %s is deleted", id)
				return nil
			})
		}}
}
