package worker

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/hint"
	"axflow/sql/history"
	"axflow/sql/span"
	"axflow/stage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon is how long a test waits for what should happen at once, on a busy machine.
const soon = 30 * time.Second

// day are the params of the tests' flows.
type day struct {
	Day string `json:"day"`
}

// lab is a database with one worker; the test itself is the leader.
type lab struct {
	t      *testing.T
	ctx    context.Context
	pool   *pgxpool.Pool
	bus    *hint.Bus
	w      *Worker
	flow   flow.Definition
	ver    int32
	run    uuid.UUID
	news   *hint.Box[hint.Engine]
	heard  []hint.Engine
	cut    *cutter
	stop   context.CancelFunc
	done   chan struct{}
	err    error // Run's, once done is closed
	ending sync.Once
}

// newLab runs a worker for a flow, and starts a run of it by hand: every stage waits.
func newLab(t *testing.T, f flow.Definition, tune func(*Config)) *lab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	l := &lab{t: t, ctx: ctx, flow: f, cut: &cutter{}, done: make(chan struct{})}
	pc, err := pgxpool.ParseConfig(database(ctx, t))
	if err != nil {
		t.Fatal(err)
	}
	axsql.ConfigurePool(pc)
	pc.MaxConns = 8
	if l.pool, err = pgxpool.NewWithConfig(ctx, pc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.pool.Close)
	if l.bus, err = hint.New(hint.Config{}); err != nil {
		t.Fatal(err)
	}
	l.news = l.bus.SubscribeEngine()
	t.Cleanup(l.news.Close)
	own := pc.ConnConfig.Copy()
	own.DialFunc = l.cut.dial(own.DialFunc)
	cfg := Config{Pool: l.pool, ConnConfig: own, Bus: l.bus, Flows: []flow.Definition{f}, Slots: 4, Beat: 50 * time.Millisecond,
		TTL: 5 * time.Second, Logger: slog.New(slog.NewTextHandler(logs{t}, nil))}
	if tune != nil {
		tune(&cfg)
	}
	if l.w, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	run, stop := context.WithCancel(ctx)
	l.stop = stop
	go func() {
		defer close(l.done)
		l.err = l.w.Run(run)
	}()
	t.Cleanup(func() { _ = l.end() }) // check says what is wrong
	pgtest.Eventually(t, soon, func() (bool, string) { return l.w.Stats().Registrations > 0, "the worker is not registered" })
	if err := l.pool.QueryRow(ctx, `SELECT id FROM ax.flow_version WHERE flow = $1`, f.Name()).Scan(&l.ver); err != nil {
		t.Fatal(err)
	}
	l.run = l.start(`{"day":"2026-01-01"}`)
	return l
}

// start writes a run with waiting stages.
func (l *lab) start(params string) uuid.UUID {
	l.t.Helper()
	id := uuid.Must(uuid.NewV7())
	l.exec(`INSERT INTO ax.run (run_id, version_id, state, level, created_at, namespace, flow, queue, trigger, params)
	        VALUES ($1, $2, 1, 2, now(), 'default', $3, 'default', 'test', $4)`, id, l.ver, l.flow.Name(), []byte(params))
	for ord := range l.flow.Graph().Stages {
		l.exec(`INSERT INTO ax.stage (run_id, ord, state) VALUES ($1, $2, 0)`, id, ord)
	}
	return id
}

// end drains the worker and returns what Run returned.
func (l *lab) end() error {
	l.ending.Do(func() {
		l.stop()
		select {
		case <-l.done:
		case <-time.After(time.Minute):
			l.t.Error("the worker does not end")
		}
	})
	return l.err
}

// logs shows what the worker logs when a test fails.
type logs struct{ t *testing.T }

