package worker

import "errors"

// What context.Cause says when a worker has cancelled a handler's context.
var (
	// ErrTimeout says that the attempt took longer than the stage's Execution time-out.
	ErrTimeout = errors.New("the execution time-out has run out")
	// ErrSilent says that the handler has given no sign of life for longer than the stage's Heartbeat time-out.
	ErrSilent = errors.New("the heartbeat time-out has run out")
	// ErrCancelled says that the run was cancelled.
	ErrCancelled = errors.New("the run was cancelled")
	// ErrDraining says that the worker is ending and its grace has run out. No attempt is charged.
	ErrDraining = errors.New("the worker is ending")
	// ErrLost says that the task is not this worker's any more: its result will be refused.
	ErrLost = errors.New("the task was taken from this worker")
	// ErrReturned says that the handler has returned.
	ErrReturned = errors.New("the handler has returned")
)

// The codes of failures that AX itself tells, in the JSON of result.error.
const (
	CodeHandler       = "handler_error"     // the handler's error has no code of its own
	CodePanic         = "panic"             // the handler panicked, or ended its goroutine
	CodeTimeout       = "execution_timeout" // the attempt took too long
	CodeSilent        = "heartbeat_timeout" // the handler gave no sign of life for too long
	CodeInterrupted   = "interrupted"       // stopped by a cancel or by the worker's end
	CodeParams        = "params_invalid"    // the run's params are none that this code can read
	CodeSealed        = "payload_sealed"    // a sealed payload that could not be opened, or an output that could not be sealed
	CodeOutputLimit   = "output_too_large"
	CodeOutputInvalid = "output_invalid" // not JSON in UTF-8
	CodePlan          = "plan_invalid"
	CodeAwait         = "await_invalid"  // stage.ErrAwait from a handler whose task waits for nothing
	CodeRefused       = "result_refused" // the database would not store the result
	CodeTxEnded       = "transaction_ended"
)
