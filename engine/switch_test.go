package engine_test

import (
	"testing"
	"time"

	"axflow/engine/dispatch"
	"axflow/flow"
	"axflow/internal/fakeworker"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/sql/history"
	"axflow/sql/span"
	"axflow/stage"
)

// Whole flows run to their ends with any switch off, from the start on and turned while they run.
func TestSwitches(t *testing.T) {
	t.Parallel()
	for _, name := range []string{dispatch.SwitchEvents, dispatch.SwitchWheel, dispatch.SwitchAging, dispatch.SwitchWeights, dispatch.SwitchBreaker, dispatch.SwitchPressure} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, nil)
			c.exec(`INSERT INTO ax.setting (name, value) VALUES ($1, 'false')`, name)
			c.exec(`INSERT INTO ax.queue (namespace, name, capacity) VALUES ('default', 'default', 1000)`)
			f := everything()
			c.worker(everyday, f)
			c.end(stage.RunSucceeded, c.startIn(f, 3, nil)...)
			pgtest.Eventually(t, 60*time.Second, func() (bool, string) {
				s := c.engine.Stats().Standing()
				return s != nil && len(s.Off) == 1 && s.Off[0] == name, "the switch is seen"
			})
			ids := c.startIn(f, 2, nil)
			c.exec(`UPDATE ax.setting SET value = 'true'`)
			ids = append(ids, c.startIn(f, 2, nil)...)
			c.exec(`UPDATE ax.setting SET value = 'false'`)
			ids = append(ids, c.startIn(f, 2, nil)...)
			c.end(stage.RunSucceeded, ids...)
			c.check(history.Options{Ended: true})
		})
	}
}

// everything is a flow with a bit of all: shards, aligned shards, a join, a delay, a retry, a breaker, a rate.
func everything() *flow.Flow[none] {
	a := stage.New("a", nop, stage.Breaker{}, stage.Downstream("warehouse"))
	b := shard.New("b", noPlan, nopShard).After(a)
	c := shard.Aligned("c", b, nopShard)
	d := stage.New("d", nop, stage.Delay(100*time.Millisecond), stage.Rate{Starts: 100}).After(a)
	e := stage.New("e", nop, stage.Priority(stage.P4)).After(c, d)
	return flow.New("everything", a, b, c, d, e)
}

// everyday plans ten shards and fails some first attempts.
func everyday(w *fakeworker.Worker) {
	w.Plan = layout(10)
	w.End = func(a span.Assignment, i int) span.Result {
		if a.Attempt == 1 && i == 3 {
			return span.Result{Outcome: stage.Failed, Again: true, Delay: 100 * time.Millisecond}
		}
		return span.Result{Outcome: stage.Succeeded}
	}
}

// With events off no news counts: what finishes the runs is the database read again every second, and in a healthy
// cluster nothing of that counts as repaired by accident.
func TestEventsOffIgnoresNews(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.exec(`INSERT INTO ax.setting (name, value) VALUES ('events', 'false')`)
	f := flow.New("f", stage.New("a", nop))
	c.worker(nil, f)
	pgtest.Eventually(t, 60*time.Second, func() (bool, string) {
		s := c.engine.Stats().Standing()
		return s != nil && len(s.Off) == 1, "the switch is seen"
	})
	scans := c.engine.Stats().Scans.Load()
	c.end(stage.RunSucceeded, c.startIn(f, 5, nil)...)
	pgtest.Eventually(t, 60*time.Second, func() (bool, string) {
		return c.engine.Stats().Scans.Load() >= scans+3, "it scans every second"
	})
}

// With the wheel off nothing that is not due is in memory, and what becomes due is found all the same.
func TestWheelOffAsksTheDatabase(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.exec(`INSERT INTO ax.setting (name, value) VALUES ('wheel', 'false')`)
	f := flow.New("f", stage.New("a", nop, stage.Delay(1500*time.Millisecond)))
	c.worker(nil, f)
	c.end(stage.RunSucceeded, c.startIn(f, 5, nil)...)
	if _, _, sum := c.engine.Stats().TimerLag.Snapshot(); sum != 0 {
		t.Errorf("timers of spans have fired, %v late in sum", sum)
	}
	c.check(history.Options{Ended: true})
}
