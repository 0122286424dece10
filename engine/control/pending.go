package control

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"axflow/shard"
)

var errPending = errors.New("not built yet")

// DeadLetters groups the dead letters by flow, stage and fingerprint, the largest group first.
func (c *Client) DeadLetters(ctx context.Context, f DeadFilter) ([]DeadGroup, error) {
	return nil, errPending
}

// DeadList lists dead letters, newest first.
func (c *Client) DeadList(ctx context.Context, f DeadFilter) ([]DeadLetter, error) {
	return nil, errPending
}

// Inspect tells all attempts of one index of a stage (0 of an unsharded one, -1: the plan).
func (c *Client) Inspect(ctx context.Context, id uuid.UUID, stageName string, index int) (Inspection, error) {
	return Inspection{}, errPending
}

// ReplayWhere has the leader replay the dead letters that the filter picks now, throttled and after a canary. A dry run returns what
// would be replayed. Nothing that matches is CodeNotFound.
func (c *Client) ReplayWhere(ctx context.Context, f DeadFilter, o ReplayOptions, who Who) (ReplayJob, error) {
	return ReplayJob{}, errPending
}

// Replays lists replays, newest first; most at most 1,000.
func (c *Client) Replays(ctx context.Context, most int) ([]ReplayJob, error) { return nil, errPending }

// ReplayJob is one replay.
func (c *Client) ReplayJob(ctx context.Context, id uuid.UUID) (ReplayJob, error) {
	return ReplayJob{}, errPending
}

// CancelReplay ends a replay; what it has moved goes on. One that has ended is left alone if it was cancelled, else CodeConflict.
func (c *Client) CancelReplay(ctx context.Context, id uuid.UUID, who Who) error { return errPending }

// Discard gives dead indices up: they count as failed and are no dead letters any more. An empty set is all of the stage's dead.
func (c *Client) Discard(ctx context.Context, id uuid.UUID, stageName string, set shard.Set, who Who) ([]Touch, error) {
	return nil, errPending
}

// DiscardWhere is Discard for the dead letters that the filter picks; one transaction a run.
func (c *Client) DiscardWhere(ctx context.Context, f DeadFilter, who Who) (Sweep, error) {
	return Sweep{}, errPending
}
