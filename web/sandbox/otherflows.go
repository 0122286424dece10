package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// flows are the demo flows of a size.
func flows(size string) []flow.Definition {
	all := []flow.Definition{dailyRecon, billing, invoicing, ordersSync, wide("wide", 40), nightlyExport, needsGPU, flakyAPI, onboarding, slowReport}
	if size == "huge" {
		all = append(all, wide("wide-500", 500), huge)
	}
	return all
}

// paceParams are those of flows whose content does not matter.
type paceParams struct {
	Pace float64 `json:"pace,omitempty" jsonschema:"title=Pace,description=Factor on how long everything takes,minimum=0.01,maximum=1000,default=1"`
}

func (p paceParams) pace(d time.Duration) time.Duration {
	if p.Pace > 0 {
		return time.Duration(float64(d) * p.Pace)
	}
	return d
}

// wide is a graph of many stages in layers, as they grow in warehouses: sources, staging, marts, reports.
func wide(name string, n int) *flow.Flow[paceParams] {
	layers := []string{"source", "stage", "clean", "join", "mart", "report"}
	var nodes []stage.Node[paceParams]
	var before, layer []stage.Node[paceParams]
	per := (n - 2 + len(layers) - 1) / len(layers)
	add := func(label string, ups ...stage.Node[paceParams]) stage.Node[paceParams] {
		var opts []stage.Option
		if len(nodes)%11 == 7 {
			opts = append(opts, stage.WithRule(stage.AllDone))
		}
		s := stage.New(label, func(ctx context.Context, p paceParams) (string, error) {
			return label, pause(ctx, p.pace(skewed(60*time.Millisecond, chance(name, label))))
		}, opts...)
		if len(ups) > 0 {
			s.After(ups...)
		}
		nodes = append(nodes, s)
		return s
	}
	before = []stage.Node[paceParams]{add("begin")}
	for l, word := range layers {
		layer = nil
		for i := 0; i < per && len(nodes) < n-1; i++ {
			ups := []stage.Node[paceParams]{before[i*len(before)/per%len(before)]}
			if l > 1 && len(before) > 1 {
				if u := before[int(chance(name, word, i)*float64(len(before)))]; u != ups[0] {
					ups = append(ups, u)
				}
			}
			layer = append(layer, add(fmt.Sprintf("%s-%02d", word, i+1), ups...))
		}
		if len(layer) > 0 {
			before = layer
		}
	}
	add("end", before...)
	return flow.New(name, nodes...).With(flow.Describe(fmt.Sprintf("A warehouse of %d stages.", n)), flow.Owner("platform"))
}

// nightly-export waits: its queue is paused.
var nightlyExport = flow.New("nightly-export",
	stage.New("export", func(ctx context.Context, p paceParams) (string, error) {
		return "sftp://partner/export.csv", pause(ctx, p.pace(300*time.Millisecond))
	}, stage.Queue("nightly"), stage.Priority(stage.P3)),
).With(flow.Describe("Sends the partner its file. Its queue is paused at month's end."), flow.Owner("finance-data"))

// needs-gpu waits: no worker has what it requires.
var (
	gpuTrain = stage.New("train", func(context.Context, paceParams) (string, error) { return "model-7", nil }, stage.Requires("gpu"))
	needsGPU = flow.New("needs-gpu", gpuTrain,
		stage.New("evaluate", func(context.Context, paceParams) (float64, error) { return 0.93, nil }).After(gpuTrain),
	).With(flow.Describe("Trains a model on a worker with a GPU."), flow.Owner("ml"), flow.Late(5*time.Second))
)

// flaky-api fails against a partner that is down, until its circuit opens.
var flakyAPI = flow.New("flaky-api",
	shard.New("call", func(context.Context, paceParams) (shard.Plan, error) { return shard.N(12), nil },
		func(ctx context.Context, _ paceParams, s shard.Shard) (int, error) {
			if err := pause(ctx, 30*time.Millisecond); err != nil {
				return 0, err
			}
			return 0, stage.DownstreamError("partner-api", fmt.Errorf("POST https://partner.example.com/v2/items/%d: dial tcp 203.0.113.9:443: %w", s.Index, errConnection))
		}, stage.Downstream("partner-api"), stage.Retry{MaxAttempts: 50, InitialInterval: 5 * time.Second, MaximumInterval: 20 * time.Second}),
).With(flow.Describe("Pushes items to a partner's API."), flow.Owner("partners"))

