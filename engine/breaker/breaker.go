// Package breaker is the circuit breaker of a handler or a downstream, as the leader keeps it: a plain state machine that is fed
// with what workers count, and reads no clock.
//
// A circuit opens when enough failures came in a row in the cluster: as many as one worker has seen in a row, or as all workers
// have seen since any of them last saw a success; or, if the configuration says so, when the share of failures in a window of
// time is too high. Open work waits. After the cool-down the circuit is half-open and one task may probe: the first news of a
// success closes it, that of a failure opens it again. What workers report while it is open is of tasks that had started
// before, and moves nothing. An operator's Open lasts until an operator's Close.
//
// What a circuit must not forget when the leader changes is its Snapshot. The window's samples and the workers' counts are not
// in it: a new leader measures the window anew, and of the first report of a worker it believes the streak, unless that may be from
// before the circuit closed last.
package breaker

import (
	"cmp"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

// State is where a circuit stands. The numbers are those of the column circuit.state.
type State uint8

// The states of a circuit.
const (
	// Closed lets work through.
	Closed State = 0
	// Open holds it.
	Open State = 1
	// HalfOpen lets one task through to probe.
	HalfOpen State = 2
)

// String returns the state's name.
func (s State) String() string {
	return [...]string{"closed", "open", "half-open", "?"}[min(s, 3)]
}

// Snapshot is all that a circuit remembers over a change of leaders, as a row of the table circuit. Its zero value is a closed
// circuit.
type Snapshot struct {
	State State
	// Manual circuits were opened by an operator and stay open until one closes them.
	Manual bool
	// Failures is how many came in a row when the circuit opened last; 0 when it opened by its error rate or by hand.
	Failures int
	// OpenedAt is when it opened last, and Until when its cool-down ends; zero when it is closed, or open by hand (Until).
	OpenedAt, Until time.Time
	// LastError is the last failure's text. Reason says in words why the circuit moved last.
	LastError, Reason string
}

// Counts are what a worker has counted of a circuit since it registered.
type Counts struct {
	OK, Fail int64
	// Streak is how many failures in a row it has seen last.
	Streak int
	// Tripped says that it has stopped starting tasks of the circuit by itself.
	Tripped bool
	// Error is its last failure's text.
	Error string
}

// Circuit is one circuit. It is not safe for concurrent use.
type Circuit struct {
	cfg     stage.Breaker
	snap    Snapshot
	workers map[uuid.UUID]base
	row     int // failures in the cluster since the last success
	window  window
}

// base is a worker's last report, and how many failures it had counted when the circuit closed last.
type base struct {
	Counts
	closed int64
}

// New makes a circuit as it was when the Snapshot was taken. The configuration must be in normal form.
func New(cfg stage.Breaker, s Snapshot) *Circuit {
	return &Circuit{cfg: cfg, snap: s, workers: map[uuid.UUID]base{}, window: newWindow(cfg.Window)}
}

// Snapshot returns what to write down.
func (c *Circuit) Snapshot() Snapshot { return c.snap }

// State returns where the circuit stands.
func (c *Circuit) State() State { return c.snap.State }

// SetConfig changes the configuration, of which the next report and the next cool-down make use. A window of another length
// begins anew.
func (c *Circuit) SetConfig(cfg stage.Breaker) {
	if cfg.Window != c.cfg.Window {
		c.window = newWindow(cfg.Window)
	}
	c.cfg = cfg
}

// Report feeds what a worker's heartbeat says, and tells whether the circuit moved. The same report again changes nothing, and
// counts that fell are those of a worker that started over.
func (c *Circuit) Report(now time.Time, worker uuid.UUID, n Counts) (moved bool) {
	last, known := c.workers[worker]
	if known && (n.OK < last.OK || n.Fail < last.Fail) {
		known = false
	}
	trips := n.Tripped && !last.Tripped
	if !known {
		last = base{Counts: Counts{OK: n.OK, Fail: n.Fail}, closed: n.Fail}
	}
	newOK, newFail := n.OK-last.OK, n.Fail-last.Fail
	ok, fail := newOK > 0, int(newFail)
	if !known && c.snap.Reason == "" {
		// The circuit has never moved, so there is nothing to forgive: its streak counts, whenever that was.
		last.closed -= int64(n.Streak)
		ok, fail = n.OK > 0, n.Streak
	}
	last.Counts = n
	c.workers[worker] = last
	if !ok && fail == 0 && !trips {
		return false
	}
	if fail > 0 {
		c.snap.LastError = cmp.Or(n.Error, c.snap.LastError)
	}
	// Failures from before the circuit closed last are forgiven, unless the worker has tripped anew.
	streak := int(min(int64(n.Streak), n.Fail-last.closed))
	if trips {
		streak = max(streak, n.Streak)
	}
	if ok {
		c.row = streak
	} else {
		c.row += fail
	}
	switch c.snap.State {
	case Closed:
		c.window.add(now, newOK, newFail)
		if streak == 0 && fail == 0 {
			return false
		}
		if row := max(c.row, streak); row >= c.cfg.Failures {
			c.open(now, row, fmt.Sprintf("%d failures in a row", row))
			return true
		}
		if ok, fail := c.window.sum(now); newFail > 0 && c.cfg.ErrorRate > 0 && ok+fail >= int64(c.cfg.MinSamples) &&
			float64(fail) >= c.cfg.ErrorRate*float64(ok+fail) {
			c.open(now, 0, fmt.Sprintf("%d of %d attempts failed within %s", fail, ok+fail, c.cfg.Window))
			return true
		}
	case HalfOpen:
		if newOK+newFail == 0 {
			return false
		}
		if newFail > 0 {
			c.open(now, max(1, c.snap.Failures), "the probe failed")
		} else {
			c.close("the probe succeeded")
		}
		return true
	}
	return false
}

func (c *Circuit) open(now time.Time, failures int, reason string) {
	c.snap.State, c.snap.Manual, c.snap.Failures, c.snap.Reason = Open, false, failures, reason
	c.snap.OpenedAt, c.snap.Until = now, now.Add(c.cfg.CoolDown)
}

func (c *Circuit) close(reason string) {
	c.snap = Snapshot{LastError: c.snap.LastError, Reason: reason}
	c.row = 0
	c.window = newWindow(c.cfg.Window)
	for id, b := range c.workers {
		b.closed = b.Fail
		c.workers[id] = b
	}
}

// Forget drops what is known of a worker that has gone.
func (c *Circuit) Forget(worker uuid.UUID) { delete(c.workers, worker) }

// Tick lets a cool-down end, and tells whether the circuit moved.
func (c *Circuit) Tick(now time.Time) (moved bool) {
	until, ok := c.Next()
	if !ok || now.Before(until) {
		return false
	}
	c.snap.State, c.snap.Reason = HalfOpen, "the cool-down is over"
	return true
}

// Next is when Tick will have something to do, if ever.
func (c *Circuit) Next() (time.Time, bool) {
	return c.snap.Until, c.snap.State == Open && !c.snap.Manual
}

// Open opens the circuit by an operator's hand: it stays open until Close.
func (c *Circuit) Open(now time.Time, reason string) {
	c.snap.State, c.snap.Manual, c.snap.Failures, c.snap.Reason = Open, true, 0, reason
	c.snap.OpenedAt, c.snap.Until = now, time.Time{}
}

// Close closes the circuit by an operator's hand and forgives the failures that were counted.
func (c *Circuit) Close(_ time.Time, reason string) { c.close(reason) }

// Why says in words how the circuit stands, such as "until 12:00:30Z, 5 failures in a row, last: connection refused".
func (c *Circuit) Why() string {
	s := &c.snap
	text := s.Reason
	switch {
	case s.State == Open && s.Manual:
		text = "by hand, until somebody closes it: " + cmp.Or(s.Reason, "no reason given")
	case s.State == Open:
		text = "until " + s.Until.UTC().Format("15:04:05Z") + ", " + s.Reason
	}
	if s.LastError != "" && s.State != Closed {
		text += ", last: " + s.LastError
	}
	return text
}
