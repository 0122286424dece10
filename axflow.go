// Package axflow is AX in one import: a workflow engine for data teams, on PostgreSQL.
//
// A flow is a graph of stages written in Go (packages stage, shard and flow). Main turns a program with flows
// into one with the commands dev, worker and run; Open embeds AX into a program of one's own; Start, Wait and
// Output start runs and read their results with the types of the flow.
package axflow

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// Who says who acts, and why; see control.Who.
type Who = control.Who

// Client starts runs, looks at them and steers them; see control.Client.
type Client = control.Client

// Option says more about a start.
type Option func(*starting)

type starting struct {
	start control.Start
	batch control.Batch
}

// Key makes a start idempotent: the same key of the same flow again, within a week, returns the same run.
func Key(key string) Option { return func(s *starting) { s.start.Key = key } }

// At sets the run's level; stages that declare their own keep it. Default stage.P2.
func At(level stage.Level) Option { return func(s *starting) { s.start.Level = &level } }

// Queue sets the run's queue. Default "default".
func Queue(name string) Option { return func(s *starting) { s.start.Queue = name } }

// Tags mark the run for searching.
func Tags(tags map[string]string) Option { return func(s *starting) { s.start.Tags = tags } }

// After keeps the run from starting for a while.
func After(d time.Duration) Option { return func(s *starting) { s.batch.Delay = d } }

// Trigger says what started the run. Default "api".
func Trigger(what string) Option { return func(s *starting) { s.batch.Trigger = what } }

// Start starts one run of a flow and returns its id.
func Start[P any](ctx context.Context, c *Client, f *flow.Flow[P], params P, opts ...Option) (uuid.UUID, error) {
	ids, err := StartMany(ctx, c, f, []P{params}, opts...)
	if err != nil {
		return uuid.Nil, err
	}
	return ids[0], nil
}

// StartMany starts one run for each params, all or none, in one transaction. With Key, run i gets the key
// "<key>/<i>" when there is more than one.
func StartMany[P any](ctx context.Context, c *Client, f *flow.Flow[P], params []P, opts ...Option) ([]uuid.UUID, error) {
	batch, starts, err := prepare(ctx, c, f, params, opts)
	if err != nil || len(starts) == 0 {
		return nil, err
	}
	started, err := c.Start(ctx, batch, starts)
	return idsOf(started), err
}

// StartTx is StartMany inside the caller's transaction: the runs exist if and when it commits.
func StartTx[P any](ctx context.Context, tx pgx.Tx, c *Client, f *flow.Flow[P], params []P, opts ...Option) ([]uuid.UUID, error) {
	batch, starts, err := prepare(ctx, c, f, params, opts)
	if err != nil || len(starts) == 0 {
		return nil, err
	}
	started, err := c.StartTx(ctx, tx, batch, starts)
	return idsOf(started), err
}

func prepare[P any](ctx context.Context, c *Client, f *flow.Flow[P], params []P, opts []Option) (control.Batch, []control.Start, error) {
	v, err := c.Register(ctx, f)
	if err != nil {
		return control.Batch{}, nil, err
	}
	s := starting{batch: control.Batch{Trigger: "api"}}
	for _, o := range opts {
		o(&s)
	}
	starts := make([]control.Start, len(params))
	for i, p := range params {
		starts[i] = s.start
		starts[i].Version = v
		if starts[i].Params, err = f.Encode(p); err != nil {
			return control.Batch{}, nil, fmt.Errorf("encoding the params of start %d: %w", i, err)
		}
		if s.start.Key != "" && len(params) > 1 {
			starts[i].Key = fmt.Sprintf("%s/%d", s.start.Key, i)
		}
	}
	return s.batch, starts, nil
}

func idsOf(started []control.Started) []uuid.UUID {
	ids := make([]uuid.UUID, len(started))
	for i, s := range started {
		ids[i] = s.Run
	}
	return ids
}

// RunError says that a run has ended otherwise than by succeeding.
type RunError struct {
	Run   uuid.UUID
	State stage.RunState
}

func (e *RunError) Error() string { return fmt.Sprintf("run %s has %s", e.Run, e.State) }

// Wait waits for a run's end. It returns nil when the run succeeded and a *RunError when it did not.
func Wait(ctx context.Context, c *Client, id uuid.UUID) error {
	state, err := c.Wait(ctx, id)
	if err != nil {
		return fmt.Errorf("waiting for run %s: %w", id, err)
	}
	if state != stage.RunSucceeded {
		return &RunError{id, state}
	}
	return nil
}

// Output returns what a stage of a run returned.
func Output[P, O any](ctx context.Context, c *Client, id uuid.UUID, s *stage.Stage[P, O]) (O, error) {
	return output[O](ctx, c, id, s.Def().Name, 0)
}

// ShardOutput returns what one shard of a stage of a run returned.
func ShardOutput[P, O any](ctx context.Context, c *Client, id uuid.UUID, s *shard.Stage[P, O], index int) (O, error) {
	return output[O](ctx, c, id, s.Def().Name, index)
}

func output[O any](ctx context.Context, c *Client, id uuid.UUID, name string, index int) (O, error) {
	var o O
	text, err := c.Output(ctx, id, name, index)
	if err != nil || text == nil {
		return o, err
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, fmt.Errorf("decoding the output of stage %s: %w", name, err)
	}
	return o, nil
}
