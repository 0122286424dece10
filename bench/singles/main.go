// Singles measures runs of one no-op stage: first started in batches of a thousand, then one by one. The last
// line of the output is JSON:
//
//	runs_per_s                                      in batches: from the first start to the last run's end
//	wal_bytes_per_run commits_per_run               in batches
//	cpu_us_per_run server_us_per_run                in batches: this process's and PostgreSQL's CPU time
//	start_to_handler_p50_ms start_to_handler_p99_ms  one by one: from the call to the handler
package main

import (
	"context"
	"errors"
	"flag"
	"time"

	"github.com/google/uuid"

	"axflow"
	"axflow/bench/harness"
	"axflow/bench/measure"
	"axflow/flow"
	"axflow/stage"
)

// Params of the bench's flow.
type Params struct {
	Began int64 `json:"began"` // monotonic enough: ns of this process's clock
}

var began = make(chan time.Duration, 1<<20)

var single = flow.New("single", stage.New("noop", func(_ context.Context, p Params) (struct{}, error) {
	if p.Began > 0 {
		began <- time.Duration(time.Now().UnixNano() - p.Began)
	}
	return struct{}{}, nil
}))

func main() {
	n := flag.Int("runs", 40_000, "runs started in batches")
	batch := flag.Int("batch", 1000, "runs in a batch")
	one := flag.Int("one-by-one", 500, "runs started one by one")
	latency := flag.Bool("latency", true, "measure runs one by one too")
	rounds := flag.Int("rounds", 3, "rounds; the result is the median")
	flag.Parse()
	if !*latency {
		*one = 0
	}
	harness.Main("singles", *rounds, 5*time.Minute, func(ctx context.Context, s *measure.Server, _ int) (map[string]float64, error) {
		return round(ctx, s, *n, *batch, *one)
	})
}

func round(ctx context.Context, s *measure.Server, n, batch, one int) (_ map[string]float64, err error) {
	p, err := harness.Start(ctx, s, []flow.Definition{single}, nil)
	if err != nil {
		return nil, err
	}
	stopped := false
	defer func() {
		if !stopped {
			err = errors.Join(err, p.Stop())
		}
		err = errors.Join(err, p.Drop())
	}()
	var alone []time.Duration
	for i := range one + 20 {
		id, err := axflow.Start(ctx, p.Client(), single, Params{time.Now().UnixNano()})
		if err != nil {
			return nil, err
		}
		if err := p.Succeeded(ctx, id); err != nil {
			return nil, err
		}
		if d := <-began; i >= 20 { // the first ones warm the statements up
			alone = append(alone, d)
		}
	}
	meter, err := s.Watch(ctx, p.URL)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, meter.Close()) }()
	start := time.Now()
	var ids []uuid.UUID
	for len(ids) < n {
		more, err := axflow.StartMany(ctx, p.Client(), single, make([]Params, min(batch, n-len(ids))))
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	if err := p.Succeeded(ctx, ids...); err != nil {
		return nil, err
	}
	took := time.Since(start)
	cost, err := meter.Mark(ctx)
	if err != nil {
		return nil, err
	}
	stopped = true
	if err := p.Stop(); err != nil {
		return nil, err
	}
	commits, err := meter.Commits(ctx)
	if err != nil {
		return nil, err
	}
	f := float64(n)
	return map[string]float64{
		"runs_per_s":              measure.Round(f / took.Seconds()),
		"wal_bytes_per_run":       measure.Round(float64(cost.WAL) / f),
		"commits_per_run":         measure.Round(float64(commits) / f),
		"cpu_us_per_run":          measure.Round(float64(cost.CPU.Microseconds()) / f),
		"server_us_per_run":       measure.Round(float64(cost.ServerCPU.Microseconds()) / f),
		"start_to_handler_p50_ms": measure.Milliseconds(measure.Percentile(alone, 50)),
		"start_to_handler_p99_ms": measure.Milliseconds(measure.Percentile(alone, 99)),
	}, nil
}
