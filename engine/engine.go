// Package engine is the orchestrator. Any number of engines may run against one database; one leads at a time,
// fenced by its term's epoch, and the others stand by to take over.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"axflow/engine/alive"
	"axflow/engine/clock"
	"axflow/engine/control"
	"axflow/engine/dispatch"
	"axflow/engine/dispatch/board"
	"axflow/engine/late"
	"axflow/engine/leader"
	"axflow/engine/replay"
	"axflow/engine/resolve"
	"axflow/engine/throughput"
	"axflow/engine/webhook"
	axsql "axflow/sql"
	"axflow/sql/hint"
	"axflow/sql/payload"
	"axflow/sql/versions"
)

// LeaseName is the lease that engines of one database contend for.
const LeaseName = "leader"

// Config says how an Engine runs. Only ConnConfig and Bus are required.
type Config struct {
	// ConnConfig opens the engine's own connections: one for the lease, one for the clock, and, while it leads,
	// five to eight more. Not through a transaction pooler.
	ConnConfig *pgx.ConnConfig
	// Bus carries hints; in one process with workers and clients, the same one.
	Bus *hint.Bus
	// Holder names this engine in the lease. Default: host and process id.
	Holder string
	// TTL is the lease's. Default 15 s.
	TTL time.Duration
	// Renew is how often the lease is renewed. Default TTL/5.
	Renew time.Duration
	// Beat is how often workers beat. Default 2 s.
	Beat time.Duration
	// WorkerTTL is how long a worker may be silent before it is dead. Default 3 beats.
	WorkerTTL time.Duration
	// Overdue is how much longer than its Execution time-out a task may run before it is taken from a worker whose
	// watchdog has failed. Default 90 s.
	Overdue time.Duration
	// Scan is how often every open run is looked at for what events missed. Default 10 s; below 0 only when
	// asked for.
	Scan time.Duration
	// Reload is how often the dispatcher compares its books with the database. Default 10 s.
	Reload time.Duration
	// Retention is how long runs are kept after their end, to the day. Default 30 days; below 0 for ever.
	Retention time.Duration
	// LogRetention is how long what their handlers logged is kept, if that is shorter. Default 0: as long as the runs.
	LogRetention time.Duration
	// Horizon is how far ahead timers are held in memory. Default 5 min.
	Horizon time.Duration
	// ClockInterval is how often the database's clock is sampled. Default 5 s.
	ClockInterval time.Duration
	// Clock, if not nil, is put around the function that reads the database's clock: a test steps it.
	Clock func(read func(context.Context) (time.Time, error)) func(context.Context) (time.Time, error)
	// Board sets weights, aging and piece sizes; the zero value is the default of each.
	Board board.Config
	// Overload says when a worker gets nothing new; the zero value is the default.
	Overload dispatch.Overload
	// PerLane is how many waiting spans of one stage, queue and level are held in memory. Default 5,000.
	PerLane int
	// Codec opens the secrets of webhooks where clients seal them. nil: they do not.
	Codec payload.Codec
	// Webhooks say where deliveries to webhooks may go, beside the internet.
	Webhooks webhook.Rules
	// RunURL is the address of the page of runs, to which a run's id is added, for deliveries to webhooks. "": they name no page.
	RunURL string
	// PollOnly does without LISTEN, for poolers that do not have it; see hint.Config.
	PollOnly bool
	// Logger gets what operators must know. Default: slog.Default.
	Logger *slog.Logger
}

// Engine contends for the lease and, while it holds it, runs everything that only one may run.
type Engine struct {
	cfg      Config
	versions *versions.Cache
	stats    dispatch.Stats
	ended    throughput.Ended
}