func (x logs) Write(p []byte) (int, error) {
	x.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

func (l *lab) exec(sql string, args ...any) {
	l.t.Helper()
	if _, err := l.pool.Exec(l.ctx, sql, args...); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
}

func (l *lab) ord(name string) int {
	l.t.Helper()
	ord, ok := l.flow.Graph().Ord(name)
	if !ok {
		l.t.Fatalf("no stage %s", name)
	}
	return ord
}

// release makes a stage a running one with a frozen total.
func (l *lab) release(name string, total int, cut string) {
	l.t.Helper()
	l.exec(`UPDATE ax.stage SET state = 2, shard_total = $3, cut = nullif($4, '')::text::bytea, ready_at = now() WHERE run_id = $1 AND ord = $2`,
		l.run, l.ord(name), total, cut)
}

// planning makes a stage one that is being planned.
func (l *lab) planning(name string) {
	l.t.Helper()
	l.exec(`UPDATE ax.stage SET state = 1, ready_at = now() WHERE run_id = $1 AND ord = $2`, l.run, l.ord(name))
}

// handOut describes a hand-out.
type handOut struct {
	par, attempt, delivery int
	level                  stage.Level
	mute                   bool // without a hint
	worker                 uuid.UUID
}

// hand hands indices of a stage to the worker, as the leader does: the row first, then the hint.
func (l *lab) hand(name string, set shard.Set, change ...func(*handOut)) uuid.UUID {
	l.t.Helper()
	h := handOut{par: 4, attempt: 1, delivery: 1, level: stage.P2, worker: l.w.ID()}
	for _, c := range change {
		c(&h)
	}
	a := span.Assignment{Par: h.par, Set: set, Header: span.Header{ID: uuid.Must(uuid.NewV7()), Run: l.run, VersionID: l.ver, Ord: int16(l.ord(name)),
		Generation: 1, Attempt: int16(h.attempt), Delivery: int16(h.delivery), Level: h.level, Namespace: "default", Queue: "default"}}
	if set.Min() < 0 {
		a.Kind = span.Plan
	}
	row := l.pool.QueryRow(l.ctx, `INSERT INTO ax.flight (id, run_id, worker_id, ready_at, dispatched_at, version_id, epoch, par, ord, generation, kind,
	                               attempt, delivery, losses, level, namespace, queue, todo)
	        VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), $4, 1, $5, $6, 1, $7, $8, $9, 0, $10, 'default', 'default', $11::text::int4multirange)
	        RETURNING dispatched_at`,
		a.ID, l.run, h.worker, l.ver, h.par, a.Ord, a.Kind, h.attempt, h.delivery, h.level, set.String())
	if err := row.Scan(&a.DispatchedAt); err != nil {
		l.t.Fatal(err)
	}
	if !h.mute {
		a.Params = []byte(`{"day":"2026-01-01"}`)
		l.bus.ToWorker(h.worker, hint.Worker{Flights: []span.Assignment{a}})
	}
	return a.ID
}

var single = shard.Span(0, 1)

// plan is what a plan's flight holds.
var planSet = shard.Of(-1)

// eventually waits for a row that a query finds; its result must be true.
func (l *lab) eventually(what, sql string, args ...any) {
	l.t.Helper()
	pgtest.Eventually(l.t, soon, func() (bool, string) {
		var ok *bool
		if err := l.pool.QueryRow(l.ctx, sql, args...).Scan(&ok); err != nil {
			return false, what + ": " + err.Error()
		}
		return ok != nil && *ok, what
	})
}

// state waits for a stage's state.
func (l *lab) state(name string, s stage.StageState) {
	l.t.Helper()
	l.eventually("stage "+name+" is not "+s.String(), `SELECT state = $3 FROM ax.stage WHERE run_id = $1 AND ord = $2`, l.run, l.ord(name), s)
}

// result is a row of ax.result.
type result struct {
	outcome                              stage.Outcome
	attempt, delivery                    int
	output                               string
	failure                              failure
	ready, dispatched, started, finished time.Time
	worker, execution                    uuid.UUID
}

// results are the rows of one index, in the order of attempts.
func (l *lab) results(name string, index int) []result {
	l.t.Helper()
	rows, err := l.pool.Query(l.ctx, `SELECT outcome, attempt, delivery, coalesce(convert_from(output, 'UTF8'), ''), coalesce(convert_from(error, 'UTF8'), ''),
	        ready_at, dispatched_at, started_at, finished_at, worker_id, execution_id
	        FROM ax.result WHERE run_id = $1 AND ord = $2 AND shard = $3 ORDER BY attempt, delivery`, l.run, l.ord(name), index)
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	var all []result
	for rows.Next() {
		var r result
		var text string
		if err := rows.Scan(&r.outcome, &r.attempt, &r.delivery, &r.output, &text, &r.ready, &r.dispatched, &r.started, &r.finished, &r.worker, &r.execution); err != nil {
			l.t.Fatal(err)
		}
		if text != "" {
			if err := json.Unmarshal([]byte(text), &r.failure); err != nil {
				l.t.Fatalf("the error %q: %v", text, err)
			}
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return all
}

// one is the only result of an index; it waits for it.
func (l *lab) one(name string, index int) result {
	l.t.Helper()
	l.eventually("no result", `SELECT count(*) > 0 FROM ax.result WHERE run_id = $1 AND ord = $2 AND shard = $3`, l.run, l.ord(name), index)
	all := l.results(name, index)
	if len(all) != 1 {
		l.t.Fatalf("%d results of %s/%d, want 1: %+v", len(all), name, index, all)
	}
	return all[0]
}

func (l *lab) count(sql string, args ...any) (n int) {
	l.t.Helper()
	if err := l.pool.QueryRow(l.ctx, sql, args...).Scan(&n); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// set is the union of a table's rows for a stage.
func (l *lab) set(table, name string) shard.Set {
	l.t.Helper()
	var text *string
	if err := l.pool.QueryRow(l.ctx, `SELECT range_agg(todo)::text FROM ax.`+table+` WHERE run_id = $1 AND ord = $2`, l.run, l.ord(name)).Scan(&text); err != nil {
		l.t.Fatal(err)
	}
	if text == nil {
		return shard.Set{}
	}
	s, err := shard.ParseSet(*text)
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// hears waits for news of the worker to the leader that satisfies a condition, among all so far.
func (l *lab) hears(what string, ok func(hint.Engine) bool) hint.Engine {
	l.t.Helper()
	var found hint.Engine
	pgtest.Eventually(l.t, soon, func() (bool, string) {
		l.heard = append(l.heard, l.news.Take()...)
		for _, n := range l.heard {
			if ok(n) {
				found = n
				return true, ""
			}
		}
		return false, "the leader was not told: " + what
	})
	return found
}

// hearsStage waits until the leader is told to look at a stage.
func (l *lab) hearsStage(name string) {
	l.t.Helper()
	l.hears("stage "+name, func(n hint.Engine) bool {
		for _, k := range n.Stages {
			if k == (span.StageKey{Run: l.run, Ord: int16(l.ord(name))}) {
				return true
			}
		}
		return false
	})
}

// check ends the worker and runs the history checker; every test ends with it.
func (l *lab) check() {
	l.t.Helper()
	if err := l.end(); err != nil {
		l.t.Errorf("Run: %v", err)
	}
	found, err := history.Check(l.ctx, l.pool, history.Options{Grace: time.Hour})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, v := range found {
		l.t.Errorf("history: %s", v)
	}
}

// lock holds rows until the returned function is called.
func (l *lab) lock(sql string, args ...any) (unlock func()) {
	l.t.Helper()
	tx, err := l.pool.Begin(l.ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := tx.Exec(l.ctx, sql, args...); err != nil {
		l.t.Fatal(err)
	}
	return func() {
		if err := tx.Commit(l.ctx); err != nil {
			l.t.Fatal(err)
		}
	}
}

// blocked waits until n sessions of the database wait for a lock.
func (l *lab) blocked(n int) {
	l.t.Helper()
	l.eventually("nobody waits for the lock", `SELECT count(*) >= $1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`, n)
}

// stats waits for counts.
func (l *lab) stats(what string, ok func(Stats) bool) {
	l.t.Helper()
	pgtest.Eventually(l.t, soon, func() (bool, string) { return ok(l.w.Stats()), what })
}

// cutter breaks connections of the worker's own: when armed, the next answer is received and kept from the worker,
// as when the network fails after the server has done what it was asked.
type cutter struct {
	armed atomic.Int32 // which answer from now on is the one
	cuts  atomic.Int32
}

func (c *cutter) dial(inner pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := inner(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &cutConn{Conn: conn, c: c}, nil
	}
}

type cutConn struct {
	net.Conn
	c *cutter
}

func (x *cutConn) Read(p []byte) (int, error) {
	n, err := x.Conn.Read(p)
	if n > 0 && x.c.armed.Load() > 0 && x.c.armed.Add(-1) == 0 {
		x.c.cuts.Add(1)
		_ = x.Conn.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

func want[T comparable](t *testing.T, what string, got, right T) {
	t.Helper()
	if got != right {
		t.Errorf("%s: %v, want %v", what, got, right)
	}
}

func wantText(t *testing.T, what, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("%s: %q does not say %q", what, got, p)
		}
	}
}

func wantSet(t *testing.T, what string, got, right shard.Set) {
	t.Helper()
	if !got.Equal(right) {
		t.Errorf("%s: %s, want %s", what, got, right)
	}
}
