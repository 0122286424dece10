package main

import (
	"context"
	"fmt"
	"time"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// billingParams are those of billing.
type billingParams struct {
	Orders int    `json:"orders" jsonschema:"title=Orders,minimum=1,maximum=100000"`
	Region string `json:"region" jsonschema:"title=Region,enum=eu,enum=us"`
	Audit  bool   `json:"audit,omitempty" jsonschema:"title=Audit the result"`
}

// billedOrder is one order of the shop.
type billedOrder struct {
	Customer string `json:"customer"`
	Cents    int    `json:"cents"`
}

// invoiceParams are those of the sub-flow.
type invoiceParams struct {
	Net int `json:"net"`
	Tax int `json:"tax"`
}

// billing: branches, a condition, keyed shards, a sub-flow and a teardown.
var (
	billScratch = stage.New("scratch", billStep(40*time.Millisecond, "/tmp/billing"))
	billPull    = stage.New("pull", billPulled, stage.Downstream("shop"), stage.Retry{MaxAttempts: 5, InitialInterval: 200 * time.Millisecond, Jitter: stage.NoJitter}).After(billScratch)
	billRegion  = stage.New("region", func(_ context.Context, p billingParams) (string, error) { return p.Region, nil }).After(billPull)
	billEU      = stage.New("eu", billStep(60*time.Millisecond, 20), stage.OnBranch(billRegion, "eu")).After(billRegion)
	billUS      = stage.New("us", billStep(60*time.Millisecond, 8), stage.OnBranch(billRegion, "us")).After(billRegion)
	billPrice   = shard.New("price", billPlan, billPriced, stage.Key{From: stage.ShardKey, Limit: 2}, stage.Rate{Starts: 500}, stage.Tolerate(4),
		stage.WithRule(stage.NoneFailedMinOneSuccess)).After(billEU, billUS)
	billInvoice = flow.Sub("invoice", invoicing, invoiceTotal, func(ctx context.Context, _ billingParams) (invoiceParams, error) {
		i := invoiceParams{Tax: 20}
		for _, cents := range billPrice.Outputs(ctx) {
			i.Net += cents
		}
		return i, nil
	}, stage.WithRule(stage.NoneFailedMinOneSuccess)).After(billPrice, billEU, billUS)
	billAudit = stage.New("audit", billStep(300*time.Millisecond, true), stage.When(func(_ context.Context, p billingParams) (bool, error) { return p.Audit, nil }),
		stage.Timeout{Overall: time.Minute}).After(billInvoice)
	billClean = stage.New("clean", billStep(30*time.Millisecond, nil), stage.Teardown(billScratch)).After(billInvoice, billAudit)

	billing = flow.New("billing", billScratch, billPull, billRegion, billEU, billUS, billPrice, billInvoice, billAudit, billClean).
		With(flow.Describe("Prices a shop's orders and sends an invoice."), flow.Owner("finance-data"), flow.Searchable("region"))

	invoiceTotal = stage.New("total", func(ctx context.Context, i invoiceParams) (int, error) {
		return i.Net * (100 + i.Tax) / 100, pause(ctx, 150*time.Millisecond)
	})
	invoicing = flow.New("invoicing", invoiceTotal).With(flow.Describe("Adds the tax and sends an invoice."), flow.Owner("finance-data"))
)

func billStep(d time.Duration, out any) func(context.Context, billingParams) (any, error) {
	return func(ctx context.Context, _ billingParams) (any, error) { return out, pause(ctx, d) }
}

func billPulled(ctx context.Context, p billingParams) (int, error) {
	if i, _ := stage.InfoFrom(ctx); i.Attempt == 1 && p.Orders%2 == 0 {
		return 0, stage.RetryAfter(250*time.Millisecond, coded{"busy", "the shop is busy: try again in 250ms"})
	}
	return p.Orders, pause(ctx, 120*time.Millisecond)
}

func billPlan(_ context.Context, p billingParams) (shard.Plan, error) {
	orders := make([]billedOrder, p.Orders)
	for i := range orders {
		orders[i] = billedOrder{Customer: fmt.Sprintf("customer-%d", i%7), Cents: i*37%900 + 100}
		if i%40 == 39 {
			orders[i].Cents = 0
		}
	}
	return shard.List(orders, func(o billedOrder) string { return o.Customer }), nil
}

func billPriced(ctx context.Context, _ billingParams, s shard.Shard) (int, error) {
	o, err := shard.Input[billedOrder](s)
	if err != nil {
		return 0, err
	}
	if o.Cents <= 0 {
		return 0, stage.Permanent(fmt.Errorf("order %d costs %d cents", s.Index, o.Cents))
	}
	return o.Cents, pause(ctx, 15*time.Millisecond)
}
