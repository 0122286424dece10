package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"axflow"
	"axflow/engine"
	axsql "axflow/sql"
	"axflow/worker"
)

// envRole carries a role, as JSON, to a process that plays it.
const envRole = "AX_FAULT_ROLE"

// role is what a process does.
type role struct {
	Name    string // the lease's holder, and the name at the gates
	URL     string
	Socket  string // of the gates
	Barrier bool   // wait at the gate "begin" before anything else
	Migrate bool
	Engine  bool
	Worker  bool

	PollOnly, Mute bool
	// The zero value of each is the tests' default; see begin.
	TTL, Beat, WorkerTTL, Scan, Reload, Grace time.Duration
	Slots                                     int
}

// The tests' times. A machine that stands still for a TTL ends a term or buries a worker, and AX is right to. So TTLs are long,
// and short only where a test waits for one to run out; such a test says what it presumes, see attempts.
const (
	longTTL        = 30 * time.Second // of leases and workers
	shortTTL       = 2 * time.Second  // of leases
	shortWorkerTTL = 1500 * time.Millisecond
	renew          = shortTTL / 5 // leaders find workers dead only between two renewals
	beat           = 250 * time.Millisecond
	look           = time.Second // scans and reloads
	slots          = 8
)

// play is the whole life of a process; it returns the exit code.
func play(text string) int {
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		fmt.Fprintln(os.Stderr, "reading the role:", err)
		return 2
	}
	go func() { // the test that started this process has ended, however: so do we
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil)).With("process", r.Name)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := r.run(ctx, log); err != nil {
		log.Error("the process failed", "err", err)
		return 1
	}
	log.Info("the process has ended")
	return 0
}

func (r role) run(ctx context.Context, log *slog.Logger) error {
	door := &doorway{process: r.Name, socket: r.Socket}
	if r.Barrier {
		if err := door.wait(ctx, "begin"); err != nil {
			return err
		}
	}
	if r.Migrate {
		if err := axsql.Migrate(ctx, r.URL); err != nil {
			return err
		}
	}
	if !r.Engine && !r.Worker {
		return nil
	}
	cfg := axflow.Config{DatabaseURL: r.URL, Engine: r.Engine, PollOnly: r.PollOnly, Logger: log, TuneEngine: r.tuneEngine, TuneWorker: r.tuneWorker}
	if r.Worker {
		cfg.Flows = newFlows(door).definitions()
	}
	p, err := axflow.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Run(ctx)
}

func (r role) tuneEngine(c *engine.Config) {
	c.Holder = r.Name
	c.TTL, c.Renew, c.Beat, c.WorkerTTL = or(r.TTL, longTTL), renew, or(r.Beat, beat), or(r.WorkerTTL, longTTL)
	c.Scan, c.Reload = or(r.Scan, look), or(r.Reload, look)
	c.Bus.Mute(r.Mute)
}

func (r role) tuneWorker(c *worker.Config) {
	c.Beat, c.TTL, c.Grace, c.Slots = or(r.Beat, beat), or(r.WorkerTTL, longTTL), or(r.Grace, time.Minute), or(r.Slots, slots)
	c.Bus.Mute(r.Mute)
}

func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
