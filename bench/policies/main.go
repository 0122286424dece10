// Policies measures what flow control costs: the throughput of one sharded stage of no-op shards with a concurrency key,
// with a rate limit, and with circuit breakers, each switched on alone and none of them binding, against the same stage with
// none.
//
// The four stages take turns in one process on one database, in an order that rotates by the round, so that what the
// machine does besides falls on all of them. The last line of the output is JSON:
//
//	tasks_per_s            shards finished per second without any policy
//	concurrency_key_ratio  the rate with a key and a limit for it, by that
//	rate_limit_ratio       the rate with a start rate, by that
//	breaker_ratio          the rate with a handler's and a downstream's breaker, by that
package main

import (
	"context"
	"errors"
	"flag"
	"time"

	"axflow"
	"axflow/bench/harness"
	"axflow/bench/measure"
	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// Params of the bench's flows.
type Params struct {
	Shards int    `json:"shards"`
	Tenant string `json:"tenant"`
}

// contender is one of the flows that are compared.
type contender struct {
	field string
	flow  *flow.Flow[Params]
}

func contend(name, field string, policies ...stage.Option) contender {
	noop := shard.New("noop",
		func(_ context.Context, p Params) (shard.Plan, error) { return shard.N(p.Shards), nil },
		func(context.Context, Params, shard.Shard) (struct{}, error) { return struct{}{}, nil }, policies...)
	return contender{field, flow.New(name, noop)}
}

var contenders = []contender{
	contend("plain", "tasks_per_s"),
	contend("keyed", "concurrency_key_ratio", stage.Key{From: "params.tenant", Limit: 10_000}),
	contend("rated", "rate_limit_ratio", stage.Rate{Starts: stage.MaxStarts, Per: time.Second}),
	contend("guarded", "breaker_ratio", stage.Breaker{}, stage.Downstream("warehouse")),
}

func main() {
	n := flag.Int("shards", 300_000, "shards of each stage")
	rounds := flag.Int("rounds", 3, "rounds; the result is the median")
	flag.Parse()
	harness.Main("policies", *rounds, 10*time.Minute, func(ctx context.Context, s *measure.Server, round int) (map[string]float64, error) {
		return compare(ctx, s, *n, round)
	})
}

// compare runs every contender once.
func compare(ctx context.Context, s *measure.Server, n, round int) (_ map[string]float64, err error) {
	var flows []flow.Definition
	for _, c := range contenders {
		flows = append(flows, c.flow)
	}
	p, err := harness.Start(ctx, s, flows, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Stop(), p.Drop()) }()
	for _, c := range contenders { // connections, statements and estimates are warm, as in any process that has run a while
		if _, err := rate(ctx, p, c, 20_000); err != nil {
			return nil, err
		}
	}
	rates := make([]float64, len(contenders))
	for i := range contenders {
		k := (i + round) % len(contenders)
		if rates[k], err = rate(ctx, p, contenders[k], n); err != nil {
			return nil, err
		}
	}
	out := map[string]float64{contenders[0].field: measure.Round(rates[0])}
	for i, c := range contenders[1:] {
		out[c.field] = measure.Round(rates[i+1] / rates[0])
	}
	return out, nil
}

// rate runs a contender and returns its shards per second, from the plan's end to the stage's.
func rate(ctx context.Context, p *harness.Process, c contender, n int) (float64, error) {
	id, err := axflow.Start(ctx, p.Client(), c.flow, Params{Shards: n, Tenant: "acme"})
	if err != nil {
		return 0, err
	}
	if err := p.Succeeded(ctx, id); err != nil {
		return 0, err
	}
	took, err := p.Durations(ctx, `SELECT extract(epoch FROM s.finished_at - (SELECT min(finished_at) FROM ax.result r WHERE r.run_id = s.run_id AND r.shard = -1))::float8
		FROM ax.stage s WHERE s.run_id = $1`, id)
	if err != nil {
		return 0, err
	}
	return float64(n) / took[0].Seconds(), nil
}
