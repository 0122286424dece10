package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/shard"
	"axflow/sql/history"
	"axflow/sql/span"
	"axflow/stage"
)

type order struct {
	Customer string `json:"customer"`
}

func work(context.Context, order) (none, error) { return none{}, nil }

// orders is a root and a stage after it, both with a key; the later one with level P3 and a budget.
func orders() *flow.Flow[order] {
	a := stage.New("a", work, stage.Key{From: "params.customer", Group: "customer", Limit: 1}, stage.Timeout{Overall: time.Hour})
	b := stage.New("b", work, stage.Key{From: "params.customer", Limit: 1}, stage.Priority(stage.P3), stage.Timeout{Overall: time.Minute},
		stage.Delay(time.Minute)).After(a)
	return flow.New("orders", a, b)
}

func (h *house) start(b control.Batch, starts ...control.Start) ([]control.Started, error) {
	for i := range starts {
		starts[i].Version = h.version
		if starts[i].Params == nil {
			starts[i].Params = []byte(`{"customer":"acme"}`)
		}
	}
	b.Trigger = "test"
	return h.client.Start(h.ctx, b, starts)
}

// Keys and budgets are written with the start and with the release; the budget counts from when work may be handed out.
func TestKeysAndBudgets(t *testing.T) {
	h := newHouse(t, orders())
	started, err := h.start(control.Batch{}, control.Start{})
	if err != nil {
		t.Fatal(err)
	}
	h.exec(`DELETE FROM ax.ready WHERE run_id = $1`, h.run)
	h.exec(`DELETE FROM ax.expiry WHERE run_id = $1`, h.run)
	h.exec(`DELETE FROM ax.stage WHERE run_id = $1`, h.run)
	h.exec(`DELETE FROM ax.run WHERE run_id = $1`, h.run)
	h.run = started[0].Run
	want(t, "keys of stages", h.count(`SELECT count(*) FROM ax.stage WHERE ord = 0 AND key = 'customer/acme' OR ord = 1 AND key = 'orders/b/acme'`), 2)
	want(t, "key of the root", h.count(`SELECT count(*) FROM ax.ready WHERE key = 'customer/acme'`), 1)
	want(t, "budget of the root", h.count(`SELECT count(*) FROM ax.expiry e JOIN ax.ready r USING (run_id, ord) WHERE expires_at = not_before + '1 h'`), 1)
	e := h.handOut(h.pool)[0]
	h.finish(h.conn(), e, 0, stage.Succeeded)
	a := h.resolve()
	want(t, "released", len(a.Ready), 1)
	want(t, "key of the span", a.Ready[0].Key, "orders/b/acme")
	want(t, "its level", a.Ready[0].Level, stage.P3)
	want(t, "its row", h.count(`SELECT level FROM ax.ready WHERE key = 'orders/b/acme'`), 3)
	want(t, "its budget", h.count(`SELECT count(*) FROM ax.expiry e JOIN ax.ready r USING (run_id, ord) WHERE ord = 1 AND expires_at = not_before + '1 min'`), 1)
	h.check(history.Options{Grace: time.Hour})
	h.finish(h.conn(), h.handOut(h.pool)[0], 1, stage.Succeeded)
	h.resolve()
	want(t, "run", h.runState(), stage.RunSucceeded)
	want(t, "budgets of the ended run", h.count(`SELECT count(*) FROM ax.expiry`), 0)
}

// The level of new work: an operator's for the stage, for the run, the stage's own, the run's.
func TestLevels(t *testing.T) {
	for i, c := range []struct{ byStage, byRun, right int }{{-1, -1, 3}, {-1, 0, 0}, {5, 0, 5}, {4, -1, 4}} {
		h := newHouse(t, orders())
		h.exec(`UPDATE ax.run SET forced_level = nullif($1::int, -1)`, c.byRun)
		h.exec(`UPDATE ax.stage SET level = nullif($1::int, -1) WHERE ord = 1`, c.byStage)
		h.finish(h.conn(), h.handOut(h.pool)[0], 0, stage.Succeeded)
		h.resolve()
		want(t, fmt.Sprint("level ", i), h.count(`SELECT level FROM ax.ready`), c.right)
	}
}

