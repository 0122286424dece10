// Package throughput counts what is started and finished, for people to look at: it is one of the leader's loops. Runs that start are
// counted by the order of their ids, once; runs that end are counted by the leader as it ends them. Tasks are counted by the workers,
// which say with their heartbeats what they have done: nothing is written per task, and no large table is read. The figures are
// good to some seconds of work around a crash.
package throughput

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/stage"
)

const (
	// lag is how old a start must be to be counted: what was minted before is visible by then, unless a caller's transaction takes longer.
	lag = 4 * time.Second
	// reach is how far back is counted and kept.
	reach = 25 * time.Hour
	// atOnce is how much of the past one transaction counts, after a take-over.
	atOnce = time.Hour
	// settled is after how many minutes the rows of a minute are made one, and old after how many a quarter's.
	settled = 2 * time.Minute
	old     = 75 * time.Minute
	// foldEvery is how often.
	foldEvery = time.Minute
)

// Conn is the leader's database.
type Conn interface {
	db.DBTX
	Begin(ctx context.Context) (pgx.Tx, error)
}

// Config is what a Loop needs; all but Every is required.
type Config struct {
	Conn  Conn
	Fence axsql.Fence
	// Ended are the runs that this leader ends.
	Ended *Ended
	// Every is how often runs are counted. Default 5 s.
	Every  time.Duration
	Logger *slog.Logger
}

// Ended counts runs that have ended, until a Loop takes them. It is safe for concurrent use.
type Ended struct {
	mu sync.Mutex
	by map[string]*count
}

// Add counts a run of a namespace. Those that were cancelled do not count.
func (e *Ended) Add(namespace string, state stage.RunState) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.by == nil {
		e.by = make(map[string]*count)
	}
	n := e.by[namespace]
	if n == nil {
		n = &count{}
		e.by[namespace] = n
	}
	switch state {
	case stage.RunSucceeded:
		n.succeeded++
	case stage.RunFailed:
		n.failed++
	case stage.RunRunning, stage.RunCancelling, stage.RunCancelled:
	}
}

func (e *Ended) take() map[string]*count {
	e.mu.Lock()
	defer e.mu.Unlock()
	taken := e.by
	e.by = nil
	return taken
}

func (e *Ended) giveBack(taken map[string]*count) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.by == nil {
		e.by = make(map[string]*count)
	}
	for namespace, n := range taken {
		if has := e.by[namespace]; has != nil {
			n.succeeded += has.succeeded
			n.failed += has.failed
		}
		e.by[namespace] = n
	}
}

type count struct{ started, succeeded, failed int64 }

// Loop counts runs and keeps the table small.
type Loop struct {
	cfg    Config
	until  time.Time // runs have been counted up to here; zero: it is to be read
	stored time.Time // what the table says
	folded time.Time
}

// New makes a Loop.
func New(cfg Config) *Loop {
	if cfg.Every == 0 {
		cfg.Every = 5 * time.Second
	}
	return &Loop{cfg: cfg}
}

// Run works until ctx ends (nil) or the term is over (ErrFenced). Faults of the database are logged, and tried again.
func (l *Loop) Run(ctx context.Context) error {
	tick := time.NewTicker(l.cfg.Every)
	defer tick.Stop()
	for {
		err := l.Round(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, axsql.ErrFenced):
			return err
		case err != nil:
			l.cfg.Logger.Error("counting runs failed; it is tried again", "epoch", l.cfg.Fence.Epoch, "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Round counts what has been started and ended since the last round, and folds the table when it is time.
func (l *Loop) Round(ctx context.Context) error {
	look, err := db.New(l.cfg.Conn).CountedUntil(ctx)
	if err != nil {
		return fmt.Errorf("reading up to when runs have been counted: %w", err)
	}
	if l.until.IsZero() || l.stored != look.Until { // a term begins, or nobody knows what became of the last transaction
		l.until, l.stored = look.Until, look.Until
	}
	if floor := look.Now.Add(-reach); l.until.Before(floor) {
		l.until = floor
	}
	for {
		upto := look.Now.Add(-lag).Truncate(time.Millisecond) // ids tell milliseconds
		if next := l.until.Add(atOnce); upto.After(next) {
			upto = next
		}
		if !upto.After(l.until) {
			break
		}
		if err := l.count(ctx, look.Now, upto); err != nil {
			return err
		}
	}
	if look.Now.Sub(l.folded) < foldEvery {
		return nil
	}
	return l.fold(ctx, look.Now)
}

// count counts the runs that were started from until to upto, and those that have ended meanwhile. Without any it writes nothing.
func (l *Loop) count(ctx context.Context, now, upto time.Time) error {
	rows, err := db.New(l.cfg.Conn).CountStarted(ctx, db.CountStartedParams{First: axsql.DayBound(l.until), Last: axsql.DayBound(upto)})
	if err != nil {
		return fmt.Errorf("counting the runs started since %s: %w", l.until, err)
	}
	ended := l.cfg.Ended.take()
	if len(rows)+len(ended) == 0 {
		l.until = upto
		return nil
	}
	type slot struct {
		namespace string
		minute    time.Time
	}
	counts := make(map[slot]count) // one row may be written once in one statement
	for _, r := range rows {
		counts[slot{r.Namespace, r.Minute.UTC()}] = count{started: r.N}
	}
	for namespace, e := range ended {
		at := slot{namespace, now.UTC().Truncate(time.Minute)}
		n := counts[at]
		n.succeeded, n.failed = e.succeeded, e.failed
		counts[at] = n
	}
	var p db.AddRunsParams
	for at, n := range counts {
		p.Namespaces, p.Minutes = append(p.Namespaces, at.namespace), append(p.Minutes, at.minute)
		p.Started, p.Succeeded, p.Failed = append(p.Started, n.started), append(p.Succeeded, n.succeeded), append(p.Failed, n.failed)
	}
	err = l.write(ctx, func(q *db.Queries) error {
		if err := q.AddRuns(ctx, p); err != nil {
			return err
		}
		return q.SetCounted(ctx, upto)
	})
	if err != nil {
		l.cfg.Ended.giveBack(ended) // if it was committed after all, these few count twice
		l.until = time.Time{}
		return fmt.Errorf("adding the runs up to %s: %w", upto, err)
	}
	l.until, l.stored = upto, upto
	return nil
}

// fold keeps the table small.
func (l *Loop) fold(ctx context.Context, now time.Time) error {
	minute := now.Truncate(time.Minute)
	err := l.write(ctx, func(q *db.Queries) error {
		if err := q.FoldThroughput(ctx, db.FoldThroughputParams{Settled: minute.Add(-settled), Old: now.Add(-old).Truncate(15 * time.Minute)}); err != nil {
			return err
		}
		return q.DropThroughput(ctx, now.Add(-reach))
	})
	if err != nil {
		return fmt.Errorf("folding the throughput: %w", err)
	}
	l.folded = now
	return nil
}

// write is one fenced transaction.
func (l *Loop) write(ctx context.Context, do func(*db.Queries) error) error {
	tx, err := l.cfg.Conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	q := db.New(tx)
	if err := l.cfg.Fence.Hold(ctx, q); err != nil {
		return axsql.Fenced(err)
	}
	if err := do(q); err != nil {
		return err
	}
	return axsql.Fenced(tx.Commit(ctx))
}
