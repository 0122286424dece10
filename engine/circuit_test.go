package engine_test

import (
	"testing"
	"time"

	"axflow/flow"
	"axflow/sql/history"
	"axflow/stage"
)

const circuitState = `SELECT coalesce((SELECT state FROM ax.circuit WHERE name = $1), 0)::int`

// A handler's circuit opens by what workers report, holds work unburnt, outlasts its leader, lets one task probe after the
// cool-down, and closes when that succeeds.
func TestCircuitOpensProbesAndCloses(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop, stage.Breaker{Failures: 3, CoolDown: 3 * time.Second}))
	p := c.puppet(4, f)
	first := c.startIn(f, 1, nil)
	p.end(p.await(1)[0], -1, ok)
	c.end(stage.RunSucceeded, first...)
	p.says("handler:f/a", 1, 3, 3, true)
	c.until("state", 1, circuitState, "f/a")
	var until time.Time
	read := `SELECT until FROM ax.circuit WHERE name = 'f/a' AND last_error = 'connection refused' AND failures = 3`
	if err := c.pool.QueryRow(c.ctx, read).Scan(&until); err != nil {
		t.Fatal(err)
	}
	ids := c.startIn(f, 5, nil)
	c.failOver()
	c.settle()
	var now time.Time
	var still time.Time
	if err := c.pool.QueryRow(c.ctx, `SELECT clock_timestamp(), until FROM ax.circuit WHERE name = 'f/a'`).Scan(&now, &still); err != nil {
		t.Fatal(err)
	}
	if now.Before(until) { // on a machine so slow that it is not, the probe may be out
		if n := len(p.flights()); n != 0 || !still.Equal(until) {
			t.Errorf("open until %v, was %v before the fail-over; %d flights, want none", still, until, n)
		}
	}
	c.until("state", 2, circuitState, "f/a")
	probe := p.await(1)[0]
	c.settle()
	if n := len(p.flights()); n != 1 {
		t.Errorf("%d flights while half open, want the one probe", n)
	}
	p.end(probe, -1, ok)
	p.says("handler:f/a", 2, 3, 0, false)
	c.until("state", 0, circuitState, "f/a")
	for _, h := range p.await(4) {
		p.end(h, -1, ok)
	}
	c.end(stage.RunSucceeded, ids...)
	c.until("audit", 3, `SELECT count(*) FROM ax.audit WHERE target = 'circuit/handler/f/a' AND actor LIKE 'leader/%'`)
	c.check(history.Options{Ended: true})
}

// A downstream's circuit holds every stage that names it, and no other.
func TestCircuitOfADownstreamHoldsAllThatNameIt(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop, stage.Downstream("warehouse")))
	g := flow.New("g", stage.New("a", nop, stage.Downstream("warehouse", "mail")))
	h := flow.New("h", stage.New("a", nop, stage.Downstream("mail")))
	p := c.puppet(4, f, g)
	p.says("downstream:warehouse", 0, 5, 5, true)
	c.until("state", 1, circuitState, "warehouse")
	held := append(c.startIn(f, 2, nil), c.startIn(g, 2, nil)...)
	c.worker(nil, h)
	c.end(stage.RunSucceeded, c.startIn(h, 3, nil)...)
	c.settle()
	if n := len(p.flights()); n != 0 {
		t.Errorf("%d flights behind an open circuit", n)
	}
	if n := c.number(`SELECT count(*) FROM ax.ready WHERE attempt = 1 AND delivery = 1`); n != 4 {
		t.Errorf("%d tasks wait unburnt, want 4", n)
	}
	// The kill switch lets everything through.
	c.exec(`INSERT INTO ax.setting (name, value) VALUES ('breaker', 'false')`)
	for _, x := range p.await(4) {
		p.end(x, -1, ok)
	}
	c.end(stage.RunSucceeded, held...)
}

// An operator's hand is above what workers report, whoever leads.
func TestCircuitMovedByHand(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop, stage.Breaker{CoolDown: 100 * time.Millisecond}))
	p := c.puppet(4, f)
	c.exec(`INSERT INTO ax.circuit (namespace, kind, name, state, manual, opened_at, actor, reason)
		VALUES ('default', 'handler', 'f/a', 1, true, now(), 'olga', 'vendor is down')`)
	c.settle()
	ids := c.startIn(f, 2, nil)
	p.says("handler:f/a", 5, 0, 0, false) // all is well, says the worker
	c.failOver()
	c.settle()
	if n := len(p.flights()); n != 0 {
		t.Fatalf("%d flights behind a circuit that an operator opened", n)
	}
	c.exec(`UPDATE ax.circuit SET state = 0, manual = false, until = NULL, opened_at = NULL, version = version + 1, actor = 'olga'`)
	for _, x := range p.await(2) {
		p.end(x, -1, ok)
	}
	c.end(stage.RunSucceeded, ids...)
	if n := c.number(`SELECT count(*) FROM ax.audit`); n != 0 {
		t.Errorf("the leader has moved the circuit %d times", n)
	}
}
