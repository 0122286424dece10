package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/google/uuid"

	"axflow"
	"axflow/api/client"
	"axflow/api/gen"
)

// content makes what the page shows, over the API.
type content struct {
	p   *axflow.Process
	api *gen.ClientWithResponses
	rnd *rand.Rand
}

func newContent(p *axflow.Process, token string, seed uint64) (*content, error) {
	api, err := client.New(client.Config{URL: p.Server().URL(), Token: token, UserAgent: "ax-sandbox"})
	if err != nil {
		return nil, fmt.Errorf("setting the API's client up: %w", err)
	}
	return &content{p: p, api: api, rnd: rand.New(rand.NewPCG(seed, seed))}, nil
}

// start says how a run is started.
type start struct {
	flow   string
	params any
	opts   func(*gen.NewRun)
}

// start starts a run.
func (c *content) start(ctx context.Context, s start) (uuid.UUID, error) {
	text, err := json.Marshal(s.params)
	if err != nil {
		return uuid.Nil, fmt.Errorf("encoding params of %s: %w", s.flow, err)
	}
	body := gen.NewRun{Flow: s.flow, Params: (*gen.Json)(&text)}
	if s.opts != nil {
		s.opts(&body)
	}
	res, err := c.api.StartRunWithResponse(ctx, body)
	if err != nil {
		return uuid.Nil, fmt.Errorf("starting %s: %w", s.flow, err)
	}
	if err := client.Check(res.HTTPResponse, res.Body); err != nil {
		return uuid.Nil, fmt.Errorf("starting %s: %w", s.flow, err)
	}
	started := res.JSON201
	if started == nil {
		started = res.JSON200
	}
	return *started.Run, nil
}

// wait waits for a run's end, for most at most.
func (c *content) wait(ctx context.Context, id uuid.UUID, most time.Duration) error {
	wait := most.Seconds()
	res, err := c.api.GetRunResultWithResponse(ctx, id, &gen.GetRunResultParams{WaitS: &wait})
	if err != nil {
		return fmt.Errorf("waiting for run %s: %w", id, err)
	}
	return client.Check(res.HTTPResponse, res.Body)
}

