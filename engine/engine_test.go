package engine_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"axflow/engine"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/fakeworker"
	"axflow/internal/pgtest"
	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/hint"
	"axflow/sql/history"
	"axflow/sql/span"
	"axflow/stage"

	"github.com/jackc/pgx/v5/pgxpool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is a database with one engine and as many fake workers as a test wants, in one process.
type cluster struct {
	t      *testing.T
	ctx    context.Context
	pool   *pgxpool.Pool
	bus    *hint.Bus
	client *control.Client
	engine *engine.Engine
	config engine.Config
	run    context.Context
	leave  func() // stops the engine that runs
	sings  bool   // a worker for the canary runs
	stop   context.CancelFunc
	wg     sync.WaitGroup
}

// A machine that stands still for a TTL ends a term or buries a worker, and the engine is right to: so the TTLs are longer than
// it ever stands still, except where a test waits for a death.
const (
	longTTL = 30 * time.Second
	renew   = 500 * time.Millisecond // workers are found dead only between two renewals
)

// runEngine runs an engine until stopEngine or the test's end.
func (c *cluster) runEngine(e *engine.Engine) {
	ctx, cancel := context.WithCancel(c.run)
	done := make(chan struct{})
	c.engine, c.leave = e, func() { cancel(); <-done }
	c.wg.Go(func() {
		defer close(done)
		if err := e.Run(ctx); err != nil {
			c.t.Errorf("engine: %v", err)
		}
	})
}

func (c *cluster) stopEngine() { c.leave() }

// logs shows what the parts log when a test fails.
type logs struct{ t *testing.T }

func (l logs) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

