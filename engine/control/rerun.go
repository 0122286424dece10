package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/internal/uuid7"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/stage"
)

// Rerun runs a stage and everything after it again, in a new generation: what they produced before stays in the
// results, what they still hold is dropped, and reports of it are refused. Their upstreams' outputs stay.
func (c *Client) Rerun(ctx context.Context, id uuid.UUID, stageName string, who Who) ([]Touch, error) {
	err := c.verb(ctx, id, func(_ pgx.Tx, q *db.Queries, run db.LockRunRow) error {
		v, err := c.cfg.Versions.Get(ctx, q, run.VersionID)
		if err != nil {
			return err
		}
		ord, ok := v.Graph.Ord(stageName)
		if !ok {
			return &Error{Code: CodeNotFound, Text: fmt.Sprintf("flow %s version %s has no stage %q", v.Flow, v.Hash, stageName)}
		}
		if stage.RunState(run.State) == stage.RunCancelling {
			return &Error{Code: CodeConflict, Text: fmt.Sprintf("run %s is being cancelled", id)}
		}
		if _, err := q.LockFlights(ctx, id); err != nil {
			return fmt.Errorf("locking the flights of run %s: %w", id, err)
		}
		stages, err := q.LockAllStages(ctx, id)
		if err != nil {
			return fmt.Errorf("locking the stages of run %s: %w", id, err)
		}
		all := func(stage.StageState) bool { return true }
		if err := reset(ctx, q, id, append(v.Graph.Descendants(ord), ord), all, stages); err != nil {
			return err
		}
		if err := reopen(ctx, q, id); err != nil {
			return err
		}
		return journal(ctx, q, id, "rerun", who, map[string]any{"stage": stageName})
	})
	if err != nil {
		return nil, err
	}
	c.cfg.Bus.ToEngine(hint.Engine{Runs: []uuid.UUID{id}, Look: true})
	return nil, nil
}

// reset starts the named stages over in their next generation and drops their live rows.
func reset(ctx context.Context, q *db.Queries, id uuid.UUID, ords []int, which func(stage.StageState) bool, stages []db.LockAllStagesRow) error {
	named := make(map[int16]bool, len(ords))
	for _, o := range ords {
		named[int16(o)] = true
	}
	var raise []int16
	for _, s := range stages {
		if named[s.Ord] && which(stage.StageState(s.State)) {
			raise = append(raise, s.Ord)
		}
	}
	if len(raise) == 0 {
		return nil
	}
	if err := q.DropFlights(ctx, db.DropFlightsParams{RunID: id, Ords: raise}); err != nil {
		return fmt.Errorf("dropping flights: %w", err)
	}
	if err := q.RaiseGeneration(ctx, db.RaiseGenerationParams{RunID: id, Ords: raise}); err != nil {
		return fmt.Errorf("raising the generation: %w", err)
	}
	if err := q.DropReady(ctx, db.DropReadyParams{RunID: id, Ords: raise}); err != nil {
		return fmt.Errorf("dropping ready work: %w", err)
	}
	if err := q.DropParked(ctx, db.DropParkedParams{RunID: id, Ords: raise}); err != nil {
		return fmt.Errorf("dropping parked work: %w", err)
	}
	return nil
}

func reopen(ctx context.Context, q *db.Queries, id uuid.UUID) error {
	if _, err := q.HoldDay(ctx, axsql.Day(uuid7.Time(id))); errors.Is(err, pgx.ErrNoRows) {
		return &Error{Code: CodeConflict, Text: fmt.Sprintf("run %s is past its retention and is being removed", id)}
	} else if err != nil {
		return fmt.Errorf("holding the day of run %s: %w", id, err)
	}
	if _, err := q.ReopenRun(ctx, db.ReopenRunParams{State: int16(stage.RunRunning), RunID: id, FromStates: numbers(stage.RunFrom(stage.RunRunning))}); err != nil {
		return fmt.Errorf("opening run %s again: %w", id, err)
	}
	return nil
}
