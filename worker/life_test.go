package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/sql/hint"
	"axflow/stage"
)

// waiting is a handler that tells of its start and waits for the test, or for its context.
type waiting struct {
	started chan int
	proceed chan struct{}
	causes  chan error
}

func newWaiting() *waiting {
	return &waiting{make(chan int, 100), make(chan struct{}), make(chan error, 100)}
}

func (x *waiting) run(ctx context.Context, _ day, s shard.Shard) (string, error) {
	x.started <- s.Index
	select {
	case <-x.proceed:
		return "", nil
	case <-ctx.Done():
		x.causes <- context.Cause(ctx)
		return "", ctx.Err()
	}
}

func TestRegistration(t *testing.T) {
	l := newLab(t, shards(newWaiting().run), func(c *Config) {
		c.Labels, c.Pools, c.Urgent = []string{"gpu"}, map[string]int{"f/a": 3}, 5
	})
	var labels []string
	var handlers map[string]int
	var text []byte
	var urgent, state int
	if err := l.pool.QueryRow(l.ctx, `SELECT labels, handlers, urgent, state FROM ax.worker WHERE id = $1`, l.w.ID()).Scan(&labels, &text, &urgent, &state); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &handlers); err != nil {
		t.Fatal(err)
	}
	want(t, "labels", fmt.Sprint(labels), "[gpu]")
	want(t, "handlers", fmt.Sprint(handlers), fmt.Sprintf("map[%s:3]", l.flow.Graph().HandlerKey(0)))
	want(t, "urgent", urgent, 5)
	want(t, "state", state, active)
	l.hears("a worker came", func(n hint.Engine) bool { return n.Workers })
	l.eventually("no vitals", `SELECT memory > 0 AND memory < 1 AND cpu >= 0 AND cpu <= 1 AND beat > 2 FROM ax.worker`)
	want(t, "the newest version", l.count(`SELECT version_id FROM ax.flow WHERE name = 'f'`), int(l.ver))
	if err := l.w.Resize("f/a", 7); err != nil {
		t.Fatal(err)
	}
	l.eventually("the pool keeps its size", `SELECT handlers->>$1 = '7' FROM ax.worker`, l.flow.Graph().HandlerKey(0))
	if l.w.Resize("f/b", 1) == nil || l.w.Resize("f/a", 0) == nil {
		t.Error("wrong sizes are taken")
	}
	if err := l.end(); err != nil {
		t.Error(err)
	}
	want(t, "workers", l.count(`SELECT count(*) FROM ax.worker`), 0)
	if err := l.w.Run(l.ctx); !errors.Is(err, errRan) {
		t.Errorf("a second Run: %v", err)
	}
}

func TestConfigFaults(t *testing.T) {
	f := flow.New("f", stage.New("a", func(context.Context, day) (string, error) { return "", nil }))
	_, err := New(Config{Slots: -1, Flush: -time.Second, Flows: []flow.Definition{f, f, nil}, Pools: map[string]int{"f/b": 1, "f/a": 0}})
	if err == nil {
		t.Fatal("no error")
	}
	wantText(t, "faults", err.Error(), "Pool is nil", "ConnConfig is nil", "Bus is nil", "Slots is -1", "Flush is -1s", `two flows have the name "f"`,
		"a flow is nil", `"f/b" of Pools is no handler`, `"f/a" of Pools has 0 slots`)
}

// The heartbeat finds work of which no hint told, and lists what has run for long.
func TestHeartbeat(t *testing.T) {
	x := newWaiting()
	l := newLab(t, shards(x.run), nil)
	l.release("a", 1, counted)
	id := l.hand("a", single, func(h *handOut) { h.mute = true })
	want(t, "started", <-x.started, 0)
	l.eventually("it is not listed", `SELECT running->0->>'execution' = $1 AND (running->0->>'index')::int = 0
	    AND (running->0->>'started')::timestamptz BETWEEN now() - interval '1 min' AND now() FROM ax.worker`, id.String())
	close(x.proceed)
	l.state("a", stage.StageSucceeded)
	l.eventually("it is still listed", `SELECT running = '[]' FROM ax.worker`)
	l.check()
}

