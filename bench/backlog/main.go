// Backlog measures what a million pending shards do to an urgent run: shards at P4 whose handlers sleep 50 ms keep
// every normal slot busy, and runs of one stage at P0 are started one after another; the same without the
// backlog. The urgent slots are the same on both sides. The last line of the output is JSON:
//
//	start_p50_ms start_p99_ms              a P0 run's start to its handler, with the backlog
//	empty_start_p50_ms empty_start_p99_ms  without
//	start_p50_ratio                        start_p50_ms / empty_start_p50_ms
//	heap_mb                                this process's heap with the backlog pending, after a collection
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
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
	Shards int   `json:"shards"`
	Began  int64 `json:"began"`
}

var began = make(chan time.Duration, 1<<16)

var slow = flow.New("slow", shard.New("sleep",
	func(_ context.Context, p Params) (shard.Plan, error) { return shard.N(p.Shards), nil },
	func(ctx context.Context, _ Params, _ shard.Shard) (struct{}, error) {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
		return struct{}{}, ctx.Err()
	}))

// The urgent flow's stage is the slow flow's neighbour: its own handler, and so its own pool.
var urgent = flow.New("urgent", stage.New("now", func(_ context.Context, p Params) (struct{}, error) {
	began <- time.Duration(time.Now().UnixNano() - p.Began)
	return struct{}{}, nil
}))

func main() {
	n := flag.Int("shards", 1_000_000, "pending shards")
	starts := flag.Int("starts", 200, "P0 runs on each side")
	rounds := flag.Int("rounds", 3, "rounds; the result is the median")
	flag.Parse()
	harness.Main("backlog", *rounds, 5*time.Minute, func(ctx context.Context, s *measure.Server, _ int) (map[string]float64, error) {
		return round(ctx, s, *n, *starts)
	})
}

func round(ctx context.Context, s *measure.Server, n, starts int) (_ map[string]float64, err error) {
	p, err := harness.Start(ctx, s, []flow.Definition{slow, urgent}, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Stop(), p.Drop()) }()
	if _, err := latencies(ctx, p, 20); err != nil { // warm the statements up
		return nil, err
	}
	empty, err := latencies(ctx, p, starts)
	if err != nil {
		return nil, err
	}
	id, err := axflow.Start(ctx, p.Client(), slow, Params{Shards: n}, axflow.At(stage.P4))
	if err != nil {
		return nil, err
	}
	if err := busy(ctx, p); err != nil {
		return nil, err
	}
	full, err := latencies(ctx, p, starts)
	if err != nil {
		return nil, err
	}
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if _, err := p.Client().Cancel(ctx, id, true, axflow.Who{Actor: "bench"}); err != nil {
		return nil, err
	}
	return map[string]float64{
		"start_p50_ms":       measure.Milliseconds(measure.Percentile(full, 50)),
		"start_p99_ms":       measure.Milliseconds(measure.Percentile(full, 99)),
		"empty_start_p50_ms": measure.Milliseconds(measure.Percentile(empty, 50)),
		"empty_start_p99_ms": measure.Milliseconds(measure.Percentile(empty, 99)),
		"start_p50_ratio":    measure.Round(float64(measure.Percentile(full, 50)) / float64(measure.Percentile(empty, 50))),
		"heap_mb":            measure.Round(float64(mem.HeapAlloc) / (1 << 20)),
	}, nil
}

// busy waits until the slow shards fill the worker.
func busy(ctx context.Context, p *harness.Process) error {
	for {
		var finished bool
		if err := p.Pool().QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM ax.result r JOIN ax.run u ON u.run_id = r.run_id WHERE u.flow = 'slow' AND r.shard > 0)`).Scan(&finished); err != nil {
			return fmt.Errorf("waiting for the backlog to run: %w", err)
		}
		if finished {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func latencies(ctx context.Context, p *harness.Process, n int) ([]time.Duration, error) {
	out := make([]time.Duration, 0, n)
	for range n {
		id, err := axflow.Start(ctx, p.Client(), urgent, Params{Began: time.Now().UnixNano()}, axflow.At(stage.P0))
		if err != nil {
			return nil, err
		}
		select {
		case d := <-began:
			out = append(out, d)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if err := p.Succeeded(ctx, id); err != nil {
			return nil, err
		}
	}
	return out, nil
}
