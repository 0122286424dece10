package explain

import (
	"time"

	"github.com/google/uuid"

	"axflow/engine/dispatch/board"
)

// Target names what is to be explained: a run, a stage of it, or one task of that.
type Target struct {
	Run uuid.UUID
	// Stage is a stage's name; "" is the whole run.
	Stage string
	// Shard is an index of the stage, -1 its plan; nil is the whole stage. An unsharded stage has the index 0.
	Shard *int
}

// The names of the gates that are not the Board's; those are in package board. Its GatePaused is used for runs too.
const (
	GateStuck    = "stuck"    // the engine cannot decide the run
	GateLeader   = "leader"   // an engine leads
	GateCancel   = "cancel"   // nobody cancelled it
	GateUpstream = "upstream" // its upstreams let it run
	GatePlan     = "plan"     // its shards are known
	GateDecision = "decision" // the engine has carried out what is decided
	GateAligned  = "aligned"  // the upstream shards that it follows have succeeded
	GateRetry    = "retry"    // it may be tried again, and is due
	GateChild    = "child"    // the run that it has started has ended
	GateBudget   = "budget"   // its overall time budget is not used up
	GateEnd      = "end"      // it is not parked for good
)

// Gate is one condition for running, and how it stands.
type Gate struct {
	Name   string `json:"name"`
	Open   bool   `json:"open"`
	Reason string `json:"reason"`
	// Scope is what a limit, a rate, a circuit or a pause covers, such as "queue default/mail"; "" for other gates.
	Scope string `json:"scope,omitempty"`
	// Used of Limit is taken; both are nil where the gate does not count.
	Used  *int `json:"used,omitempty"`
	Limit *int `json:"limit,omitempty"`
	// Holder is the run that has held a limit longest.
	Holder *uuid.UUID `json:"holder,omitempty"`
	// Since is when it closed, or since when Holder holds it.
	Since *time.Time `json:"since,omitempty"`
	// Until is when it opens by itself, where that is known.
	Until *time.Time `json:"until,omitempty"`
	// By is the operator who closed it.
	By string `json:"by,omitempty"`
	// AgeS is how many seconds old what it was judged by is; 0 is as old as the Report.
	AgeS float64 `json:"age_s,omitempty"`
}

// Fate is what has become of tasks, or what they wait for.
type Fate string

// The fates.
const (
	FateWaiting   Fate = "waiting"         // for upstreams, or for their plan
	FateReady     Fate = "ready"           // may be handed out as soon as its gates are open
	FateDelayed   Fate = "delayed"         // not due yet, never tried
	FateRetrying  Fate = "retrying"        // failed, and due again later
	FateInFlight  Fate = "in_flight"       // with a worker
	FateAligned   Fate = "aligned"         // waits for the upstream shards that it follows
	FateChild     Fate = "child"           // waits for the run that it has started
	FateDead      Fate = "dead"            // out of attempts, not retryable, or a danger to workers: a dead letter
	FateExpired   Fate = "expired"         // its time budget is used up: a dead letter too
	FateDiscarded Fate = "discarded"       // an operator gave it up
	FateCancelled Fate = "cancelled"       // by an operator, with its run, or by fail-fast
	FateSkipped   Fate = "skipped"         // not needed, or skipped by an operator
	FateUpstream  Fate = "upstream_failed" // the upstream shard that it follows will not succeed
	FateSucceeded Fate = "succeeded"
)

// Group is tasks of a stage that share a fate and the reasons for it.
type Group struct {
	Fate  Fate `json:"fate"`
	Tasks int  `json:"tasks"`
	// Shards is some of their indices, such as "0-99,117"; "..." at its end says that there are more.
	Shards    string `json:"shards"`
	Diagnosis string `json:"diagnosis"`
	// Next is what an operator can do; "" is nothing.
	Next  string `json:"next,omitempty"`
	Gates []Gate `json:"gates,omitempty"`
	// Due is when the first of them may be handed out, of what is delayed or retrying.
	Due *time.Time `json:"due,omitempty"`
	// Workers is how many workers hold them.
	Workers int `json:"workers,omitempty"`
}

// Blocked tells whether a gate is closed.
func (g *Group) Blocked() bool { return anyClosed(g.Gates) }

// NextGrant tells whether every gate is open and it is their turn: they are the next that is handed out.
func (g *Group) NextGrant() bool {
	turn := false
	for _, x := range g.Gates {
		if !x.Open {
			return false
		}
		turn = turn || x.Name == board.GateTurn
	}
	return turn
}

// Attempt is one result of a task.
type Attempt struct {
	Generation int       `json:"generation"`
	Attempt    int       `json:"attempt"`
	Delivery   int       `json:"delivery"`
	Outcome    string    `json:"outcome"`
	Worker     uuid.UUID `json:"worker"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
	WaitedS    float64   `json:"waited_s"` // seconds from ready to handed out
	Error      string    `json:"error,omitempty"`
}

// Act is what an operator or the leader did, from the run's journal.
type Act struct {
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`
	Stage  string    `json:"stage,omitempty"`
	Actor  string    `json:"actor"`
	Reason string    `json:"reason,omitempty"`
}

// Past is why something ran, and how often.
type Past struct {
	// Why is the rule or the decision by which it was released, skipped or failed.
	Why        string `json:"why,omitempty"`
	Generation int    `json:"generation,omitempty"` // above 1: it was rerun
	// Results, Workers and Attempts count what has been recorded: results in all, workers that made them, and the highest
	// attempt. Of a stage with more results than were looked at, Partial is true and they count those.
	Results  int  `json:"results"`
	Workers  int  `json:"workers"`
	Attempts int  `json:"attempts"`
	Partial  bool `json:"partial,omitempty"`
	// Last are the newest results, the newest first, of one task.
	Last []Attempt `json:"last,omitempty"`
	// Acts are the newest entries of the journal that concern it, the newest first.
	Acts []Act `json:"acts,omitempty"`
}

// Report says how a run, a stage or a task stands and why.
type Report struct {
	Run   uuid.UUID `json:"run"`
	Flow  string    `json:"flow"`
	Stage string    `json:"stage,omitempty"`
	Shard *int      `json:"shard,omitempty"`
	// State is the run's, the stage's or the task's, as in package stage.
	State string `json:"state"`
	// At is the database's time at which everything was read.
	At time.Time `json:"at"`
	// Diagnosis is one sentence: what it waits for, or what became of it.
	Diagnosis string `json:"diagnosis"`
	// Next is what an operator can do; "" is nothing.
	Next  string `json:"next,omitempty"`
	Gates []Gate `json:"gates,omitempty"`
	// Groups are a stage's tasks by fate: what needs somebody first.
	Groups []Group `json:"groups,omitempty"`
	// Stages are a run's undecided stages: what blocks others first. More counts those that were left out.
	Stages []Report `json:"stages,omitempty"`
	More   int      `json:"more,omitempty"`
	// Child is the sub-flow's run that is waited for, explained in turn.
	Child *Report `json:"child,omitempty"`
	Past  *Past   `json:"past,omitempty"`
}

func anyClosed(gates []Gate) bool {
	for _, g := range gates {
		if !g.Open {
			return true
		}
	}
	return false
}
