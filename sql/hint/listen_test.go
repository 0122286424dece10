package hint

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/internal/pgtest"
)

func TestListenerKilled(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	a, b := on(t, db, noProbe), on(t, db, noProbe)
	w := uuid.New()
	engine, worker, runs := b.SubscribeEngine(), b.SubscribeWorker(w), b.SubscribeRuns()
	start(t, a)
	start(t, b)
	none := func(ids []uuid.UUID) bool { return len(ids) == 0 }
	for i := range 2 {
		until(t, engine, "a look", looks)
		until(t, worker, "a beat", asks)
		until(t, runs, "a look at runs", none)
		a.ToEngine(Engine{IDs: numbers(i, 1)})
		until(t, engine, "a hint", func(n Engine) bool { return len(n.IDs) == 1 })
		a.ToWorker(w, Worker{IDs: numbers(i, 1)})
		until(t, worker, "a flight", func(n Worker) bool { return len(n.IDs) == 1 })
		if i == 0 {
			kill(t, db, "ax-listen")
		}
	}
	if n := b.Stats().Reconnects.Load(); n != 1 {
		t.Errorf("%d reconnects, want 1", n)
	}
}

// Subscriptions are heeded while the listener waits; who comes is told to look, and who has gone is not listened for.
func TestSubscriptionsChange(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	a, b := on(t, db, noProbe), on(t, db, noProbe)
	start(t, a)
	start(t, b)
	pgtest.Eventually(t, patient, func() (bool, string) { return b.Stats().Listening.Load() == 1, "not listening" })
	engine := b.SubscribeEngine()
	until(t, engine, "the look of the newcomer", looks)
	a.ToEngine(Engine{IDs: numbers(1, 1)})
	until(t, engine, "a hint", func(n Engine) bool { return len(n.IDs) == 1 })
	engine.Close()
	w := uuid.New()
	worker := b.SubscribeWorker(w)
	until(t, worker, "the beat of the newcomer", asks)
	before := b.Stats().Received.Load()
	a.ToEngine(Engine{IDs: numbers(2, 1)})
	a.ToWorker(w, Worker{IDs: numbers(3, 1)}) // in the same transaction as the other or in a later one
	until(t, worker, "a flight", func(n Worker) bool { return len(n.IDs) == 1 })
	if n := b.Stats().Received.Load() - before; n != 1 {
		t.Errorf("%d payloads came, want the worker's alone", n)
	}
}

func TestChannels(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	ctx := pgtest.Context(t, patient)
	b := on(t, db)
	conn, err := b.connect(ctx, "ax-listen")
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(conn)
	heard := make(map[string]bool)
	adapt := func(strict bool, want ...string) {
		t.Helper()
		if _, err := b.subscribe(ctx, conn, heard, strict); err != nil {
			t.Fatal(err)
		}
		rows, err := conn.Query(ctx, `SELECT pg_listening_channels()`)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("listening to %v, want %v", got, want)
		}
	}
	adapt(false)
	engine, worker, runs := b.SubscribeEngine(), b.SubscribeWorker(uuid.MustParse("00010203-0405-0607-0809-0a0b0c0d0e0f")), b.SubscribeRuns()
	adapt(false, "ax_engine", "ax_run", "ax_w_000102030405060708090a0b0c0d0e0f")
	engine.Close()
	runs.Close()
	adapt(false, "ax_run", "ax_w_000102030405060708090a0b0c0d0e0f")
	worker.Close()
	adapt(true)
}

func TestMuteBetweenProcesses(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	a, b := on(t, db, noProbe), on(t, db, noProbe)
	engine := b.SubscribeEngine()
	start(t, a)
	start(t, b)
	until(t, engine, "the first look", looks)

	b.Mute(true)
	a.ToEngine(Engine{IDs: numbers(1, 1)})
	pgtest.Eventually(t, patient, func() (bool, string) { return b.Stats().Muted.Load() == 1, "nothing was dropped" })
	if got := engine.Take(); got != nil {
		t.Errorf("a muted receiver heard %+v", got)
	}
	b.Mute(false)
	until(t, engine, "the look after the silence", looks)

	paid := func(n uint64) {
		t.Helper()
		pgtest.Eventually(t, patient, func() (bool, string) {
			got := a.Stats().Payloads.Load()
			return got == n, fmt.Sprintf("%d payloads were sent, want %d", got, n)
		})
	}
	paid(1)
	a.Mute(true)
	a.ToEngine(Engine{IDs: numbers(2, 1)})
	a.Mute(false)
	if n := until(t, engine, "the look after the sender's silence", looks); len(n.IDs) != 0 {
		t.Errorf("a muted sender said %v", n.IDs)
	}
	paid(3) // the looks for leader and waiters
}

