// Package dispatch is the leader's heart: one goroutine that owns the Board (what is pending, who may run it) and
// the timing wheel (what is due later), takes news in, has the resolver decide, and hands work out. Everything
// it holds is rebuilt from the database when a term begins and compared with it again at every reload; no
// decision counts before the database has confirmed it.
package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
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
	Now      func() time.Time // the database's time, or a little before it: what is due by it must be due by the database's clock
	Jumped   <-chan struct{}  // the database's clock stepped
	Workers  <-chan []Worker  // the live workers, whenever they changed
	// Policies asks for a fresh look at the policies. Optional: news through the Box does too.
	Policies <-chan struct{}
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
	Board board.Config
	// Overload says when a worker gets nothing new.
	Overload Overload
	Stats    *Stats
	Logger   *slog.Logger
}

const (
	alignEvery = 50 * time.Millisecond
	busyRetry  = 15 * time.Millisecond
	faultPause = 100 * time.Millisecond
	maxResolve = 512 // runs in one transaction
	decay      = 1.0 / 60
)

// Loop is the dispatcher. Make one for every term.
type Loop struct {
	cfg         Config
	q           *db.Queries
	board       *board.Board
	wheel       *wheel.Wheel[timer]
	lanes       map[laneKey]*lane
	crowded     map[*lane]struct{} // of which the database holds more
	stale       map[*lane]struct{} // to load again
	perLane     int
	known       map[uuid.UUID]place        // spans on the Board or in the wheel
	timers      map[uuid.UUID]wheel.Handle // spans in the wheel
	flights     map[uuid.UUID]flightInfo
	news        resolve.News
	refresh     []uuid.UUID // ready rows to load again
	aligned     aligned
	expiries    expiries
	learned     learned
	overload    overload
	busy        busy
	inAdvance   float64       // s of work that the Board hands out in advance for each slot
	stepped     bool          // the clock has
	ahead       time.Duration // how far ready rows are ahead of the clock, which has gone back
	fresh       bool          // nothing of an earlier term is restored yet
	policies    policies
	policiesDue bool
	standDue    bool
	policiesAt  time.Time
	decay       float64 // the Board's, while aging is on
	reload      bool
	reloadAt    time.Time
	reminders   []reminder
	fired       []wheel.Fired[timer]
}

// timer is what the wheel reminds of.
type timer struct {
	span   span.Ready
	expiry *span.Expiry
}

type flightInfo struct {
	handler     string
	run, worker uuid.UUID
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
	if cfg.Board.Decay == 0 {
		cfg.Board.Decay = decay
	}
	b, err := board.New(cfg.Board)
	if err != nil {
		return nil, fmt.Errorf("setting the board up: %w", err)
	}
	return &Loop{cfg: cfg, q: db.New(cfg.Conn), board: b, wheel: wheel.New[timer](cfg.Now()), decay: cfg.Board.Decay,
		lanes: make(map[laneKey]*lane), crowded: make(map[*lane]struct{}), stale: make(map[*lane]struct{}), perLane: cfg.PerLane,
		known: make(map[uuid.UUID]place), timers: make(map[uuid.UUID]wheel.Handle), flights: make(map[uuid.UUID]flightInfo),
		aligned: newAligned(), expiries: newExpiries(), learned: newLearned(),
		overload: newOverload(cfg.Overload), busy: newBusy(), inAdvance: cmp.Or(cfg.Board.Horizon, time.Second).Seconds()}, nil
}

// Run dispatches until ctx ends (nil), the term is over (axsql.ErrFenced), or the connection is lost.
func (l *Loop) Run(ctx context.Context) error {
	select { // what is in flight is booked on workers: learn them first
	case w := <-l.cfg.Workers:
		l.setWorkers(w)
	case <-ctx.Done():
		return nil
	}
	l.reload, l.policiesDue, l.fresh = true, true, true
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
		case <-l.cfg.Policies:
			l.policiesDue = true
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
		if err := l.load(ctx); err != nil {
			return err
		}
		if err := l.expire(ctx); err != nil {
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
		if !full {
			l.judge()
		}
		if l.standDue && !full {
			l.standDue = false
			l.stand()
		}
		if !full && !l.reload && len(l.news.Stages)+len(l.news.Runs)+len(l.refresh)+len(l.stale)+len(l.expiries.due) == 0 {
			return l.saveLearned(ctx)
		}
		l.advance()
	}
}