func newCluster(t *testing.T, tune func(*engine.Config)) *cluster {
	t.Helper()
	d := pgtest.New(t)
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	pc, err := pgxpool.ParseConfig(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	axsql.ConfigurePool(pc)
	pc.MaxConns = 10
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(logs{t}, nil))
	bus, err := hint.New(hint.Config{ConnConfig: pc.ConnConfig, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, ctx: ctx, pool: pool, bus: bus}
	if c.client, err = control.NewClient(ctx, control.Config{Pool: pool, Bus: bus, Poll: 200 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	cfg := engine.Config{ConnConfig: pc.ConnConfig, Bus: bus, TTL: longTTL, Renew: renew, Beat: 200 * time.Millisecond, WorkerTTL: longTTL, Logger: logger}
	if tune != nil {
		tune(&cfg)
	}
	e, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	run, stop := context.WithCancel(ctx)
	c.run, c.stop, c.config = run, stop, cfg
	c.wg.Go(func() {
		if err := bus.Run(run); err != nil {
			t.Errorf("bus: %v", err)
		}
	})
	c.runEngine(e)
	t.Cleanup(func() {
		stop()
		c.wg.Wait()
		pool.Close()
		cancel()
	})
	return c
}

// worker runs a fake worker for the flows. The returned function ends it and takes it off the list, as its burial would.
func (c *cluster) worker(tune func(*fakeworker.Worker), flows ...flow.Definition) (bury func()) {
	c.t.Helper()
	var id uuid.UUID
	kill := c.mortal(func(w *fakeworker.Worker) {
		id = w.ID
		if tune != nil {
			tune(w)
		}
	}, flows...)
	return func() {
		c.t.Helper()
		kill()
		c.exec(`DELETE FROM ax.worker WHERE id = $1`, id)
		c.bus.ToEngine(hint.Engine{Workers: true})
	}
}

// mortal runs a fake worker until the returned function kills it, which only its silence tells.
func (c *cluster) mortal(tune func(*fakeworker.Worker), flows ...flow.Definition) (kill func()) {
	c.t.Helper()
	w := &fakeworker.Worker{ID: uuid.Must(uuid.NewV7()), Pool: c.pool, Bus: c.bus, Handlers: map[string]int{}}
	for _, f := range flows {
		for ord := range f.Graph().Stages {
			w.Handlers[f.Graph().HandlerKey(ord)] = 8
		}
	}
	if tune != nil {
		tune(w)
	}
	ctx, stop := context.WithCancel(c.ctx)
	done := make(chan struct{})
	c.wg.Go(func() {
		defer close(done)
		if err := w.Run(ctx); err != nil {
			c.t.Errorf("worker: %v", err)
		}
	})
	kill = func() { stop(); <-done }
	c.t.Cleanup(kill)
	return kill
}

func (c *cluster) start(f flow.Definition, n int) []uuid.UUID {
	c.t.Helper()
	v, err := c.client.Register(c.ctx, f)
	if err != nil {
		c.t.Fatal(err)
	}
	starts := make([]control.Start, n)
	for i := range starts {
		starts[i].Version = v
	}
	started, err := c.client.Start(c.ctx, control.Batch{Trigger: "test"}, starts)
	if err != nil {
		c.t.Fatal(err)
	}
	ids := make([]uuid.UUID, n)
	for i, s := range started {
		ids[i] = s.Run
	}
	return ids
}

// end waits for runs to end in a state.
func (c *cluster) end(want stage.RunState, ids ...uuid.UUID) {
	c.t.Helper()
	states, err := c.client.WaitAll(c.ctx, ids)
	if err != nil {
		for _, id := range ids[:min(len(ids), 5)] {
			p, perr := c.client.Progress(context.Background(), id)
			c.t.Logf("%s: %+v %v", id, p.Stages, perr)
		}
		c.t.Fatalf("waiting: %v", err)
	}
	for id, s := range states {
		if s != want {
			c.t.Errorf("run %s has %s, want %s", id, s, want)
		}
	}
}

func (c *cluster) check(opts history.Options) {
	c.t.Helper()
	found, err := history.Check(c.ctx, c.pool, opts)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, v := range found {
		c.t.Errorf("history: %s", v)
	}
}

type none = struct{}

func nop(context.Context, none) (none, error) { return none{}, nil }

func noPlan(context.Context, none) (shard.Plan, error) { return shard.N(0), nil }

func nopShard(context.Context, none, shard.Shard) (none, error) { return none{}, nil }

func diamond() *flow.Flow[none] {
	a := stage.New("a", nop)
	b := shard.New("b", noPlan, nopShard).After(a)
	c := stage.New("c", nop).After(a)
	d := stage.New("d", nop).After(b, c)
	return flow.New("diamond", a, b, c, d)
}

func layout(n int) func(span.Assignment) stage.Layout {
	return func(span.Assignment) stage.Layout {
		return stage.Layout{Total: n, Cut: stage.Cut{Kind: stage.CutCount}}
	}
}

func TestDiamondRunsToItsEnd(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := diamond()
	c.worker(func(w *fakeworker.Worker) { w.Plan = layout(1000) }, f)
	c.end(stage.RunSucceeded, c.start(f, 20)...)
	c.check(history.Options{Ended: true})
	if n := c.engine.Stats().Repaired.Load(); n != 0 {
		t.Errorf("the scan repaired %d decisions in a healthy run", n)
	}
}

func TestEmptyPlan(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := diamond()
	c.worker(func(w *fakeworker.Worker) { w.Plan = layout(0) }, f)
	c.end(stage.RunSucceeded, c.start(f, 1)...)
	c.check(history.Options{Ended: true})
}

// Every hint is dropped: heartbeats, reloads and the scan alone finish the runs.
func TestScanAloneFinishesRuns(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(cfg *engine.Config) { cfg.Scan, cfg.Reload = 200*time.Millisecond, 200*time.Millisecond })
	c.bus.Mute(true)
	f := diamond()
	c.worker(func(w *fakeworker.Worker) { w.Plan = layout(100) }, f)
	c.end(stage.RunSucceeded, c.start(f, 3)...)
	c.check(history.Options{Ended: true})
}

func TestFailureCascades(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := diamond()
	c.worker(func(w *fakeworker.Worker) {
		w.Plan = layout(10)
		w.End = func(a span.Assignment, i int) span.Result {
			if i == 7 && a.Attempt == 1 { // only the sharded stage has an index 7
				return span.Result{Outcome: stage.Failed, Error: []byte(`{"code":"boom"}`)}
			}
			return span.Result{Outcome: stage.Succeeded}
		}
	}, f)
	ids := c.start(f, 1)
	c.end(stage.RunFailed, ids...)
	p, err := c.client.Progress(c.ctx, ids[0])
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]stage.StageState{"a": stage.StageSucceeded, "b": stage.StageFailed, "c": stage.StageSucceeded, "d": stage.StageUpstreamFailed}
	for _, s := range p.Stages {
		if s.State != want[s.Name] {
			t.Errorf("stage %s has %s, want %s", s.Name, s.State, want[s.Name])
		}
		if s.Name == "b" && (s.Succeeded != 9 || s.Dead != 1) {
			t.Errorf("stage b: %d succeeded, %d dead, want 9 and 1", s.Succeeded, s.Dead)
		}
	}
	c.check(history.Options{Ended: true})

	// The operator retries: only shard 7 runs again, then d.
	touched, err := c.client.Retry(c.ctx, ids[0], control.Who{Actor: "test"})
	if n := control.Indices(touched); err != nil || n != 1 {
		t.Fatalf("retry: %d, %v, want 1 index", n, err)
	}
	c.end(stage.RunSucceeded, ids...)
	if _, err := c.client.Retry(c.ctx, ids[0], control.Who{Actor: "test"}); err == nil {
		t.Error("retrying a succeeded run: no error")
	}
	c.check(history.Options{Ended: true})

	// A rerun of c runs c and d in generation 2; a and b stay.
	if _, err := c.client.Rerun(c.ctx, ids[0], "c", control.Who{Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	c.end(stage.RunSucceeded, ids...)
	if p, err = c.client.Progress(c.ctx, ids[0]); err != nil {
		t.Fatal(err)
	}
	generation := map[string]int{"a": 1, "b": 1, "c": 2, "d": 3} // d was reset by the retry and by the rerun
	for _, s := range p.Stages {
		if s.Generation != generation[s.Name] {
			t.Errorf("stage %s is in generation %d, want %d", s.Name, s.Generation, generation[s.Name])
		}
	}
	c.check(history.Options{Ended: true})
}

func TestRetryOnceThenSucceeds(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop))
	c.worker(func(w *fakeworker.Worker) {
		w.End = func(a span.Assignment, _ int) span.Result {
			if a.Attempt < 3 {
				return span.Result{Outcome: stage.Failed, Again: true, Delay: 50 * time.Millisecond}
			}
			return span.Result{Outcome: stage.Succeeded}
		}
	}, f)
	c.end(stage.RunSucceeded, c.start(f, 30)...)
	c.check(history.Options{Ended: true})
}

func TestDeadWorkersWorkIsSeized(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(cfg *engine.Config) { cfg.WorkerTTL = 2 * time.Second })
	f := flow.New("f", stage.New("a", nop))
	got := make(chan struct{}, 100)
	hang := make(chan struct{})
	kill := c.mortal(func(w *fakeworker.Worker) {
		w.Seen = func(span.Assignment) {
			select {
			case got <- struct{}{}:
			default:
			}
			<-hang
		}
	}, f)
	ids := c.start(f, 10)
	<-got
	go func() { close(hang) }()
	kill()
	c.worker(nil, f)
	c.end(stage.RunSucceeded, ids...)
	c.check(history.Options{Ended: true})
}

