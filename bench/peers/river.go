package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"axflow/bench/measure"
)

// contestant is River's settings: see the command's documentation.
type contestant struct {
	jobs           int
	workers        int
	clients        int
	connections    int // of the pool that the clients share
	cooldown, poll time.Duration
}

// work lets River insert its backlog into a fresh database and work it.
func (c contestant) work(ctx context.Context, server *measure.Server, log *slog.Logger) (result map[string]float64, err error) {
	url, drop, err := server.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	pool, err := c.open(ctx, url)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	clients, err := c.build(ctx, pool, log)
	if err != nil {
		return nil, err
	}
	meter, err := server.Watch(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, meter.Close()) }()
	if err := insertBacklog(ctx, clients[0], c.jobs); err != nil {
		return nil, err
	}
	insertion, err := meter.Mark(ctx)
	if err != nil {
		return nil, err
	}
	cost, commits, err := c.drain(ctx, server, url, pool, clients)
	if err != nil {
		return nil, err
	}
	n := float64(c.jobs)
	return map[string]float64{
		"jobs_per_s":               n / cost.Elapsed.Seconds(),
		"wal_bytes_per_job":        float64(cost.WAL) / n,
		"commits_per_job":          float64(commits) / n,
		"cpu_us_per_job":           float64(cost.CPU.Microseconds()) / n,
		"server_cpu_us_per_job":    float64(cost.ServerCPU.Microseconds()) / n,
		"insert_per_s":             n / insertion.Elapsed.Seconds(),
		"insert_wal_bytes_per_job": float64(insertion.WAL) / n,
	}, nil
}

// drain works the backlog, from the clients' start to the last completion that is committed.
func (c contestant) drain(ctx context.Context, server *measure.Server, url string, pool *pgxpool.Pool, clients []*river.Client[pgx.Tx]) (cost measure.Cost, commits int64, err error) {
	meter, err := server.Watch(ctx, url)
	if err != nil {
		return measure.Cost{}, 0, err
	}
	defer func() { err = errors.Join(err, meter.Close()) }()
	completed := make(chan int, 1024)
	for _, client := range clients {
		// An event follows its completion's commit. River drops events that find the channel full.
		events, cancel := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: c.jobs, Kinds: []river.EventKind{river.EventKindJobCompleted}})
		defer cancel()
		go count(ctx, events, completed)
		if err := client.Start(ctx); err != nil {
			return measure.Cost{}, 0, fmt.Errorf("starting River: %w", err)
		}
	}
	for left := c.jobs; left > 0; {
		select {
		case n := <-completed:
			left -= n
		case <-ctx.Done():
			return measure.Cost{}, 0, fmt.Errorf("waiting for River, %d of %d jobs left: %w", left, c.jobs, context.Cause(ctx))
		}
	}
	if cost, err = meter.Mark(ctx); err != nil {
		return measure.Cost{}, 0, err
	}
	for _, client := range clients {
		if err := client.Stop(ctx); err != nil {
			return measure.Cost{}, 0, fmt.Errorf("stopping River: %w", err)
		}
	}
	pool.Close()
	commits, err = meter.Commits(ctx)
	return cost, commits, err
}

// count passes on how many events have come, as many at once as there are.
func count(ctx context.Context, events <-chan *river.Event, to chan<- int) {
	for range events {
		n := 1 + len(events)
		for range n - 1 {
			<-events
		}
		select {
		case to <- n:
		case <-ctx.Done():
			return
		}
	}
}

func (c contestant) open(ctx context.Context, url string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("reading the database's URL: %w", err)
	}
	cfg.MaxConns = int32(c.connections) //nolint:gosec // bounded by the flag's check
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening River's pool: %w", err)
	}
	return pool, nil
}

func (c contestant) build(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) ([]*river.Client[pgx.Tx], error) {
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: log})
	if err != nil {
		return nil, fmt.Errorf("reading River's migrations: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, fmt.Errorf("migrating River: %w", err)
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, noopWorker{})
	clients := make([]*river.Client[pgx.Tx], c.clients)
	for i := range clients {
		clients[i], err = river.NewClient(driver, &river.Config{
			ID:                fmt.Sprintf("peer-%d", i),
			FetchCooldown:     c.cooldown,
			FetchPollInterval: c.poll,
			Logger:            log,
			Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: c.workers}},
			Workers:           workers,
		})
		if err != nil {
			return nil, fmt.Errorf("configuring River: %w", err)
		}
	}
	return clients, nil
}