// load reads what is due to be read again.
func (l *Loop) load(ctx context.Context) error {
	if l.fresh { // before anything is handed out: what the last leader counted, and what it had learned
		if err := l.restore(ctx); err != nil {
			return err
		}
	}
	if l.policiesDue || !time.Now().Before(l.policiesAt) {
		if err := l.loadPolicies(ctx); err != nil {
			return err
		}
	}
	if l.reload || !time.Now().Before(l.reloadAt) {
		if err := l.loadAll(ctx); err != nil {
			return err
		}
	}
	if err := l.loadStale(ctx); err != nil {
		return err
	}
	if l.expiries.stale {
		if err := l.loadExpiries(ctx); err != nil {
			return err
		}
	}
	return l.loadSpans(ctx)
}

// loadAll compares everything with the database, and sees to it that this is done again in time.
func (l *Loop) loadAll(ctx context.Context) error {
	clear(l.stale)
	if err := l.loadFlights(ctx); err != nil {
		return err
	}
	if l.fresh {
		if err := l.restoreRates(ctx); err != nil {
			return err
		}
	}
	if err := l.loadWindow(ctx); err != nil {
		return err
	}
	if err := l.loadAligned(ctx); err != nil {
		return err
	}
	if err := l.loadExpiries(ctx); err != nil {
		return err
	}
	l.fresh, l.reload = false, false // what the loading itself asked for is done
	l.reloadIn(l.every())
	if !l.policies.off.On(SwitchEvents) {
		l.cfg.LookRuns()
	}
	return nil
}

// every is how often everything is compared with the database.
func (l *Loop) every() time.Duration {
	if l.policies.off.On(SwitchEvents) && l.policies.off.On(SwitchWheel) {
		return l.cfg.Reload
	}
	return min(l.cfg.Reload, polling)
}

// polling is how often the database is asked while events or the wheel are switched off.
const polling = time.Second

// horizon is how far ahead what waits is held in memory.
func (l *Loop) horizon() time.Duration {
	if l.policies.off.On(SwitchWheel) {
		return l.cfg.Horizon
	}
	return 0
}

// switched acts on switches that were turned.
func (l *Loop) switched(old Switches) {
	l.cfg.Logger.Warn("kill switches changed", "epoch", l.cfg.Fence.Epoch, "off", slices.Sorted(maps.Keys(l.policies.off)))
	if wheelOn := l.policies.off.On(SwitchWheel); wheelOn != old.On(SwitchWheel) && !wheelOn {
		l.emptyWheel()
	}
	l.reload = true
	l.cfg.LookRuns()
}

// reloadIn schedules the next reload, in place of the one that was scheduled.
func (l *Loop) reloadIn(d time.Duration) { l.reloadAt = time.Now().Add(d) }

// take reads the mailbox. While events are switched off only news of policies counts: it may switch them on.
func (l *Loop) take(ctx context.Context) error {
	for _, n := range l.cfg.Box.Take() {
		if n.Policies {
			l.policiesDue = true
		}
		if !l.policies.off.On(SwitchEvents) {
			continue
		}
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
		l.learned.note(info.handler, x.Done)
	}
	l.board.Left(x.Flight, x.Left)
	l.aligned.touchRun(info.run)
	if x.Left <= 0 {
		delete(l.flights, x.Flight)
	}
}

// advance takes what is due out of the wheel and the reminders.
func (l *Loop) advance() {
	l.recall()
	now := l.cfg.Now()
	l.fired, _ = l.wheel.Advance(now, l.fired[:0])
	for i := range l.fired {
		t := &l.fired[i].Payload
		switch {
		case t.expiry != nil:
			delete(l.expiries.timers, t.expiry.StageKey)
			l.expiries.due = append(l.expiries.due, *t.expiry)
		default:
			delete(l.timers, t.span.ID)
			l.cfg.Stats.TimerLag.Observe(now.Sub(t.span.NotBefore))
			l.pend(t.span)
		}
		*t = timer{}
	}
}

// jump empties the wheel and loads it again: its times are not the database's any more.
func (l *Loop) jump() {
	l.cfg.Stats.Jumps.Add(1)
	l.cfg.Logger.Warn("the database's clock stepped; the wheel is loaded again", "epoch", l.cfg.Fence.Epoch, "timers", l.wheel.Len())
	l.emptyWheel()
	l.reload, l.stepped = true, true
	l.cfg.LookRuns()
}

// emptyWheel forgets everything that waits for its time.
func (l *Loop) emptyWheel() {
	l.wheel.Reset(l.cfg.Now())
	for id := range l.timers {
		l.forget(id)
	}
	clear(l.timers)
	l.expiries.forget()
}

// untilNext is how long nothing is due.
func (l *Loop) untilNext() time.Duration {
	d := l.untilReminder(min(time.Until(l.reloadAt), time.Until(l.policiesAt)))
	now := l.cfg.Now()
	if due, ok := l.wheel.Next(); ok {
		d = min(d, due.Sub(now))
	}
	if opens, ok := l.board.NextRate(now); ok {
		d = min(d, opens.Sub(now))
	}
	return max(0, d)
}
