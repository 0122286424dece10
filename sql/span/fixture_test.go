package span_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/sql/history"
	"axflow/sql/span"
	"axflow/stage"
)

// fixture is a database with one run, written row by row: these tests own every move.
type fixture struct {
	t       *testing.T
	ctx     context.Context
	pool    *pgxpool.Pool
	run     uuid.UUID
	worker  uuid.UUID
	version int32
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	f := &fixture{t: t, ctx: ctx, pool: pgtest.New(t).Pool, run: uuid.Must(uuid.NewV7())}
	f.exec(`INSERT INTO ax.flow_version (namespace, flow, hash, graph) VALUES ('default', 'f', 'h', $1)`, graph())
	f.exec(`INSERT INTO ax.run (run_id, version_id, state, level, created_at, namespace, flow, queue, trigger, params)
	        VALUES ($1, 1, 1, 2, now(), 'default', 'f', 'default', 'test', '{}')`, f.run)
	f.version = 1
	f.worker = f.newWorker()
	return f
}

// graph is a flow of four stages, so that the history checker can read it.
func graph() []byte {
	nop := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	return flow.New("f", stage.New("a", nop), stage.New("b", nop), stage.New("c", nop), stage.New("d", nop)).Graph().Encode()
}

func (f *fixture) exec(sql string, args ...any) {
	f.t.Helper()
	if _, err := f.pool.Exec(f.ctx, sql, args...); err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
}

func (f *fixture) newWorker() uuid.UUID {
	f.t.Helper()
	id := uuid.Must(uuid.NewV7())
	f.exec(`INSERT INTO ax.worker (id, seen_at, started_at, state, urgent, namespace, host, pid, labels, handlers)
	        VALUES ($1, now(), now(), 0, 0, 'default', 'h', 1, '{}', '{}')`, id)
	return id
}

// stage makes a released stage with everything still to be handed out: the caller puts it somewhere.
func (f *fixture) stage(ord, total int) {
	f.t.Helper()
	f.exec(`INSERT INTO ax.stage (run_id, ord, state, shard_total, ready_at) VALUES ($1, $2, 2, $3, now())`, f.run, ord, total)
}

// flight hands indices to a worker.
func (f *fixture) flight(ord int, set shard.Set, worker uuid.UUID) uuid.UUID {
	f.t.Helper()
	return f.flightAt(ord, set, worker, 1, 1)
}

func (f *fixture) flightAt(ord int, set shard.Set, worker uuid.UUID, attempt, delivery int) uuid.UUID {
	f.t.Helper()
	id := uuid.Must(uuid.NewV7())
	kind := 0
	if set.Min() < 0 {
		kind = 1
	}
	f.exec(`INSERT INTO ax.flight (id, run_id, worker_id, ready_at, dispatched_at, version_id, epoch, par, ord, generation, kind,
	                               attempt, delivery, losses, level, namespace, queue, todo)
	        VALUES ($1, $2, $3, now(), now(), 1, 1, 1, $4, 1, $5, $6, $7, 0, 2, 'default', 'default', $8::text::int4multirange)`,
		id, f.run, worker, ord, kind, attempt, delivery, set.String())
	return id
}

// conn is a connection of its own.
func (f *fixture) conn() *pgx.Conn {
	f.t.Helper()
	c, err := pgx.ConnectConfig(f.ctx, f.pool.Config().ConnConfig)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// report says that indices of a flight ended with one outcome.
func (f *fixture) report(flight uuid.UUID, ord int, set shard.Set, outcome stage.Outcome) span.Report {
	r := span.Report{Execution: flight, Run: f.run, Ord: int16(ord), MaxAttempts: 3, Last: true}
	now := time.Now()
	for i := range set.All() {
		r.Results = append(r.Results, span.Result{Index: int32(i), Outcome: outcome, Started: now, Finished: now, Again: true, Delay: 2 * time.Second})
	}
	return r
}

func (f *fixture) finish(conn span.Conn, reports ...span.Report) span.Receipt {
	f.t.Helper()
	receipt, err := span.Finish(f.ctx, conn, f.worker, reports)
	if err != nil {
		f.t.Fatalf("finish: %v", err)
	}
	return receipt
}

func (f *fixture) state(ord int) stage.StageState {
	f.t.Helper()
	var s int16
	if err := f.pool.QueryRow(f.ctx, `SELECT state FROM ax.stage WHERE run_id = $1 AND ord = $2`, f.run, ord).Scan(&s); err != nil {
		f.t.Fatal(err)
	}
	return stage.StageState(s)
}

// set is the union of a table's rows for a stage.
func (f *fixture) set(table string, ord int) shard.Set {
	f.t.Helper()
	var text *string
	if err := f.pool.QueryRow(f.ctx, `SELECT range_agg(todo)::text FROM ax.`+table+` WHERE run_id = $1 AND ord = $2`, f.run, ord).Scan(&text); err != nil {
		f.t.Fatal(err)
	}
	if text == nil {
		return shard.Set{}
	}
	s, err := shard.ParseSet(*text)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

func (f *fixture) count(sql string, args ...any) (n int) {
	f.t.Helper()
	if err := f.pool.QueryRow(f.ctx, sql, args...).Scan(&n); err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (f *fixture) results(ord int) int {
	return f.count(`SELECT count(*) FROM ax.result WHERE run_id = $1 AND ord = $2`, f.run, ord)
}

// check runs the history checker; every test ends with it.
func (f *fixture) check() {
	f.t.Helper()
	// The run's own end is the leader's, which these tests do without.
	found, err := history.Check(f.ctx, f.pool, history.Options{Grace: time.Hour})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, v := range found {
		f.t.Errorf("history: %s", v)
	}
}

// blocked waits until n sessions of the database wait for a lock.
func (f *fixture) blocked(n int) {
	f.t.Helper()
	f.blockedUnless(n, func() bool { return false })
}

// blockedUnless is blocked, for calls that can tell whether they have returned: one that has done so instead of waiting
// fails the test at once.
func (f *fixture) blockedUnless(n int, returned func() bool) {
	f.t.Helper()
	for f.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) < n {
		if f.ctx.Err() != nil || returned() {
			f.t.Fatalf("%d sessions never waited for a lock", n)
		}
	}
}

func want[T comparable](t *testing.T, what string, got, right T) {
	t.Helper()
	if got != right {
		t.Errorf("%s: %v, want %v", what, got, right)
	}
}

func wantSet(t *testing.T, what string, got, right shard.Set) {
	t.Helper()
	if !got.Equal(right) {
		t.Errorf("%s: %s, want %s", what, got, right)
	}
}