// New checks the settings.
func New(cfg Config) (*Engine, error) {
	if cfg.ConnConfig == nil || cfg.Bus == nil {
		return nil, errors.New("engine: ConnConfig and Bus are required")
	}
	if cfg.Holder == "" {
		host, _ := os.Hostname()
		cfg.Holder = fmt.Sprintf("%s/%d", host, os.Getpid())
	}
	if cfg.Beat == 0 {
		cfg.Beat = 2 * time.Second
	}
	if cfg.WorkerTTL == 0 {
		cfg.WorkerTTL = 3 * cfg.Beat
	}
	if cfg.Scan == 0 {
		cfg.Scan = 10 * time.Second
	}
	if cfg.Retention == 0 {
		cfg.Retention = 30 * 24 * time.Hour
	}
	if cfg.ClockInterval == 0 {
		cfg.ClockInterval = 5 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Engine{cfg: cfg, versions: versions.New()}, nil
}

// Stats are the engine's counters, over all its terms.
func (e *Engine) Stats() *dispatch.Stats { return &e.stats }

// Run contends and leads until ctx ends; then it resigns, so that a standby takes over at once. It fails at the
// start when the database's schema is not this binary's.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.check(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("starting the engine: %w", err)
	}
	elector, err := leader.New(leader.Config{ConnConfig: e.cfg.ConnConfig, Name: LeaseName, Holder: e.cfg.Holder, TTL: e.cfg.TTL,
		Renew: e.cfg.Renew, PollOnly: e.cfg.PollOnly, Lead: e.lead, Logger: e.cfg.Logger})
	if err != nil {
		return fmt.Errorf("setting the elector up: %w", err)
	}
	return elector.Run(ctx)
}

// check tells whether the database's schema is this binary's.
func (e *Engine) check(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, e.cfg.ConnConfig)
	if err != nil {
		return fmt.Errorf("connecting the engine: %w", err)
	}
	err = axsql.Check(ctx, conn)
	_ = conn.Close(context.WithoutCancel(ctx))
	return err
}

// lead is one term. Whatever ends one of its loops ends the term.
func (e *Engine) lead(ctx context.Context, term leader.Term) error {
	pool, err := e.pool(ctx, term)
	if err != nil {
		return err
	}
	defer pool.Close()
	conns := make([]*pgxpool.Conn, 5)
	for i := range conns {
		if conns[i], err = pool.Acquire(ctx); err != nil {
			return fmt.Errorf("connecting the leader: %w", err)
		}
		defer conns[i].Release()
	}
	read := clock.Database(pool)
	if e.cfg.Clock != nil {
		read = e.cfg.Clock(read)
	}
	now, err := clock.Open(ctx, clock.Config{Read: read, Interval: e.cfg.ClockInterval, Logger: e.cfg.Logger})
	if err != nil {
		return fmt.Errorf("reading the database's clock: %w", err)
	}
	t, err := e.assemble(term, now, pool, conns)
	if err != nil {
		return err
	}
	defer t.box.Close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return now.Run(ctx) })
	g.Go(func() error { return t.loop.Run(ctx) })
	g.Go(func() error { return t.watch.Run(ctx) })
	g.Go(func() error { return t.scanner.Run(ctx) })
	g.Go(func() error { return t.gauge.Run(ctx) })
	g.Go(func() error { return t.replays.Run(ctx) })
	g.Go(func() error { return t.late.Run(ctx) })
	g.Go(func() error { return t.webhooks.Run(ctx) })
	g.Go(func() error { return t.throughput.Run(ctx) })
	g.Go(func() error { return t.forwardJumps(ctx) })
	if err := g.Wait(); err != nil && !errors.Is(err, axsql.ErrFenced) {
		return fmt.Errorf("leading: %w", err)
	}
	return nil
}

// pool opens the leader's connections: they bear its epoch, and none can be stuck in a transaction for long.
// What they write is either fenced and computed again when lost, so they need not wait for the disk.
func (e *Engine) pool(ctx context.Context, term leader.Term) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, fmt.Errorf("setting the leader's pool up: %w", err)
	}
	cfg.ConnConfig = e.cfg.ConnConfig.Copy()
	term.Configure(cfg.ConnConfig)
	axsql.ConfigurePool(cfg)
	cfg.ConnConfig.RuntimeParams["synchronous_commit"] = "off"
	cfg.MaxConns, cfg.MinConns = 8, 0
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the leader's pool: %w", err)
	}
	return pool, nil
}

// term is the parts of one leadership.
type term struct {
	box        *hint.Box[hint.Engine]
	throughput *throughput.Loop
	loop       *dispatch.Loop
	watch      *alive.Watch
	scanner    *scanner
	replays    *replay.Loop
	late       *late.Loop
	webhooks   *webhook.Loop
	gauge      *gauge
	jumps      <-chan clock.Jump
	stop       func()
	jumped     chan struct{}
}