// A lost heartbeat connection is replaced.
func TestHeartbeatReconnects(t *testing.T) {
	l := newLab(t, shards(newWaiting().run), nil)
	l.eventually("nobody was killed", `SELECT bool_or(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%name: Beat%' AND pid <> pg_backend_pid()`)
	l.stats("it notices", func(s Stats) bool { return s.BeatFaults > 0 })
	beats := l.w.Stats().Beats
	l.stats("it beats again", func(s Stats) bool { return s.Beats > beats })
	if err := l.end(); err != nil {
		t.Error(err)
	}
	want(t, "registrations", l.w.Stats().Registrations, 1)
}

// A worker that was given up drops everything and comes back as another.
func TestRegistersAnewWhenGivenUp(t *testing.T) {
	x := newWaiting()
	l := newLab(t, shards(x.run), nil)
	l.release("a", 8, counted)
	first := l.w.ID()
	l.hand("a", shard.Span(0, 8))
	for range 4 {
		<-x.started
	}
	l.exec(`DELETE FROM ax.worker`)
	for range 4 {
		want(t, "cause", errors.Is(<-x.causes, ErrLost), true)
	}
	l.stats("it registers anew", func(s Stats) bool { return s.Registrations == 2 })
	if l.w.ID() == first {
		t.Error("the id is the old one")
	}
	want(t, "results", l.count(`SELECT count(*) FROM ax.result`), 0)
	l.eventually("the new one is not registered", `SELECT count(*) = 1 FROM ax.worker WHERE id = $1`, l.w.ID())
	// What it held is handed out again, to itself.
	l.exec(`DELETE FROM ax.flight`)
	l.hand("a", shard.Span(0, 8), func(h *handOut) { h.delivery = 2 })
	close(x.proceed)
	l.state("a", stage.StageSucceeded)
	want(t, "worker", l.one("a", 5).worker, l.w.ID())
	l.check()
}

// A flight that has vanished is dropped at the next beat.
func TestWorkThatWasTakenAway(t *testing.T) {
	x := newWaiting()
	l := newLab(t, shards(x.run), nil)
	l.release("a", 8, counted)
	id := l.hand("a", shard.Span(0, 8), func(h *handOut) { h.par = 2 })
	<-x.started
	<-x.started
	l.exec(`DELETE FROM ax.flight WHERE id = $1`, id)
	for range 2 {
		want(t, "cause", errors.Is(<-x.causes, ErrLost), true)
	}
	l.stats("it is dropped", func(s Stats) bool { return s.Lost == 1 })
	l.hand("a", shard.Span(0, 8), func(h *handOut) { h.delivery = 2 })
	close(x.proceed)
	l.state("a", stage.StageSucceeded)
	want(t, "started", l.w.Stats().Started, 10)
	l.check()
}

// Cancel: what runs is told to stop, what has not started goes back, and both end parked.
func TestCancelAsk(t *testing.T) {
	x := newWaiting()
	l := newLab(t, shards(x.run), nil)
	l.release("a", 8, counted)
	id := l.hand("a", shard.Span(0, 8), func(h *handOut) { h.par = 2 })
	<-x.started
	<-x.started
	l.exec(`UPDATE ax.stage SET state = 3`)
	l.exec(`INSERT INTO ax.ask (execution_id, kind, worker_id) VALUES ($1, 1, $2)`, id, l.w.ID())
	l.bus.ToWorker(l.w.ID(), hint.Worker{Asks: true})
	for range 2 {
		want(t, "cause", errors.Is(<-x.causes, ErrCancelled), true)
	}
	l.state("a", stage.StageCancelled)
	wantSet(t, "parked", l.set("parked", "a"), shard.Span(0, 8))
	want(t, "interrupted", l.count(`SELECT count(*) FROM ax.result WHERE outcome = 16`), 2)
	wantText(t, "error", l.one("a", 0).failure.Message, "cancelled")
	l.hearsStage("a")
	l.eventually("the ask stays", `SELECT count(*) = 0 FROM ax.ask`)
	l.check()
}

// Of a stage that must not be interrupted, what has started ends.
func TestCancelOfUninterruptible(t *testing.T) {
	x := newWaiting()
	l := newLab(t, shards(x.run, stage.Uninterruptible()), nil)
	l.release("a", 8, counted)
	id := l.hand("a", shard.Span(0, 8), func(h *handOut) { h.par = 2 })
	<-x.started
	<-x.started
	l.exec(`UPDATE ax.stage SET state = 3`)
	l.exec(`INSERT INTO ax.ask (execution_id, kind, worker_id) VALUES ($1, 1, $2)`, id, l.w.ID())
	l.eventually("nothing goes back", `SELECT coalesce(sum(n), 0) = 6 FROM ax.parked`)
	want(t, "interrupted", len(x.causes), 0)
	close(x.proceed)
	l.state("a", stage.StageCancelled)
	want(t, "succeeded", l.count(`SELECT succeeded FROM ax.stage`), 2)
	l.check()
}

