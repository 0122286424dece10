// Package clock keeps the process on the database's time, the one clock of the system: a loop samples
// clock_timestamp() and feeds axflow/internal/dbtime, which answers Now without I/O and detects jumps.
package clock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/internal/dbtime"
)

// Defaults of Config.
const (
	DefaultInterval = time.Second
	DefaultTimeout  = 5 * time.Second
)

// firstSamples is how many samples Open takes: the first one often pays for a new connection and is wide.
const firstSamples = 3

// Jump is a step of the database's clock; see dbtime.Jump.
type Jump = dbtime.Jump

// Config says how a Clock takes its samples.
type Config struct {
	// Read asks the database for its time, clock_timestamp(), once. Required; Database makes one.
	Read func(context.Context) (time.Time, error)
	// Interval is the time from one sample to the next, and so how late a jump may be seen. Default 1 s.
	Interval time.Duration
	// Timeout ends a sample that gets no answer. Default 5 s.
	Timeout time.Duration
	// Threshold is how far a sample must contradict the estimate to count as a jump. Default 500 ms.
	Threshold time.Duration
	// DriftPPM bounds how fast the machine's and the database's clock may drift apart, in millionths.
	// Default 500.
	DriftPPM int
	// Logger gets jumps (warning) and failing samples (warning at the first in a row). Default: none.
	Logger *slog.Logger
}

// Querier is the part of a pool or a connection that Database needs.
type Querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Database makes a Config.Read from a pool. The time that a sample waits for a free connection makes that
// sample vaguer, never wrong. (A single connection works too, until a sample times out on it and pgx closes
// it.)
func Database(db Querier) func(context.Context) (time.Time, error) {
	return func(ctx context.Context) (now time.Time, err error) {
		err = db.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now)
		return now, err
	}
}

// Clock is the database's clock as this process estimates it. Now, Uncertainty, Jumps, Subscribe and Sample
// are those of the estimator; all methods are safe for concurrent use.
//
// What hangs on the clock empties and reloads itself when Subscribe's channel tells of a jump. Missing one
// is no harm: decisions are the database's, and a wheel refuses to go back.
type Clock struct {
	*dbtime.Estimator

	cfg       Config
	monotonic func() time.Duration
	failures  atomic.Uint64
}

// Open takes the first samples and returns a Clock that is ready to be asked. Run keeps it right.
func Open(ctx context.Context, cfg Config) (*Clock, error) {
	if cfg.Read == nil {
		return nil, errors.New("clock: Config.Read is nil; pass clock.Database(pool)")
	}
	if cfg.Interval <= 0 {
		cfg.Interval = DefaultInterval
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Clock{cfg: cfg, monotonic: dbtime.Since(time.Now())}
	for range firstSamples {
		sent, received, db, err := c.read(ctx)
		switch {
		case err != nil:
			return nil, fmt.Errorf("asking the database for its time: %w", err)
		case c.Estimator == nil:
			c.Estimator = dbtime.New(dbtime.Config{
				Monotonic: c.monotonic,
				Threshold: cfg.Threshold,
				DriftPPM:  cfg.DriftPPM,
			}, sent, received, db)
		default:
			c.sample(sent, received, db)
		}
	}
	return c, nil
}

// Run samples the database's clock until ctx ends, then returns nil. While the database does not answer,
// the estimate runs on with the machine's monotonic clock and grows less certain.
func (c *Clock) Run(ctx context.Context) error {
	tick := time.NewTicker(c.cfg.Interval)
	defer tick.Stop()
	failed := 0 // in a row
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		sent, received, db, err := c.read(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			c.failures.Add(1)
			if failed++; failed == 1 {
				c.cfg.Logger.Warn("the database does not tell its time; the estimate runs on", "error", err)
			}
		default:
			if failed > 0 {
				c.cfg.Logger.Info("the database tells its time again", "failed", failed)
				failed = 0
			}
			c.sample(sent, received, db)
		}
	}
}

// Failures is how many samples got no answer since Open.
func (c *Clock) Failures() uint64 { return c.failures.Load() }

func (c *Clock) read(ctx context.Context) (sent, received time.Duration, db time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	sent = c.monotonic()
	db, err = c.cfg.Read(ctx)
	return sent, c.monotonic(), db, err
}

func (c *Clock) sample(sent, received time.Duration, db time.Time) {
	if j, jumped := c.Sample(sent, received, db); jumped {
		c.cfg.Logger.Warn("the database's clock has jumped", "by", j.By, "now", j.Now, "jumps", j.Count)
	}
}
