package stage

import (
	"context"
	"fmt"
	"reflect"
	"slices"
)

// When makes the stage conditional: cond runs on a worker when the stage's turn has come, before its handler or its plan, and
// may read outputs of upstreams. False skips the stage, and its dependents go by their trigger rules; an error is a failed
// attempt. P must be the flow's params type. Of several conditions all must hold.
func When[P any](cond func(context.Context, P) (bool, error)) Option {
	return option(func(d *Def) {
		switch {
		case cond == nil:
			d.fault("When was given no function: give one, or remove it")
			return
		case d.Kind == Aligned:
			d.fault("When does not fit an aligned stage, whose shards follow shards: put it on the stage that it is aligned to")
			return
		case d.ParamsType != reflect.TypeFor[P]():
			d.fault("the condition takes %v, the stage's params are %v: they must be the same", reflect.TypeFor[P](), d.ParamsType)
			return
		}
		before := d.Handler.When
		d.Handler.When = func(ctx context.Context, params any) (bool, error) {
			if before != nil {
				if ok, err := before(ctx, params); err != nil || !ok {
					return ok, err
				}
			}
			p, err := ParamsOf[P](params)
			if err != nil {
				return false, err
			}
			return cond(ctx, p)
		}
		d.Conditional = true
	})
}

// OnBranch makes the stage run only if the stage chooser, which must come before it, has returned one of the names: a
// branch. The stages of the other branches are skipped, and so is what waits for them by AllSuccess; a stage that joins
// branches again takes the rule NoneFailedMinOneSuccess.
func OnBranch[P any](chooser *Stage[P, string], names ...string) Option {
	if chooser == nil || len(names) == 0 {
		return option(func(d *Def) { d.fault("OnBranch needs the stage that chooses and at least one name") })
	}
	return When(func(ctx context.Context, _ P) (bool, error) {
		chosen, err := chooser.Output(ctx)
		if err != nil {
			return false, fmt.Errorf("asking which branch was chosen: %w", err)
		}
		return slices.Contains(names, chosen), nil
	})
}
