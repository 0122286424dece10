package engine_test

import (
	"testing"
	"time"

	"axflow/flow"
	"axflow/sql/history"
	"axflow/sql/span"
	"axflow/stage"
)

// A stage that runs out of its overall budget ends: what waits never starts, what runs is asked to stop. The budget is the
// stage's and not its leader's.
func TestOverallBudgetRunsOut(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	a := stage.New("a", nop, stage.Timeout{Overall: time.Hour})
	f := flow.New("f", a, stage.New("b", nop).After(a))
	p := c.puppet(1, f)
	ids := c.startIn(f, 2, nil)
	held := p.await(1)[0]
	if n := c.number(`SELECT count(*) FROM ax.expiry`); n != 2 {
		t.Fatalf("%d budgets, want 2", n)
	}
	c.exec(`UPDATE ax.expiry SET expires_at = clock_timestamp() + interval '1 second'`)
	c.failOver()
	c.until("asks", 1, `SELECT count(*) FROM ax.ask WHERE kind = 1 AND execution_id = $1`, held.ID)
	c.until("expired", 1, `SELECT count(*) FROM ax.parked WHERE reason = 8`)
	p.end(held, -1, span.Result{Outcome: stage.Interrupted})
	c.end(stage.RunFailed, ids...)
	if n := c.number(`SELECT count(*) FROM ax.stage WHERE ord = 0 AND state = 11`); n != 2 {
		t.Errorf("%d stages have failed, want 2", n)
	}
	if n := c.number(`SELECT count(*) FROM ax.expiry`); n != 0 {
		t.Errorf("%d budgets are left", n)
	}
	if n := c.engine.Stats().Expired.Load(); n != 2 {
		t.Errorf("%d stages expired, want 2", n)
	}
	c.check(history.Options{Ended: true})
}

// A budget runs out in time although nothing is read again and the wheel is off.
func TestOverallBudgetWithoutTheWheel(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.exec(`INSERT INTO ax.setting (name, value) VALUES ('wheel', 'false')`)
	f := flow.New("f", stage.New("a", nop, stage.Timeout{Overall: 500 * time.Millisecond}))
	c.end(stage.RunFailed, c.startIn(f, 3, nil)...)
	c.check(history.Options{Ended: true})
}
