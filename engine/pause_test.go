package engine_test

import (
	"testing"

	"github.com/google/uuid"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/shard"
	"axflow/sql/history"
	"axflow/sql/span"
	"axflow/stage"
)

// A queue, a flow, a run: paused, nothing of it is handed out, whoever leads; resumed, it goes on. Others go on meanwhile.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"queue", "flow", "run"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, nil)
			f := flow.New("f", stage.New("a", nop))
			g := flow.New("g", stage.New("a", nop))
			p := c.puppet(4, f)
			elsewhere := func(_ int, s *control.Start) { s.Queue = "etl" }
			ids := c.startIn(f, 1, elsewhere)
			running := p.await(1)[0]
			name := map[string]string{"queue": "etl", "flow": "f", "run": ids[0].String()}[kind]
			c.exec(`INSERT INTO ax.hold VALUES ('default', $1, $2, 'test', 'maintenance')`, kind, name)
			c.settle()
			// What runs may end; its retry waits.
			p.end(running, -1, span.Result{Outcome: stage.Failed, Again: true})
			if kind != "run" {
				ids = append(ids, c.startIn(f, 5, elsewhere)...)
			}
			c.settle()
			if n := len(p.flights()); n != 0 {
				t.Fatalf("%d flights of what is paused", n)
			}
			c.failOver()
			c.settle()
			if n := len(p.flights()); n != 0 {
				t.Fatalf("%d flights of what is paused, after a fail-over", n)
			}
			c.worker(nil, g)
			c.end(stage.RunSucceeded, c.startIn(g, 3, nil)...)
			c.exec(`DELETE FROM ax.hold`)
			c.worker(nil, f)
			for _, h := range p.flights() {
				p.end(h, -1, ok)
			}
			c.endAll(p, ids)
			c.check(history.Options{Ended: true})
		})
	}
}

// endAll ends what the puppet is handed until the runs have ended.
func (c *cluster) endAll(p *puppet, ids []uuid.UUID) {
	c.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.end(stage.RunSucceeded, ids...)
	}()
	for {
		select {
		case <-done:
			return
		default:
			for _, h := range p.flights() {
				p.end(h, -1, ok)
			}
		}
	}
}

// What of a run was handed out ahead when it was paused is asked back, also where the pause's own asks came too early.
func TestPausedRunIsRecalled(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", shard.New("a", noPlan, nopShard))
	p := c.puppet(2, f)
	ids := c.startIn(f, 1, nil)
	p.plan(p.await(1)[0], 100)
	h := p.await(1)[0]
	c.exec(`INSERT INTO ax.hold VALUES ('default', 'run', $1, 'test')`, ids[0].String())
	c.until("asks", 1, `SELECT count(*) FROM ax.ask WHERE kind = 2 AND execution_id = $1`, h.ID)
	if n := c.number(`SELECT count(*) FROM ax.flight`); n != 1 {
		t.Errorf("%d flights, want the one that runs", n)
	}
}

// A paused run's next stage is not handed out in the resolver's short cut either.
func TestPausedRunGetsNoShortCut(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	a := stage.New("a", nop)
	f := flow.New("f", a, stage.New("b", nop).After(a))
	p := c.puppet(4, f)
	ids := c.startIn(f, 1, nil)
	first := p.await(1)[0]
	c.exec(`INSERT INTO ax.hold VALUES ('default', 'run', $1, 'test')`, ids[0].String())
	c.settle()
	p.end(first, -1, ok)
	c.until("ready", 1, `SELECT count(*) FROM ax.ready`)
	c.settle()
	if n := len(p.flights()); n != 0 {
		t.Errorf("%d flights, want none", n)
	}
	c.exec(`DELETE FROM ax.hold`)
	p.end(p.await(1)[0], -1, ok)
	c.end(stage.RunSucceeded, ids...)
}