// Give-back: what has not started goes to ready, what runs goes on.
func TestGiveBackAsk(t *testing.T) {
	x := newWaiting()
	l := newLab(t, shards(x.run), nil)
	l.release("a", 8, counted)
	id := l.hand("a", shard.Span(0, 8), func(h *handOut) { h.par = 2 })
	<-x.started
	<-x.started
	l.exec(`INSERT INTO ax.ask (execution_id, kind, worker_id) VALUES ($1, 2, $2)`, id, l.w.ID())
	l.eventually("nothing goes back", `SELECT count(*) = 1 FROM ax.ready WHERE n = 6 AND attempt = 1 AND delivery = 1`)
	wantSet(t, "ready", l.set("ready", "a"), shard.Span(2, 8))
	close(x.proceed)
	l.eventually("the rest does not end", `SELECT count(*) = 2 FROM ax.result WHERE outcome = 10`)
	l.eventually("the flight stays", `SELECT count(*) = 0 FROM ax.flight`)
	l.check()
}

// Draining gives back what has not started and lets the rest end.
func TestDrain(t *testing.T) {
	x := newWaiting()
	l := newLab(t, shards(x.run), nil)
	l.release("a", 8, counted)
	l.hand("a", shard.Span(0, 8), func(h *handOut) { h.par = 2 })
	<-x.started
	<-x.started
	l.stop()
	l.eventually("nothing goes back", `SELECT count(*) = 1 FROM ax.ready WHERE n = 6 AND attempt = 1 AND delivery = 1`)
	l.eventually("the leader is not told", `SELECT state = 1 FROM ax.worker`)
	// What is handed out all the same comes back too.
	l.exec(`UPDATE ax.ready SET todo = '{[2,7)}', n = 5`)
	l.hand("a", shard.Of(7))
	l.eventually("it does not go back", `SELECT sum(n) = 6 FROM ax.ready`)
	close(x.proceed)
	l.check()
	want(t, "causes", len(x.causes), 0)
	want(t, "results", l.count(`SELECT count(*) FROM ax.result WHERE outcome = 10`), 2)
	want(t, "flights", l.count(`SELECT count(*) FROM ax.flight`), 0)
	want(t, "workers", l.count(`SELECT count(*) FROM ax.worker`), 0)
	want(t, "started", l.w.Stats().Started, 2)
}

// When the grace has run out, or Stop ends it, what runs is interrupted: no attempt is charged.
func TestDrainInterrupts(t *testing.T) {
	for name, grace := range map[string]time.Duration{"after its grace": 50 * time.Millisecond, "by Stop": time.Hour} {
		t.Run(name, func(t *testing.T) {
			x := newWaiting()
			l := newLab(t, shards(x.run), func(c *Config) { c.Grace = grace })
			l.release("a", 2, counted)
			l.hand("a", shard.Span(0, 2))
			<-x.started
			<-x.started
			if grace == time.Hour {
				l.w.Stop()
			}
			l.check()
			for range 2 {
				want(t, "cause", errors.Is(<-x.causes, ErrDraining), true)
			}
			want(t, "interrupted", l.count(`SELECT count(*) FROM ax.result WHERE outcome = 16`), 2)
			want(t, "ready", l.count(`SELECT sum(n) FROM ax.ready WHERE attempt = 1 AND delivery = 2 AND not_before <= now()`), 2)
		})
	}
}

// A handler that does not return does not keep the worker from ending.
func TestDrainLeavesAHandlerBehind(t *testing.T) {
	free := make(chan struct{})
	returned := make(chan struct{})
	started := make(chan struct{})
	l := newLab(t, oneStage(func(context.Context, day) (string, error) {
		defer close(returned)
		close(started)
		<-free
		return "", nil
	}), func(c *Config) { c.Grace, c.Abandon = 10*time.Millisecond, 20*time.Millisecond })
	l.release("a", 1, "")
	l.hand("a", single)
	<-started
	l.check()
	want(t, "interrupted", l.one("a", 0).outcome, stage.Interrupted)
	want(t, "ready", l.count(`SELECT count(*) FROM ax.ready WHERE delivery = 2`), 1)
	close(free)
	<-returned
	l.w.pools[0].wg.Wait()
}