// slow-report runs for long and says how far it is.
var slowReport = flow.New("slow-report",
	stage.New("render", func(ctx context.Context, p paceParams) (string, error) {
		stage.Log(ctx).Info("rendering")
		return "report.pdf", work(ctx, p.pace(2*time.Minute), 120, "page by page")
	}, stage.Timeout{Execution: time.Hour}),
).With(flow.Describe("Renders a report, one page a second."), flow.Owner("finance-data"), flow.Late(3*time.Second))

// onboardParams have a schema with everything that a form must know.
type onboardParams struct {
	Customer customer          `json:"customer"`
	Plan     string            `json:"plan" jsonschema:"title=Plan,enum=free,enum=team,enum=enterprise,default=team"`
	Seats    int               `json:"seats,omitempty" jsonschema:"title=Seats,minimum=1,maximum=5000,default=5"`
	Begins   string            `json:"begins,omitempty" jsonschema:"title=Begins,format=date"`
	Discount float64           `json:"discount,omitempty" jsonschema:"title=Discount,minimum=0,maximum=0.9"`
	APIKey   string            `json:"api_key,omitempty" jsonschema:"title=API key,writeOnly=true"`
	Regions  []string          `json:"regions,omitempty" jsonschema:"title=Regions,minItems=1,maxItems=5"`
	Contacts []contact         `json:"contacts,omitempty" jsonschema:"title=Contacts,maxItems=10"`
	Labels   map[string]string `json:"labels,omitempty" jsonschema:"title=Labels"`
	Notify   bool              `json:"notify,omitempty" jsonschema:"title=Send a mail,default=true"`
}

type customer struct {
	Name    string  `json:"name" jsonschema:"title=Name,minLength=1,maxLength=80"`
	Email   string  `json:"email" jsonschema:"title=Mail,format=email"`
	Address address `json:"address,omitzero" jsonschema:"title=Address"`
}

type address struct {
	Street  string `json:"street,omitempty" jsonschema:"title=Street"`
	City    string `json:"city,omitempty" jsonschema:"title=City"`
	Country string `json:"country,omitempty" jsonschema:"title=Country,pattern=^[A-Z]{2}$"`
}

type contact struct {
	Name string `json:"name" jsonschema:"title=Name"`
	Role string `json:"role,omitempty" jsonschema:"title=Role,enum=billing,enum=technical"`
}

var (
	onboardCheck = stage.New("check", func(ctx context.Context, p onboardParams) (string, error) {
		return p.Customer.Name, pause(ctx, 100*time.Millisecond)
	})
	onboardTenant = stage.New("make-tenant", func(ctx context.Context, p onboardParams) (string, error) {
		return "tenant-" + p.Plan, pause(ctx, 250*time.Millisecond)
	}).After(onboardCheck)
	onboardMail = stage.New("send-mail", func(ctx context.Context, p onboardParams) (bool, error) {
		return p.Notify, pause(ctx, 100*time.Millisecond)
	}).After(onboardTenant)
	onboarding = flow.New("onboarding", onboardCheck, onboardTenant, onboardMail).
			With(flow.Describe("Sets a new customer up."), flow.Owner("growth"), flow.Searchable("plan"))
)

// huge is one stage of 100,000 shards that stays live for a quarter of an hour and more.
var (
	hugeDone atomic.Int64
	huge     = flow.New("huge",
		shard.New("crunch", func(_ context.Context, p syncParams) (shard.Plan, error) { return shard.N(max(p.Shards, 1)), nil },
			func(ctx context.Context, p syncParams, s shard.Shard) (int, error) {
				hugeDone.Add(1)
				return s.Index, pause(ctx, skewed(p.median(), chance("crunch", s.Index)))
			}, stage.Rate{Starts: 100}, quick),
	).With(flow.Describe("One stage of 100,000 shards."), flow.Owner("platform"))
)
