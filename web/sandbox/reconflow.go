package main

import (
	"context"
	"fmt"
	"time"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// reconParams are those of daily-recon.
type reconParams struct {
	Date      string  `json:"date" jsonschema:"title=Business day,format=date"`
	Region    string  `json:"region,omitempty" jsonschema:"title=Region,enum=eu,enum=us,enum=apac,default=eu"`
	Rows      int     `json:"rows,omitempty" jsonschema:"title=Rows,minimum=1000,maximum=10000000,default=1000000"`
	Tolerance float64 `json:"tolerance,omitempty" jsonschema:"title=Tolerance,description=Amounts that differ by less are equal,minimum=0,maximum=1,default=0.01"`
	Pace      float64 `json:"pace,omitempty" jsonschema:"title=Pace,description=Factor on how long everything takes,minimum=0.01,maximum=1000,default=1"`
}

func (p reconParams) pace(d time.Duration) time.Duration {
	if p.Pace > 0 {
		return time.Duration(float64(d) * p.Pace)
	}
	return d
}

// reconciled is what one shard of the comparison found.
type reconciled struct {
	Compared    int `json:"compared"`
	Differences int `json:"differences"`
}

// daily-recon: orders against payments, as companies do it every night.
var (
	reconTables   = stage.New("create-tables", reconStep(60*time.Millisecond))
	reconOrders   = shard.New("load-orders", reconParts(24), reconLoad, stage.Retry{InitialInterval: 300 * time.Millisecond, Jitter: stage.NoJitter}).After(reconTables)
	reconPayments = shard.New("load-payments", reconParts(24), reconLoad, stage.Retry{InitialInterval: 300 * time.Millisecond, Jitter: stage.NoJitter}).After(reconTables)
	reconMeasure  = stage.New("measure", reconStep(150*time.Millisecond)).After(reconOrders, reconPayments)
	reconCompare  = shard.New("compare", reconParts(96), reconCompareShard, stage.Tolerate(1), stage.Retry{InitialInterval: 300 * time.Millisecond, Jitter: stage.NoJitter}).After(reconMeasure)
	reconSummary  = stage.New("summary", reconSum).After(reconCompare)
	reconReport   = stage.New("report", reconStep(200*time.Millisecond)).After(reconSummary)
	reconNotify   = stage.New("notify", reconStep(80*time.Millisecond), stage.Priority(stage.P1)).After(reconSummary)
	reconClean    = stage.New("drop-tables", reconStep(50*time.Millisecond), stage.Teardown(reconTables)).After(reconReport, reconNotify)

	dailyRecon = flow.New("daily-recon", reconTables, reconOrders, reconPayments, reconMeasure, reconCompare, reconSummary, reconReport, reconNotify, reconClean).
			With(flow.Describe("Finds the differences between orders and payments of a day."), flow.Owner("finance-data"), flow.Searchable("date", "region"), flow.Late(10*time.Minute))
)

func reconParts(n int) func(context.Context, reconParams) (shard.Plan, error) {
	return func(ctx context.Context, p reconParams) (shard.Plan, error) {
		rows := max(p.Rows, 1_000_000)
		stage.Log(ctx).Info("counted", "rows", rows)
		return shard.IntRange(1, int64(rows)+1).Base(int64(rows/n)).Between(n, n), pause(ctx, p.pace(40*time.Millisecond))
	}
}

func reconStep(d time.Duration) func(context.Context, reconParams) (struct{}, error) {
	return func(ctx context.Context, p reconParams) (struct{}, error) {
		stage.Log(ctx).Info("working", "date", p.Date, "region", p.Region)
		return struct{}{}, work(ctx, p.pace(d), 4, "day "+p.Date)
	}
}

func reconLoad(ctx context.Context, p reconParams, s shard.Shard) (int64, error) {
	lo, hi := s.Ints()
	i, _ := stage.InfoFrom(ctx)
	if chance("load", p.Date, i.Stage, s.Index) < 0.04 && i.Attempt == 1 {
		stage.Log(ctx).Warn("the source hung up", "from", lo, "to", hi)
		return 0, coded{"connection_reset", fmt.Sprintf("reading rows %d to %d: connection reset by peer", lo, hi)}
	}
	if err := work(ctx, p.pace(skewed(70*time.Millisecond, chance(p.Date, i.Stage, s.Index))), 3, fmt.Sprintf("rows %d to %d", lo, hi)); err != nil {
		return 0, err
	}
	stage.Log(ctx).Debug("loaded", "rows", hi-lo)
	return hi - lo, nil
}

// reconCompareShard fails for good in the region apac, whose ledger has rows without a currency.
func reconCompareShard(ctx context.Context, p reconParams, s shard.Shard) (reconciled, error) {
	lo, hi := s.Ints()
	if err := work(ctx, p.pace(skewed(110*time.Millisecond, chance("compare", p.Date, s.Index))), 4, fmt.Sprintf("orders %d to %d", lo, hi)); err != nil {
		return reconciled{}, err
	}
	if p.Region == "apac" && chance("broken", p.Date, s.Index) < 0.06 {
		return reconciled{}, stage.Permanent(coded{"bad_row", fmt.Sprintf("order %d has no currency", lo+int64(s.Index)*7)})
	}
	found := int(4 * chance("found", p.Date, s.Index))
	stage.Log(ctx).Info("compared", "orders", hi-lo, "differences", found)
	return reconciled{Compared: int(hi - lo), Differences: found}, nil
}

func reconSum(ctx context.Context, p reconParams) (reconciled, error) {
	var sum reconciled
	for _, part := range reconCompare.Outputs(ctx) {
		sum.Compared += part.Compared
		sum.Differences += part.Differences
	}
	return sum, pause(ctx, p.pace(100*time.Millisecond))
}
