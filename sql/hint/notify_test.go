package hint

import (
	"context"
	"errors"
	"net"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/internal/pgtest"
	"axflow/sql/span"
)

func noProbe(cfg *Config) { cfg.Probe = -1 }

// kill ends the backends of a database that bear a name, and returns when they are gone.
func kill(t *testing.T, db *pgtest.DB, name string) {
	t.Helper()
	var n int
	err := db.Pool.QueryRow(pgtest.Context(t, patient), `WITH named AS MATERIALIZED (
			SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1)
		SELECT count(*) FROM named WHERE pg_terminate_backend(pid, 20000)`, name).Scan(&n)
	if err != nil || n == 0 {
		t.Fatalf("killed %d backends named %s: %v", n, name, err)
	}
}

func TestBetweenProcesses(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	a, b := on(t, db, noProbe), on(t, db, noProbe)
	w := uuid.New()
	engine, worker, runs := b.SubscribeEngine(), b.SubscribeWorker(w), b.SubscribeRuns()
	start(t, a)
	start(t, b)
	until(t, engine, "the first look", looks)
	until(t, worker, "the first beat", asks)
	until(t, runs, "the first look at runs", func(ids []uuid.UUID) bool { return len(ids) == 0 })

	news := Engine{Ready: []span.Ready{{Header: span.Header{ID: number(1)}}}, IDs: numbers(2, 1), Stages: []span.StageKey{{Run: number(3), Ord: 4}},
		Left: []Left{{Flight: number(5), Left: 6, Done: 7, Busy: 8}}, Runs: numbers(9, 1), Workers: true}
	a.ToEngine(news)
	want := Engine{IDs: numbers(1, 2), Stages: news.Stages, Left: news.Left, Runs: news.Runs, Workers: true}
	if got := until(t, engine, "news for the leader", func(n Engine) bool { return !n.Look }); !reflect.DeepEqual(got, want) {
		t.Errorf("the leader heard %+v, want %+v", got, want)
	}
	a.ToWorker(w, Worker{Flights: []span.Assignment{{Header: span.Header{ID: number(1)}}}, IDs: numbers(2, 1)})
	if got, want := until(t, worker, "flights", func(n Worker) bool { return !n.Asks }), (Worker{IDs: numbers(1, 2)}); !reflect.DeepEqual(got, want) {
		t.Errorf("the worker heard %+v, want %+v", got, want)
	}
	a.RunsEnded(numbers(1, 3))
	if got := until(t, runs, "ended runs", func(ids []uuid.UUID) bool { return len(ids) > 0 }); !reflect.DeepEqual(got, numbers(1, 3)) {
		t.Errorf("waiters heard %v, want %v", got, numbers(1, 3))
	}

	b.ToEngine(Engine{Runs: numbers(0, 1)})
	until(t, engine, "news through memory", func(n Engine) bool { return len(n.Runs) == 1 })
	if n := b.Stats().Notifies.Load(); n != 0 {
		t.Errorf("%d NOTIFY transactions for what stayed in the process", n)
	}
}

// A burst is few transactions: after the first, at most one in each Flush.
func TestBurstCoalesces(t *testing.T) {
	const flush, hints = 200 * time.Millisecond, 1000
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	a, b := on(t, db, noProbe, func(cfg *Config) { cfg.Flush = flush }), on(t, db, noProbe)
	engine := b.SubscribeEngine()
	start(t, a)
	start(t, b)
	until(t, engine, "the first look", looks)
	began := time.Now()
	for i := range hints {
		a.ToEngine(Engine{IDs: numbers(i, 1)})
	}
	var got []uuid.UUID
	until(t, engine, "all ids", func(n Engine) bool {
		got = append(got, n.IDs...)
		return len(got) == hints
	})
	if limit := 2 + uint64(time.Since(began)/flush); a.Stats().Notifies.Load() > limit {
		t.Errorf("%d transactions, want %d at most", a.Stats().Notifies.Load(), limit)
	}
	if !reflect.DeepEqual(got, numbers(0, hints)) {
		t.Error("the ids came in another order")
	}
	a.ToEngine(Engine{IDs: numbers(0, 100_000)})
	if n := until(t, engine, "a look for too much", looks); len(n.IDs) > 0 {
		t.Errorf("%d ids beside the look", len(n.IDs))
	}
}

// What waits when the bus ends goes out before Flush has passed.
func TestLastFlush(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	a, b := on(t, db, noProbe, func(cfg *Config) { cfg.Flush = time.Second }), on(t, db, noProbe)
	engine := b.SubscribeEngine()
	stop := start(t, a)
	start(t, b)
	until(t, engine, "the first look", looks)
	a.ToEngine(Engine{IDs: numbers(1, 1)})
	until(t, engine, "the first hint", func(n Engine) bool { return len(n.IDs) == 1 })
	a.ToEngine(Engine{IDs: numbers(2, 1)})
	stop()
	until(t, engine, "the last hint", func(n Engine) bool { return len(n.IDs) == 1 && n.IDs[0] == number(2) })
}

