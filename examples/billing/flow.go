package main

import (
	"time"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// Params are what a run may be given.
type Params struct {
	Orders int    `json:"orders" jsonschema:"title=Orders,minimum=1,maximum=100000"`
	Region string `json:"region" jsonschema:"title=Region,enum=eu,enum=us"`
	Audit  bool   `json:"audit,omitempty" jsonschema:"title=Audit the result"`
}

// The stages.
var (
	scratch = stage.New("scratch", makeScratch)

	// The shop says itself when to come back (stage.RetryAfter). If it is down, its circuit opens: then everything that
	// names it waits, and costs no attempts.
	pull = stage.New("pull", pullOrders, stage.Downstream("shop"), stage.Retry{MaxAttempts: 5}).After(scratch)

	// One of two branches; the other is skipped.
	region = stage.New("region", chooseRegion).After(pull)
	eu     = stage.New("eu", taxOf(20), stage.OnBranch(region, "eu")).After(region)
	us     = stage.New("us", taxOf(8), stage.OnBranch(region, "us")).After(region)

	// One shard an order: those of one customer one at a time, at most 500 starts a second in all. Two orders may fail for
	// good; should many fail at once, their retries come back at 50 a second.
	price = shard.New("price", planOrders, priceOrder,
		stage.Key{From: stage.ShardKey, Limit: 1},
		stage.Rate{Starts: 500},
		stage.RetryWindow{Retries: 50},
		stage.Tolerate(2),
		stage.WithRule(stage.NoneFailedMinOneSuccess)).After(eu, us)

	// Another flow, whose result is this stage's. It holds no slot while it waits.
	invoice = flow.Sub("invoice", invoicing, total, toInvoice, stage.WithRule(stage.NoneFailedMinOneSuccess)).After(price, eu, us)

	// Only for runs that ask for it, and never for longer than a minute in all.
	audit = stage.New("audit", auditInvoice, stage.When(wantsAudit), stage.Timeout{Overall: time.Minute}).After(invoice)

	// Whatever became of the rest, the folder goes.
	clean = stage.New("clean", removeScratch, stage.Teardown(scratch)).After(invoice, audit)

	billing = flow.New("billing", scratch, pull, region, eu, us, price, invoice, audit, clean).
		With(flow.Describe("Prices a shop's orders and sends an invoice."))
)

// Invoice are the params of the sub-flow.
type Invoice struct {
	Net int `json:"net"` // cents
	Tax int `json:"tax"` // per cent
}

var (
	total     = stage.New("total", addTax)
	invoicing = flow.New("invoicing", total)
)
