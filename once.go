package axflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/engine"
	"axflow/flow"
	"axflow/internal/pg"
	"axflow/internal/watch"
	axsql "axflow/sql"
	"axflow/worker"
)

// OnceConfig says how Once works. The zero value is good.
type OnceConfig struct {
	// DatabaseURL names the database. Default: what AX_DATABASE_URL names, else an embedded PostgreSQL that lives
	// as long as the call.
	DatabaseURL string
	// DataDir keeps the embedded PostgreSQL in this folder instead, with its data.
	DataDir string
	// Namespace of the run. Default "default".
	Namespace string
	// Also are flows that the run needs beside its own: those that its stages run as sub-flows.
	Also []flow.Definition
	// Prepare is called before the run starts, with a pool of the migrated database: to make tables and data, and
	// to give the pool to what the handlers are methods of.
	Prepare func(ctx context.Context, pool *pgxpool.Pool) error
	// Start says more about the start of the run.
	Start []Option
	// TuneEngine and TuneWorker may change the settings of the parts; see Config.
	TuneEngine func(*engine.Config)
	TuneWorker func(*worker.Config)
	// MaxConns bounds the pool that worker, client and Prepare share. Default 8.
	MaxConns int
	// Progress shows the run while it runs: live if it is a terminal. Default os.Stderr.
	Progress io.Writer
	// Logger gets what operators must know. Default: warnings and errors, as text, among the progress.
	Logger *slog.Logger
}

// Once runs a flow once, with everything it needs in this process: it starts a database if none is named, brings
// its schema up to date, runs an engine and a worker, starts one run, shows its progress, and waits for its end.
// Then it calls then, if not nil, to read the results, and ends everything in good order. A run that ends otherwise
// than by succeeding is a *RunError; then is not called. When ctx ends before the run does, the worker gets its
// grace, and an embedded database goes with the call. SIGINT and SIGTERM count as the end of ctx, the first one;
// a second ends the process.
func Once[P any](ctx context.Context, cfg OnceConfig, f *flow.Flow[P], params P, then func(ctx context.Context, c *Client, run uuid.UUID) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // the second signal is not caught
	if cfg.Progress == nil {
		cfg.Progress = os.Stderr
	}
	console := watch.NewConsole(watch.Detect(cfg.Progress, os.Getenv))
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(console, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	url, closeDatabase, err := onceDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	err = onceIn(ctx, cfg, url, console, f, params, then)
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return errors.Join(err, closeDatabase(stopCtx))
}

func onceDatabase(ctx context.Context, cfg OnceConfig) (url string, stop func(context.Context) error, err error) {
	if cfg.DatabaseURL != "" {
		return cfg.DatabaseURL, func(context.Context) error { return nil }, nil
	}
	// Nothing of another program's may meddle, and nothing is to be left: a server of its own.
	return pg.URLFromEnvOrStart(ctx, pg.Config{Dir: cfg.DataDir, Ephemeral: cfg.DataDir == "", Logger: cfg.Logger}, "ax")
}

func onceIn[P any](ctx context.Context, cfg OnceConfig, url string, console *watch.Console, f *flow.Flow[P], params P, then func(context.Context, *Client, uuid.UUID) error) error {
	if err := axsql.Migrate(ctx, url); err != nil {
		return err
	}
	p, err := Open(ctx, Config{DatabaseURL: url, Namespace: cfg.Namespace, Flows: append([]flow.Definition{f}, cfg.Also...), Engine: true,
		TuneEngine: cfg.TuneEngine, TuneWorker: cfg.TuneWorker, MaxConns: cfg.MaxConns, Logger: cfg.Logger})
	if err != nil {
		return err
	}
	defer p.Close()
	if cfg.Prepare != nil {
		if err := cfg.Prepare(ctx, p.Pool()); err != nil {
			return fmt.Errorf("preparing: %w", err)
		}
	}
	// What ends first ends the other: the parts when the work is done, the work when a part fails.
	workCtx, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	partsCtx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		err := p.Run(partsCtx)
		if err != nil {
			failed(err)
		}
		ended <- err
	}()
	err = onceRun(workCtx, cfg, p.Client(), console, f, params, then)
	stop()
	return errors.Join(err, <-ended)
}

func onceRun[P any](ctx context.Context, cfg OnceConfig, c *Client, console *watch.Console, f *flow.Flow[P], params P, then func(context.Context, *Client, uuid.UUID) error) error {
	id, err := Start(ctx, c, f, params, append([]Option{Trigger("once")}, cfg.Start...)...)
	if err != nil {
		return fmt.Errorf("starting the run: %w", err)
	}
	end, err := watch.Follow(ctx, watch.Config{Source: watch.Client(c), Run: id, Console: console,
		Detached: fmt.Sprintf("stopping before the end of run %s", id)})
	switch {
	case errors.Is(err, watch.ErrDetached):
		return fmt.Errorf("run %s had not ended: %w", id, context.Cause(ctx))
	case err != nil:
		return fmt.Errorf("watching run %s: %w", id, err)
	}
	if err := Wait(ctx, c, id); err != nil {
		return errors.Join(append([]error{err}, whatFailed(ctx, c, id, end.Stages)...)...)
	}
	if then == nil {
		return nil
	}
	return then(ctx, c, id)
}

// whatFailed names the last errors of a run, for the one who reads only the end.
func whatFailed(ctx context.Context, c *Client, id uuid.UUID, stages []watch.Stage) []error {
	rows, err := c.Failures(ctx, id, 3)
	if err != nil {
		return []error{err}
	}
	errs := make([]error, len(rows))
	for i, r := range rows {
		var stored struct{ Message string }
		text := string(r.Error)
		if json.Unmarshal(r.Error, &stored) == nil && stored.Message != "" {
			text = stored.Message
		}
		errs[i] = fmt.Errorf("stage %s, shard %d, attempt %d: %s", stages[r.Ord].Name, r.Shard, r.Attempt, text)
	}
	return errs
}
