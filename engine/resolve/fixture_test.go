package resolve_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"axflow/engine/control"
	"axflow/engine/resolve"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/history"
	"axflow/sql/span"
	"axflow/sql/versions"
	"axflow/stage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a database with one run of a flow, the client that steers it, and the leader's resolver. Nothing in it
// runs by itself: a test makes every move.
type house struct {
	t        *testing.T
	ctx      context.Context
	pool     *pgxpool.Pool
	bus      *hint.Bus
	client   *control.Client
	versions *versions.Cache
	version  *versions.Version
	fence    axsql.Fence
	run      uuid.UUID
	worker   uuid.UUID
}

type none = struct{}

func nop(context.Context, none) (none, error) { return none{}, nil }

// chain is a flow of n stages, one after the other.
func chain(n int) *flow.Flow[none] {
	nodes := make([]*stage.Stage[none, none], n)
	all := make([]stage.Node[none], n)
	for i := range nodes {
		nodes[i] = stage.New(string(rune('a'+i)), nop)
		if i > 0 {
			nodes[i] = nodes[i].After(nodes[i-1])
		}
		all[i] = nodes[i]
	}
	return flow.New("chain", all...)
}

func newHouse(t *testing.T, f flow.Definition) *house {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	d := pgtest.New(t, pgtest.Pool(func(c *pgxpool.Config) { axsql.ConfigurePool(c) }))
	h := &house{t: t, ctx: ctx, pool: d.Pool, versions: versions.New(), worker: uuid.Must(uuid.NewV7()), fence: axsql.Fence{Name: "leader", Epoch: 1}}
	var err error
	if h.bus, err = hint.New(hint.Config{Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	if h.client, err = control.NewClient(ctx, control.Config{Pool: h.pool, Bus: h.bus, Versions: h.versions}); err != nil {
		t.Fatal(err)
	}
	h.exec(`INSERT INTO ax.lease (name, epoch, holder, expires_at, renewed_at) VALUES ('leader', 1, 'test', now() + '1 hour', now())`)
	if err := db.New(h.pool).RegisterWorker(ctx, db.RegisterWorkerParams{ID: h.worker, Namespace: "default", Host: "test", Labels: []string{}, Handlers: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if h.version, err = h.client.Register(ctx, f); err != nil {
		t.Fatal(err)
	}
	started, err := h.client.Start(ctx, control.Batch{Trigger: "test"}, []control.Start{{Version: h.version}})
	if err != nil {
		t.Fatal(err)
	}
	h.run = started[0].Run
	return h
}

func (h *house) exec(sql string, args ...any) {
	h.t.Helper()
	if _, err := h.pool.Exec(h.ctx, sql, args...); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
}

func (h *house) count(sql string, args ...any) (n int) {
	h.t.Helper()
	if err := h.pool.QueryRow(h.ctx, sql, args...).Scan(&n); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// conn is a connection of its own.
func (h *house) conn() *pgx.Conn {
	h.t.Helper()
	c, err := pgx.ConnectConfig(h.ctx, h.pool.Config().ConnConfig)
	if err != nil {
		h.t.Fatal(err)
	}
	axsql.Register(c.TypeMap())
	h.t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// resolver is the leader's.
func (h *house) resolver() *resolve.Resolver {
	return &resolve.Resolver{Versions: h.versions, Fence: h.fence, Logger: slog.New(slog.DiscardHandler), Stuck: new(atomic.Uint64)}
}

// handOut gives everything that is ready to the worker, in a transaction that the caller ends.
func (h *house) handOut(conn db.DBTX) []uuid.UUID {
	h.t.Helper()
	rows, err := h.pool.Query(h.ctx, `SELECT id, todo::text FROM ax.ready`)
	if err != nil {
		h.t.Fatal(err)
	}
	p := db.CutSpansParams{RunIds: []uuid.UUID{h.run}, Epoch: 1}
	var id uuid.UUID
	var todo string
	if _, err := pgx.ForEachRow(rows, []any{&id, &todo}, func() error {
		set, err := shard.ParseSet(todo)
		p.ReadyIds, p.FlightIds, p.WorkerIds = append(p.ReadyIds, id), append(p.FlightIds, uuid.Must(uuid.NewV7())), append(p.WorkerIds, h.worker)
		p.Pieces, p.Sizes, p.Pars = append(p.Pieces, todo), append(p.Sizes, int32(set.Len())), append(p.Pars, 1)
		return err
	}); err != nil {
		h.t.Fatal(err)
	}
	cut, err := db.New(conn).CutSpans(h.ctx, p)
	if err != nil {
		h.t.Fatal(err)
	}
	if len(cut) != len(p.ReadyIds) {
		h.t.Fatalf("handed out %d of %d spans", len(cut), len(p.ReadyIds))
	}
	return p.FlightIds
}

// report says how the only index of an unsharded stage ended.
func (h *house) report(flight uuid.UUID, ord int, outcome stage.Outcome) []span.Report {
	now := time.Now()
	return []span.Report{{Execution: flight, Run: h.run, Ord: int16(ord), MaxAttempts: 3, Last: true,
		Results: []span.Result{{Outcome: outcome, Started: now, Finished: now, Again: true}}}}
}

func (h *house) finish(conn span.Conn, flight uuid.UUID, ord int, outcome stage.Outcome) span.Receipt {
	h.t.Helper()
	r, err := span.Finish(h.ctx, conn, h.worker, h.report(flight, ord, outcome))
	if err != nil {
		h.t.Errorf("finishing: %v", err)
	}
	return r
}

func (h *house) resolve() resolve.Answer {
	h.t.Helper()
	a, err := h.resolver().Resolve(h.ctx, h.conn(), resolve.News{Runs: []uuid.UUID{h.run}}, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

func (h *house) runState() stage.RunState {
	h.t.Helper()
	return stage.RunState(h.count(`SELECT state FROM ax.run WHERE run_id = $1`, h.run))
}

func (h *house) state(ord int) stage.StageState {
	h.t.Helper()
	return stage.StageState(h.count(`SELECT state FROM ax.stage WHERE run_id = $1 AND ord = $2`, h.run, ord))
}

// free tells whether nobody holds a lock on any of the rows.
func (h *house) free(table string) bool {
	h.t.Helper()
	return h.count(`SELECT count(*) FROM (SELECT 1 FROM `+table+` WHERE run_id = $1 FOR UPDATE SKIP LOCKED) AS unlocked`, h.run) ==
		h.count(`SELECT count(*) FROM `+table+` WHERE run_id = $1`, h.run)
}

// waits starts a call and returns when it waits for a lock; the returned function waits for its end.
func (h *house) waits(call func()) (end func()) {
	h.t.Helper()
	done := make(chan struct{})
	n := h.waiting()
	go func() { defer close(done); call() }()
	for h.waiting() <= n {
		select {
		case <-done:
			h.t.Fatal("the call has returned; it should have waited for a lock")
		case <-h.ctx.Done():
			h.t.Fatal("the call never waited for a lock")
		default:
		}
	}
	return func() { <-done }
}

func (h *house) waiting() int {
	h.t.Helper()
	return h.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
}

func (h *house) check(o history.Options) {
	h.t.Helper()
	found, err := history.Check(h.ctx, h.pool, o)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, v := range found {
		h.t.Errorf("history: %s", v)
	}
}

func want[T comparable](t *testing.T, what string, got, right T) {
	t.Helper()
	if got != right {
		t.Errorf("%s: %v, want %v", what, got, right)
	}
}
