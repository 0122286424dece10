package stage

import (
	"context"
	"fmt"
)

// Node is a stage of a flow whose params are a P: a *Stage[P, O] or a sharded stage of package shard.
// Stages of flows with different params do not mix; the compiler sees to it.
type Node[P any] interface {
	// Def returns the untyped definition.
	Def() *Def
	// For does nothing; it makes P part of the interface.
	For(P)
}

// Stage is one unsharded stage of a flow with params P: one task, whose output is an O. Declare stages at
// start-up, from one goroutine; afterwards they are safe for concurrent use.
type Stage[P, O any] struct{ def *Def }

// New declares a stage. h runs with the run's params and returns the stage's output, which must encode to
// JSON; with struct{} for O there is none. h may be called again after a failure, an interruption or the
// loss of a worker, so its effects must bear repetition (Info.IdempotencyKey helps). It must return soon
// after its context is done. What is wrong with name, h or opts is told by flow.New.
func New[P, O any](name string, h func(context.Context, P) (O, error), opts ...Option) *Stage[P, O] {
	var handler Handler
	if h != nil {
		handler.Run = func(ctx context.Context, c Call) ([]byte, error) {
			p, err := ParamsOf[P](c.Params)
			if err != nil {
				return nil, err
			}
			o, err := h(ctx, p)
			if err != nil {
				return nil, err
			}
			return EncodeOutput(o)
		}
	}
	return NewFrom[P, O](name, handler, opts...)
}

// NewFrom declares a stage from an untyped handler, whose output must be the JSON of an O. It is for
// adapters, such as the worker package's transactional handlers; others use New.
func NewFrom[P, O any](name string, handler Handler, opts ...Option) *Stage[P, O] {
	return &Stage[P, O]{NewDef[P, O](name, Single, handler, opts...)}
}

// After makes the stage wait for up, by its trigger rule, and returns it. Calls add up. It panics once a
// flow was built from the stage.
func (s *Stage[P, O]) After(up ...Node[P]) *Stage[P, O] {
	s.def.After(Defs(up)...)
	return s
}

// Output returns the stage's output to the handler of a stage that comes after it. ctx is the handler's
// context. The errors are, wrapped, ErrNoEnv, ErrNotUpstream and ErrNoOutput, and those of reading the
// database.
func (s *Stage[P, O]) Output(ctx context.Context) (O, error) { return OutputOf[O](ctx, s.def) }

// Def returns the untyped definition; nil for a nil stage.
func (s *Stage[P, O]) Def() *Def {
	if s == nil {
		return nil
	}
	return s.def
}

// For does nothing; it makes P part of Node.
func (s *Stage[P, O]) For(P) {}

// OutputOf returns the output of up, which must be an O, as Stage.Output does. It is for adapters.
func OutputOf[O any](ctx context.Context, up *Def) (O, error) {
	var none O
	env, ok := EnvFrom(ctx)
	if !ok {
		return none, fmt.Errorf("reading the output of stage %q: %w", up.Name, ErrNoEnv)
	}
	b, err := env.Output(ctx, up)
	if err != nil {
		return none, fmt.Errorf("reading the output of stage %q: %w", up.Name, err)
	}
	o, err := DecodeOutput[O](b)
	if err != nil {
		return none, fmt.Errorf("reading the output of stage %q: %w", up.Name, err)
	}
	return o, nil
}

// Defs returns the definitions of nodes, with nil for a nil node. It is for adapters.
func Defs[P any](nodes []Node[P]) []*Def {
	defs := make([]*Def, len(nodes))
	for i, n := range nodes {
		if n != nil {
			defs[i] = n.Def()
		}
	}
	return defs
}
