package control_test

import (
	"context"
	"errors"
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

var me = control.Who{Actor: "tester", Reason: "a test"}

type none = struct{}

func nop(context.Context, none) (none, error)               { return none{}, nil }
func plan(context.Context, none) (shard.Plan, error)        { return shard.Count(4), nil }
func part(context.Context, none, shard.Shard) (none, error) { return none{}, nil }

// house is a database with one run of a flow, the client that steers it, and the leader's resolver. Nothing in it runs by
// itself: a test makes every move.
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

func newHouse(t *testing.T, f flow.Definition) *house {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Second)
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
	if err := db.New(h.pool).RegisterWorker(ctx, db.RegisterWorkerParams{ID: h.worker, Namespace: "default", Host: "test", Labels: []string{}, Handlers: []byte(`{"two/a@x": 4}`)}); err != nil {
		t.Fatal(err)
	}
	if h.version, err = h.client.Register(ctx, f); err != nil {
		t.Fatal(err)
	}
	h.run = h.start()
	return h
}

func (h *house) start() uuid.UUID {
	h.t.Helper()
	started, err := h.client.Start(h.ctx, control.Batch{Trigger: "test"}, []control.Start{{Version: h.version, Tags: map[string]string{"team": "blue"}}})
	if err != nil {
		h.t.Fatal(err)
	}
	return started[0].Run
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

// handOut gives everything that is ready to the worker.
func (h *house) handOut() []uuid.UUID {
	h.t.Helper()
	rows, err := h.pool.Query(h.ctx, `SELECT id, todo::text, run_id FROM ax.ready ORDER BY id`)
	if err != nil {
		h.t.Fatal(err)
	}
	p := db.CutSpansParams{Epoch: 1}
	var id, run uuid.UUID
	var todo string
	if _, err := pgx.ForEachRow(rows, []any{&id, &todo, &run}, func() error {
		set, err := shard.ParseSet(todo)
		p.ReadyIds, p.FlightIds, p.WorkerIds = append(p.ReadyIds, id), append(p.FlightIds, uuid.Must(uuid.NewV7())), append(p.WorkerIds, h.worker)
		p.Pieces, p.Sizes, p.Pars = append(p.Pieces, todo), append(p.Sizes, int32(set.Len())), append(p.Pars, 1)
		p.RunIds = append(p.RunIds, run)
		return err
	}); err != nil {
		h.t.Fatal(err)
	}
	if _, err := db.New(h.pool).CutSpans(h.ctx, p); err != nil {
		h.t.Fatal(err)
	}
	return p.FlightIds
}

// work finishes everything that is in flight: fail says which shards of a stage die.
func (h *house) work(fail func(ord, index int) bool) {
	h.t.Helper()
	rows, err := h.pool.Query(h.ctx, `SELECT id, run_id, ord, kind, todo::text FROM ax.flight ORDER BY id`)
	if err != nil {
		h.t.Fatal(err)
	}
	type flight struct {
		id, run   uuid.UUID
		ord, kind int16
		todo      string
	}
	var all []flight
	var f flight
	if _, err := pgx.ForEachRow(rows, []any{&f.id, &f.run, &f.ord, &f.kind, &f.todo}, func() error { all = append(all, f); return nil }); err != nil {
		h.t.Fatal(err)
	}
	now := time.Now()
	for _, f := range all {
		set, err := shard.ParseSet(f.todo)
		if err != nil {
			h.t.Fatal(err)
		}
		if f.kind == int16(span.Plan) {
			total := 4
			if _, err := span.FinishPlan(h.ctx, h.conn(), h.worker, span.PlanReport{Execution: f.id, Run: f.run, Ord: f.ord, Started: now, Finished: now,
				Layout: stage.Layout{Total: total}}); err != nil {
				h.t.Fatal(err)
			}
			continue
		}
		r := span.Report{Execution: f.id, Run: f.run, Ord: f.ord, MaxAttempts: 3, Last: true}
		for i := range set.All() {
			x := span.Result{Index: int32(i), Outcome: stage.Succeeded, Started: now, Finished: now, Output: []byte(`"done"`)}
			if fail != nil && fail(int(f.ord), i) {
				x.Outcome, x.Output, x.Error, x.Fingerprint = stage.Failed, nil, []byte(`{"code":"handler_error","message":"boom 17"}`), "boom N"
			}
			r.Results = append(r.Results, x)
		}
		if _, err := span.Finish(h.ctx, h.conn(), h.worker, []span.Report{r}); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *house) resolve() {
	h.t.Helper()
	r := &resolve.Resolver{Versions: h.versions, Fence: h.fence, Logger: slog.New(slog.DiscardHandler), Stuck: new(atomic.Uint64)}
	c := h.conn()
	var runs []uuid.UUID
	rows, err := h.pool.Query(h.ctx, `SELECT run_id FROM ax.run WHERE finished_at IS NULL`)
	if err != nil {
		h.t.Fatal(err)
	}
	if runs, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID]); err != nil {
		h.t.Fatal(err)
	}
	if len(runs) == 0 {
		return
	}
	if _, err := r.Resolve(h.ctx, c, resolve.News{Runs: runs}, nil); err != nil {
		h.t.Fatal(err)
	}
	waiting, err := db.New(h.pool).AlignedWaiting(h.ctx, 100)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, w := range waiting {
		if _, _, err := r.Align(h.ctx, c, span.StageKey{Run: w.RunID, Ord: w.Ord}); err != nil {
			h.t.Fatal(err)
		}
	}
}

// live lets everything run until nothing is left to do.
func (h *house) live(fail func(ord, index int) bool) {
	h.t.Helper()
	for range 20 {
		h.resolve()
		h.resolve() // what the first has aligned may have decided more
		if len(h.handOut()) == 0 && h.count(`SELECT count(*) FROM ax.flight`) == 0 {
			return
		}
		h.work(fail)
	}
	h.t.Fatal("the run never comes to rest")
}

// fail dies shard i of stage ord, once its attempts are used up.
func failing(ord, index int) func(int, int) bool {
	return func(o, i int) bool { return o == ord && i == index }
}

func (h *house) runState() stage.RunState {
	h.t.Helper()
	return stage.RunState(h.count(`SELECT state FROM ax.run WHERE run_id = $1`, h.run))
}

func (h *house) state(ord int) stage.StageState {
	h.t.Helper()
	return stage.StageState(h.count(`SELECT state FROM ax.stage WHERE run_id = $1 AND ord = $2`, h.run, ord))
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

// did fails the test unless the verb succeeded.
func (h *house) did(touched []control.Touch, err error) []control.Touch {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("verb: %v", err)
	}
	return touched
}

// refused fails the test unless the verb was refused with the code.
func (h *house) refused(code string, err error) {
	h.t.Helper()
	var e *control.Error
	if !errors.As(err, &e) || e.Code != code {
		h.t.Errorf("error %v, want code %s", err, code)
	}
}

func want[T comparable](t *testing.T, what string, got, right T) {
	t.Helper()
	if got != right {
		t.Errorf("%s: %v, want %v", what, got, right)
	}
}
