package span_test

import (
	"testing"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/stage"
)

// cut is a piece of a ready row.
type cut struct {
	from  uuid.UUID
	piece shard.Set
}

// cuts are the parameters that hand pieces of the run to the fixture's worker.
func (f *fixture) cuts(all ...cut) db.CutSpansParams {
	p := db.CutSpansParams{RunIds: []uuid.UUID{f.run}, Epoch: 1}
	for _, c := range all {
		p.ReadyIds = append(p.ReadyIds, c.from)
		p.FlightIds = append(p.FlightIds, uuid.Must(uuid.NewV7()))
		p.WorkerIds = append(p.WorkerIds, f.worker)
		p.Pieces = append(p.Pieces, c.piece.String())
		p.Sizes = append(p.Sizes, int32(c.piece.Len()))
		p.Pars = append(p.Pars, 1)
	}
	return p
}

// cut hands pieces out on a connection of its own.
func (f *fixture) cut(all ...cut) int {
	f.t.Helper()
	rows, err := db.New(f.product()).CutSpans(f.ctx, f.cuts(all...))
	if err != nil {
		f.t.Errorf("cut: %v", err)
	}
	return len(rows)
}

func TestCutMovesPieces(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 10)
	r := f.ready(0, shard.Span(0, 10))
	want(t, "handed out", f.cut(cut{r, shard.Span(0, 3)}, cut{r, shard.Span(5, 7)}), 2)
	wantSet(t, "ready", f.set("ready", 0), shard.Of(3, 4, 7, 8, 9))
	want(t, "counted", f.count(`SELECT n FROM ax.ready`), 5)
	wantSet(t, "in flight", f.set("flight", 0), shard.Of(0, 1, 2, 5, 6))
	f.check()
	want(t, "handed out", f.cut(cut{r, shard.Of(3, 4, 7, 8, 9)}), 1)
	want(t, "ready rows", f.count(`SELECT count(*) FROM ax.ready`), 0)
	f.check()
}

// The leader's memory may be old: a piece that its row does not hold any more is not handed out, and with it none
// of that row's pieces.
func TestCutTakesOnlyWhatIsThere(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 10)
	r := f.ready(0, shard.Span(0, 10))
	f.cut(cut{r, shard.Span(0, 5)})
	want(t, "handed out", f.cut(cut{r, shard.Span(3, 8)}, cut{r, shard.Span(8, 10)}), 0)
	wantSet(t, "ready", f.set("ready", 0), shard.Span(5, 10))
	want(t, "flights", f.count(`SELECT count(*) FROM ax.flight`), 1)
	f.check()
}

// Two hand-outs of overlapping pieces come to the row at once: the later one sees what the earlier left.
func TestCutAgainstCut(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 10)
	r := f.ready(0, shard.Span(0, 10))
	var first, second int
	f.together(`SELECT 1 FROM ax.ready WHERE id = $1 FOR UPDATE`, []any{r},
		func() { first = f.cut(cut{r, shard.Span(0, 4)}) },
		func() { second = f.cut(cut{r, shard.Span(2, 6)}) })
	want(t, "the first hand-out", first, 1)
	want(t, "the second hand-out", second, 0)
	wantSet(t, "ready", f.set("ready", 0), shard.Span(4, 10))
	wantSet(t, "in flight", f.set("flight", 0), shard.Span(0, 4))
	f.check()
}

// A run that a verb holds is left for the next round: nothing of it is handed out, and the others do not wait.
func TestCutLeavesHeldRuns(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 2)
	r := f.ready(0, shard.Span(0, 2))
	other := &fixture{t: t, ctx: f.ctx, pool: f.pool, run: uuid.Must(uuid.NewV7()), worker: f.worker, version: 1}
	other.exec(`INSERT INTO ax.run (run_id, version_id, state, level, created_at, namespace, flow, queue, trigger, params)
	            VALUES ($1, 1, 1, 2, now(), 'default', 'f', 'default', 'test', '{}')`, other.run)
	other.stage(0, 1)
	tx, err := f.conn().Begin(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.New(tx).LockRun(f.ctx, db.LockRunParams{RunID: f.run, Namespace: "default"}); err != nil {
		t.Fatal(err)
	}
	p := f.cuts(cut{r, shard.Of(0)}, cut{other.ready(0, shard.Of(0)), shard.Of(0)})
	p.RunIds = []uuid.UUID{f.run, other.run}
	c := f.product()
	if _, err := c.Exec(f.ctx, `SET lock_timeout = '10s'`); err != nil { // it never waits
		t.Fatal(err)
	}
	rows, err := db.New(c).CutSpans(f.ctx, p)
	if err != nil {
		t.Fatalf("handing out beside a held run: %v", err)
	}
	want(t, "handed out", len(rows), 1)
	want(t, "flights of the held run", f.count(`SELECT count(*) FROM ax.flight WHERE run_id = $1`, f.run), 0)
	wantSet(t, "ready", f.set("ready", 0), shard.Span(0, 2))
	if err := tx.Rollback(f.ctx); err != nil {
		t.Fatal(err)
	}
	f.check()
}

// A verb comes while a piece is being handed out: it waits for the run, before it has locked anything else, and then
// sees the flight.
func TestVerbWaitsForHandOut(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 2)
	r := f.ready(0, shard.Span(0, 2))
	c := f.product()
	tx, err := c.Begin(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.New(tx).CutSpans(f.ctx, f.cuts(cut{r, shard.Of(0)})); err != nil {
		t.Fatal(err)
	}
	verb := f.product()
	seen := make(chan int, 1)
	go func() {
		defer close(seen)
		vtx, err := verb.Begin(f.ctx)
		if err != nil {
			t.Error(err)
			return
		}
		q := db.New(vtx)
		if _, err := q.LockRun(f.ctx, db.LockRunParams{RunID: f.run, Namespace: "default"}); err != nil {
			t.Error(err)
		}
		flights, err := q.LockFlights(f.ctx, f.run)
		if err != nil {
			t.Error(err)
		}
		if _, err := q.LockAllStages(f.ctx, f.run); err != nil {
			t.Error(err)
		}
		if err := vtx.Commit(f.ctx); err != nil {
			t.Error(err)
		}
		seen <- len(flights)
	}()
	f.blockedUnless(1, func() bool { return len(seen) > 0 })
	if err := tx.Commit(f.ctx); err != nil {
		t.Fatal(err)
	}
	want(t, "flights that the verb sees", <-seen, 1)
	want(t, "state", f.state(0), stage.StageRunning)
}
