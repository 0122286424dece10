package control

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/internal/uuid7"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/stage"
)

// Rerun runs a stage and everything after it again, in a new generation: what they produced before stays in the
// results, what they still hold is dropped, reports of it are refused, and runs that they have started are cancelled. Their
// upstreams' outputs stay. A stage that has not begun, with nothing after it that has, is left alone.
func (c *Client) Rerun(ctx context.Context, id uuid.UUID, stageName string, who Who) ([]Touch, error) {
	touched, d, err := c.act(ctx, id, "rerun", stageName, who, func(ctx context.Context, d *deed) error {
		ord, err := d.steer(ctx, stageName)
		if err != nil {
			return err
		}
		over := d.v.Graph.Descendants(int(ord))
		if !slices.ContainsFunc(over, func(o int) bool { return d.state(int16(o)) != stage.StageWaiting }) {
			return nil
		}
		if err := d.reset(ctx, over, func(lockedStage) bool { return true }); err != nil {
			return err
		}
		d.news.Look = true
		return d.reopenRun(ctx)
	})
	if err != nil {
		return nil, err
	}
	return touched, c.cancelChildren(ctx, d, who)
}

// RerunWhere is Rerun for every run that the filter picks; default states: all but cancelling.
func (c *Client) RerunWhere(ctx context.Context, f Filter, stageName string, who Who) (Sweep, error) {
	return c.sweep(ctx, f, []stage.RunState{stage.RunRunning, stage.RunSucceeded, stage.RunFailed, stage.RunCancelled},
		func(ctx context.Context, id uuid.UUID) ([]Touch, error) { return c.Rerun(ctx, id, stageName, who) })
}

// reset starts those of the named stages over that which says, in their next generation, and drops their live rows.
func (d *deed) reset(ctx context.Context, ords []int, which func(db.LockAllStagesRow) bool) error {
	id := d.run.RunID
	var raise, keep []int16
	for _, s := range d.stages {
		if slices.Contains(ords, int(s.Ord)) && which(s) {
			raise = append(raise, s.Ord)
		} else {
			keep = append(keep, s.Ord)
		}
	}
	if len(raise) == 0 {
		return nil
	}
	for _, f := range d.flights {
		if slices.Contains(raise, f.Ord) {
			d.workers[f.WorkerID] = true
		}
	}
	children, err := d.q.OpenChildren(ctx, db.OpenChildrenParams{ParentRun: id, Keep: keep})
	if err != nil {
		return fmt.Errorf("looking for runs that run %s has started: %w", id, err)
	}
	d.children = append(d.children, children...)
	if err := d.q.DropFlights(ctx, db.DropFlightsParams{RunID: id, Ords: raise}); err != nil {
		return fmt.Errorf("dropping flights: %w", err)
	}
	if err := d.q.RaiseGeneration(ctx, db.RaiseGenerationParams{RunID: id, Ords: raise}); err != nil {
		return fmt.Errorf("raising the generation: %w", err)
	}
	if err := d.q.DropReady(ctx, db.DropReadyParams{RunID: id, Ords: raise}); err != nil {
		return fmt.Errorf("dropping ready work: %w", err)
	}
	if err := d.q.DropParked(ctx, db.DropParkedParams{RunID: id, Ords: raise}); err != nil {
		return fmt.Errorf("dropping parked work: %w", err)
	}
	if err := d.q.DropStageExpiries(ctx, db.DropStageExpiriesParams{RunID: id, Ords: raise}); err != nil {
		return fmt.Errorf("dropping time budgets: %w", err)
	}
	for _, ord := range raise {
		s := &d.stages[ord]
		s.Generation++
		d.touch(ord, noIndices, "starts over in generation %d, it was %s", s.Generation, stage.StageState(s.State))
		s.State, s.ShardTotal, s.Reason = int16(stage.StageWaiting), nil, ""
		delete(d.retire, ord)
	}
	return nil
}

// reopenRun opens the run again if it has ended, and keeps its day of partitions.
func (d *deed) reopenRun(ctx context.Context) error {
	id := d.run.RunID
	if !stage.RunState(d.run.State).Ended() {
		return nil
	}
	if _, err := d.q.HoldDay(ctx, axsql.Day(uuid7.Time(id))); errors.Is(err, pgx.ErrNoRows) {
		return d.conflict("run %s is past its retention and is being removed", id)
	} else if err != nil {
		return fmt.Errorf("holding the day of run %s: %w", id, err)
	}
	if _, err := d.q.ReopenRun(ctx, db.ReopenRunParams{State: int16(stage.RunRunning), RunID: id, FromStates: numbers(stage.RunFrom(stage.RunRunning))}); err != nil {
		return fmt.Errorf("opening run %s again: %w", id, err)
	}
	d.touch(-1, noIndices, "is open again, it was %s", stage.RunState(d.run.State))
	d.run.State = int16(stage.RunRunning)
	return nil
}
