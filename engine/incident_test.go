package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"axflow/engine"
	"axflow/flow"
	"axflow/internal/fakeworker"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/sql/history"
	"axflow/stage"
)

// A P0 run goes in front of 20,000 P4 runs: it is handed out in the very next rounds, however much waits.
func TestIncidentP0UnderAFlood(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop, stage.Cost(time.Minute)))
	p := c.puppet(2, f)
	c.startIn(f, 20_000, inQueue("default", stage.P4))
	held := p.await(2)
	for range 10 {
		urgent := c.startIn(f, 1, inQueue("default", stage.P0))[0]
		c.settle()
		rounds := c.engine.Stats().Rounds.Load()
		p.end(held[0], -1, ok)
		var next bool
		pgtest.Eventually(t, 60*time.Second, func() (bool, string) {
			for _, h := range p.flights() {
				if h.RunID == urgent {
					next = true
					p.end(h, -1, ok)
				}
			}
			return next, "the urgent run is handed out"
		})
		// One round for it, and one for what took the place that it left.
		if n := c.engine.Stats().Rounds.Load() - rounds; n > 2 {
			t.Errorf("the urgent run was handed out after %d rounds, want at most 2", n)
		}
		held = p.await(2)
	}
}

// One handler's pools are full of work that never ends: others have theirs.
func TestIncidentPoolStarvation(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(cfg *engine.Config) { cfg.PerLane = 200 })
	stuck := flow.New("stuck", stage.New("a", nop))
	free := flow.New("free", shard.New("a", noPlan, nopShard))
	p := c.puppet(4, stuck, free) // one worker with a pool for each
	c.startIn(stuck, 5_000, nil)
	p.await(4)
	ids := c.startIn(free, 1, nil)
	var plan bool
	pgtest.Eventually(t, 60*time.Second, func() (bool, string) {
		for _, h := range p.flights() {
			switch {
			case h.RunID == ids[0] && h.Kind == 1:
				plan = true
				p.plan(h, 50)
			case h.RunID == ids[0]:
				p.end(h, -1, ok)
			}
		}
		return c.number(`SELECT count(*) FROM ax.run WHERE run_id = $1 AND finished_at IS NOT NULL`, ids[0]) == 1, "the other handler's run ends"
	})
	if !plan {
		t.Error("it was not planned")
	}
	if n := len(p.flights()); n != 4 {
		t.Errorf("%d flights are left, want the 4 that never end", n)
	}
}

// Three thousand tasks fail at once: their retries come back as a stream of at most so many in any window.
func TestIncidentRetryStorm(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	const retries, per = 400, time.Second
	f := flow.New("f", shard.New("a", noPlan, nopShard, stage.RetryWindow{Retries: retries, Per: per}))
	c.worker(func(w *fakeworker.Worker) { w.Plan, w.End = layout(3_000), endFailFirst(10*time.Millisecond) }, f)
	c.end(stage.RunSucceeded, c.startIn(f, 1, nil)...)
	most := c.number(`SELECT max(n) FROM (SELECT count(*) OVER (ORDER BY dispatched_at RANGE BETWEEN $1 PRECEDING AND CURRENT ROW) AS n
		FROM ax.result WHERE attempt > 1) x`, per-time.Millisecond)
	if most > retries {
		t.Errorf("%d retries within %v, want at most %d", most, per, retries)
	}
	if n := c.number(`SELECT count(*) FROM ax.result WHERE attempt = 2`); n != 3_000 {
		t.Errorf("%d retries, want 3,000", n)
	}
	c.check(history.Options{Ended: true})
}

// The database's clock steps back, by half a second and by an hour, and forward again: nothing is lost, nothing stands still,
// and nothing that was due waits for the clock to come back.
func TestIncidentClockSteps(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{-500 * time.Millisecond, -time.Hour, time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			t.Parallel()
			shift := new(shift)
			c := newCluster(t, func(cfg *engine.Config) {
				cfg.ClockInterval, cfg.Reload, cfg.Clock = 50*time.Millisecond, time.Second, shift.of
			})
			a := stage.New("a", nop, stage.Delay(300*time.Millisecond))
			b := stage.New("b", nop, stage.Rate{Starts: 3, Per: 300 * time.Millisecond}).After(a)
			f := flow.New("f", a, b)
			c.worker(nil, f)
			c.end(stage.RunSucceeded, c.startIn(f, 5, nil)...)
			ids := c.startIn(f, 5, nil)
			jumps := c.engine.Stats().Jumps.Load()
			shift.by.Store(int64(step))
			ids = append(ids, c.startIn(f, 5, nil)...)
			if step.Abs() > time.Second { // smaller ones the estimate follows by standing still
				pgtest.Eventually(t, 60*time.Second, func() (bool, string) {
					return c.engine.Stats().Jumps.Load() > jumps, "the step is seen"
				})
			}
			ids = append(ids, c.startIn(f, 5, nil)...)
			c.end(stage.RunSucceeded, ids...)
			shift.by.Store(0)
			c.end(stage.RunSucceeded, c.startIn(f, 5, nil)...)
			c.check(history.Options{Ended: true})
		})
	}
}

// shift is a clock that steps.
type shift struct{ by atomic.Int64 }

func (s *shift) of(read func(context.Context) (time.Time, error)) func(context.Context) (time.Time, error) {
	return func(ctx context.Context) (time.Time, error) {
		now, err := read(ctx)
		return now.Add(time.Duration(s.by.Load())), err
	}
}

// What was ready when the clock went back by an hour is ready still, also for a leader that comes later; what was to wait
// for a moment waits for a moment.
func TestIncidentClockWentBackBeforeTheTerm(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop))
	g := flow.New("g", stage.New("a", nop, stage.Delay(500*time.Millisecond)))
	ids := append(c.startIn(f, 5, nil), c.startIn(g, 5, nil)...)
	c.exec(`UPDATE ax.ready SET ready_at = ready_at + interval '1 hour', not_before = not_before + interval '1 hour'`)
	c.failOver()
	c.worker(nil, f, g)
	c.end(stage.RunSucceeded, ids...)
}
