// Package dispatch is the leader's heart: one goroutine that owns the Board (what is pending, who may run it) and
// the timing wheel (what is due later), takes news in, has the resolver decide, and hands work out. Everything
// it holds is rebuilt from the database when a term begins and compared with it again at every reload; no
// decision counts before the database has confirmed it.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"axflow/engine/dispatch/board"
	"axflow/engine/resolve"
	"axflow/engine/wheel"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/sql/versions"
)

// Conn is the loop's own connection, used by nobody else while Run runs.
type Conn interface {
	span.Conn
	IsClosed() bool
}

// Config is what a Loop needs. Fields without a default are required.
type Config struct {
	Conn     Conn
	Fence    axsql.Fence
	Bus      *hint.Bus
	Box      *hint.Box[hint.Engine] // news for the leader
	Versions *versions.Cache
	Resolver *resolve.Resolver
	Now      func() time.Time      // database time
	Jumped   <-chan struct{}       // the database's clock stepped
	Workers  <-chan []board.Worker // the live workers, whenever they changed
	// LookWorkers asks for a fresh look at the workers; it must not block.
	LookWorkers func()
	// LookRuns asks for a full scan; it must not block.
	LookRuns func()
	// Horizon is how far ahead waiting spans are loaded into the wheel. Default 5 min.
	Horizon time.Duration
	// PerLane is how many spans of one (namespace, queue, level) are loaded at once. Default 5000.
	PerLane int
	// Reload is how often the window and the books are compared with the database. Default 10 s.
	Reload time.Duration
	// MaxGrants is how many pieces one transaction hands out. Default 512.
	MaxGrants int
	// Board settings; NewID is set by the loop.
	Board  board.Config
	Stats  *Stats
	Logger *slog.Logger
}

const (
	alignEvery = 50 * time.Millisecond
	busyRetry  = 15 * time.Millisecond
	faultPause = 100 * time.Millisecond
	maxResolve = 512 // runs in one transaction
)

// Loop is the dispatcher. Make one for every term.
type Loop struct {
	cfg     Config
	q       *db.Queries
	board   *board.Board
	wheel   *wheel.Wheel[timer]
	lanes   map[laneKey]*lane
	known   map[uuid.UUID]*lane        // spans on the Board or in the wheel
	timers  map[uuid.UUID]wheel.Handle // spans in the wheel
	flights map[uuid.UUID]flightInfo
	news    resolve.News
	refresh []uuid.UUID // ready rows to load again
	aligned aligned
	reload  bool
	next    wheel.Handle // of the scheduled reload
	fired   []wheel.Fired[timer]
}

// timer is what the wheel reminds of.
type timer struct {
	span   span.Ready
	news   resolve.News
	spans  []uuid.UUID
	reload bool
	align  bool
}

type flightInfo struct {
	handler string
	run     uuid.UUID
}

// New makes a Loop.
func New(cfg Config) (*Loop, error) {
	if cfg.Horizon == 0 {
		cfg.Horizon = 5 * time.Minute
	}
	if cfg.PerLane == 0 {
		cfg.PerLane = 5000
	}
	if cfg.Reload == 0 {
		cfg.Reload = 10 * time.Second
	}
	if cfg.MaxGrants == 0 {
		cfg.MaxGrants = 512
	}
	cfg.Board.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	b, err := board.New(cfg.Board)
	if err != nil {
		return nil, fmt.Errorf("setting the board up: %w", err)
	}
	return &Loop{cfg: cfg, q: db.New(cfg.Conn), board: b, wheel: wheel.New[timer](cfg.Now()),
		lanes: make(map[laneKey]*lane), known: make(map[uuid.UUID]*lane), timers: make(map[uuid.UUID]wheel.Handle),
		flights: make(map[uuid.UUID]flightInfo), aligned: newAligned()}, nil
}

// Run dispatches until ctx ends (nil), the term is over (axsql.ErrFenced), or the connection is lost.
func (l *Loop) Run(ctx context.Context) error {
	select { // what is in flight is booked on workers: learn them first
	case w := <-l.cfg.Workers:
		l.setWorkers(w)
	case <-ctx.Done():
		return nil
	}
	l.reload = true
	clock := time.NewTimer(0)
	defer clock.Stop()
	for {
		err := l.turn(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, axsql.ErrFenced), err != nil && l.cfg.Conn.IsClosed():
			return err
		case err != nil:
			// Nothing is known about what the failed statement did: look at everything again, a little later.
			l.cfg.Logger.Error("dispatch failed; reloading", "epoch", l.cfg.Fence.Epoch, "err", err)
			l.cfg.Stats.Faults.Add(1)
			l.cfg.LookRuns()
			l.reloadIn(faultPause)
		}
		clock.Reset(l.untilNext())
		select {
		case <-ctx.Done():
			return nil
		case <-l.cfg.Box.C():
		case w := <-l.cfg.Workers:
			l.setWorkers(w)
		case <-l.cfg.Jumped:
			l.jump()
		case <-clock.C:
		}
	}
}

