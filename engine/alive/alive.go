// Package alive is the leader's watch over the workers: it tells the dispatcher who is there, buries workers
// whose heartbeat has stopped, and hands their work out again.
package alive

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/engine/dispatch"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/pipe"
	"axflow/sql/span"
	"axflow/sql/versions"
)

// Term is what the watch asks of the leader's term.
type Term interface {
	Renewals() uint64 // committed so far
	Failures() uint64 // failed so far
}

// Config is what a Watch needs. Fields without a default are required.
type Config struct {
	Conn  dispatch.Conn // the watch's own
	Fence axsql.Fence
	Term  Term
	// Box takes the news of seized work to the dispatcher.
	Box *hint.Box[hint.Engine]
	// Out takes the live workers to the dispatcher.
	Out chan<- []dispatch.Worker
	// Bus asks workers to beat when a circuit has moved.
	Bus *hint.Bus
	// Look asks for a look before the next beat.
	Look <-chan struct{}
	// Beat is how often workers are expected to beat and the watch looks. Default 2 s.
	Beat time.Duration
	// TTL is how long a beat may stay unchanged before its worker counts as dead. Default 6 s.
	TTL time.Duration
	// Overdue is how much longer than its Execution time-out a task may run, by its worker's own report, before it is
	// taken away: the worker's watchdog must have failed. Default 90 s, more than the 60 s of an InTx commit.
	Overdue time.Duration
	// Versions reads the time-outs.
	Versions *versions.Cache
	// Since measures the time that has passed, monotonically. Default time.Since.
	Since func(time.Time) time.Duration
	Now   func() time.Time
	// Clock is the database's time, by which circuits cool down. Default Now.
	Clock  func() time.Time
	Stats  *dispatch.Stats
	Logger *slog.Logger
}

const (
	seizeAtOnce = 256
	draining    = 1
)

// Watch watches. Make one for every term: a new leader counts every worker's silence from its own beginning.
type Watch struct {
	cfg      Config
	q        *db.Queries
	seen     map[uuid.UUID]*sight
	buried   []db.WorkersRow // by this watch, and their work is not back yet
	failures uint64
	circuits *circuits
}

// sight is when a worker's beat was last seen to move.
type sight struct {
	beat     int64
	at       time.Time
	renewals uint64 // of the term, then
}

// New makes a Watch.
func New(cfg Config) *Watch {
	if cfg.Beat == 0 {
		cfg.Beat = 2 * time.Second
	}
	if cfg.TTL == 0 {
		cfg.TTL = 6 * time.Second
	}
	if cfg.Overdue == 0 {
		cfg.Overdue = 90 * time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Since == nil {
		cfg.Since = time.Since
	}
	if cfg.Clock == nil {
		cfg.Clock = cfg.Now
	}
	return &Watch{cfg: cfg, q: db.New(cfg.Conn), seen: make(map[uuid.UUID]*sight), circuits: newCircuits()}
}

// Run watches until ctx ends (nil), the term is over (axsql.ErrFenced), or the connection is lost.
func (w *Watch) Run(ctx context.Context) error {
	tick := time.NewTicker(w.cfg.Beat)
	defer tick.Stop()
	cool := time.NewTimer(w.cfg.Beat) // the end of the next cool-down
	defer cool.Stop()
	for {
		err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, axsql.ErrFenced), err != nil && w.cfg.Conn.IsClosed():
			return err
		case err != nil:
			w.cfg.Logger.Error("watching the workers failed", "epoch", w.cfg.Fence.Epoch, "err", err)
			w.cfg.Stats.Faults.Add(1)
			w.forgive() // a database that fails us may have failed them
		}
		if at, ok := w.circuits.next(); ok {
			cool.Reset(max(0, at.Sub(w.cfg.Clock())))
		} else {
			cool.Stop()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-cool.C:
		case <-w.cfg.Look:
		}
	}
}

// look reads the workers, buries the dead, and seizes what has no owner.
func (w *Watch) look(ctx context.Context) error {
	rows, err := w.read(ctx)
	if err != nil {
		return err
	}
	dead := w.silent(rows)
	if err := w.bury(ctx, dead); err != nil {
		return err
	}
	live := make([]db.WorkersRow, 0, len(rows))
	for _, row := range rows {
		if _, gone := dead[row.ID]; gone {
			row.State = draining
			w.buried = append(w.buried, row)
		} else {
			live = append(live, row)
		}
	}
	if len(w.buried) > 0 {
		// Nothing new may go to the dead while their work comes back; what they hold still counts. The living do
		// not wait until it is back: somebody may hold it locked.
		w.tell(ctx, slices.Concat(w.buried, live))
	}
	if err := w.seize(ctx); err != nil {
		return err
	}
	w.buried = nil
	if err := w.seizeOverdue(ctx, live); err != nil {
		return err
	}
	w.tell(ctx, live)
	return w.moveCircuits(ctx, live)
}

