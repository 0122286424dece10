package hint

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// Config says how a Bus reaches other processes.
type Config struct {
	// ConnConfig opens the bus's two own connections, directly: LISTEN does not work through a transaction pooler.
	// It is copied. nil: the bus stays inside the process.
	ConnConfig *pgx.ConnConfig
	// PollOnly does without the listener: nothing from other processes arrives, and what they would have said is
	// found by scan, reload and heartbeat. Hints are still sent.
	PollOnly bool
	// Flush is the least time from one NOTIFY transaction to the next. Default 3 ms.
	Flush time.Duration
	// Probe is how often the listener checks its way end to end. Default 30 s; below 0 never.
	Probe time.Duration
	// Logger gets lost connections. Default: none.
	Logger *slog.Logger
}

// Bus routes hints: to a subscriber in this process through memory, else to other processes by NOTIFY. Senders never
// wait. It is safe for concurrent use.
type Bus struct {
	cfg   Config
	muted atomic.Bool
	stats Stats

	mu      sync.Mutex
	engine  *Box[Engine]
	workers map[uuid.UUID]*Box[Worker]
	runs    map[*Box[[]uuid.UUID]]struct{}
	out     outbox
	changed chan struct{} // subscriptions changed: the listener adapts
	pending chan struct{} // the outbox has something
}

// Stats counts what a Bus does; the fields only grow.
type Stats struct {
	Notifies   atomic.Uint64 // transactions
	Payloads   atomic.Uint64
	Received   atomic.Uint64
	Garbage    atomic.Uint64 // payloads that could not be read
	Reconnects atomic.Uint64
	Muted      atomic.Uint64 // hints dropped by Mute
}

// New makes a Bus. It works inside the process at once; Run connects it to others.
func New(cfg Config) (*Bus, error) {
	if cfg.ConnConfig != nil {
		cfg.ConnConfig = cfg.ConnConfig.Copy()
	}
	if cfg.Flush == 0 {
		cfg.Flush = 3 * time.Millisecond
	}
	if cfg.Probe == 0 {
		cfg.Probe = 30 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Bus{cfg: cfg, workers: make(map[uuid.UUID]*Box[Worker]), runs: make(map[*Box[[]uuid.UUID]]struct{}),
		changed: make(chan struct{}, 1), pending: make(chan struct{}, 1)}, nil
}

// Stats are the bus's counters.
func (b *Bus) Stats() *Stats { return &b.stats }

// Mute switches the event path off: every hint, sent or received, is dropped until it is switched on again. Then
// only scans, reloads and heartbeats move work.
func (b *Bus) Mute(off bool) {
	b.muted.Store(off)
	if !off {
		b.gap()
	}
}

func (b *Bus) dropped() bool {
	if b.muted.Load() {
		b.stats.Muted.Add(1)
		return true
	}
	return false
}

// Run connects the bus to other processes until ctx ends; then it sends what is left, for a moment, and returns nil.
// A database that does not answer is tried again for ever.
func (b *Bus) Run(ctx context.Context) error {
	if b.cfg.ConnConfig == nil {
		<-ctx.Done()
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { b.notify(ctx); return nil })
	if !b.cfg.PollOnly {
		g.Go(func() error { b.listen(ctx); return nil })
	}
	return g.Wait()
}

// ToEngine tells the leader.
func (b *Bus) ToEngine(n Engine) {
	if b.dropped() {
		return
	}
	b.mu.Lock()
	box := b.engine
	if box == nil {
		b.send(engineChannel, func(o *outbox) { o.engine(n) })
	}
	b.mu.Unlock()
	if box != nil {
		box.Put(n)
	}
}

// NotifyTx tells the leader of this and other processes when the caller's transaction commits, and only then.
func (b *Bus) NotifyTx(ctx context.Context, tx pgx.Tx, n Engine) error {
	if b.dropped() {
		return nil
	}
	var o outbox
	o.engine(n)
	for _, p := range o.take() {
		if _, err := tx.Exec(ctx, "SELECT pg_notify($1, $2)", p.channel, p.text); err != nil {
			return err
		}
	}
	return nil
}

// ToWorker tells one worker.
func (b *Bus) ToWorker(id uuid.UUID, n Worker) {
	if b.dropped() {
		return
	}
	b.mu.Lock()
	box := b.workers[id]
	if box == nil {
		b.send(workerChannel(id), func(o *outbox) { o.worker(id, n) })
	}
	b.mu.Unlock()
	if box != nil {
		box.Put(n)
	}
}

// RunsEnded tells everybody who waits for runs.
func (b *Bus) RunsEnded(ids []uuid.UUID) {
	if len(ids) == 0 || b.dropped() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for box := range b.runs {
		box.Put(ids)
	}
	b.send(runChannel, func(o *outbox) { o.ended(ids) })
}

// send adds to the outbox; b.mu is held.
func (b *Bus) send(_ string, add func(*outbox)) {
	if b.cfg.ConnConfig == nil {
		return
	}
	add(&b.out)
	select {
	case b.pending <- struct{}{}:
	default:
	}
}

// SubscribeEngine receives what is meant for the leader, until it is closed: a process subscribes while it leads. A
// second subscription replaces the first.
func (b *Bus) SubscribeEngine() *Box[Engine] {
	box := newBox[Engine]()
	box.leave = func() {
		b.mu.Lock()
		if b.engine == box {
			b.engine = nil
		}
		b.mu.Unlock()
		b.adapt()
	}
	b.mu.Lock()
	b.engine = box
	b.mu.Unlock()
	b.adapt()
	return box
}

// SubscribeWorker receives what is meant for one worker.
func (b *Bus) SubscribeWorker(id uuid.UUID) *Box[Worker] {
	box := newBox[Worker]()
	box.leave = func() {
		b.mu.Lock()
		if b.workers[id] == box {
			delete(b.workers, id)
		}
		b.mu.Unlock()
		b.adapt()
	}
	b.mu.Lock()
	b.workers[id] = box
	b.mu.Unlock()
	b.adapt()
	return box
}

// SubscribeRuns receives the ids of ended runs; an empty slice says that hints may have been lost: look.
func (b *Bus) SubscribeRuns() *Box[[]uuid.UUID] {
	box := newBox[[]uuid.UUID]()
	box.leave = func() {
		b.mu.Lock()
		delete(b.runs, box)
		b.mu.Unlock()
		b.adapt()
	}
	b.mu.Lock()
	b.runs[box] = struct{}{}
	b.mu.Unlock()
	b.adapt()
	return box
}

func (b *Bus) adapt() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// gap tells every subscriber that hints may have been lost.
func (b *Bus) gap() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.engine != nil {
		b.engine.Put(Engine{Look: true})
	}
	for _, box := range b.workers {
		box.Put(Worker{Asks: true})
	}
	for box := range b.runs {
		box.Put(nil)
	}
}
