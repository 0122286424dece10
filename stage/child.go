package stage

import (
	"context"
	"errors"

	"github.com/google/uuid"
)

// ErrAwait is what a handler returns whose task waits for a run that it has started: it passes on what Env.Child returned. The
// task then holds no slot, and its handler is called again, with the same attempt, when that run has ended.
var ErrAwait = errors.New("the task waits for the run that it has started")

// ChildRequest asks for the run of a sub-flow. Use flow.Sub instead.
type ChildRequest struct {
	// Flow is the sub-flow's definition, a flow.Definition: untyped here because this package is below package flow.
	Flow any
	// Params are the run's, as JSON.
	Params []byte
	// Stage is the stage of the sub-flow whose output is asked for.
	Stage string
}

// ChildResult is how a sub-flow's run has ended.
type ChildResult struct {
	Run    uuid.UUID
	State  RunState
	Output []byte // JSON of the stage that was asked for; nil if it has none
}

// ChildEnv is what an Env also is that can run sub-flows.
type ChildEnv interface {
	// Child starts the run of a sub-flow, once for each attempt of the task however often it is called, and returns its
	// result once it has ended; until then the error is ErrAwait.
	Child(ctx context.Context, r ChildRequest) (ChildResult, error)
}
