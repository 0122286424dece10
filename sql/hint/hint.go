// Package hint carries news between the parts of AX: through memory inside a process, by NOTIFY between
// processes. A hint only hastens what a scan or a heartbeat would find anyway: it may be lost, late, doubled or
// out of order, and its receiver checks the database before it acts.
package hint

import (
	"time"

	"github.com/google/uuid"

	"axflow/sql/span"
)

// Left says how many indices of a flight its worker still holds; 0: the flight is over. Done and Busy are what
// was learned since the worker's last word on this flight: how many indices ended and how long they ran in sum.
type Left struct {
	Flight uuid.UUID
	Left   int
	Done   int
	Busy   time.Duration
}

// Engine is news for the leader.
type Engine struct {
	Ready   []span.Ready    // rows made ready; across processes only their ids arrive
	IDs     []uuid.UUID     // ready rows by id
	Stages  []span.StageKey // stages decided, or planned: their dependents may be decided
	Left    []Left          // progress of flights
	Runs    []uuid.UUID     // runs to look at as a whole (started, cancelled, rerun)
	Workers bool            // a worker came, changed or went
	// Policies says that settings, holds, queues, circuits or pools changed.
	Policies bool
	Look     bool // something changed that hints could not say: read everything again
}

// Worker is news for one worker.
type Worker struct {
	Flights []span.Assignment // handed to it; across processes only their ids arrive
	IDs     []uuid.UUID       // flights by id
	Asks    bool              // asks were made of it: beat now
}
