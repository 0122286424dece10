// Package breaker is the circuit breaker of a handler or a downstream, as the leader keeps it: a plain state machine that is fed
// with what workers count, and reads no clock.
package breaker

import (
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
	// Failures is how many came in a row when the circuit moved last.
	Failures int
	// OpenedAt is when it opened last, and Until when its cool-down ends; zero when closed or (Until) manual.
	OpenedAt, Until time.Time
	// LastError is the last failure's text. Reason says in words why it moved.
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
	cfg  stage.Breaker
	snap Snapshot
}

// New makes a circuit as it was when the Snapshot was taken. The configuration must be in normal form.
func New(cfg stage.Breaker, s Snapshot) *Circuit { return &Circuit{cfg: cfg, snap: s} }

// Snapshot returns what to write down.
func (c *Circuit) Snapshot() Snapshot { return c.snap }

// State returns where the circuit stands.
func (c *Circuit) State() State { return c.snap.State }

// SetConfig changes the configuration, of which the next report and the next cool-down make use.
func (c *Circuit) SetConfig(cfg stage.Breaker) { c.cfg = cfg }

// Report feeds what a worker's heartbeat says, and tells whether the circuit moved. The same report again changes nothing.
func (c *Circuit) Report(now time.Time, worker uuid.UUID, n Counts) (moved bool) { return false }

// Forget drops what is known of a worker that has gone.
func (c *Circuit) Forget(worker uuid.UUID) {}

// Tick lets a cool-down end, and tells whether the circuit moved.
func (c *Circuit) Tick(now time.Time) (moved bool) { return false }

// Next is when Tick will have something to do, if ever.
func (c *Circuit) Next() (time.Time, bool) { return time.Time{}, false }

// Open opens the circuit by an operator's hand: it stays open until Close.
func (c *Circuit) Open(now time.Time, reason string) {}

// Close closes the circuit by an operator's hand and forgets the failures that were counted.
func (c *Circuit) Close(now time.Time, reason string) {}

// Why says in words how the circuit stands, such as "until 12:00:30Z, 5 failures in a row, last: connection refused".
func (c *Circuit) Why() string { return c.snap.Reason }
