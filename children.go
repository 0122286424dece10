package axflow

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/engine/control"
	"axflow/stage"
	"axflow/worker"
)

// children starts the runs of sub-flows for a worker, as any other client starts runs.
type children struct{ client *control.Client }

var _ worker.Children = children{}

// StartChild registers the flow and starts its run in tx.
func (c children) StartChild(ctx context.Context, tx pgx.Tx, s worker.ChildStart) (uuid.UUID, error) {
	v, err := c.client.Register(ctx, s.Flow)
	if err != nil {
		return uuid.Nil, err
	}
	level := s.Level
	started, err := c.client.StartTx(ctx, tx, control.Batch{Trigger: "child"},
		[]control.Start{{Version: v, Params: s.Params, Level: &level, Queue: s.Queue}})
	if err != nil {
		return uuid.Nil, startFailure(err)
	}
	return started[0].Run, nil
}

// startFailure is what a refused start means for the attempt that asked for it: one for want of room is tried again
// when there may be some, any other is refused for ever.
func startFailure(err error) error {
	refused, ok := errors.AsType[*control.Error](err)
	switch {
	case !ok:
		return err
	case refused.Code == control.CodeOverloaded:
		return stage.RetryAfter(refused.RetryAfter, refusal{refused})
	default:
		return stage.Permanent(refusal{refused})
	}
}

// refusal is a control.Error with its code as package stage knows codes.
type refusal struct{ err *control.Error }

func (r refusal) Error() string { return r.err.Text }
func (r refusal) Unwrap() error { return r.err }
func (r refusal) Code() string  { return r.err.Code }
