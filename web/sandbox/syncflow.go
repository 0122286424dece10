package main

import (
	"context"
	"fmt"
	"time"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// syncParams are those of orders-sync and of huge.
type syncParams struct {
	Source string   `json:"source" jsonschema:"title=Source,enum=shopify,enum=magento,enum=pos"`
	Shards int      `json:"shards,omitempty" jsonschema:"title=Shards,minimum=1,maximum=1000000,default=2000"`
	Since  string   `json:"since,omitempty" jsonschema:"title=Since,format=date-time"`
	Fields []string `json:"fields,omitempty" jsonschema:"title=Fields"`
	Median float64  `json:"median_ms,omitempty" jsonschema:"title=Median in ms,minimum=1,maximum=60000,default=60"`
}

func (p syncParams) median() time.Duration {
	if p.Median > 0 {
		return time.Duration(p.Median * float64(time.Millisecond))
	}
	return 60 * time.Millisecond
}

var quick = stage.Retry{MaxAttempts: 3, InitialInterval: 400 * time.Millisecond, MaximumInterval: time.Second, Jitter: 200 * time.Millisecond}

// orders-sync: one stage of many shards with skewed durations, stragglers, retries, and some that fail for good.
var (
	syncDiscover = stage.New("discover", func(ctx context.Context, p syncParams) (int, error) {
		stage.Log(ctx).Info("asking the source", "source", p.Source)
		return max(p.Shards, 1), pause(ctx, 120*time.Millisecond)
	})
	syncPages   = shard.New("sync", planPages, syncPage, quick).After(syncDiscover)
	syncIndex   = shard.Aligned("index", syncPages, indexPage, stage.WithRule(stage.AllDone)).After(syncDiscover)
	syncPublish = stage.New("publish", func(ctx context.Context, p syncParams) (string, error) {
		return "s3://lake/orders/" + p.Source, pause(ctx, 200*time.Millisecond)
	}).After(syncPages, syncIndex)

	ordersSync = flow.New("orders-sync", syncDiscover, syncPages, syncIndex, syncPublish).
			With(flow.Describe("Copies the orders of a shop into the lake, page by page."), flow.Owner("commerce"), flow.Searchable("source"))
)

func planPages(ctx context.Context, p syncParams) (shard.Plan, error) {
	n := p.Shards
	if n == 0 {
		n = 2000
	}
	return shard.N(n), pause(ctx, 150*time.Millisecond)
}

func syncPage(ctx context.Context, p syncParams, s shard.Shard) (int, error) {
	i, _ := stage.InfoFrom(ctx)
	d := skewed(p.median(), chance("page", p.Source, s.Index))
	if chance("straggler", p.Source, s.Index) < 0.002 {
		d *= 8
	}
	log := stage.Log(ctx)
	log.Debug("fetching", "page", s.Index)
	if err := work(ctx, d, 3, fmt.Sprintf("page %d of %d", s.Index+1, s.Total)); err != nil {
		return 0, err
	}
	orders := 80 + int(40*chance("orders", p.Source, s.Index))
	switch u := chance("fails", p.Source, s.Index); {
	case u < 0.004:
		log.Error("the page cannot be read", "page", s.Index)
		return 0, stage.Permanent(coded{"bad_payload", fmt.Sprintf("page %d: order %d: field total_price is %q, not a number", s.Index, 8_800_000+s.Index*13, "n/a")})
	case u < 0.007:
		return 0, coded{"http_502", fmt.Sprintf("GET /orders?page=%d: 502 Bad Gateway", s.Index)}
	case u < 0.010:
		return 0, fmt.Errorf("writing page %d: duplicate key value violates unique constraint \"orders_pkey\" (id=%d)", s.Index, 8_800_000+s.Index)
	case u < 0.05 && i.Attempt == 1:
		log.Warn("throttled", "page", s.Index, "retry_after_s", 1)
		return 0, coded{"http_429", fmt.Sprintf("GET /orders?page=%d: 429 Too Many Requests", s.Index)}
	}
	log.Info("stored", "page", s.Index, "orders", orders)
	return orders, nil
}

func indexPage(ctx context.Context, p syncParams, s shard.Shard) (int, error) {
	return s.Index, pause(ctx, skewed(p.median()/4, chance("index", s.Index)))
}
