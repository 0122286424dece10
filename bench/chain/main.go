// Chain measures the way from one stage to the next: ten no-op stages in a row, first one run at a time, then
// fifty runs at once. A hop is the time from a stage's end to the start of the next stage's handler, both as
// stored in the database. The last line of the output is JSON:
//
//	hop_p50_ms hop_p99_ms              one run at a time
//	busy_hop_p50_ms busy_hop_p99_ms    fifty runs at once
//	runs_per_s                         of the fifty
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow"
	"axflow/bench/harness"
	"axflow/bench/measure"
	"axflow/flow"
	"axflow/stage"
)

func chain(length int) *flow.Flow[struct{}] {
	nodes := make([]stage.Node[struct{}], length)
	var last *stage.Stage[struct{}, struct{}]
	for i := range nodes {
		s := stage.New(fmt.Sprintf("stage-%d", i), func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
		if last != nil {
			s.After(last)
		}
		nodes[i], last = s, s
	}
	return flow.New("chain", nodes...)
}

const hops = `SELECT extract(epoch FROM n.started_at - p.finished_at)::float8
	FROM ax.result n JOIN ax.result p ON p.run_id = n.run_id AND p.ord = n.ord - 1
	WHERE n.run_id = ANY($1)`

func main() {
	one := flag.Int("runs", 60, "runs one at a time")
	many := flag.Int("at-once", 50, "runs at once")
	rounds := flag.Int("rounds", 3, "rounds; the result is the median")
	flag.Parse()
	f := chain(10)
	harness.Main("chain", *rounds, 5*time.Minute, func(ctx context.Context, s *measure.Server, _ int) (_ map[string]float64, err error) {
		p, err := harness.Start(ctx, s, []flow.Definition{f}, nil)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, p.Stop(), p.Drop()) }()
		var ids []uuid.UUID
		for i := range *one + 5 {
			id, err := axflow.Start(ctx, p.Client(), f, struct{}{})
			if err != nil {
				return nil, err
			}
			if err := p.Succeeded(ctx, id); err != nil {
				return nil, err
			}
			if i >= 5 { // the first ones warm the statements up
				ids = append(ids, id)
			}
		}
		alone, err := p.Durations(ctx, hops, ids)
		if err != nil {
			return nil, err
		}
		ids, err = axflow.StartMany(ctx, p.Client(), f, make([]struct{}, *many))
		if err != nil {
			return nil, err
		}
		if err := p.Succeeded(ctx, ids...); err != nil {
			return nil, err
		}
		busy, err := p.Durations(ctx, hops, ids)
		if err != nil {
			return nil, err
		}
		took, err := p.Durations(ctx, `SELECT extract(epoch FROM max(finished_at) - min(created_at))::float8 FROM ax.run WHERE run_id = ANY($1)`, ids)
		if err != nil {
			return nil, err
		}
		return map[string]float64{
			"hop_p50_ms":      measure.Milliseconds(measure.Percentile(alone, 50)),
			"hop_p99_ms":      measure.Milliseconds(measure.Percentile(alone, 99)),
			"busy_hop_p50_ms": measure.Milliseconds(measure.Percentile(busy, 50)),
			"busy_hop_p99_ms": measure.Milliseconds(measure.Percentile(busy, 99)),
			"runs_per_s":      measure.Round(float64(*many) / took[0].Seconds()),
		}, nil
	})
}
