package flow

import (
	"context"
	"encoding/json"
	"fmt"

	"axflow/stage"
)

// Sub declares a stage that runs a sub-flow: it starts a run of child with the params that params computes, waits for it
// without holding a slot, and takes the output of result, an unsharded stage of child, as its own. params may read outputs of upstreams;
// it is called again when the run has ended, and its answer counts only the first time. Cancelling the parent's run cancels the
// child's. A child that does not succeed fails the attempt; the stage is tried once unless a Retry says otherwise, and each
// further attempt starts a run of its own.
func Sub[P, CP, O any](name string, child *Flow[CP], result *stage.Stage[CP, O], params func(context.Context, P) (CP, error), opts ...stage.Option) *stage.Stage[P, O] {
	opts = append([]stage.Option{stage.Retry{MaxAttempts: 1}}, opts...)
	if child == nil || result == nil || params == nil {
		s := stage.NewFrom[P, O](name, stage.Handler{}, opts...)
		s.Def().Faults = append(s.Def().Faults, fmt.Errorf("a sub-flow needs its flow, the stage whose output it takes, and a function for its params"))
		return s
	}
	handler := stage.Handler{Run: func(ctx context.Context, c stage.Call) ([]byte, error) {
		p, err := stage.ParamsOf[P](c.Params)
		if err != nil {
			return nil, err
		}
		env, ok := stage.EnvFrom(ctx)
		runner, can := env.(stage.ChildEnv)
		if !ok || !can {
			return nil, fmt.Errorf("running flow %q from stage %q: %w", child.Name(), name, stage.ErrNoEnv)
		}
		cp, err := params(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("computing the params of flow %q: %w", child.Name(), err)
		}
		b, err := json.Marshal(cp)
		if err != nil {
			return nil, stage.Permanent(fmt.Errorf("encoding the params of flow %q: %w", child.Name(), err))
		}
		r, err := runner.Child(ctx, stage.ChildRequest{Flow: child, Params: b, Stage: result.Def().Name})
		if err != nil {
			return nil, err
		}
		if r.State != stage.RunSucceeded {
			return nil, &ChildError{Flow: child.Name(), Result: r}
		}
		return r.Output, nil
	}}
	s := stage.NewFrom[P, O](name, handler, opts...)
	s.Def().Child = child.Name()
	if _, ok := child.Graph().Ord(result.Def().Name); !ok {
		s.Def().Faults = append(s.Def().Faults, fmt.Errorf("flow %q has no stage %q: take the output of one of its own", child.Name(), result.Def().Name))
	}
	return s
}

// ChildError says that a sub-flow's run did not succeed.
type ChildError struct {
	Flow   string
	Result stage.ChildResult
}

// Error names the run and how it ended.
func (e *ChildError) Error() string {
	return fmt.Sprintf("run %s of flow %q has %v", e.Result.Run, e.Flow, e.Result.State)
}

// Code returns "child_failed".
func (e *ChildError) Code() string { return "child_failed" }
