package stage

import (
	"fmt"
	"slices"
)

// This file is the one table of states and legal moves. The numbers are stored; they never change.

// RunState is the state of a run, as stored in run.state.
type RunState int16

// The run states. Numbers from 10 on are ends.
const (
	RunRunning    RunState = 1
	RunCancelling RunState = 2 // started work drains, nothing new starts
	RunSucceeded  RunState = 10
	RunFailed     RunState = 11
	RunCancelled  RunState = 12
)

// StageState is the state of one stage of a run, as stored in stage.state.
type StageState int16

// The stage states. Numbers from 10 on are decided.
const (
	StageWaiting        StageState = 0 // its upstreams decide
	StagePlanning       StageState = 1 // its shards are being computed
	StageRunning        StageState = 2 // released: its work is ready, in flight or parked
	StageCancelling     StageState = 3 // started work drains
	StageSucceeded      StageState = 10
	StageFailed         StageState = 11
	StageCancelled      StageState = 12
	StageSkipped        StageState = 13
	StageUpstreamFailed StageState = 14
)

// Outcome is how one execution of a task ended, as stored in result.outcome.
type Outcome int16

// The outcomes.
const (
	Succeeded   Outcome = 10
	Failed      Outcome = 11
	NotNeeded   Outcome = 13 // its condition was false: the stage is skipped
	TimedOut    Outcome = 15
	Interrupted Outcome = 16 // stopped by a deploy, a drain or an operator: costs no attempt
	Lost        Outcome = 17 // its worker died: costs no attempt
)

// TaskState is the state of one task (an unsharded stage, a plan, or one shard) as people see it. It is
// derived from where the task's index stands and from its newest result; it is not stored.
type TaskState uint8

// The task states.
const (
	TaskCreated     TaskState = iota // its run exists
	TaskWaiting                      // for upstreams
	TaskReady                        // may be handed out
	TaskDispatched                   // handed to a worker, not yet started
	TaskRunning                      // in its handler
	TaskRetrying                     // failed, and due again at a known time
	TaskSucceeded                    // done
	TaskFailed                       // this attempt failed
	TaskCancelled                    // by an operator, or with its run
	TaskExpired                      // its overall time budget or dependency time-out ran out
	TaskTimedOut                     // this attempt ran into its execution or heartbeat time-out
	TaskSkipped                      // by its rule, or by an operator
	TaskDead                         // out of attempts, or permanently failed: a dead letter
	TaskCircuitOpen                  // ready, held back by an open circuit breaker
)

var runMoves = map[RunState][]RunState{
	RunRunning:    {RunCancelling, RunSucceeded, RunFailed, RunCancelled},
	RunCancelling: {RunSucceeded, RunFailed, RunCancelled},
	RunSucceeded:  {RunRunning},
	RunFailed:     {RunRunning},
	RunCancelled:  {RunRunning},
}

// A stage goes back to waiting by a rerun of it or of an upstream, which raises its generation. A decided one goes back to
// running in its generation when some of its shards run again: failed ones are retried, succeeded ones rerun, and aligned ones
// follow the shards that they are aligned to; one whose plan failed goes back to planning. Waiting to succeeded is an
// aligned stage of an empty plan, or an operator's word.
var stageMoves = map[StageState][]StageState{
	StageWaiting:        {StagePlanning, StageRunning, StageSucceeded, StageCancelled, StageSkipped, StageUpstreamFailed},
	StagePlanning:       {StageWaiting, StageRunning, StageCancelling, StageSucceeded, StageFailed, StageCancelled, StageSkipped},
	StageRunning:        {StageWaiting, StageCancelling, StageSucceeded, StageFailed, StageCancelled, StageSkipped, StageUpstreamFailed},
	StageCancelling:     {StageSucceeded, StageFailed, StageCancelled, StageSkipped},
	StageSucceeded:      {StageWaiting, StageRunning},
	StageFailed:         {StageWaiting, StagePlanning, StageRunning},
	StageCancelled:      {StageWaiting},
	StageSkipped:        {StageWaiting},
	StageUpstreamFailed: {StageWaiting, StageRunning},
}

// Ready again from dispatched or running is a give-back, an interruption, or the loss of the worker; from
// an end it is an operator's retry, waiting is a rerun. A task may end straight from dispatched, because
// its start is told with the next heartbeat only.
var taskMoves = map[TaskState][]TaskState{
	TaskCreated:     {TaskWaiting, TaskReady, TaskCancelled, TaskSkipped},
	TaskWaiting:     {TaskReady, TaskCancelled, TaskExpired, TaskSkipped},
	TaskReady:       {TaskWaiting, TaskDispatched, TaskCancelled, TaskExpired, TaskSkipped, TaskCircuitOpen},
	TaskDispatched:  {TaskReady, TaskRunning, TaskSucceeded, TaskFailed, TaskCancelled, TaskExpired, TaskTimedOut, TaskDead},
	TaskRunning:     {TaskReady, TaskSucceeded, TaskFailed, TaskCancelled, TaskExpired, TaskTimedOut, TaskDead},
	TaskRetrying:    {TaskReady, TaskDispatched, TaskCancelled, TaskExpired, TaskSkipped, TaskCircuitOpen},
	TaskSucceeded:   {TaskWaiting, TaskReady},
	TaskFailed:      {TaskRetrying, TaskCancelled, TaskExpired, TaskDead},
	TaskCancelled:   {TaskWaiting, TaskReady},
	TaskExpired:     {TaskWaiting, TaskReady},
	TaskTimedOut:    {TaskRetrying, TaskCancelled, TaskExpired, TaskDead},
	TaskSkipped:     {TaskWaiting, TaskReady},
	TaskDead:        {TaskWaiting, TaskReady, TaskCancelled, TaskSkipped},
	TaskCircuitOpen: {TaskReady, TaskDispatched, TaskCancelled, TaskExpired, TaskSkipped},
}

