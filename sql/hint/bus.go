package hint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// maxFlush keeps a flush, and with it the listener's probe, well within the time that the probe has.
const maxFlush = time.Second

// Config says how a Bus reaches other processes.
type Config struct {
	// ConnConfig, which pgx.ParseConfig made, opens the bus's two own connections. The listener's must be direct:
	// LISTEN does not work through a transaction pooler. It is copied. nil: the bus stays inside the process.
	ConnConfig *pgx.ConnConfig
	// PollOnly does without the listener, for poolers: nothing from other processes arrives, and what they would
	// have said is found by scan, reload and heartbeat. Hints are still sent.
	PollOnly bool
	// Flush is the least time from one NOTIFY transaction to the next. Default 3 ms; at most 1 s.
	Flush time.Duration
	// Probe is how long the listener may hear nothing before it checks its way end to end. Default 30 s; below 0 never.
	Probe time.Duration
	// Rand gives random numbers of [0, 1) that spread reconnecting. It must be safe for concurrent use. Default
	// math/rand/v2.
	Rand func() float64
	// Logger gets lost connections. Default: none.
	Logger *slog.Logger
}

// Bus routes hints: to a subscriber in this process through memory, else to other processes by NOTIFY. Senders never
// wait, least of all for the database. It is safe for concurrent use.
type Bus struct {
	cfg   Config
	muted atomic.Bool
	stats Stats
	// answer is how long the listener waits for its probe.
	answer time.Duration

	mu      sync.Mutex
	engine  *Box[Engine]
	workers map[uuid.UUID]*Box[Worker]
	runs    map[*Box[[]uuid.UUID]]struct{}
	out     outbox
	pending chan struct{} // the outbox has something

	stale     bool   // subscriptions changed since the listener last adapted
	interrupt func() // ends the listener's wait; nil while it does not wait
}

// Stats counts what a Bus does; the fields only grow.
type Stats struct {
	Notifies   atomic.Uint64 // NOTIFY transactions that were committed
	Payloads   atomic.Uint64 // payloads in them
	Failed     atomic.Uint64 // NOTIFY transactions that failed; their payloads are sent again
	Received   atomic.Uint64 // payloads that came from other processes, or by NOTIFY from this one
	Garbage    atomic.Uint64 // those of them that could not be read
	Listening  atomic.Uint64 // times that the listener connected and subscribed
	Reconnects atomic.Uint64 // times that the listener lost its connection, or could not connect
	Muted      atomic.Uint64 // hints and payloads that Mute dropped
}

// New makes a Bus. It works inside the process at once; Run connects it to others.
func New(cfg Config) (*Bus, error) {
	if cfg.Flush < 0 || cfg.Flush > maxFlush {
		return nil, fmt.Errorf("hint: Flush is %s, but must be from 0 (3 ms) to %s: it is how long a hint may wait", cfg.Flush, maxFlush)
	}
	if cfg.PollOnly && cfg.ConnConfig == nil {
		return nil, errors.New("hint: PollOnly without ConnConfig: give one, or leave both out for a bus inside the process")
	}
	if cfg.ConnConfig != nil {
		cfg.ConnConfig = cfg.ConnConfig.Copy()
	}
	if cfg.Flush == 0 {
		cfg.Flush = 3 * time.Millisecond
	}
	if cfg.Probe == 0 {
		cfg.Probe = 30 * time.Second
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Float64
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Bus{cfg: cfg, answer: probeAnswer, workers: make(map[uuid.UUID]*Box[Worker]), runs: make(map[*Box[[]uuid.UUID]]struct{}),
		pending: make(chan struct{}, 1)}, nil
}

// Stats are the bus's counters.
func (b *Bus) Stats() *Stats { return &b.stats }

// Run connects the bus to other processes until ctx ends; then it sends what is left, for a second at most, and returns
// nil. A database that does not answer is tried again for ever. Call it once.
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

// Mute switches the event path off: every hint, sent or received, is dropped until it is switched on again, and only
// scans, reloads and heartbeats move work. Switched on again, it tells everybody it can reach to look.
func (b *Bus) Mute(mute bool) {
	if b.muted.Swap(mute) && !mute {
		b.gap()
		b.mu.Lock()
		if b.engine == nil {
			b.queue(func(o *outbox) { o.engine(lookEngine) })
		}
		b.queue(func(o *outbox) { o.look(runChannel) })
		b.mu.Unlock()
	}
}

func (b *Bus) dropped() bool {
	if b.muted.Load() {
		b.stats.Muted.Add(1)
		return true
	}
	return false
}

// ToEngine tells the leader.
func (b *Bus) ToEngine(n Engine) {
	if b.dropped() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.engine != nil {
		b.engine.Put(n)
		return
	}
	b.queue(func(o *outbox) { o.engine(n) })
}

// ToWorker tells one worker.
func (b *Bus) ToWorker(id uuid.UUID, n Worker) {
	if b.dropped() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if box := b.workers[id]; box != nil {
		box.Put(n)
		return
	}
	b.queue(func(o *outbox) { o.worker(id, n) })
}

// RunsEnded tells everybody who waits for runs, in this process and in others. This process hears its own NOTIFY too.
func (b *Bus) RunsEnded(ids []uuid.UUID) {
	if len(ids) == 0 || b.dropped() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.runs) > 0 {
		kept := slices.Clone(ids)
		for box := range b.runs {
			box.Put(kept)
		}
	}
	b.queue(func(o *outbox) { o.ended(ids) })
}

// queue adds to the outbox and wakes the notifier; b.mu is held.
func (b *Bus) queue(add func(*outbox)) {
	if b.cfg.ConnConfig == nil {
		return
	}
	add(&b.out)
	b.wake()
}

func (b *Bus) wake() {
	select {
	case b.pending <- struct{}{}:
	default:
	}
}

// SubscribeEngine receives what is meant for the leader, until it is closed: a process subscribes while it leads. A
// second subscription replaces the first.
func (b *Bus) SubscribeEngine() *Box[Engine] {
	box := newBox(func(box *Box[Engine]) {
		b.change(func() {
			if b.engine == box {
				b.engine = nil
			}
		})
	})
	b.change(func() { b.engine = box })
	return box
}

// SubscribeWorker receives what is meant for one worker. A second subscription for it replaces the first.
func (b *Bus) SubscribeWorker(id uuid.UUID) *Box[Worker] {
	box := newBox(func(box *Box[Worker]) {
		b.change(func() {
			if b.workers[id] == box {
				delete(b.workers, id)
			}
		})
	})
	b.change(func() { b.workers[id] = box })
	return box
}

// SubscribeRuns receives the ids of ended runs; an empty slice says that hints may have been lost: look.
func (b *Bus) SubscribeRuns() *Box[[]uuid.UUID] {
	box := newBox(func(box *Box[[]uuid.UUID]) {
		b.change(func() { delete(b.runs, box) })
	})
	b.change(func() { b.runs[box] = struct{}{} })
	return box
}

// change changes the subscriptions and has the listener adapt at once.
func (b *Bus) change(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	b.stale = true
	if b.interrupt != nil {
		b.interrupt()
	}
}

// gap tells every subscriber in this process that hints may have been lost.
func (b *Bus) gap() {
	if b.muted.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.engine != nil {
		b.engine.Put(lookEngine)
	}
	for _, box := range b.workers {
		box.Put(Worker{Asks: true})
	}
	for box := range b.runs {
		box.Put(nil)
	}
}
