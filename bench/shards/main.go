// Shards measures one sharded stage of no-op shards, beside a floor of bare SQL that appends the same result rows
// in batches of the same size and does nothing else.
//
// PostgreSQL runs with fsync and synchronous commits; times are those stored in the database. The last line of
// the output is JSON:
//
//	tasks_per_s         shards finished per second, from the plan's release to the stage's end
//	wal_bytes_per_task  write-ahead log per shard, everything included
//	commits_per_task    committed transactions per shard, everything included
//	floor_per_s         rows per second of the floor, the best of 1, 2 and 4 connections
//	floor_ratio         tasks_per_s / floor_per_s
//	cpu_us_per_task     this process's CPU time per shard
//	server_us_per_task  PostgreSQL's CPU time per shard
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
)

// Params of the bench's flow.
type Params struct {
	Shards int `json:"shards"`
}

var noop = shard.New("noop",
	func(_ context.Context, p Params) (shard.Plan, error) { return shard.N(p.Shards), nil },
	func(context.Context, Params, shard.Shard) (struct{}, error) { return struct{}{}, nil })

var shards = flow.New("shards", noop)

func main() {
	n := flag.Int("shards", 300_000, "shards of the stage")
	rounds := flag.Int("rounds", 3, "rounds; the result is the median")
	floor := flag.Bool("floor", true, "measure the floor too")
	flag.Parse()
	harness.Main("shards", *rounds, 5*time.Minute, func(ctx context.Context, s *measure.Server, _ int) (map[string]float64, error) {
		out, err := one(ctx, s, *n)
		if err != nil || !*floor {
			return out, err
		}
		url, drop, err := s.Fresh(ctx)
		if err != nil {
			return nil, err
		}
		rate, _, err := measure.Floor(ctx, url, *n, int(out["batch"]))
		if err := errors.Join(err, drop()); err != nil {
			return nil, err
		}
		out["floor_per_s"] = measure.Round(rate)
		out["floor_ratio"] = measure.Round(out["tasks_per_s"] / rate)
		return out, nil
	})
}

func one(ctx context.Context, s *measure.Server, n int) (_ map[string]float64, err error) {
	p, err := harness.Start(ctx, s, []flow.Definition{shards}, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Drop()) }()
	// A small run first: connections, statements and estimates are warm, as in any process that has run a while.
	warm, err := axflow.Start(ctx, p.Client(), shards, Params{20_000})
	if err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	if err := p.Succeeded(ctx, warm); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	meter, err := s.Watch(ctx, p.URL)
	if err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	defer func() { err = errors.Join(err, meter.Close()) }()
	id, err := axflow.Start(ctx, p.Client(), shards, Params{n})
	if err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	if err := p.Succeeded(ctx, id); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	cost, err := meter.Mark(ctx)
	if err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	took, err := p.Durations(ctx, `SELECT extract(epoch FROM s.finished_at - (SELECT min(finished_at) FROM ax.result r WHERE r.run_id = s.run_id AND r.shard = -1))::float8
		FROM ax.stage s WHERE s.run_id = $1`, id)
	if err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	var done int
	if err := p.Pool().QueryRow(ctx, `SELECT count(*) FROM ax.result WHERE run_id = $1 AND shard >= 0 AND outcome = 10`, id).Scan(&done); err != nil || done != n {
		return nil, errors.Join(err, p.Stop(), errorIf(done != n, "not every shard has a result"))
	}
	batch := p.Worker().Stats().MeanBatch()
	if err := p.Stop(); err != nil {
		return nil, err
	}
	commits, err := meter.Commits(ctx)
	if err != nil {
		return nil, err
	}
	f := float64(n)
	return map[string]float64{
		"tasks_per_s":        measure.Round(f / took[0].Seconds()),
		"wal_bytes_per_task": measure.Round(float64(cost.WAL) / f),
		"commits_per_task":   measure.Round(float64(commits) / f),
		"cpu_us_per_task":    measure.Round(float64(cost.CPU.Microseconds()) / f),
		"server_us_per_task": measure.Round(float64(cost.ServerCPU.Microseconds()) / f),
		"batch":              float64(max(1, int(batch))),
	}, nil
}

func errorIf(wrong bool, text string) error {
	if wrong {
		return errors.New(text)
	}
	return nil
}