func TestStartAtATime(t *testing.T) {
	h := newHouse(t, orders())
	h.exec(`DELETE FROM ax.ready`)
	at := time.Date(2100, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	if _, err := h.start(control.Batch{At: at}, control.Start{}); err != nil {
		t.Fatal(err)
	}
	want(t, "due", h.count(`SELECT count(*) FROM ax.ready WHERE not_before = $1`, at), 1)
	want(t, "budget", h.count(`SELECT count(*) FROM ax.expiry WHERE expires_at = $1`, at.Add(time.Hour)), 1)
	if _, err := h.start(control.Batch{At: time.Unix(1, 0)}, control.Start{}); err != nil {
		t.Fatal(err)
	}
	want(t, "due at once", h.count(`SELECT count(*) FROM ax.ready WHERE not_before <= now()`), 1)
}

// A queue refuses by what the leader published last: below its core level under pressure, everybody when it is full. The
// refusal writes nothing, not even a key, and the caller's transaction goes on.
func TestQueuesRefuse(t *testing.T) {
	h := newHouse(t, orders())
	h.exec(`INSERT INTO ax.queue (namespace, name, capacity) VALUES ('default', 'default', 10)`)
	p0, p1, p2 := stage.P0, stage.P1, stage.P2
	for _, c := range []struct {
		what            string
		depth, pressure int
		off             bool
		level           *stage.Level
		n               int
		refused         string // "": taken
		after           time.Duration
	}{
		{"calm", 0, 0, false, &p2, 1, "", 0},
		{"alert", 6, 1, false, &p2, 1, "", 0},
		{"refuse", 8, 2, false, &p2, 1, "takes nothing below P1", 5 * time.Second},
		{"refuse, core", 8, 2, false, &p1, 1, "", 0},
		{"pause", 9, 3, false, &p2, 1, "takes nothing below P1", 15 * time.Second},
		{"pause, core", 9, 3, false, &p0, 1, "", 0},
		{"the last place", 9, 0, false, &p2, 1, "", 0},
		{"full", 10, 0, false, &p0, 1, `queue "default" has 10 tasks waiting or running and no room for 1 more; its capacity is 10`, 5 * time.Second},
		{"too many at once", 8, 0, false, &p0, 3, "no room for 3 more", 5 * time.Second},
		{"just as many", 8, 0, false, &p0, 2, "", 0},
		{"switched off", 99, 3, true, &p2, 1, "", 0},
	} {
		h.exec(`UPDATE ax.queue SET depth = $1, pressure = $2`, c.depth, c.pressure)
		h.exec(`DELETE FROM ax.setting`)
		if c.off {
			h.exec(`INSERT INTO ax.setting (name, value) VALUES ('pressure', 'false')`)
		}
		before := h.count(`SELECT (SELECT count(*) FROM ax.run) + (SELECT count(*) FROM ax.stage) + (SELECT count(*) FROM ax.ready) + (SELECT count(*) FROM ax.expiry) + (SELECT count(*) FROM ax.run_key)`)
		starts := make([]control.Start, c.n)
		for i := range starts {
			starts[i].Level, starts[i].Key = c.level, fmt.Sprint(c.what, i)
		}
		_, err := h.start(control.Batch{}, starts...)
		after := h.count(`SELECT (SELECT count(*) FROM ax.run) + (SELECT count(*) FROM ax.stage) + (SELECT count(*) FROM ax.ready) + (SELECT count(*) FROM ax.expiry) + (SELECT count(*) FROM ax.run_key)`)
		var refusal *control.Error
		switch {
		case c.refused == "":
			if err != nil || after != before+6*c.n {
				t.Errorf("%s: %v, %d rows, want %d", c.what, err, after-before, 6*c.n)
			}
		case !errors.As(err, &refusal) || refusal.Code != control.CodeOverloaded || refusal.RetryAfter != c.after || !strings.Contains(refusal.Text, c.refused):
			t.Errorf("%s: %v, want %q after %v", c.what, err, c.refused, c.after)
		case after != before:
			t.Errorf("%s: a refusal wrote %d rows", c.what, after-before)
		}
	}
	h.exec(`DELETE FROM ax.setting`)
	err := pgx.BeginFunc(h.ctx, h.pool, func(tx pgx.Tx) error {
		_, err := h.client.StartTx(h.ctx, tx, control.Batch{Trigger: "test"}, []control.Start{{Version: h.version, Key: "mine"}})
		if refusal := (*control.Error)(nil); !errors.As(err, &refusal) {
			t.Errorf("in a transaction: %v", err)
		}
		_, err = tx.Exec(h.ctx, `SELECT 1`)
		return err
	})
	if err != nil {
		t.Errorf("the caller's transaction: %v", err)
	}
	want(t, "keys kept", h.count(`SELECT count(*) FROM ax.run_key WHERE key = 'mine'`), 0)
}

// The end of a run wakes the task that waits for it; where that was lost, the scan does it.
func TestEndsWakeParents(t *testing.T) {
	for _, lost := range []bool{false, true} {
		h := newHouse(t, chain(1))
		h.exec(`UPDATE ax.run SET trigger = 'child'`)
		h.exec(`INSERT INTO ax.child (parent_run, ord, generation, shard, attempt, child_run) VALUES ($1, 0, 1, 0, 1, $2)`, uuid.Nil, h.run)
		other, err := h.start(control.Batch{}, control.Start{Params: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		parent := other[0].Run
		h.exec(`UPDATE ax.child SET parent_run = $1`, parent)
		h.exec(`DELETE FROM ax.ready WHERE run_id = $1`, parent)
		h.exec(`INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, reason, namespace, queue, todo)
		        VALUES (gen_random_uuid(), $1, now(), now(), $2, 1, 0, 1, 0, 1, 1, 0, 2, 7, 'default', 'default', '{[0,1)}')`, parent, h.version.ID)
		h.check(history.Options{})
		if lost {
			h.exec(`UPDATE ax.stage SET state = 10, succeeded = 1, finished_at = now() - '1 min'::interval WHERE run_id = $1`, h.run)
			h.exec(`DELETE FROM ax.ready WHERE run_id = $1`, h.run)
			h.exec(`UPDATE ax.run SET state = 10, finished_at = now() - '1 min'::interval WHERE run_id = $1`, h.run)
			found, err := h.resolver().Scan(h.ctx, h.conn(), 100)
			if err != nil {
				t.Fatal(err)
			}
			want(t, "repaired", found.Repaired, 1)
			want(t, "woken by the scan", len(found.Ready), 1)
		} else {
			h.finish(h.conn(), h.handOut(h.pool)[0], 0, stage.Succeeded)
			a := h.resolve()
			want(t, "ended", len(a.Ended), 1)
			want(t, "woken", len(a.Ready), 1)
			h.check(history.Options{})
		}
		want(t, "ready", h.count(`SELECT count(*) FROM ax.ready WHERE run_id = $1`, parent), 1)
	}
}

// A run whose parent's stage is decided, or was rerun, is an orphan; one that is waited for is not.
func TestScanFindsOrphans(t *testing.T) {
	h := newHouse(t, chain(1))
	other, err := h.start(control.Batch{}, control.Start{Params: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	parent := other[0].Run
	h.exec(`INSERT INTO ax.child (parent_run, ord, generation, shard, attempt, child_run) VALUES ($1, 0, 1, 0, 1, $2)`, parent, h.run)
	for _, c := range []struct {
		change string
		right  int
	}{{`generation = 1`, 0}, {`generation = 2`, 1}, {`generation = 1, state = 3`, 0}, {`state = 11`, 1}} {
		h.exec(`UPDATE ax.stage SET `+c.change+` WHERE run_id = $1`, parent)
		found, err := h.resolver().Scan(h.ctx, h.conn(), 100)
		if err != nil {
			t.Fatal(err)
		}
		want(t, c.change, len(found.Orphans), c.right)
	}
}

// In a run that is being cancelled the teardown of what was set up runs, and the run ends as cancelled after it.
func TestTeardownOfCancelledRun(t *testing.T) {
	setup := stage.New("setup", nop)
	mid := stage.New("work", nop).After(setup)
	h := newHouse(t, flow.New("torn", setup, mid, stage.New("x-down", nop, stage.Teardown(setup)).After(mid)))
	h.finish(h.conn(), h.handOut(h.pool)[0], 0, stage.Succeeded)
	h.resolve()
	h.exec(`UPDATE ax.run SET state = 2`)
	h.exec(`DELETE FROM ax.ready`)
	h.exec(`UPDATE ax.stage SET state = 12, shard_total = NULL, finished_at = now() WHERE ord = 1`)
	a := h.resolve()
	want(t, "released", len(a.Ready), 1)
	want(t, "teardown", h.state(2), stage.StageRunning)
	want(t, "run", h.runState(), stage.RunCancelling)
	h.finish(h.conn(), h.handOut(h.pool)[0], 2, stage.Succeeded)
	h.resolve()
	want(t, "run", h.runState(), stage.RunCancelled)
	h.check(history.Options{Ended: true})
}

// An aligned stage takes its tolerance from the number of its shards, and skips the shards whose upstream shard was skipped.
func TestAlignedToleranceAndSkips(t *testing.T) {
	plan := func(context.Context, none) (shard.Plan, error) { return shard.N(10), nil }
	one := func(context.Context, none, shard.Shard) (none, error) { return none{}, nil }
	up := shard.New("a", plan, one, stage.Tolerate(1))
	h := newHouse(t, flow.New("aligned", up, shard.Aligned("b", up, one, stage.TolerateShare(0.2))))
	h.exec(`DELETE FROM ax.ready`)
	h.exec(`UPDATE ax.stage SET state = 2, shard_total = 10, tolerate = 1 WHERE ord = 0`)
	park := func(todo string, reason span.ParkReason) {
		h.exec(`INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, reason, namespace, queue, todo)
		        SELECT gen_random_uuid(), $1, now(), now(), $2, upper($3::text::int4multirange) - lower($3::text::int4multirange), 0, 1, 0, 1, 1, 0, 2, $4, 'default', 'default', $3::text::int4multirange`, h.run, h.version.ID, todo, int16(reason))
	}
	h.resolve()
	want(t, "tolerated", h.count(`SELECT tolerate FROM ax.stage WHERE ord = 1`), 2)
	park("{[0,1)}", span.Dead)
	park("{[1,10)}", span.Skipped)
	h.exec(`UPDATE ax.stage SET state = 10, failed = 1, skipped = 9, finished_at = now() WHERE ord = 0`)
	if _, _, err := h.resolver().Align(h.ctx, h.conn(), span.StageKey{Run: h.run, Ord: 1}); err != nil {
		t.Fatal(err)
	}
	want(t, "skipped", h.count(`SELECT sum(n) FROM ax.parked WHERE ord = 1 AND reason = 3`), 9)
	want(t, "lost", h.count(`SELECT sum(n) FROM ax.parked WHERE ord = 1 AND reason = 5`), 1)
	want(t, "state", h.state(1), stage.StageSucceeded)
}
