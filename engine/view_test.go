package engine_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/engine/dispatch"
	"axflow/engine/dispatch/board"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/sql/db"
	"axflow/sql/versions"
	"axflow/stage"
)

// A Board read from the tables says what the leader goes by: limits, holds, flights, held runs.
func TestReadBoard(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop, stage.Limit(2)))
	g := flow.New("g", stage.New("a", nop))
	p := c.puppet(4, f, g)
	c.startIn(f, 5, nil)
	p.await(2)
	c.exec(`INSERT INTO ax.hold VALUES ('default', 'flow', 'g', 'olga', 'deploy')`)
	c.exec(`INSERT INTO ax.queue (namespace, name, concurrency) VALUES ('default', 'default', 7)`)
	c.settle()
	gs := c.startIn(g, 2, nil)
	c.exec(`INSERT INTO ax.hold VALUES ('default', 'run', $1, 'olga')`, gs[0].String())
	var view *dispatch.View
	var ready []db.ReadySpansRow
	err := pgx.BeginTxFunc(c.ctx, c.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
		rows, err := tx.Query(c.ctx, `SELECT id, run_id FROM ax.ready ORDER BY run_id`)
		if err != nil {
			return err
		}
		for rows.Next() {
			var r db.ReadySpansRow
			if err := rows.Scan(&r.ID, &r.RunID); err != nil {
				return err
			}
			ready = append(ready, r)
		}
		view, err = dispatch.ReadBoard(c.ctx, db.New(tx), versions.New(), time.Now(), dispatch.ViewOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := view.Running(board.OfStage("default/f/a")); n != 2 {
		t.Errorf("%d of f/a run, want 2", n)
	}
	closed := func(g []board.Gate) (names []string) {
		for _, x := range g {
			if !x.Open {
				names = append(names, x.Name)
			}
		}
		return names
	}
	for _, r := range ready {
		gates := view.Explain(r.ID, time.Now())
		switch r.RunID {
		case gs[0]:
			if gates != nil || !view.HeldRuns[gs[0]] {
				t.Error("the held run's span is on the Board")
			}
		case gs[1]:
			if names := closed(gates); len(names) == 0 || names[0] != board.GatePaused {
				t.Errorf("of the paused flow these are closed: %v", names)
			}
		default:
			if names := closed(gates); len(names) == 0 || names[0] != board.GateLimit {
				t.Errorf("of f these are closed: %v", names)
			}
		}
	}
	for _, q := range view.Queues() {
		if q.Queue == "default" && q.Limit != 7 {
			t.Errorf("queue %s has the limit %d, want 7", q.Queue, q.Limit)
		}
	}
}

// What was learned of a handler's costs outlasts its leader.
func TestLearnedCostsOutlastTheLeader(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop))
	p := c.puppet(1, f)
	c.exec(`INSERT INTO ax.learned (handler, mean_ns, samples) VALUES ($1, 5000000000, 100)`, f.Graph().HandlerKey(0))
	c.failOver()
	c.settle()
	pools := func() time.Duration {
		for _, x := range c.view().Pools() {
			if x.Handler == f.Graph().HandlerKey(0) {
				return x.Cost
			}
		}
		return 0
	}
	if cost := pools(); cost != 5*time.Second {
		t.Errorf("a task is estimated at %v, want 5 s", cost)
	}
	c.startIn(f, 1, nil)
	p.end(p.await(1)[0], -1, ok) // took a minute, by its word
	// It is written at most every 10 s.
	pgtest.Eventually(t, 60*time.Second, func() (bool, string) {
		c.settle()
		return c.number(`SELECT count(*) FROM ax.learned WHERE samples = 101 AND mean_ns > 5000000000`) == 1, "the new mean is saved"
	})
}

func (c *cluster) view() *dispatch.View {
	c.t.Helper()
	v, err := dispatch.ReadBoard(c.ctx, db.New(c.pool), versions.New(), time.Now(), dispatch.ViewOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return v
}
