package engine_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"axflow/engine"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/fakeworker"
	"axflow/internal/pgtest"
	"axflow/sql/history"
	"axflow/stage"
)

type byCustomer struct {
	Customer string `json:"customer"`
}

func nopFor(context.Context, byCustomer) (none, error) { return none{}, nil }

// customer starts runs for one customer.
func customer(name string) func(int, *control.Start) {
	params, err := json.Marshal(byCustomer{name})
	if err != nil {
		panic(err)
	}
	return func(_ int, s *control.Start) { s.Params = params }
}

// What is blocked may be as much as it likes: it fills the window of its own stage only, and there only its own key's part.
func TestWindowPassesOverAFloodOfOneKey(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	a := stage.New("a", nopFor, stage.Key{From: "params.customer", Limit: 1})
	f := flow.New("f", a)
	first := c.startIn(f, 1, customer("flood"))
	p := c.puppet(1, f)
	holder := p.await(1)[0] // holds the flood's one place
	flood := c.startIn(f, 20_000, customer("flood"))
	others := c.startIn(f, 10, func(i int, s *control.Start) { customer(string(rune('a'+i)))(i, s) })
	bury := c.worker(nil, f)
	c.end(stage.RunSucceeded, others...)
	if n := c.number(`SELECT count(*) FROM ax.run WHERE finished_at IS NOT NULL`); n != len(others) {
		t.Errorf("%d runs have ended, want the %d of other customers", n, len(others))
	}
	bury()
	// When its place is free, the flood goes on by itself.
	c.worker(nil, f)
	p.end(holder, -1, ok)
	c.endAll(p, append(first, flood[:100]...))
}

// Many keys with a little each are passed over as one with much is.
func TestWindowPassesOverManyFullKeys(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(cfg *engine.Config) { cfg.PerLane = 100 })
	f := flow.New("f", stage.New("a", nopFor, stage.Key{From: "params.customer", Limit: 1}))
	const keys = 150
	of := func(i int) string { return "full" + strconv.Itoa(i%keys) }
	c.startIn(f, keys, func(i int, s *control.Start) { customer(of(i))(i, s) })
	p := c.puppet(keys, f)
	holders := p.await(keys)
	full := c.startIn(f, 4*keys, func(i int, s *control.Start) { customer(of(i))(i, s) })
	others := c.startIn(f, 10, func(i int, s *control.Start) { customer(string(rune('a'+i)))(i, s) })
	bury := c.worker(nil, f)
	c.end(stage.RunSucceeded, others...)
	bury()
	for _, h := range holders {
		p.end(h, -1, ok)
	}
	c.endAll(p, full)
	c.check(history.Options{Ended: true})
}

// Each way in which a stage as a whole can be kept back leaves the other stages of its queue and level alone.
func TestWindowPassesOverBlockedStages(t *testing.T) {
	t.Parallel()
	limited := stage.New("a", nop, stage.Limit(1))
	plain := stage.New("a", nop)
	for name, test := range map[string]struct {
		blocked flow.Definition
		policy  string
		holder  bool
	}{
		"stage at its limit": {blocked: flow.New("blocked", limited), holder: true},
		"no worker":          {blocked: flow.New("blocked", plain)},
		"paused flow":        {blocked: flow.New("blocked", plain), policy: `INSERT INTO ax.hold VALUES ('default', 'flow', 'blocked', 'test')`},
		"full pools":         {blocked: flow.New("blocked", plain), holder: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, func(cfg *engine.Config) { cfg.PerLane = 100 })
			if test.policy != "" {
				c.exec(test.policy)
			}
			if test.holder {
				p := c.puppet(1, test.blocked)
				c.startIn(test.blocked, 1, nil)
				p.await(1)
			}
			c.startIn(test.blocked, 2_000, nil)
			free := flow.New("free", stage.New("a", nop))
			others := c.startIn(free, 10, nil)
			c.worker(nil, free)
			c.end(stage.RunSucceeded, others...)
		})
	}
}

// A run that is paused takes no room from others of its stage.
func TestWindowPassesOverPausedRuns(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(cfg *engine.Config) { cfg.PerLane = 50 })
	f := flow.New("f", stage.New("a", nop))
	paused := c.startIn(f, 500, nil)
	for _, id := range paused {
		c.exec(`INSERT INTO ax.hold VALUES ('default', 'run', $1, 'test')`, id.String())
	}
	others := c.startIn(f, 10, nil)
	c.worker(nil, f)
	c.end(stage.RunSucceeded, others...)
	if n := c.number(`SELECT count(*) FROM ax.run WHERE finished_at IS NOT NULL`); n != len(others) {
		t.Errorf("%d runs have ended, want %d", n, len(others))
	}
	c.exec(`DELETE FROM ax.hold`)
	c.end(stage.RunSucceeded, paused...)
	c.check(history.Options{Ended: true})
}

// Retries that slide behind a full retry window keep no first attempt out.
func TestWindowPassesOverRetries(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(cfg *engine.Config) { cfg.PerLane = 50 })
	f := flow.New("f", stage.New("a", nop, stage.RetryWindow{Retries: 1, Per: time.Hour}))
	c.worker(failFirst(0), f)
	failed := c.startIn(f, 1_000, nil)
	c.until("retries left", len(failed)-1, `SELECT count(*) FROM ax.ready WHERE attempt = 2`)
	others := c.startIn(f, 10, nil)
	pgtest.Eventually(t, 60*time.Second, func() (bool, string) {
		return c.number(`SELECT count(DISTINCT run_id) FROM ax.result WHERE run_id = ANY($1)`, others) == len(others), "others have run"
	})
	if n := c.number(`SELECT count(*) FROM ax.result WHERE attempt > 1`); n != 1 {
		t.Errorf("%d retries have started, want 1", n)
	}
}

// failFirst makes first attempts fail, to be tried again after a while.
func failFirst(after time.Duration) func(*fakeworker.Worker) {
	return func(w *fakeworker.Worker) { w.End = endFailFirst(after) }
}
