package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/stage"
)

// Pause holds a queue, a flow or a run: nothing of it is handed out until Resume, what has not started is taken back from the
// workers, and what runs goes on. Pausing what is paused changes nothing. A run that has ended is CodeConflict.
func (c *Client) Pause(ctx context.Context, kind HoldKind, name string, who Who) ([]Touch, error) {
	if kind == HoldRun {
		id, err := runID(name)
		if err != nil {
			return nil, err
		}
		return c.pauseRun(ctx, id, who)
	}
	if err := c.holdable(ctx, kind, name); err != nil {
		return nil, err
	}
	var workers []uuid.UUID
	touched, err := c.admin(ctx, "pause", string(kind)+"/"+name, who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		n, err := q.InsertHold(ctx, db.InsertHoldParams{Namespace: c.cfg.Namespace, Kind: string(kind), Name: name, Actor: who.Actor, Reason: who.Reason})
		if err != nil || n == 0 {
			return nil, nil, err
		}
		if kind == HoldQueue {
			workers, err = q.AskQueue(ctx, db.AskQueueParams{Namespace: c.cfg.Namespace, Queue: name})
		} else {
			workers, err = q.AskFlow(ctx, db.AskFlowParams{Namespace: c.cfg.Namespace, Flow: name})
		}
		return says(fmt.Sprintf("%s %s is paused", kind, name)), nil, err
	})
	if err != nil {
		return nil, fmt.Errorf("pausing %s %s: %w", kind, name, err)
	}
	if !who.DryRun && len(touched) > 0 {
		for _, w := range workers {
			c.cfg.Bus.ToWorker(w, hint.Worker{Asks: true})
		}
	}
	return touched, nil
}

// Resume ends what Pause began. Resuming what is not paused changes nothing.
func (c *Client) Resume(ctx context.Context, kind HoldKind, name string, who Who) ([]Touch, error) {
	if kind == HoldRun {
		id, err := runID(name)
		if err != nil {
			return nil, err
		}
		return c.resumeRun(ctx, id, who)
	}
	if kind != HoldQueue && kind != HoldFlow {
		return nil, badKind(kind)
	}
	if err := storable(named{"", "the name", name}); err != nil {
		return nil, err
	}
	touched, err := c.admin(ctx, "resume", string(kind)+"/"+name, who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		n, err := q.DeleteHold(ctx, db.DeleteHoldParams{Namespace: c.cfg.Namespace, Kind: string(kind), Name: name})
		if err != nil || n == 0 {
			return nil, nil, err
		}
		return says(fmt.Sprintf("%s %s is resumed", kind, name)), nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("resuming %s %s: %w", kind, name, err)
	}
	if len(touched) == 0 {
		return nil, c.holdable(ctx, kind, name)
	}
	return touched, nil
}

// PauseWhere is Pause for every run that the filter picks; default states: running and cancelling.
func (c *Client) PauseWhere(ctx context.Context, f Filter, who Who) (Sweep, error) {
	return c.sweep(ctx, f, []stage.RunState{stage.RunRunning, stage.RunCancelling},
		func(ctx context.Context, id uuid.UUID) ([]Touch, error) { return c.pauseRun(ctx, id, who) })
}

// ResumeWhere is Resume for every run that the filter picks; default states: running and cancelling.
func (c *Client) ResumeWhere(ctx context.Context, f Filter, who Who) (Sweep, error) {
	return c.sweep(ctx, f, []stage.RunState{stage.RunRunning, stage.RunCancelling},
		func(ctx context.Context, id uuid.UUID) ([]Touch, error) { return c.resumeRun(ctx, id, who) })
}

// Holds lists what is paused.
func (c *Client) Holds(ctx context.Context) ([]Hold, error) {
	rows, err := c.q.HoldsOf(ctx, c.cfg.Namespace)
	if err != nil {
		return nil, fmt.Errorf("reading what is paused: %w", err)
	}
	holds := make([]Hold, len(rows))
	for i, r := range rows {
		holds[i] = Hold{Kind: HoldKind(r.Kind), Name: r.Name, Actor: r.Actor, Reason: r.Reason, HeldAt: r.HeldAt}
	}
	return holds, nil
}

func (c *Client) pauseRun(ctx context.Context, id uuid.UUID, who Who) ([]Touch, error) {
	touched, _, err := c.act(ctx, id, "pause", "", who, func(ctx context.Context, d *deed) error {
		if state := stage.RunState(d.run.State); state.Ended() {
			return d.conflict("run %s has %s: there is nothing to pause", id, state)
		}
		n, err := d.q.InsertHold(ctx, db.InsertHoldParams{Namespace: d.run.Namespace, Kind: string(HoldRun), Name: id.String(), Actor: who.Actor, Reason: who.Reason})
		if err != nil {
			return fmt.Errorf("pausing run %s: %w", id, err)
		}
		if n == 0 {
			return nil
		}
		d.touch(-1, noIndices, "is paused")
		d.news.Policies = true
		workers, err := d.q.AskStages(ctx, db.AskStagesParams{RunID: id, Kind: askGiveBack})
		if err != nil {
			return fmt.Errorf("asking the workers of run %s: %w", id, err)
		}
		for _, w := range workers {
			d.workers[w] = true
		}
		return nil
	})
	return touched, err
}

func (c *Client) resumeRun(ctx context.Context, id uuid.UUID, who Who) ([]Touch, error) {
	touched, _, err := c.act(ctx, id, "resume", "", who, func(ctx context.Context, d *deed) error {
		n, err := d.q.DeleteHold(ctx, db.DeleteHoldParams{Namespace: d.run.Namespace, Kind: string(HoldRun), Name: id.String()})
		if err != nil {
			return fmt.Errorf("resuming run %s: %w", id, err)
		}
		if n == 0 {
			return nil
		}
		d.touch(-1, noIndices, "is resumed")
		d.news.Policies = true
		if d.news.IDs, err = d.q.ReadyIDs(ctx, id); err != nil {
			return fmt.Errorf("reading the ready work of run %s: %w", id, err)
		}
		return nil
	})
	return touched, err
}

// holdable refuses what cannot be paused.
func (c *Client) holdable(ctx context.Context, kind HoldKind, name string) error {
	switch kind {
	case HoldQueue:
		return queueName(name)
	case HoldFlow:
		if err := storable(named{"", "the flow's name", name}); err != nil {
			return err
		}
		_, err := c.q.NewestVersion(ctx, db.NewestVersionParams{Namespace: c.cfg.Namespace, Name: name})
		if errors.Is(err, pgx.ErrNoRows) {
			return &Error{Code: CodeNotFound, Text: fmt.Sprintf("no flow %q is registered in namespace %q: check the name", name, c.cfg.Namespace)}
		}
		if err != nil {
			return fmt.Errorf("looking for flow %s: %w", name, err)
		}
		return nil
	default:
		return badKind(kind)
	}
}

func badKind(kind HoldKind) error {
	return &Error{Code: CodeInvalid, Text: fmt.Sprintf("%q cannot be paused: use %q, %q or %q", kind, HoldQueue, HoldFlow, HoldRun)}
}

func runID(name string) (uuid.UUID, error) {
	id, err := uuid.Parse(name)
	if err != nil {
		return id, &Error{Code: CodeInvalid, Text: fmt.Sprintf("%q is no run's id: give all of its 36 characters", name)}
	}
	return id, nil
}