// read reads the workers, and what the circuits are kept by, in one round trip.
func (w *Watch) read(ctx context.Context) ([]db.WorkersRow, error) {
	var rows []db.WorkersRow
	c := w.circuits
	p := pipe.New()
	_, _ = p.Workers(ctx)
	pipe.Rows(p, &rows)
	_, _ = p.Circuits(ctx)
	pipe.Rows(p, &c.rows)
	_, _ = p.Settings(ctx)
	pipe.Rows(p, &c.settings)
	if err := p.Send(ctx, w.cfg.Conn); err != nil {
		return nil, fmt.Errorf("reading the workers: %w", err)
	}
	return rows, nil
}

// tell passes the workers on.
func (w *Watch) tell(ctx context.Context, rows []db.WorkersRow) {
	live := make([]dispatch.Worker, 0, len(rows))
	for i := range rows {
		worker, err := dispatch.ReadWorker(&rows[i])
		if err != nil {
			w.cfg.Logger.Error("a worker is passed over", "worker", rows[i].ID, "err", err)
			continue
		}
		live = append(live, worker)
	}
	select {
	case w.cfg.Out <- live:
	case <-ctx.Done():
	}
}

// silent are the workers whose beat has not moved for a full TTL during which this leader's own renewals kept
// committing: a stalled database kills nobody.
func (w *Watch) silent(rows []db.WorkersRow) map[uuid.UUID]int64 {
	now := w.cfg.Now()
	if f := w.cfg.Term.Failures(); f != w.failures {
		w.failures = f
		w.forgive()
	}
	renewals := w.cfg.Term.Renewals()
	dead := make(map[uuid.UUID]int64)
	there := make(map[uuid.UUID]bool, len(rows))
	for _, row := range rows {
		there[row.ID] = true
		s := w.seen[row.ID]
		if s == nil || s.beat != row.Beat {
			w.seen[row.ID] = &sight{beat: row.Beat, at: now, renewals: renewals}
			continue
		}
		if w.cfg.Since(s.at) >= w.cfg.TTL && renewals > s.renewals {
			dead[row.ID] = row.Beat
		}
	}
	for id := range w.seen {
		if !there[id] {
			delete(w.seen, id)
		}
	}
	return dead
}

// forgive starts every worker's count anew.
func (w *Watch) forgive() { clear(w.seen) }

// bury takes dead workers off the list; one that has beaten meanwhile stays.
func (w *Watch) bury(ctx context.Context, dead map[uuid.UUID]int64) error {
	if len(dead) == 0 {
		return nil
	}
	var params db.BuryWorkersParams
	for id, beat := range dead {
		params.Ids = append(params.Ids, id)
		params.Beats = append(params.Beats, beat)
	}
	var buried []uuid.UUID
	p := pipe.New()
	_ = w.cfg.Fence.Hold(ctx, p.Queries)
	_, _ = p.BuryWorkers(ctx, params)
	pipe.Values(p, &buried)
	if err := p.Send(ctx, w.cfg.Conn); err != nil {
		return fmt.Errorf("burying %d workers: %w", len(dead), axsql.Fenced(err))
	}
	clear(dead)
	for _, id := range buried {
		dead[id] = 0
		w.cfg.Logger.Warn("worker is dead: no heartbeat", "worker", id, "epoch", w.cfg.Fence.Epoch, "ttl", w.cfg.TTL)
	}
	return nil
}

// seize hands the work of absent workers out again, until there is none.
func (w *Watch) seize(ctx context.Context) error {
	if orphans, err := w.q.Orphans(ctx); err != nil || !orphans {
		return err
	}
	for {
		seized, receipt, err := span.Seize(ctx, w.cfg.Conn, w.cfg.Fence, seizeAtOnce)
		if err != nil {
			return err
		}
		if len(seized) == 0 {
			return nil
		}
		news := hint.Engine{Ready: receipt.Ready}
		for _, d := range receipt.Decided {
			news.Stages = append(news.Stages, d.StageKey)
		}
		for _, s := range seized {
			news.Left = append(news.Left, hint.Left{Flight: s.ID})
			w.cfg.Stats.Seized.Add(uint64(s.Set.Len()))
			w.cfg.Logger.Warn("work seized", "run", s.Run, "stage", s.Ord, "shard", s.Set.String(), "attempt", s.Attempt,
				"worker", s.Worker, "epoch", w.cfg.Fence.Epoch)
		}
		w.cfg.Box.Put(news)
		if err := w.failFast(ctx, seized); err != nil {
			return err
		}
		if len(seized) < seizeAtOnce {
			return nil
		}
	}
}
