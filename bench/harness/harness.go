// Package harness runs one AX process on a fresh database for a bench, and reads what happened from the times
// that the database stored.
package harness

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow"
	"axflow/bench/measure"
	"axflow/flow"
	axsql "axflow/sql"
	"axflow/stage"
)

// Process is a running AX process on a database of its own.
type Process struct {
	*axflow.Process
	URL    string
	cancel context.CancelFunc
	done   chan error
	drop   func() error
}

// Start makes a fresh database on the server and runs engine and worker on it. tune may be nil.
func Start(ctx context.Context, server *measure.Server, flows []flow.Definition, tune func(*axflow.Config)) (*Process, error) {
	url, drop, err := server.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	if err := axsql.Migrate(ctx, url); err != nil {
		return nil, errors.Join(err, drop())
	}
	level := slog.LevelWarn
	if os.Getenv("AX_BENCH_DEBUG") != "" {
		level = slog.LevelDebug
	}
	cfg := axflow.Config{DatabaseURL: url, Flows: flows, Engine: true,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))}
	if tune != nil {
		tune(&cfg)
	}
	p, err := axflow.Open(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h := &Process{Process: p, URL: url, cancel: cancel, done: make(chan error, 1), drop: drop}
	go func() { h.done <- p.Run(run) }()
	if err := h.leading(ctx); err != nil {
		return nil, errors.Join(err, h.Stop(), drop())
	}
	return h, nil
}

// leading waits until the engine leads and the worker is registered, so that no bench measures its own start.
func (p *Process) leading(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		var ready bool
		err := p.Pool().QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM ax.lease WHERE expires_at > now()) AND EXISTS (SELECT 1 FROM ax.worker)`).Scan(&ready)
		if err != nil {
			return fmt.Errorf("waiting for the process to lead: %w", err)
		}
		if ready {
			return nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return errors.New("the process did not begin to lead within 20 s")
		}
	}
}

// Stop ends the process and its connections; the database stays.
func (p *Process) Stop() error {
	p.cancel()
	err := <-p.done
	p.Close()
	return err
}

// Drop removes the database.
func (p *Process) Drop() error { return p.drop() }

// Succeeded waits for runs and fails when one of them does not succeed.
func (p *Process) Succeeded(ctx context.Context, ids ...uuid.UUID) error {
	states, err := p.Client().WaitAll(ctx, ids)
	if err != nil {
		return fmt.Errorf("waiting for %d runs: %w", len(ids), err)
	}
	for id, s := range states {
		if s != stage.RunSucceeded {
			return fmt.Errorf("run %s has %s", id, s)
		}
	}
	return nil
}

// Durations reads a column of intervals, in seconds.
func (p *Process) Durations(ctx context.Context, sql string, args ...any) ([]time.Duration, error) {
	rows, err := p.Pool().Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the stored times: %w", err)
	}
	seconds, err := pgx.CollectRows(rows, pgx.RowTo[float64])
	if err != nil {
		return nil, fmt.Errorf("reading the stored times: %w", err)
	}
	out := make([]time.Duration, len(seconds))
	for i, s := range seconds {
		out[i] = time.Duration(s * float64(time.Second))
	}
	return out, nil
}

// Main runs a bench's rounds on one server and prints the medians as its last line.
func Main(name string, rounds int, limit time.Duration, bench func(ctx context.Context, s *measure.Server, round int) (map[string]float64, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := run(ctx, name, rounds, bench); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1) //nolint:gocritic // the context's timer ends with the process
	}
}

func run(ctx context.Context, name string, rounds int, bench func(context.Context, *measure.Server, int) (map[string]float64, error)) (err error) {
	server, err := measure.Open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	out, err := measure.Rounds(rounds, func(i int) (map[string]float64, error) {
		fields, err := bench(ctx, server, i)
		if err == nil {
			fmt.Printf("%s round %d: ", name, i+1)
			err = measure.PrintLine(os.Stdout, fields)
		}
		return fields, err
	})
	if err != nil {
		return err
	}
	return measure.PrintLine(os.Stdout, out)
}