// What is said to a connection that has died is said again.
func TestNotifierKilled(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	a, b := on(t, db, noProbe), on(t, db, noProbe)
	engine := b.SubscribeEngine()
	start(t, a)
	start(t, b)
	until(t, engine, "the first look", looks)
	for i := range 3 {
		a.ToEngine(Engine{IDs: numbers(i, 1)})
		until(t, engine, "a hint", func(n Engine) bool { return len(n.IDs) == 1 && n.IDs[0] == number(i) })
		pgtest.Eventually(t, patient, func() (bool, string) {
			return a.Stats().Notifies.Load() == uint64(i+1), "the sender has not seen its commit"
		})
		kill(t, db, "ax-notify")
	}
	a.ToEngine(Engine{IDs: numbers(9, 1)})
	until(t, engine, "the hint after the last kill", func(n Engine) bool { return len(n.IDs) == 1 && n.IDs[0] == number(9) })
	if a.Stats().Failed.Load() == 0 {
		t.Error("no failure was counted")
	}
}

// Nobody waits for a database that is not there; what was said meanwhile is said when it comes.
func TestDatabaseComesLate(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	var up atomic.Bool
	var tries atomic.Int32
	a := on(t, db, noProbe, func(cfg *Config) {
		dial := cfg.ConnConfig.DialFunc
		cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if up.Load() {
				return dial(ctx, network, addr)
			}
			tries.Add(1)
			return nil, errors.New("the database is down")
		}
	})
	b := on(t, db, noProbe)
	engine, mine := b.SubscribeEngine(), a.SubscribeRuns()
	start(t, a)
	start(t, b)
	until(t, engine, "the first look", looks)
	a.ToEngine(Engine{IDs: numbers(1, 1)})
	pgtest.Eventually(t, patient, func() (bool, string) { return tries.Load() >= 4, "the bus does not try again" })
	up.Store(true)
	until(t, engine, "the hint of the dark time", func(n Engine) bool { return len(n.IDs) == 1 })
	until(t, mine, "the look after connecting", func(ids []uuid.UUID) bool { return len(ids) == 0 })
	if a.Stats().Reconnects.Load() == 0 {
		t.Error("the listener counted no failure")
	}
}

// A server that takes connections and never answers delays neither senders nor the end.
func TestSilentDatabase(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	dialled := make(chan struct{}, 100)
	b := on(t, db, func(cfg *Config) {
		cfg.ConnConfig.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialled <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	stop := start(t, b)
	ids := numbers(0, 10)
	for i := range 10_000 {
		b.ToEngine(Engine{IDs: ids, Left: []Left{{Flight: number(i)}}})
		b.ToWorker(number(i%10), Worker{IDs: ids})
		b.RunsEnded(ids)
	}
	pgtest.Receive(t, patient, dialled, "an attempt to connect")
	b.mu.Lock()
	kept := len(b.out.leader.Ready) + len(b.out.leader.Left) + len(b.out.runs.Runs)
	b.mu.Unlock()
	if kept > 10_000 {
		t.Errorf("%d items are kept", kept)
	}
	began := time.Now()
	stop()
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("the end took %s", d)
	}
}

func TestNotifyTx(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	b := on(t, db, noProbe)
	engine := b.SubscribeEngine()
	start(t, b)
	until(t, engine, "the first look", looks)
	ctx := pgtest.Context(t, patient)
	sentinel := errors.New("no")
	err := pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
		if err := b.NotifyTx(ctx, tx, Engine{IDs: numbers(1, 1)}); err != nil {
			return err
		}
		return sentinel
	})
	if !errors.Is(err, sentinel) {
		t.Fatal(err)
	}
	err = pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
		if err := b.NotifyTx(ctx, tx, Engine{}); err != nil {
			return err
		}
		return b.NotifyTx(ctx, tx, Engine{IDs: numbers(2, 600)})
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []uuid.UUID
	until(t, engine, "the committed ids", func(n Engine) bool {
		got = append(got, n.IDs...)
		return len(got) >= 600
	})
	if !reflect.DeepEqual(got, numbers(2, 600)) {
		t.Errorf("heard %d ids from %s on, want 600 from %s on", len(got), got[0], number(2))
	}
}

// The flush gives up waiting for the disk for its own transaction alone.
func TestFlushIsNotDurable(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Empty())
	ctx := pgtest.Context(t, patient)
	conn, err := db.Pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	var within, before, after string
	show := func(q interface {
		QueryRow(context.Context, string, ...any) pgx.Row
	}, to *string) {
		t.Helper()
		if err := q.QueryRow(ctx, `SELECT current_setting('synchronous_commit')`).Scan(to); err != nil {
			t.Fatal(err)
		}
	}
	show(conn, &before)
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, flushText, []string{"ax_x", "ax_y"}, []string{"1", "2"})
		if err == nil && tag.RowsAffected() != 2 {
			t.Errorf("%d payloads were sent, want 2", tag.RowsAffected())
		}
		show(tx, &within)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	show(conn, &after)
	if within != "off" || after != before {
		t.Errorf("synchronous_commit was %s before, %s within and %s after", before, within, after)
	}
}
