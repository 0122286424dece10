package control

import (
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

// HoldKind is what a hold pauses.
type HoldKind string

// The kinds of hold.
const (
	HoldQueue HoldKind = "queue"
	HoldFlow  HoldKind = "flow"
	HoldRun   HoldKind = "run" // its name is the run's id
)

// Hold is what an operator has paused.
type Hold struct {
	Kind          HoldKind
	Name          string
	Actor, Reason string
	HeldAt        time.Time
}

// QueueConfig is a named queue's settings. Zero fields mean the default that each names.
type QueueConfig struct {
	Name string
	// Capacity is how many tasks may wait or run before starts are refused. 0: no limit, and no backpressure.
	Capacity int
	// Concurrency is how many tasks may run at once in the cluster. 0: no limit.
	Concurrency int
	// Weights are the shares of P0..P5; nil: the engine's (40, 25, 15, 10, 6, 4). Six numbers from 1 to 10,000.
	Weights []int
	// Decay is how many levels waiting work rises a second; nil: the engine's. 0 to 10.
	Decay *float64
	// Shares of Capacity at which the leader demotes (AlertAt, default 0.60), starters are refused (RefuseAt, 0.80) and low levels
	// pause (PauseAt, 0.95), and below which all of that ends (ResumeAt, 0.40). ResumeAt < AlertAt ≤ RefuseAt ≤ PauseAt ≤ 1.
	AlertAt, RefuseAt, PauseAt, ResumeAt float64
	// CoreLevel is the least urgent level that starters are not refused until the queue is full. nil: P1.
	CoreLevel *stage.Level
	// LowLevel is the most urgent level that is demoted and paused under pressure. nil: P3. CoreLevel must be more urgent.
	LowLevel *stage.Level
	// Version is what the caller has read, for a change that nobody else's may get lost by; 0: whatever it is.
	Version int
}

// Queue is a queue's settings and figures.
type Queue struct {
	QueueConfig // with the defaults filled in; Weights and Decay nil stay the engine's
	Configured  bool
	Ready       int           // tasks waiting, now
	Running     int           // tasks running at once: granted parallelism, now
	InFlight    int           // tasks handed to workers, now
	Oldest      time.Duration // how long the oldest task that may be handed out has waited; 0: none
	Held        *Hold         // nil: it is not paused
	// Depth and Pressure (0 normal, 1 alert, 2 refuse, 3 pause) are what the leader published last, at PublishedAt (nil: never).
	Depth       int
	Pressure    int
	PublishedAt *time.Time
}

// BusyShare is the share of a pool's slots from which it is flagged.
const BusyShare = 0.8

// Pool is the workers' slots for one handler.
type Pool struct {
	Flow, Stage string
	Set         int // slots a worker that an operator set; 0: the workers' own number
	SetBy       string
	Workers     int // that run the handler
	Slots       int // of all of them
	Busy        int // granted parallelism of what is in flight
	Share       float64
	Flagged     bool // Share is above BusyShare
}

// CircuitKind is what a circuit breaker guards.
type CircuitKind string

// The kinds of circuit.
const (
	CircuitHandler    CircuitKind = "handler"    // its name is flow/stage
	CircuitDownstream CircuitKind = "downstream" // its name is what stage.Downstream was given
)

// Circuit is a circuit breaker that is not closed or has been opened before.
type Circuit struct {
	Kind          CircuitKind
	Name          string
	State         string // "closed", "open", "half-open"
	Manual        bool   // an operator opened it: it stays open until an operator closes it
	Failures      int
	OpenedAt      *time.Time
	Until         *time.Time // end of the cool-down
	LastError     string
	Actor, Reason string
	Version       int
	UpdatedAt     time.Time
}

// Setting is one kill switch.
type Setting struct {
	Name      string
	On        bool
	Default   bool // nobody has set it
	Says      string
	UpdatedAt *time.Time
}

// Worker is a worker as its newest heartbeat tells.
type Worker struct {
	ID                uuid.UUID
	Host              string
	PID               int
	State             string // "active", "draining"
	StartedAt, SeenAt time.Time
	CPU, Memory       float64 // shares of the machine
	Urgent            int     // slots kept for P0
	Labels            []string
	Handlers          map[string]int // handler key (flow/stage@contract) to pool size
	Flights           int            // flights it holds
	Tasks             int            // indices in them
}

// AuditFilter picks lines of the audit. What is left out does not restrict.
type AuditFilter struct {
	Actor, Verb  string
	Target       string // or its beginning, such as "run/0192" or "queue/"
	Since, Until time.Time
	Before       uuid.UUID // of the last line of the page before
	Most         int       // default 100, at most 1,000
}

// AuditLine is one act: who did what to what, and why.
type AuditLine struct {
	ID          uuid.UUID
	At          time.Time
	Actor, Verb string
	Target      string // "run/<id>", "run/<id>/<stage>", "queue/<name>", "flow/<name>", "pool/…", "circuit/…", "setting/…", "replay/<id>"
	Reason      string
	Detail      []byte // JSON object, or nil
}

// JournalLine is one entry of a run's journal.
type JournalLine struct {
	ID         uuid.UUID
	At         time.Time
	Stage      string // "": the whole run
	Generation int
	Kind       string
	Actor      string
	Detail     []byte // JSON object, or nil
}