// asked is the error of an answer, with what was asked.
func asked(what string, res *http.Response, body []byte, err error) error {
	if err == nil {
		err = client.Check(res, body)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func ptr[T any](v T) *T { return &v }

// day is the business day so many days ago.
func day(ago int) string { return time.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }

// tagged gives a run tags.
func tagged(tags map[string]string) func(*gen.NewRun) {
	return func(r *gen.NewRun) { r.Tags = tags }
}

// make makes the content: what must end ends before it returns.
func (c *content) make(ctx context.Context, size string) error {
	if err := c.holds(ctx); err != nil {
		return err
	}
	ends, err := c.ending(ctx)
	if err != nil {
		return err
	}
	// What runs for long takes the slots: it begins when the others have ended.
	for _, id := range ends {
		if err := c.wait(ctx, id, 15*time.Second); err != nil {
			return err
		}
	}
	if err := c.past(ctx, size); err != nil {
		return err
	}
	if err := c.waiting(ctx, size); err != nil {
		return err
	}
	return c.afterwards(ctx)
}

// stands tells whether there is content from before: one that -data kept.
func (c *content) stands(ctx context.Context) (bool, error) {
	res, err := c.api.ListRunsWithResponse(ctx, &gen.ListRunsParams{Limit: ptr(1)})
	if err := asked("looking for runs", res.HTTPResponse, res.Body, err); err != nil {
		return false, err
	}
	return len(res.JSON200.Items) > 0, nil
}

// holds pauses what runs are to wait for, and configures queues and pools.
func (c *content) holds(ctx context.Context) error {
	res, err := c.api.HoldQueueWithResponse(ctx, "nightly", gen.HoldVerbPause, gen.HoldQueueJSONRequestBody{Reason: ptr("the partner's SFTP is down until Monday, INC-4411")})
	if err := asked("pausing the queue nightly", res.HTTPResponse, res.Body, err); err != nil {
		return err
	}
	for name, q := range map[string]gen.QueueConfig{
		"nightly": {Capacity: ptr(500), Concurrency: ptr(8), Reason: ptr("the partner allows 8 sessions")},
		"default": {Capacity: ptr(1_000_000), Reason: ptr("as agreed with platform")},
		"bulk":    {Capacity: ptr(20), Concurrency: ptr(1)},
	} {
		res, err := c.api.SetQueueWithResponse(ctx, name, q)
		if err := asked("configuring queue "+name, res.HTTPResponse, res.Body, err); err != nil {
			return err
		}
	}
	pool, err := c.api.SetPoolWithResponse(ctx, "daily-recon", "compare", gen.SetPoolJSONRequestBody{Slots: 24, Reason: ptr("the warehouse takes no more")})
	return asked("setting a pool", pool.HTTPResponse, pool.Body, err)
}

// ending starts what is to end in the content, and returns the runs.
func (c *content) ending(ctx context.Context) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	all := []start{
		{"orders-sync", syncParams{Source: "shopify", Shards: 2000, Median: 20}, tagged(map[string]string{"team": "commerce", "env": "prod"})},
		{"flaky-api", paceParams{}, nil},
		{"wide", paceParams{Pace: 2}, nil},
		{"onboarding", onboardParams{Customer: customer{Name: "Lovelace & Co", Email: "ada@example.com", Address: address{City: "London", Country: "GB"}}, Plan: "enterprise", Seats: 250,
			APIKey: "sk-not-a-secret", Regions: []string{"eu", "us"}, Contacts: []contact{{"Ada", "technical"}}, Labels: map[string]string{"tier": "gold"}}, nil},
	}
	for i := range 6 {
		region := []string{"eu", "us", "apac"}[i%3]
		all = append(all, start{"daily-recon", reconParams{Date: day(6 - i), Region: region, Rows: 1_000_000}, func(r *gen.NewRun) {
			r.Tags, r.Key = map[string]string{"team": "finance", "env": "prod"}, ptr("recon-"+region+"-"+day(6-i))
		}})
	}
	for i := range 3 {
		all = append(all, start{"billing", billingParams{Orders: 81 + i, Region: []string{"eu", "us"}[i%2], Audit: i == 2}, func(r *gen.NewRun) {
			r.Trigger = ptr(gen.NewRunTriggerCli)
		}})
	}
	for _, s := range all {
		id, err := c.start(ctx, s)
		if err != nil {
			return nil, err
		}
		if s.flow != "flaky-api" {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// waiting starts what stays: running, queued, paused, late, blocked.
func (c *content) waiting(ctx context.Context, size string) error {
	all := []start{
		{"nightly-export", paceParams{}, nil}, {"nightly-export", paceParams{}, nil},
		{"needs-gpu", paceParams{}, nil},
		{"slow-report", paceParams{Pace: 5}, nil},
		{"orders-sync", syncParams{Source: "magento", Shards: 2000, Median: 12_000}, tagged(map[string]string{"team": "commerce", "env": "prod"})},
		{"daily-recon", reconParams{Date: day(0), Region: "eu", Pace: 40}, tagged(map[string]string{"team": "finance", "env": "prod"})},
		{"wide", paceParams{Pace: 400}, nil},
		{"onboarding", onboardParams{Customer: customer{Name: "Hopper Inc", Email: "grace@example.com"}, Plan: "team", Seats: 12}, func(r *gen.NewRun) { r.DelayS = ptr(3600.0) }},
	}
	if size == "huge" {
		all = append(all, start{"wide-500", paceParams{Pace: 20}, nil}, start{"huge", syncParams{Source: "pos", Shards: 100_000, Median: 100}, nil})
	}
	for _, s := range all {
		if _, err := c.start(ctx, s); err != nil {
			return err
		}
	}
	// One that is cancelled while it runs, and one that is paused.
	id, err := c.start(ctx, start{"orders-sync", syncParams{Source: "pos", Shards: 400, Median: 4000}, nil})
	if err != nil {
		return err
	}
	paused, err := c.start(ctx, start{"daily-recon", reconParams{Date: day(1), Region: "us", Pace: 30}, nil})
	if err != nil {
		return err
	}
	if err := pause(ctx, 1500*time.Millisecond); err != nil {
		return err
	}
	if err := c.act(ctx, id, "cancel", "wrong source, the POS export is not ready"); err != nil {
		return err
	}
	return c.act(ctx, paused, "pause", "waiting for a word from the US team")
}

// act steers a run.
func (c *content) act(ctx context.Context, id uuid.UUID, verb, reason string) error {
	res, err := c.api.ActOnRunWithResponse(ctx, id, verb, gen.ActOnRunJSONRequestBody{Reason: &reason})
	if err != nil {
		return fmt.Errorf("%s of run %s: %w", verb, id, err)
	}
	return asked(fmt.Sprintf("%s of run %s", verb, id), res.HTTPResponse, res.Body, nil)
}

// afterwards does what needs runs that have ended: replays, tokens, webhooks.
func (c *content) afterwards(ctx context.Context) error {
	replay, err := c.api.ReplayDeadLettersWithResponse(ctx, gen.NewReplay{Filter: gen.DeadFilter{Flow: ptr("daily-recon")}, Canary: ptr(2), PerSecond: ptr(5.0), Reason: ptr("is it mended?")})
	if err := asked("replaying dead letters", replay.HTTPResponse, replay.Body, err); err != nil {
		return err
	}
	for _, t := range []gen.NewToken{
		{Name: "nightly trigger", Role: gen.RoleOperator, Scopes: []gen.Permission{gen.PermissionRunsStart, gen.PermissionRunsRead}, ExpiresInS: ptr(7776000.0)},
		{Name: "grafana", Role: gen.RoleViewer, Scopes: []gen.Permission{gen.PermissionMetricsRead}},
		{Name: "on call", Role: gen.RoleAdmin, ExpiresInS: ptr(259200.0)},
	} {
		res, err := c.api.CreateTokenWithResponse(ctx, t)
		if err := asked("making the token "+t.Name, res.HTTPResponse, res.Body, err); err != nil {
			return err
		}
	}
	for _, w := range []gen.NewWebhook{
		{Name: "on call", Url: "https://hooks.example.com/ax", Events: []gen.WebhookEvent{gen.WebhookEventRunFailed, gen.WebhookEventRunLate}},
		{Name: "finance", Url: "https://finance.example.com/recon", Events: []gen.WebhookEvent{gen.WebhookEventRunSucceeded}, Flows: []string{"daily-recon"}},
	} {
		res, err := c.api.CreateWebhookWithResponse(ctx, w)
		if err := asked("making the webhook "+w.Name, res.HTTPResponse, res.Body, err); err != nil {
			return err
		}
	}
	return nil
}