// turn takes in what has come and acts on it until there is nothing left to do.
func (l *Loop) turn(ctx context.Context) error {
	l.advance()
	for {
		if err := l.take(ctx); err != nil {
			return err
		}
		if l.reload {
			if err := l.loadAll(ctx); err != nil {
				return err
			}
		}
		if err := l.loadSpans(ctx); err != nil {
			return err
		}
		if err := l.resolve(ctx); err != nil {
			return err
		}
		if err := l.align(ctx); err != nil {
			return err
		}
		full, err := l.round(ctx)
		if err != nil {
			return err
		}
		if !full && !l.reload && len(l.news.Stages)+len(l.news.Runs)+len(l.refresh) == 0 {
			return nil
		}
		l.advance()
	}
}

// loadAll compares everything with the database, and sees to it that this is done again in time.
func (l *Loop) loadAll(ctx context.Context) error {
	if err := l.loadWindow(ctx); err != nil {
		return err
	}
	if err := l.loadFlights(ctx); err != nil {
		return err
	}
	if err := l.loadAligned(ctx); err != nil {
		return err
	}
	l.reload = false // what the loading itself asked for is done
	l.reloadIn(l.cfg.Reload)
	return nil
}

// reloadIn schedules the next reload, in place of the one that was scheduled.
func (l *Loop) reloadIn(d time.Duration) {
	l.wheel.Cancel(l.next)
	l.next = l.wheel.Add(l.cfg.Now().Add(d), timer{reload: true})
}

// take reads the mailbox.
func (l *Loop) take(ctx context.Context) error {
	for _, n := range l.cfg.Box.Take() {
		for _, r := range n.Ready {
			if err := l.admit(ctx, r); err != nil {
				return err
			}
		}
		l.refresh = append(l.refresh, n.IDs...)
		l.news.Stages = append(l.news.Stages, n.Stages...)
		l.news.Runs = append(l.news.Runs, n.Runs...)
		for _, k := range n.Stages {
			l.aligned.touchRun(k.Run)
		}
		for _, left := range n.Left {
			l.left(left)
		}
		if n.Workers {
			l.cfg.LookWorkers()
		}
		if n.Look {
			l.reload = true
			l.cfg.LookRuns()
		}
	}
	return nil
}

// left books the progress of a flight.
func (l *Loop) left(x hint.Left) {
	info, ok := l.flights[x.Flight]
	if !ok {
		return
	}
	if x.Done > 0 {
		l.board.Learn(info.handler, x.Busy/time.Duration(x.Done), x.Done)
	}
	l.board.Left(x.Flight, x.Left)
	l.aligned.touchRun(info.run)
	if x.Left <= 0 {
		delete(l.flights, x.Flight)
	}
}

// advance takes what is due out of the wheel.
func (l *Loop) advance() {
	now := l.cfg.Now()
	l.fired, _ = l.wheel.Advance(now, l.fired[:0])
	for i := range l.fired {
		t := &l.fired[i].Payload
		switch {
		case t.reload:
			l.reload = true
		case t.align:
			l.aligned.due = true
		case t.span.ID != uuid.Nil:
			delete(l.timers, t.span.ID)
			l.cfg.Stats.TimerLag.Observe(now.Sub(t.span.NotBefore))
			l.pend(t.span)
		default:
			l.news.Stages = append(l.news.Stages, t.news.Stages...)
			l.news.Runs = append(l.news.Runs, t.news.Runs...)
			l.refresh = append(l.refresh, t.spans...)
		}
		*t = timer{}
	}
}

// jump empties the wheel and loads it again: its times are not the database's any more.
func (l *Loop) jump() {
	dropped := l.wheel.Reset(l.cfg.Now())
	l.cfg.Stats.Jumps.Add(1)
	l.cfg.Logger.Warn("the database's clock stepped; the wheel is loaded again", "epoch", l.cfg.Fence.Epoch, "timers", dropped)
	for id := range l.timers {
		l.forget(id)
	}
	clear(l.timers)
	l.aligned.scheduled = false
	l.reload = true
	l.cfg.LookRuns()
}

// untilNext is how long nothing is due.
func (l *Loop) untilNext() time.Duration {
	due, ok := l.wheel.Next()
	if !ok {
		return l.cfg.Reload
	}
	return max(0, due.Sub(l.cfg.Now()))
}

func (l *Loop) setWorkers(list []board.Worker) {
	live := make(map[uuid.UUID]bool, len(list))
	for _, w := range list {
		live[w.ID] = true
		l.board.SetWorker(w)
	}
	for _, w := range l.board.Workers() {
		if !live[w.Worker] {
			for _, id := range l.board.RemoveWorker(w.Worker) {
				delete(l.flights, id)
			}
		}
	}
}