func (e *Engine) assemble(lead leader.Term, now *clock.Clock, pool *pgxpool.Pool, conns []*pgxpool.Conn) (*term, error) {
	t := &term{box: e.cfg.Bus.SubscribeEngine(), jumped: make(chan struct{}, 1)}
	t.jumps, t.stop = now.Subscribe()
	fence := axsql.Fence{Name: LeaseName, Epoch: lead.Epoch}
	deliver := make(chan struct{}, 1)
	resolver := func() *resolve.Resolver {
		return &resolve.Resolver{Versions: e.versions, Fence: fence, Logger: e.cfg.Logger, Stuck: &e.stats.Stuck, Ended: e.ended.Add, Told: poke(deliver)}
	}
	workers := make(chan []dispatch.Worker)
	lookWorkers, lookRuns := make(chan struct{}, 1), make(chan struct{}, 1)
	loop, err := dispatch.New(dispatch.Config{Conn: leaderConn{conns[0]}, Fence: fence, Bus: e.cfg.Bus, Box: t.box, Versions: e.versions,
		Resolver: resolver(), Now: now.Earliest, Jumped: t.jumped, Workers: workers, LookWorkers: poke(lookWorkers), LookRuns: poke(lookRuns),
		Horizon: e.cfg.Horizon, Reload: e.cfg.Reload, Board: e.cfg.Board,
		Overload: e.cfg.Overload, PerLane: e.cfg.PerLane, Stats: &e.stats, Logger: e.cfg.Logger})
	if err != nil {
		t.box.Close()
		t.stop()
		return nil, err
	}
	t.loop = loop
	t.watch = alive.New(alive.Config{Conn: leaderConn{conns[1]}, Fence: fence, Term: lead, Versions: e.versions, Box: t.box, Out: workers, Bus: e.cfg.Bus, Clock: now.Now,
		Look: lookWorkers, Beat: e.cfg.Beat, TTL: e.cfg.WorkerTTL, Overdue: e.cfg.Overdue, Stats: &e.stats, Logger: e.cfg.Logger})
	t.scanner = &scanner{conn: leaderConn{conns[2]}, fence: fence, resolver: resolver(), every: e.cfg.Scan, retention: e.cfg.Retention, logRetention: e.cfg.LogRetention, look: lookRuns, box: t.box,
		bus: e.cfg.Bus, stats: &e.stats, logger: e.cfg.Logger, orphans: orphans{pool: pool, bus: e.cfg.Bus, versions: e.versions,
			who: control.Who{Actor: fmt.Sprintf("leader/%d", lead.Epoch), Reason: "the task that started it does not wait for it any more"}}}
	t.replays = replay.New(replay.Config{Conn: leaderConn{conns[4]}, Fence: fence, Versions: e.versions, Tell: t.box.Put, Logger: e.cfg.Logger})
	t.late = late.New(late.Config{Conn: pool, Fence: fence, Told: poke(deliver), Logger: e.cfg.Logger})
	t.webhooks = webhook.New(webhook.Config{Conn: pool, Rules: e.cfg.Webhooks, Codec: e.cfg.Codec, Now: now.Now, Wake: deliver,
		RunURL: e.cfg.RunURL, Actor: fmt.Sprintf("leader/%d", lead.Epoch), Logger: e.cfg.Logger})
	t.throughput = throughput.New(throughput.Config{Conn: pool, Fence: fence, Ended: &e.ended, Logger: e.cfg.Logger})
	t.gauge = &gauge{conn: leaderConn{conns[3]}, fence: fence, box: t.box, stats: &e.stats, logger: e.cfg.Logger}
	return t, nil
}

// forwardJumps tells the dispatcher of steps of the database's clock.
func (t *term) forwardJumps(ctx context.Context) error {
	defer t.stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.jumps:
			poke(t.jumped)()
		}
	}
}

// poke makes a function that signals without waiting.
func poke(ch chan struct{}) func() {
	return func() {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// leaderConn is a pool's connection that knows whether it still lives.
type leaderConn struct{ *pgxpool.Conn }

// IsClosed tells whether the connection is lost.
func (c leaderConn) IsClosed() bool { return c.Conn.Conn().IsClosed() }