// RunStates returns every run state in the order of their numbers.
func RunStates() []RunState {
	return []RunState{RunRunning, RunCancelling, RunSucceeded, RunFailed, RunCancelled}
}

// StageStates returns every stage state in the order of their numbers.
func StageStates() []StageState {
	return []StageState{StageWaiting, StagePlanning, StageRunning, StageCancelling, StageSucceeded, StageFailed,
		StageCancelled, StageSkipped, StageUpstreamFailed}
}

// TaskStates returns every task state.
func TaskStates() []TaskState {
	all := make([]TaskState, 0, TaskCircuitOpen+1)
	for s := TaskCreated; s <= TaskCircuitOpen; s++ {
		all = append(all, s)
	}
	return all
}

// Ended tells whether the run has come to its end.
func (s RunState) Ended() bool { return s >= RunSucceeded }

// Decided tells whether the stage has its outcome.
func (s StageState) Decided() bool { return s >= StageSucceeded }

// CanMove tells whether a run may go from s to to.
func (s RunState) CanMove(to RunState) bool { return slices.Contains(runMoves[s], to) }

// CanMove tells whether a stage may go from s to to.
func (s StageState) CanMove(to StageState) bool { return slices.Contains(stageMoves[s], to) }

// CanMove tells whether a task may go from s to to.
func (s TaskState) CanMove(to TaskState) bool { return slices.Contains(taskMoves[s], to) }

// RunFrom returns the states from which a run may go to to, in the order of their numbers. A statement that
// moves a run names them in its WHERE. The slice is the caller's own.
func RunFrom(to RunState) []RunState { return from(RunStates(), to, RunState.CanMove) }

// StageFrom returns the states from which a stage may go to to, in the order of their numbers. A statement
// that moves a stage names them in its WHERE (state = ANY(...)). The slice is the caller's own.
func StageFrom(to StageState) []StageState { return from(StageStates(), to, StageState.CanMove) }

// TaskFrom returns the states from which a task may go to to. The slice is the caller's own.
func TaskFrom(to TaskState) []TaskState { return from(TaskStates(), to, TaskState.CanMove) }

func from[S any](all []S, to S, can func(S, S) bool) []S {
	var states []S
	for _, s := range all {
		if can(s, to) {
			states = append(states, s)
		}
	}
	return states
}

var runNames = map[RunState]string{
	RunRunning: "running", RunCancelling: "cancelling", RunSucceeded: "succeeded", RunFailed: "failed", RunCancelled: "cancelled",
}

var stageNames = map[StageState]string{
	StageWaiting: "waiting", StagePlanning: "planning", StageRunning: "running", StageCancelling: "cancelling",
	StageSucceeded: "succeeded", StageFailed: "failed", StageCancelled: "cancelled", StageSkipped: "skipped",
	StageUpstreamFailed: "upstream_failed",
}

var outcomeNames = map[Outcome]string{
	Succeeded: "succeeded", Failed: "failed", NotNeeded: "skipped", TimedOut: "timed_out", Interrupted: "interrupted", Lost: "lost",
}

var taskNames = map[TaskState]string{
	TaskCreated: "created", TaskWaiting: "waiting", TaskReady: "ready", TaskDispatched: "dispatched", TaskRunning: "running",
	TaskRetrying: "retrying", TaskSucceeded: "succeeded", TaskFailed: "failed", TaskCancelled: "cancelled", TaskExpired: "expired",
	TaskTimedOut: "timed_out", TaskSkipped: "skipped", TaskDead: "dead", TaskCircuitOpen: "circuit_open",
}

// String returns the state's name, such as "running".
func (s RunState) String() string { return nameOf(runNames, s) }

// String returns the state's name, such as "upstream_failed".
func (s StageState) String() string { return nameOf(stageNames, s) }

// String returns the outcome's name, such as "timed_out".
func (o Outcome) String() string { return nameOf(outcomeNames, o) }

// String returns the state's name, such as "circuit_open".
func (s TaskState) String() string { return nameOf(taskNames, s) }

// ParseRunState reads what RunState.String writes.
func ParseRunState(name string) (RunState, error) { return parse("run state", runNames, name) }

// ParseStageState reads what StageState.String writes.
func ParseStageState(name string) (StageState, error) { return parse("stage state", stageNames, name) }

// ParseOutcome reads what Outcome.String writes.
func ParseOutcome(name string) (Outcome, error) { return parse("outcome", outcomeNames, name) }

// ParseTaskState reads what TaskState.String writes.
func ParseTaskState(name string) (TaskState, error) { return parse("task state", taskNames, name) }

func nameOf[S ~int16 | ~uint8](names map[S]string, s S) string {
	if name, ok := names[s]; ok {
		return name
	}
	return fmt.Sprintf("unknown(%d)", s)
}

func parse[S ~int16 | ~uint8](what string, names map[S]string, name string) (S, error) {
	for s, n := range names {
		if n == name {
			return s, nil
		}
	}
	all := make([]S, 0, len(names))
	for s := range names {
		all = append(all, s)
	}
	slices.Sort(all)
	known := make([]string, len(all))
	for i, s := range all {
		known[i] = names[s]
	}
	return 0, fmt.Errorf("%s %q is unknown: use one of %q", what, name, known)
}