func TestManySingles(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop))
	c.worker(nil, f)
	for range 3 {
		c.end(stage.RunSucceeded, c.start(f, 1000)...)
	}
	c.check(history.Options{Ended: true})
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop))
	v, err := c.client.Register(c.ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	starts := func() []control.Start {
		return []control.Start{{Version: v, Key: "k1"}, {Version: v, Key: "k2"}, {Version: v, Key: "k1"}, {Version: v}}
	}
	first, err := c.client.Start(c.ctx, control.Batch{}, starts())
	if err != nil {
		t.Fatal(err)
	}
	if first[0].Run != first[2].Run || first[0].Run == first[1].Run || first[3].Existing {
		t.Errorf("keys of one batch: %+v", first)
	}
	second, err := c.client.Start(c.ctx, control.Batch{}, starts())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if second[i].Run != first[i].Run || !second[i].Existing {
			t.Errorf("start %d again: %+v, want the run %s", i, second[i], first[i].Run)
		}
	}
	c.worker(nil, f)
	c.end(stage.RunSucceeded, first[0].Run, first[1].Run, first[3].Run, second[3].Run)
	c.check(history.Options{Ended: true})
}

func TestAligned(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	a := shard.New("a", noPlan, nopShard)
	b := shard.Aligned("b", a, nopShard)
	z := stage.New("z", nop).After(b)
	f := flow.New("aligned", a, b, z)
	for _, n := range []int{500, 1, 0} {
		bury := c.worker(func(w *fakeworker.Worker) { w.Plan = layout(n) }, f)
		c.end(stage.RunSucceeded, c.start(f, 2)...)
		bury()
	}
	c.check(history.Options{Ended: true})
}

