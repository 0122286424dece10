package shard

import (
	"context"
	"fmt"
	"iter"

	"axflow/stage"
)

// Stage is one sharded or aligned stage of a flow with params P: many tasks, each with an output O. Declare
// stages at start-up, from one goroutine; afterwards they are safe for concurrent use.
type Stage[P, O any] struct{ def *stage.Def }

// New declares a sharded stage. plan runs first, once its upstreams allow, and says how the work is divided;
// its answer is frozen. Then h runs for each shard, on any worker, in any order. Both may read outputs of
// upstreams, and both may be called again after a failure, an interruption or the loss of a worker. What is
// wrong with name, plan, h or opts is told by flow.New.
func New[P, O any](name string, plan func(context.Context, P) (Plan, error), h func(context.Context, P, Shard) (O, error), opts ...stage.Option) *Stage[P, O] {
	return NewFrom[P, O](name, plan, handlerOf(h), opts...)
}

// NewFrom declares a sharded stage from an untyped handler, whose output must be the JSON of an O; its Plan
// is filled in from plan. It is for adapters, such as the worker package's transactional handlers.
func NewFrom[P, O any](name string, plan func(context.Context, P) (Plan, error), handler stage.Handler, opts ...stage.Option) *Stage[P, O] {
	if plan != nil {
		handler.Plan = func(ctx context.Context, params any) (stage.Layout, error) {
			p, err := stage.ParamsOf[P](params)
			if err != nil {
				return stage.Layout{}, err
			}
			made, err := plan(ctx, p)
			if err != nil {
				return stage.Layout{}, err
			}
			return made.Layout(MaxShards)
		}
	}
	return &Stage[P, O]{stage.NewDef[P, O](name, stage.Sharded, handler, opts...)}
}

// Aligned declares a stage that has as many shards as up and whose shard i runs after up's shard i has
// succeeded, without waiting for the others. h gets the same Shard as up's handler, and up.Output(ctx) is
// the output of the same index. Further upstreams, named with After, must allow all of it to run.
func Aligned[P, U, O any](name string, up *Stage[P, U], h func(context.Context, P, Shard) (O, error), opts ...stage.Option) *Stage[P, O] {
	return AlignedFrom[P, U, O](name, up, handlerOf(h), opts...)
}

// AlignedFrom declares an aligned stage from an untyped handler. It is for adapters.
func AlignedFrom[P, U, O any](name string, up *Stage[P, U], handler stage.Handler, opts ...stage.Option) *Stage[P, O] {
	s := &Stage[P, O]{stage.NewDef[P, O](name, stage.Aligned, handler, opts...)}
	s.def.AlignTo(up.Def())
	return s
}

func handlerOf[P, O any](h func(context.Context, P, Shard) (O, error)) stage.Handler {
	if h == nil {
		return stage.Handler{}
	}
	return stage.Handler{Run: func(ctx context.Context, c stage.Call) ([]byte, error) {
		p, err := stage.ParamsOf[P](c.Params)
		if err != nil {
			return nil, err
		}
		o, err := h(ctx, p, FromCall(c))
		if err != nil {
			return nil, err
		}
		return stage.EncodeOutput(o)
	}}
}

// After makes the stage wait for up, by its trigger rule, and returns it. Calls add up. It panics once a
// flow was built from the stage.
func (s *Stage[P, O]) After(up ...stage.Node[P]) *Stage[P, O] {
	s.def.After(stage.Defs(up)...)
	return s
}

// Output returns, to the handler of a stage aligned to this one, the output of the same index. ctx is the
// handler's context. Other stages that come after this one use Outputs.
func (s *Stage[P, O]) Output(ctx context.Context) (O, error) { return stage.OutputOf[O](ctx, s.def) }

// Outputs streams this stage's shards that succeeded, with their outputs and in the order of their indices,
// to the handler of a stage that comes after it. They are read as the loop goes, so the whole need not fit
// in memory. An error in reading ends the loop early; the attempt then fails with it, whatever the handler
// returns. Outputs panics if ctx is not a handler's context, since the loop could not tell otherwise.
func (s *Stage[P, O]) Outputs(ctx context.Context) iter.Seq2[Shard, O] {
	env, ok := stage.EnvFrom(ctx)
	if !ok {
		panic(fmt.Errorf("reading the outputs of stage %q: %w", s.def.Name, stage.ErrNoEnv))
	}
	return func(yield func(Shard, O) bool) {
		for up, err := range env.Outputs(ctx, s.def) {
			var o O
			if err == nil {
				o, err = stage.DecodeOutput[O](up.Output)
			}
			if err != nil {
				env.Fail(fmt.Errorf("reading the outputs of stage %q: %w", s.def.Name, err))
				return
			}
			if !yield(fromUpstream(up), o) {
				return
			}
		}
	}
}

// Counts says how this stage's shards ended, to the handler of a stage that comes after it: with Tolerate, some may have
// failed although the stage succeeded.
func (s *Stage[P, O]) Counts(ctx context.Context) (stage.ShardCounts, error) {
	return stage.CountsOf(ctx, s.def)
}

// Def returns the untyped definition; nil for a nil stage.
func (s *Stage[P, O]) Def() *stage.Def {
	if s == nil {
		return nil
	}
	return s.def
}

// For does nothing; it makes P part of stage.Node.
func (s *Stage[P, O]) For(P) {}
