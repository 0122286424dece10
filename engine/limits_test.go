package engine_test

import (
	"testing"
	"time"

	"axflow/engine"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/history"
	"axflow/sql/span"
	"axflow/stage"
)

func endFailFirst(after time.Duration) func(span.Assignment, int) span.Result {
	return func(a span.Assignment, _ int) span.Result {
		if a.Attempt == 1 {
			return span.Result{Outcome: stage.Failed, Again: true, Delay: after}
		}
		return span.Result{Outcome: stage.Succeeded}
	}
}

// running is what limits count, by the database: Σ least(par, n).
const running = `SELECT coalesce(sum(least(par, (SELECT sum(upper(p) - lower(p)) FROM unnest(todo) p))), 0)::int FROM ax.flight WHERE NOT isempty(todo)`

// A queue's limit counts what several flows and workers run together, whoever leads.
func TestQueueLimitHoldsOverFailOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.exec(`INSERT INTO ax.queue (namespace, name, concurrency) VALUES ('default', 'default', 5)`)
	wide := shard.New("wide", noPlan, nopShard)
	single := stage.New("single", nop)
	f, g := flow.New("f", wide), flow.New("g", single)
	ids := append(c.startIn(f, 1, nil), c.startIn(g, 20, nil)...)
	p, q := c.puppet(4, f, g), c.puppet(4, f, g)
	for round := 0; ; round++ {
		var held []db.FlightsRow
		pgtest.Eventually(t, 60*time.Second, func() (bool, string) {
			held = append(p.flights(), q.flights()...)
			return len(held) > 0 || c.number(`SELECT count(*) FROM ax.ready`) == 0, "something runs, or nothing is left"
		})
		if n := c.number(running); n > 5 {
			t.Fatalf("%d tasks run, the limit is 5", n)
		}
		if len(held) == 0 {
			break
		}
		if round == 2 {
			c.failOver()
		}
		for _, h := range held {
			owner := p
			if h.WorkerID == q.id {
				owner = q
			}
			if span.Kind(h.Kind) == span.Plan {
				owner.plan(h, 40)
				continue
			}
			owner.end(h, 1, ok)
		}
	}
	c.end(stage.RunSucceeded, ids...)
	c.check(history.Options{Ended: true})
}

// No more than two tasks of a customer run at once, whoever leads, and each customer's come in order.
func TestKeyLimitHoldsOverFailOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nopFor, stage.Key{From: "params.customer", Limit: 2}))
	customers := []string{"a", "b", "c"}
	ids := c.startIn(f, 24, func(i int, s *control.Start) { customer(customers[i%3])(i, s) })
	p := c.puppet(16, f)
	for round := range 4 {
		held := p.await(6)
		of := make(map[string]int)
		for _, h := range held {
			of[h.Key]++
		}
		if len(of) != 3 || of["f/a/a"] != 2 || of["f/a/b"] != 2 || of["f/a/c"] != 2 {
			t.Fatalf("round %d: %v run, want 2 of each customer", round, of)
		}
		if round == 1 {
			c.failOver()
			c.settle()
			if n := len(p.flights()); n != 6 {
				t.Fatalf("after the fail-over %d run, want 6", n)
			}
		}
		for _, h := range held {
			p.end(h, -1, ok)
		}
	}
	c.end(stage.RunSucceeded, ids...)
	var early int
	if err := c.pool.QueryRow(c.ctx, `SELECT count(*) FROM (SELECT r.dispatched_at - lag(r.dispatched_at) OVER
		(PARTITION BY s.key ORDER BY r.run_id) AS gap FROM ax.result r JOIN ax.stage s USING (run_id)) x WHERE gap < '0'`).Scan(&early); err != nil {
		t.Fatal(err)
	}
	if early > 0 {
		t.Errorf("%d tasks overtook one of their customer's", early)
	}
	c.check(history.Options{Ended: true})
}

// In no window of the rate's length do more tasks start than it allows, whoever leads.
func TestRateHoldsOverFailOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	const starts, per = 5, 800 * time.Millisecond
	f := flow.New("f", stage.New("a", nop, stage.Rate{Starts: starts, Per: per}))
	ids := c.startIn(f, 4*starts, nil)
	c.worker(nil, f)
	for n := 1; n < 4; n++ {
		pgtest.Eventually(t, 60*time.Second, func() (bool, string) {
			return c.number(`SELECT count(*) FROM ax.result`) >= n*starts, "a window's starts"
		})
		c.failOver()
	}
	c.end(stage.RunSucceeded, ids...)
	most := c.number(`SELECT max(n) FROM (SELECT count(*) OVER (ORDER BY dispatched_at RANGE BETWEEN $1 PRECEDING AND CURRENT ROW) AS n
		FROM ax.result) x`, per-time.Microsecond)
	if most > starts {
		t.Errorf("%d tasks started within %v, want %d at most", most, per, starts)
	}
	c.check(history.Options{Ended: true})
}

// A retry window of a stage bounds its retries alone, and outlasts its leader.
func TestRetryWindowHoldsOverFailOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop, stage.RetryWindow{Retries: 3, Per: time.Hour}))
	c.worker(failFirst(10*time.Millisecond), f)
	c.startIn(f, 20, nil)
	const retried = `SELECT count(*) FROM ax.result WHERE attempt = 2`
	c.until("retries", 3, retried)
	c.failOver()
	c.settle()
	if n := c.number(retried); n != 3 {
		t.Errorf("%d retries after the fail-over, want 3", n)
	}
	if n := c.number(`SELECT count(*) FROM ax.flight`); n != 0 {
		t.Errorf("%d flights: a retry that waits holds a slot", n)
	}
}

// The level of what waits can be changed, and counts from the next round on.
func TestLevelChangesTakeEffectAtOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(cfg *engine.Config) { cfg.Reload, cfg.Scan = time.Hour, time.Hour })
	f := flow.New("f", stage.New("a", nop))
	p := c.puppet(1, f)
	c.startIn(f, 1, nil)
	holder := p.await(1)[0]
	ids := c.startIn(f, 50, nil)
	last := ids[len(ids)-1]
	c.settle() // all are on the Board
	var row string
	if err := c.pool.QueryRow(c.ctx, `UPDATE ax.ready SET level = 0 WHERE run_id = $1 RETURNING id::text`, last).Scan(&row); err != nil {
		t.Fatal(err)
	}
	c.tellRows(row)
	p.end(holder, -1, ok)
	if next := p.await(1)[0]; next.RunID != last {
		t.Errorf("run %s came next, want the expedited one", next.RunID)
	}
}
