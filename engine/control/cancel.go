package control

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/stage"
)

// askCancel is the ask that makes a worker drop a flight.
const askCancel = 1

// Cancel cancels a run: what has not started never will, what runs is asked to stop. With force, what runs is
// parked at once and its report refused. Cancelling a run that is being cancelled changes nothing; one that has
// ended is CodeConflict.
func (c *Client) Cancel(ctx context.Context, id uuid.UUID, force bool, who Who) ([]Touch, error) {
	var workers []uuid.UUID
	err := c.verb(ctx, id, func(tx pgx.Tx, q *db.Queries, run db.LockRunRow) error {
		state := stage.RunState(run.State)
		if state.Ended() {
			return &Error{Code: CodeConflict, Text: fmt.Sprintf("run %s has %s already", id, state)}
		}
		if state == stage.RunCancelling && !force {
			return nil
		}
		if _, err := q.CancelRun(ctx, db.CancelRunParams{State: int16(stage.RunCancelling), RunID: id, FromStates: numbers(stage.RunFrom(stage.RunCancelling))}); err != nil {
			return fmt.Errorf("cancelling run %s: %w", id, err)
		}
		flights, err := q.LockFlights(ctx, id)
		if err != nil {
			return fmt.Errorf("locking the flights of run %s: %w", id, err)
		}
		if _, err := q.LockAllStages(ctx, id); err != nil {
			return fmt.Errorf("locking the stages of run %s: %w", id, err)
		}
		if err := q.CancelStages(ctx, id); err != nil {
			return fmt.Errorf("cancelling the stages of run %s: %w", id, err)
		}
		if err := q.ParkReady(ctx, db.ParkReadyParams{RunID: id, Reason: int16(span.Cancelled)}); err != nil {
			return fmt.Errorf("parking the ready work of run %s: %w", id, err)
		}
		if err := q.ReparkAligned(ctx, db.ReparkAlignedParams{Reason: int16(span.Cancelled), RunID: id, Ord: -1}); err != nil {
			return fmt.Errorf("parking the aligned shards of run %s: %w", id, err)
		}
		if force {
			if err := q.ParkFlights(ctx, db.ParkFlightsParams{RunID: id, Reason: int16(span.Cancelled)}); err != nil {
				return fmt.Errorf("parking the flights of run %s: %w", id, err)
			}
		} else if err := q.AskFlights(ctx, db.AskFlightsParams{Kind: askCancel, RunID: id}); err != nil {
			return fmt.Errorf("asking the workers of run %s: %w", id, err)
		}
		for _, f := range flights {
			workers = append(workers, f.WorkerID)
		}
		return journal(ctx, q, id, "cancel", who, map[string]any{"force": force})
	})
	if err != nil {
		return nil, err
	}
	for _, w := range workers {
		c.cfg.Bus.ToWorker(w, hint.Worker{Asks: true})
	}
	return nil, c.settle(ctx, id)
}

// settle decides the stages that a verb left with nothing to do, and has the engine look at the run.
func (c *Client) settle(ctx context.Context, id uuid.UUID) error {
	rows, err := c.q.IdleStages(ctx, []uuid.UUID{id})
	if err != nil {
		return fmt.Errorf("looking for idle stages of run %s: %w", id, err)
	}
	if len(rows) > 0 {
		keys := make([]span.StageKey, len(rows))
		for i, r := range rows {
			keys[i] = span.StageKey{Run: r.RunID, Ord: r.Ord}
		}
		if _, err := span.Retire(ctx, c.cfg.Pool, keys, nil); err != nil {
			return err
		}
	}
	c.cfg.Bus.ToEngine(hint.Engine{Runs: []uuid.UUID{id}})
	return nil
}