// P0 finds urgent slots when the pool is full, and goes before what waits.
func TestUrgentSlotsAndLevels(t *testing.T) {
	started := make(chan int, 6)
	var gates [6]chan struct{}
	for i := range gates {
		gates[i] = make(chan struct{})
	}
	l := newLab(t, shards(func(_ context.Context, _ day, s shard.Shard) (string, error) {
		started <- s.Index
		<-gates[s.Index]
		return "", nil
	}), func(c *Config) { c.Slots, c.Urgent = 1, 1 })
	l.release("a", 6, counted)
	l.hand("a", shard.Span(0, 2))
	want(t, "first", <-started, 0)
	l.hand("a", shard.Span(2, 4), func(h *handOut) { h.level = stage.P3 })
	l.hand("a", shard.Span(4, 6), func(h *handOut) { h.level = stage.P0 })
	want(t, "in the urgent slot", <-started, 4)
	l.stats("all have come", func(s Stats) bool { return s.Flights == 3 })
	want(t, "running", l.w.open(), 2)
	close(gates[0])
	want(t, "in the pool's slot", <-started, 5)
	close(gates[4]) // the urgent slot has nothing left to do
	l.stats("two have ended", func(s Stats) bool { return s.Results == 2 })
	want(t, "running", l.w.open(), 1)
	for _, x := range [][2]int{{5, 1}, {1, 2}, {2, 3}} {
		close(gates[x[0]])
		want(t, "then by level", <-started, x[1])
	}
	close(gates[3])
	l.state("a", stage.StageSucceeded)
	l.check()
}

// The handlers' pools do not know each other.
func TestPoolsAreIsolated(t *testing.T) {
	x := newWaiting()
	slow := shard.New("slow", func(context.Context, day) (shard.Plan, error) { return shard.N(8), nil }, x.run)
	quick := shard.New("quick", func(context.Context, day) (shard.Plan, error) { return shard.N(8), nil },
		func(context.Context, day, shard.Shard) (string, error) { return "", nil })
	l := newLab(t, flow.New("f", slow, quick), nil)
	l.release("slow", 8, counted)
	l.hand("slow", shard.Span(0, 8))
	for range 4 {
		<-x.started
	}
	l.release("quick", 100, counted)
	l.hand("quick", shard.Span(0, 100))
	l.state("quick", stage.StageSucceeded)
	close(x.proceed)
	l.state("slow", stage.StageSucceeded)
	l.check()
}

// A database that cannot be reached at the start is waited for; one that is wrong is not.
func TestStartWithoutADatabase(t *testing.T) {
	f := shards(newWaiting().run)
	d := pgtest.New(t, pgtest.Empty())
	bus, err := hint.New(hint.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(Config{Pool: d.Pool, ConnConfig: d.Pool.Config().ConnConfig, Bus: bus, Flows: []flow.Definition{f}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx := pgtest.Context(t, soon)
	if err := w.Run(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("a database without tables: %v", err)
	}
	none, err := pgx.ParseConfig("postgres://nobody@127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	if w, err = New(Config{Pool: d.Pool, ConnConfig: none, Bus: bus, Flows: []flow.Definition{f}, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop()
	if err := pgtest.Receive(t, soon, done, "the end of Run"); err != nil && !errors.Is(err, context.Canceled) {
		t.Logf("it said %v", err)
	}
}

// Neither heartbeat nor commits need the pool, which InTx handlers may fill.
func TestFullPoolHoldsUpNeitherBeatsNorCommits(t *testing.T) {
	x := newWaiting()
	l := newLab(t, shards(x.run), nil)
	l.release("a", 1, counted)
	l.hand("a", single)
	<-x.started
	var held []*pgxpool.Conn
	for range l.pool.Config().MaxConns {
		c, err := l.pool.Acquire(l.ctx)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	beats := l.w.Stats().Beats
	close(x.proceed)
	l.stats("the result is committed", func(s Stats) bool { return s.Succeeded == 1 })
	l.stats("it beats on", func(s Stats) bool { return s.Beats > beats+2 })
	for _, c := range held {
		c.Release()
	}
	l.check()
}
