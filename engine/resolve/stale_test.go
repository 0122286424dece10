package resolve_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/engine/alive"
	"axflow/engine/dispatch"
	"axflow/engine/dispatch/board"
	"axflow/engine/resolve"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/history"
	"axflow/sql/span"
	"axflow/stage"
)

// takeOver makes the house's leader a stale one.
func (h *house) takeOver() { h.exec(`UPDATE ax.lease SET epoch = 2`) }

func TestStaleLeaderDecidesNothing(t *testing.T) {
	h := newHouse(t, chain(2))
	h.finish(h.conn(), h.handOut(h.pool)[0], 0, stage.Succeeded)
	h.takeOver()
	_, err := h.resolver().Resolve(h.ctx, h.conn(), resolve.News{Runs: []uuid.UUID{h.run}}, nil)
	if !errors.Is(err, axsql.ErrFenced) {
		t.Errorf("resolving in a term that is over: %v, want ErrFenced", err)
	}
	_, _, err = h.resolver().Align(h.ctx, h.conn(), span.StageKey{Run: h.run, Ord: 1})
	if !errors.Is(err, axsql.ErrFenced) {
		t.Errorf("aligning in a term that is over: %v, want ErrFenced", err)
	}
	want(t, "the second stage", h.state(1), stage.StageWaiting)
	h.check(history.Options{Grace: time.Hour})
}

func TestStaleLeaderHandsNothingOut(t *testing.T) {
	h := newHouse(t, chain(1))
	h.takeOver()
	workers := make(chan []dispatch.Worker, 1)
	workers <- []dispatch.Worker{{Worker: board.Worker{ID: h.worker, Handlers: map[string]int{h.version.Graph.HandlerKey(0): 1}}}}
	box := h.bus.SubscribeEngine()
	defer box.Close()
	loop, err := dispatch.New(dispatch.Config{Conn: h.conn(), Fence: h.fence, Bus: h.bus, Box: box, Versions: h.versions, Resolver: h.resolver(),
		Now: time.Now, Workers: workers, LookWorkers: func() {}, LookRuns: func() {}, Stats: new(dispatch.Stats), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	h.untilFenced(loop.Run, `SELECT count(*) FROM ax.flight`)
	want(t, "flights", h.count(`SELECT count(*) FROM ax.flight`), 0)
	want(t, "ready", h.count(`SELECT count(*) FROM ax.ready`), 1)
}

// untilFenced runs a part of the stale leader until it notices, or until the query tells that it did harm.
func (h *house) untilFenced(run func(context.Context) error, harm string) {
	h.t.Helper()
	ctx, stop := context.WithCancel(h.ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	for {
		select {
		case err := <-ended:
			if !errors.Is(err, axsql.ErrFenced) {
				h.t.Errorf("the part ended with %v, want ErrFenced", err)
			}
			return
		default:
		}
		if h.count(harm) > 0 {
			h.t.Error("a leader whose term is over has written")
			stop()
			h.t.Logf("the part ended with %v", <-ended)
			return
		}
	}
}

// term is a leader's that renews whenever it is asked.
type term struct{ n uint64 }

func (r *term) Renewals() uint64 { r.n++; return r.n }
func (r *term) Failures() uint64 { return 0 }

func TestStaleLeaderBuriesNobody(t *testing.T) {
	h := newHouse(t, chain(1))
	h.takeOver()
	out := make(chan []dispatch.Worker, 100)
	look := make(chan struct{}, 1)
	look <- struct{}{}
	box := h.bus.SubscribeEngine()
	defer box.Close()
	w := alive.New(alive.Config{Conn: h.conn(), Fence: h.fence, Term: new(term), Box: box, Out: out, Look: look, Beat: 20 * time.Millisecond,
		TTL: time.Second, Since: func(time.Time) time.Duration { return time.Hour }, Stats: new(dispatch.Stats), Logger: slog.New(slog.DiscardHandler)})
	h.untilFenced(w.Run, `SELECT 1 - count(*) FROM ax.worker`)
	want(t, "workers", h.count(`SELECT count(*) FROM ax.worker`), 1)
}

// What a verb holds is left for the next round, whole.
func TestBusyRunIsLeft(t *testing.T) {
	h := newHouse(t, chain(2))
	h.finish(h.conn(), h.handOut(h.pool)[0], 0, stage.Succeeded)
	tx, err := h.conn().Begin(h.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.New(tx).LockRun(h.ctx, db.LockRunParams{RunID: h.run, Namespace: "default"}); err != nil {
		t.Fatal(err)
	}
	c := h.conn()
	if _, err := c.Exec(h.ctx, `SET lock_timeout = '10s'`); err != nil { // it never waits
		t.Fatal(err)
	}
	key := span.StageKey{Run: h.run, Ord: 0}
	a, err := h.resolver().Resolve(h.ctx, c, resolve.News{Stages: []span.StageKey{key}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "busy stages", len(a.Busy.Stages), 1)
	want(t, "changed", a.Changed, 0)
	want(t, "the second stage", h.state(1), stage.StageWaiting)
	if err := tx.Rollback(h.ctx); err != nil {
		t.Fatal(err)
	}
	if a, err = h.resolver().Resolve(h.ctx, c, a.Busy, nil); err != nil {
		t.Fatal(err)
	}
	want(t, "changed", a.Changed, 1)
	want(t, "the second stage", h.state(1), stage.StageRunning)
	h.check(history.Options{Grace: time.Hour})
}

// A run that somebody ended or set aside meanwhile is not decided any more.
func TestOnlyOpenRunsAreDecided(t *testing.T) {
	for name, end := range map[string]string{
		"ended": `UPDATE ax.run SET state = 12, finished_at = now()`,
		"stuck": `UPDATE ax.run SET stuck = 'test'`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, chain(2))
			h.finish(h.conn(), h.handOut(h.pool)[0], 0, stage.Succeeded)
			h.exec(end)
			a := h.resolve()
			want(t, "changed", a.Changed, 0)
			want(t, "to look at again", len(a.Busy.Runs)+len(a.Busy.Stages), 0)
			want(t, "the second stage", h.state(1), stage.StageWaiting)
		})
	}
}
