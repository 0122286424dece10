package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/stage"
)

// What is asked of a worker: ax.ask.kind.
const (
	askCancel   = 1 // drop a flight
	askGiveBack = 2 // give back what of it has not started
)

// noIndices is the set of a touch that concerns a whole stage or run.
var noIndices shard.Set

// Cancel cancels a run and the runs that it has started: what has not started never will, what runs is asked to stop (of
// uninterruptible stages what has started finishes). Teardowns whose setup has succeeded still run. With force everything
// that runs is parked at once and its report refused, and no teardown runs. Cancelling a run that is being cancelled
// changes nothing; one that has ended is CodeConflict. A paused run is resumed, so that it can come to its end.
func (c *Client) Cancel(ctx context.Context, id uuid.UUID, force bool, who Who) ([]Touch, error) {
	touched, d, err := c.act(ctx, id, "cancel", "", who, func(ctx context.Context, d *deed) error {
		return d.cancel(ctx, force)
	})
	var refused *Error
	if errors.As(err, &refused) && refused.Code == CodeConflict && !who.DryRun {
		// Children that a crash has kept from hearing of it.
		children, lookErr := c.q.OpenChildren(ctx, db.OpenChildrenParams{ParentRun: id})
		if lookErr == nil && len(children) > 0 {
			if run, runErr := c.Run(ctx, id); runErr == nil && stage.RunState(run.State) == stage.RunCancelled {
				return c.cancelAll(ctx, children, force, who)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	more, err := c.cancelAll(ctx, d.children, force, who)
	return append(touched, more...), err
}

// CancelWhere is Cancel for every run that the filter picks; default states: running (with force: cancelling too).
func (c *Client) CancelWhere(ctx context.Context, f Filter, force bool, who Who) (Sweep, error) {
	states := []stage.RunState{stage.RunRunning}
	if force {
		states = append(states, stage.RunCancelling)
	}
	return c.sweep(ctx, f, states, func(ctx context.Context, id uuid.UUID) ([]Touch, error) { return c.Cancel(ctx, id, force, who) })
}

// cancelChildren cancels the runs that a deed leaves without a parent that waits for them.
func (c *Client) cancelChildren(ctx context.Context, d *deed, who Who) error {
	_, err := c.cancelAll(ctx, d.children, false, who)
	return err
}

// cancelAll cancels runs, each in its own transaction; those that have ended meanwhile are none of its business.
func (c *Client) cancelAll(ctx context.Context, ids []uuid.UUID, force bool, who Who) ([]Touch, error) {
	var all []Touch
	for _, id := range ids {
		touched, err := c.Cancel(ctx, id, force, who)
		var refused *Error
		if err != nil && !errors.As(err, &refused) {
			return all, fmt.Errorf("cancelling the run %s that it has started: %w", id, err)
		}
		all = append(all, touched...)
	}
	return all, nil
}

// teardowns are the stages that a cancel without force leaves to flow.Resolve.
func (d *deed) teardowns() []int16 {
	var keep []int16
	for ord := range d.v.Graph.Stages {
		if d.v.Graph.Stages[ord].TeardownOf != nil {
			keep = append(keep, int16(ord))
		}
	}
	return keep
}

func (d *deed) cancel(ctx context.Context, force bool) error {
	id, state := d.run.RunID, stage.RunState(d.run.State)
	if state.Ended() {
		return d.conflict("run %s has %s already", id, state)
	}
	var keep []int16
	if !force {
		keep = d.teardowns()
	}
	children, err := d.q.OpenChildren(ctx, db.OpenChildrenParams{ParentRun: id, Keep: keep})
	if err != nil {
		return fmt.Errorf("looking for runs that run %s has started: %w", id, err)
	}
	d.children = children
	if state == stage.RunCancelling && !force {
		return nil
	}
	if state != stage.RunCancelling {
		if _, err := d.q.CancelRun(ctx, db.CancelRunParams{State: int16(stage.RunCancelling), RunID: id, FromStates: numbers(stage.RunFrom(stage.RunCancelling))}); err != nil {
			return fmt.Errorf("cancelling run %s: %w", id, err)
		}
		d.touch(-1, noIndices, "is cancelled")
	}
	if err := d.lock(ctx); err != nil {
		return err
	}
	if n, err := d.q.DeleteHold(ctx, db.DeleteHoldParams{Namespace: d.run.Namespace, Kind: string(HoldRun), Name: id.String()}); err != nil {
		return fmt.Errorf("resuming run %s: %w", id, err)
	} else if n > 0 {
		d.touch(-1, noIndices, "is resumed")
		d.news.Policies = true
	}
	decided, err := d.q.CancelStages(ctx, db.CancelStagesParams{RunID: id, Keep: keep})
	if err != nil {
		return fmt.Errorf("cancelling the stages of run %s: %w", id, err)
	}
	for _, s := range decided {
		if stage.StageState(s.State) == stage.StageCancelled {
			d.touch(s.Ord, noIndices, "never starts")
			d.news.Stages = append(d.news.Stages, d.key(s.Ord))
			continue
		}
		d.stages[s.Ord].State = s.State
		d.retire[s.Ord] = true
	}
	if err := d.cancelWork(ctx, keep, force); err != nil {
		return err
	}
	d.detail["force"] = force
	return nil
}

// cancelWork parks what of the run has not been handed out, and asks for the rest or parks it too.
func (d *deed) cancelWork(ctx context.Context, keep []int16, force bool) error {
	id := d.run.RunID
	byOrd := make(map[int16][]string)
	ready, err := d.q.ParkReady(ctx, db.ParkReadyParams{RunID: id, Reason: int16(span.Cancelled), Keep: keep})
	if err != nil {
		return fmt.Errorf("parking the ready work of run %s: %w", id, err)
	}
	for _, r := range ready {
		byOrd[r.Ord] = append(byOrd[r.Ord], r.Todo)
	}
	waiting, err := d.q.ReparkWaiting(ctx, db.ReparkWaitingParams{RunID: id, Reason: int16(span.Cancelled), Keep: keep})
	if err != nil {
		return fmt.Errorf("parking the waiting shards of run %s: %w", id, err)
	}
	for _, r := range waiting {
		byOrd[r.Ord] = append(byOrd[r.Ord], r.Todo)
	}
	if err := d.touchAll(byOrd, "cancelled"); err != nil {
		return err
	}
	if !force {
		workers, err := d.q.AskStages(ctx, db.AskStagesParams{RunID: id, Kind: askCancel, Keep: keep})
		if err != nil {
			return fmt.Errorf("asking the workers of run %s: %w", id, err)
		}
		for _, w := range workers {
			d.workers[w] = true
		}
		running := make(map[int16]int)
		for _, f := range d.flights {
			running[f.Ord]++
		}
		for ord, n := range running {
			if !contains(keep, ord) {
				d.touch(ord, noIndices, "what runs is asked to stop (%d pieces of work)", n)
			}
		}
		return nil
	}
	parked, err := d.q.ParkFlights(ctx, db.ParkFlightsParams{RunID: id, Reason: int16(span.Cancelled)})
	if err != nil {
		return fmt.Errorf("parking the flights of run %s: %w", id, err)
	}
	byOrd = make(map[int16][]string)
	for _, r := range parked {
		byOrd[r.Ord] = append(byOrd[r.Ord], r.Todo)
	}
	for _, f := range d.flights {
		d.workers[f.WorkerID] = true
		d.news.Left = append(d.news.Left, hint.Left{Flight: f.ID})
		d.retire[f.Ord] = true
	}
	return d.touchAll(byOrd, "cancelled by force")
}

// touchAll touches sets of indices by stage, in the order of the stages.
func (d *deed) touchAll(byOrd map[int16][]string, what string) error {
	for ord := range d.stages {
		texts := byOrd[int16(ord)]
		if len(texts) == 0 {
			continue
		}
		all, err := sets(texts)
		if err != nil {
			return err
		}
		d.touch(int16(ord), all, "%s", what)
		d.retire[int16(ord)] = true
	}
	return nil
}

func contains(ords []int16, ord int16) bool {
	for _, o := range ords {
		if o == ord {
			return true
		}
	}
	return false
}