func TestPollOnly(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	a, b := on(t, db, func(cfg *Config) { cfg.PollOnly = true }), on(t, db, noProbe)
	deaf, engine := a.SubscribeWorker(number(1)), b.SubscribeEngine()
	start(t, a)
	start(t, b)
	until(t, engine, "the first look", looks)
	a.ToEngine(Engine{IDs: numbers(1, 1)})
	until(t, engine, "a hint of the poller", func(n Engine) bool { return len(n.IDs) == 1 })
	var listeners int
	if err := db.Pool.QueryRow(pgtest.Context(t, patient), `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name = 'ax-listen'`).Scan(&listeners); err != nil {
		t.Fatal(err)
	}
	if listeners != 1 {
		t.Errorf("%d listeners, want the other bus's alone", listeners)
	}
	if got := deaf.Take(); got != nil {
		t.Errorf("the poller heard %+v", got)
	}
}

func TestStrangePayloads(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	b := on(t, db, noProbe)
	w := uuid.New()
	engine, worker, runs := b.SubscribeEngine(), b.SubscribeWorker(w), b.SubscribeRuns()
	start(t, b)
	none := func(ids []uuid.UUID) bool { return len(ids) == 0 }
	until(t, engine, "the first look", looks)
	until(t, worker, "the first beat", asks)
	until(t, runs, "the first look at runs", none)
	if _, err := db.Pool.Exec(pgtest.Context(t, patient), `SELECT pg_notify('ax_engine', 'what?'), pg_notify($1, '{"v2":[]}'), pg_notify('ax_run', '')`,
		channelOf(workerPrefix, w)); err != nil {
		t.Fatal(err)
	}
	until(t, engine, "a look", looks)
	until(t, worker, "a beat", asks)
	until(t, runs, "a look at runs", none)
	if n := b.Stats().Garbage.Load(); n != 3 {
		t.Errorf("%d payloads counted, want 3", n)
	}
}

// deafConn is a connection whose listener may be made deaf: what the server sends it is lost on the way.
type deafConn struct {
	net.Conn
	deaf     *atomic.Bool
	listener atomic.Bool
}

func (c *deafConn) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("ax-listen")) { // in the start-up message
		c.listener.Store(true)
	}
	return c.Conn.Write(p)
}

func (c *deafConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.listener.Load() || !c.deaf.Load() {
			return n, err
		}
	}
}

// While the probe comes back the connection stays; when it does not, the listener connects anew and has everybody look.
func TestProbe(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	deaf := new(atomic.Bool) // of the connections so far
	var current atomic.Pointer[atomic.Bool]
	current.Store(deaf)
	b := on(t, db, func(cfg *Config) {
		cfg.Probe = 20 * time.Millisecond
		dial := cfg.ConnConfig.DialFunc
		cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &deafConn{Conn: c, deaf: current.Load()}, nil
		}
	})
	engine := b.SubscribeEngine()
	b.Mute(true) // probes are no hints
	start(t, b)
	probed := func(n uint64) {
		t.Helper()
		pgtest.Eventually(t, patient, func() (bool, string) { return b.Stats().Notifies.Load() >= n, "no probes" })
	}
	probed(5)
	b.Mute(false)
	until(t, engine, "the look after the silence", looks)
	if n := b.Stats().Reconnects.Load(); n != 0 {
		t.Fatalf("%d reconnects while the probes come back", n)
	}
	current.Store(new(atomic.Bool))
	deaf.Store(true)
	until(t, engine, "the look of the new connection", looks)
	if r, l := b.Stats().Reconnects.Load(), b.Stats().Listening.Load(); r != 1 || l != 2 {
		t.Errorf("%d reconnects and %d connections, want 1 and 2", r, l)
	}
}

// Run ends with its context, whatever ended that: a deadline is not taken for the listener's own silence.
func TestEndsByDeadline(t *testing.T) {
	t.Parallel()
	b := on(t, pgtest.New(t, pgtest.Empty()), noProbe)
	deadline, expire := newExpiring()
	ended := make(chan error, 1)
	go func() { ended <- b.Run(deadline) }()
	pgtest.Eventually(t, patient, func() (bool, string) { return b.Stats().Listening.Load() == 1, "not listening" })
	expire()
	if err := pgtest.Receive(t, patient, ended, "the end of Run"); err != nil {
		t.Errorf("Run: %v, want nil", err)
	}
}

// expiring is a context that ends by its deadline, when the test says so.
type expiring struct {
	context.Context
	done chan struct{}
}

func newExpiring() (context.Context, func()) {
	e := &expiring{context.Background(), make(chan struct{})}
	return e, func() { close(e.done) }
}

func (e *expiring) Done() <-chan struct{} { return e.done }

func (e *expiring) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