func TestAlignedShardOfDeadShardFails(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	a := shard.New("a", noPlan, nopShard)
	b := shard.Aligned("b", a, nopShard)
	f := flow.New("aligned", a, b)
	ordA, _ := f.Graph().Ord("a")
	c.worker(func(w *fakeworker.Worker) {
		w.Plan = layout(10)
		w.End = func(x span.Assignment, i int) span.Result {
			if int(x.Ord) == ordA && i == 3 {
				return span.Result{Outcome: stage.Failed}
			}
			return span.Result{Outcome: stage.Succeeded}
		}
	}, f)
	ids := c.start(f, 1)
	c.end(stage.RunFailed, ids...)
	p, err := c.client.Progress(c.ctx, ids[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Stages {
		if s.Succeeded != 9 || s.Dead != 1 {
			t.Errorf("stage %s: %+v, want 9 succeeded and 1 dead", s.Name, s)
		}
	}
	c.check(history.Options{Ended: true})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, force := range []bool{false, true} {
		c := newCluster(t, nil)
		f := diamond()
		ids := c.start(f, 1) // no worker: a is ready
		if _, err := c.client.Cancel(c.ctx, ids[0], force, control.Who{Actor: "test"}); err != nil {
			t.Fatal(err)
		}
		c.end(stage.RunCancelled, ids...)
		if _, err := c.client.Cancel(c.ctx, ids[0], force, control.Who{Actor: "test"}); err == nil {
			t.Error("cancelling an ended run: no error")
		}
		c.check(history.Options{Ended: true})
	}
}

// A forced cancel fences what is in flight: the late report is refused.
func TestForcedCancelRefusesLateReports(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop))
	hang, seen := make(chan struct{}), make(chan struct{})
	c.worker(func(w *fakeworker.Worker) {
		w.Seen = func(span.Assignment) { close(seen); <-hang }
	}, f)
	ids := c.start(f, 1)
	<-seen
	if _, err := c.client.Cancel(c.ctx, ids[0], true, control.Who{Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	c.end(stage.RunCancelled, ids...)
	close(hang)
	c.check(history.Options{Ended: true})
}

// A stage that waits for its upstreams for too long ends, and what follows it with it; nothing stays stuck.
func TestDependencyTimeout(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(cfg *engine.Config) { cfg.Scan = 100 * time.Millisecond })
	a := stage.New("a", nop)
	b := stage.New("b", nop, stage.Timeout{Dependency: 300 * time.Millisecond}).After(a)
	d := stage.New("d", nop).After(b)
	e := stage.New("e", nop, stage.WithRule(stage.AllDone)).After(b)
	f := flow.New("f", a, b, d, e)
	ids := c.start(f, 1) // no worker: a never ends by itself
	eventually(t, c, func(p control.Progress) bool {
		return states(p)["b"] == stage.StageUpstreamFailed && states(p)["d"] == stage.StageUpstreamFailed && states(p)["e"] == stage.StageRunning
	}, ids[0])
	c.worker(nil, f)
	c.end(stage.RunFailed, ids...)
	c.check(history.Options{Ended: true})
}

// A delayed stage, first or later, is not handed out before its time.
func TestDelay(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	const delay = 400 * time.Millisecond
	a := stage.New("a", nop, stage.Delay(delay))
	b := stage.New("b", nop, stage.Delay(delay)).After(a)
	f := flow.New("f", a, b)
	c.worker(nil, f)
	c.end(stage.RunSucceeded, c.start(f, 5)...)
	var first, last time.Duration
	if err := c.pool.QueryRow(c.ctx, `SELECT min(dispatched_at - ready_at), max(dispatched_at - ready_at) FROM ax.result`).Scan(&first, &last); err != nil {
		t.Fatal(err)
	}
	if first < delay || last > 5*time.Second {
		t.Errorf("tasks were handed out %v to %v after their release, want %v to 5 s", first, last, delay)
	}
	c.check(history.Options{Ended: true})
}

func states(p control.Progress) map[string]stage.StageState {
	m := make(map[string]stage.StageState)
	for _, s := range p.Stages {
		m[s.Name] = s.State
	}
	return m
}

func eventually(t *testing.T, c *cluster, ok func(control.Progress) bool, id uuid.UUID) {
	t.Helper()
	pgtest.Eventually(t, 30*time.Second, func() (bool, string) {
		p, err := c.client.Progress(c.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return ok(p), fmt.Sprint(states(p))
	})
}

// A worker whose watchdog is broken reports a task that runs on and on: the leader takes it away, and the late report
// is refused.
func TestOverdueTaskIsSeized(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(cfg *engine.Config) { cfg.Overdue = 300 * time.Millisecond })
	f := flow.New("f", stage.New("a", nop, stage.Timeout{Execution: 100 * time.Millisecond}))
	hang, seen := make(chan struct{}), make(chan span.Assignment, 2)
	c.worker(func(w *fakeworker.Worker) {
		w.Seen = func(a span.Assignment) {
			seen <- a
			if a.Delivery > 1 {
				return
			}
			// The fake worker does one thing at a time, so its report is written for it.
			ctx, stop := context.WithCancel(c.ctx)
			defer stop()
			go func() {
				for ctx.Err() == nil {
					_, _ = c.pool.Exec(ctx, `UPDATE ax.worker SET beat = beat + 1, seen_at = clock_timestamp(),
						running = jsonb_build_array(jsonb_build_object('execution', $1::uuid, 'index', 0, 'started', $2::timestamptz)) WHERE id = $3`,
						a.ID, a.DispatchedAt, w.ID)
					select {
					case <-ctx.Done():
					case <-time.After(50 * time.Millisecond):
					}
				}
			}()
			<-hang
		}
	}, f)
	ids := c.start(f, 1)
	first := pgtest.Receive(t, 20*time.Second, seen, "the first hand-out")
	var ready int
	pgtest.Eventually(t, 20*time.Second, func() (bool, string) {
		err := c.pool.QueryRow(c.ctx, `SELECT (SELECT count(*) FROM ax.flight WHERE id = $1)`, first.ID).Scan(&ready)
		return err == nil && ready == 0, "the task is still with its worker"
	})
	close(hang) // its report comes now, and is refused
	c.end(stage.RunSucceeded, ids...)
	var delivery int
	if err := c.pool.QueryRow(c.ctx, `SELECT max(delivery) FROM ax.result`).Scan(&delivery); err != nil || delivery != 2 {
		t.Errorf("it finished in delivery %d (%v), want 2", delivery, err)
	}
	c.check(history.Options{Ended: true})
}
