package control

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"axflow/shard"
)

var errPending = errors.New("not built yet")

// Pause holds a queue, a flow or a run: nothing of it is handed out until Resume, what has not started is taken back from the
// workers, and what runs goes on. Pausing what is paused changes nothing. A run that has ended is CodeConflict.
func (c *Client) Pause(ctx context.Context, kind HoldKind, name string, who Who) ([]Touch, error) {
	return nil, errPending
}

// Resume ends what Pause began. Resuming what is not paused changes nothing.
func (c *Client) Resume(ctx context.Context, kind HoldKind, name string, who Who) ([]Touch, error) {
	return nil, errPending
}

// PauseWhere is Pause for every run that the filter picks; default states: running and cancelling.
func (c *Client) PauseWhere(ctx context.Context, f Filter, who Who) (Sweep, error) {
	return Sweep{}, errPending
}

// ResumeWhere is Resume for every run that the filter picks; default states: running and cancelling.
func (c *Client) ResumeWhere(ctx context.Context, f Filter, who Who) (Sweep, error) {
	return Sweep{}, errPending
}

// Holds lists what is paused.
func (c *Client) Holds(ctx context.Context) ([]Hold, error) { return nil, errPending }

// SetQueue configures a queue; what the settings leave out becomes the default. A Version that is not the stored one is CodeConflict.
func (c *Client) SetQueue(ctx context.Context, q QueueConfig, who Who) ([]Touch, error) {
	return nil, errPending
}

// ClearQueue takes a queue's settings back to the defaults. One without settings changes nothing.
func (c *Client) ClearQueue(ctx context.Context, name string, who Who) ([]Touch, error) {
	return nil, errPending
}

// Queues lists the queues that are configured, held, or hold work.
func (c *Client) Queues(ctx context.Context) ([]Queue, error) { return nil, errPending }

// Queue is one queue; a name that nobody uses is a queue with the defaults and nothing in it.
func (c *Client) Queue(ctx context.Context, name string) (Queue, error) { return Queue{}, errPending }

// SetPool sets how many slots each worker has for a handler, from 1 to MaxPool; workers follow with their next heartbeat.
func (c *Client) SetPool(ctx context.Context, flowName, stageName string, slots int, who Who) ([]Touch, error) {
	return nil, errPending
}

// ClearPool leaves the number of slots to the workers again.
func (c *Client) ClearPool(ctx context.Context, flowName, stageName string, who Who) ([]Touch, error) {
	return nil, errPending
}

// Pools lists the pools of all live workers, by handler, and what operators have set.
func (c *Client) Pools(ctx context.Context) ([]Pool, error) { return nil, errPending }

// Circuits lists the circuit breakers that are not closed or have been opened before.
func (c *Client) Circuits(ctx context.Context) ([]Circuit, error) { return nil, errPending }

// OpenCircuit opens a circuit by hand: its work waits until CloseCircuit. One that is open by hand already is left alone.
func (c *Client) OpenCircuit(ctx context.Context, kind CircuitKind, name string, who Who) ([]Touch, error) {
	return nil, errPending
}

// CloseCircuit closes a circuit, whoever opened it. One that is closed is left alone.
func (c *Client) CloseCircuit(ctx context.Context, kind CircuitKind, name string, who Who) ([]Touch, error) {
	return nil, errPending
}

// Settings lists the kill switches.
func (c *Client) Settings(ctx context.Context) ([]Setting, error) { return nil, errPending }

// SetSetting switches a part of the engine on or off; a name that is none is CodeInvalid, and the error lists all.
func (c *Client) SetSetting(ctx context.Context, name string, on bool, who Who) ([]Touch, error) {
	return nil, errPending
}

// Workers lists the namespace's workers.
func (c *Client) Workers(ctx context.Context) ([]Worker, error) { return nil, errPending }

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

// Audit lists who did what, newest first.
func (c *Client) Audit(ctx context.Context, f AuditFilter) ([]AuditLine, error) {
	return nil, errPending
}

// Journal lists what happened to a run that its columns cannot say, oldest first.
func (c *Client) Journal(ctx context.Context, id uuid.UUID) ([]JournalLine, error) {
	return nil, errPending
}
