package control

import (
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/span"
	"axflow/stage"
)

// DeadFilter picks dead letters: indices that are parked as dead, poisoned or expired. What is left out does not restrict.
type DeadFilter struct {
	Flow        string    `json:"flow,omitempty"`
	Stage       string    `json:"stage,omitempty"`
	Fingerprint string    `json:"fingerprint,omitempty"`
	Run         uuid.UUID `json:"run,omitzero"`
	Code        string    `json:"code,omitempty"` // of the newest failed attempt's error, such as "handler_error"
	Since       time.Time `json:"since,omitzero"` // died at or after it
	Until       time.Time `json:"until,omitzero"` // died before it
	Most        int       `json:"most,omitempty"` // groups, or letters; default 100, at most 10,000
}

// DeadGroup is dead letters of one stage that failed for the same reason, as far as their errors tell: numbers, ids and
// addresses in them do not count.
type DeadGroup struct {
	Flow, Stage, Fingerprint string
	Count                    int // indices
	Runs                     int
	Example                  Failure // of the newest of them
	ExampleRun               uuid.UUID
	ExampleIndex             int
	First, Last              time.Time // when the first and the last of them died
}

// DeadLetter is dead indices of one run that share their fate.
type DeadLetter struct {
	ID          uuid.UUID // of the parked row
	Run         uuid.UUID
	Flow, Stage string
	Ord         int
	Generation  int
	Indices     shard.Set
	Attempt     int
	Reason      span.ParkReason // Dead, Poison or Expired
	Fingerprint string
	DiedAt      time.Time
	Failure     Failure // of the first of the indices
}

// Failure is an attempt's error as the worker told it; zero when there is none.
type Failure struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Stack     string `json:"stack,omitempty"`
	Retryable bool   `json:"retryable,omitempty"`
}

// Inspection is all that is known of one index of a stage.
type Inspection struct {
	Run        uuid.UUID
	Stage      string
	Ord, Index int
	Generation int        // the current one
	Where      string     // "ready", "in flight", "parked", "done", or "" while the stage waits or its shards are not known
	Parked     string     // why it is parked, such as "dead"; "" if it is not
	Attempts   []Attempt  // of all generations, oldest first
	NotBefore  *time.Time // if ready: when it may be handed out
}

// Attempt is one execution of an index, as its result row keeps it.
type Attempt struct {
	Generation, Attempt, Delivery                int
	Outcome                                      stage.Outcome
	Worker, Execution                            uuid.UUID // zero: an operator marked it
	ReadyAt, DispatchedAt, StartedAt, FinishedAt time.Time
	Failure                                      Failure
	Output                                       []byte
}

// ReplayOptions say how dead letters are replayed.
type ReplayOptions struct {
	// PerSecond is how many indices a second go back to ready. 0: as fast as it goes.
	PerSecond float64
	// Canary is how many indices are replayed first; the rest follows when all of them have ended well, and stays dead when one of
	// them dies again. 0: none.
	Canary int
}

// ReplayJob is a replay of dead letters by filter, which the leader carries out.
type ReplayJob struct {
	ID            uuid.UUID // zero in a dry run
	State         string    // "canary", "running", "done", "stopped" (the canary failed), "cancelled"
	Filter        DeadFilter
	Options       ReplayOptions
	Total         int // dead indices that matched at the start
	Moved         int // that went back to ready so far
	Failed        int // of the canary
	Note          string
	Actor, Reason string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	FinishedAt    *time.Time
}
