package control

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/stage"
)

// Retry gives a run's failed work another chance: the dead indices of failed stages get as many further attempts
// as the stage's policy has, the plan and what succeeded stay, and what failed with them is decided anew. It
// returns how many indices will run again; 0 is CodeConflict.
func (c *Client) Retry(ctx context.Context, id uuid.UUID, who Who) ([]Touch, error) {
	retried := 0
	var news hint.Engine
	err := c.verb(ctx, id, func(tx pgx.Tx, q *db.Queries, run db.LockRunRow) error {
		v, err := c.cfg.Versions.Get(ctx, q, run.VersionID)
		if err != nil {
			return err
		}
		if stage.RunState(run.State) == stage.RunCancelling {
			return &Error{Code: CodeConflict, Text: fmt.Sprintf("run %s is being cancelled", id)}
		}
		stages, err := q.LockAllStages(ctx, id)
		if err != nil {
			return fmt.Errorf("locking the stages of run %s: %w", id, err)
		}
		var doomed []int
		for _, s := range stages {
			if stage.StageState(s.State) != stage.StageFailed {
				continue
			}
			n, ready, err := c.revive(ctx, tx, q, id, s, v.Graph.Stages[s.Ord].Retry.MaxAttempts)
			if err != nil {
				return err
			}
			retried += n
			news.Ready = append(news.Ready, ready...)
			doomed = append(doomed, v.Graph.Descendants(int(s.Ord))...)
		}
		if retried == 0 {
			return &Error{Code: CodeConflict, Text: fmt.Sprintf("run %s has no failed work to retry", id)}
		}
		if err := reset(ctx, q, id, doomed, func(s stage.StageState) bool {
			return s == stage.StageUpstreamFailed || s == stage.StageSkipped
		}, stages); err != nil {
			return err
		}
		if err := reopen(ctx, q, id); err != nil {
			return err
		}
		return journal(ctx, q, id, "retry", who, map[string]any{"indices": retried})
	})
	if err != nil {
		return nil, err
	}
	news.Runs = []uuid.UUID{id}
	c.cfg.Bus.ToEngine(news)
	return []Touch{{Run: id, Ord: -1, Indices: shard.Span(0, retried)}}, nil
}

// revive moves a failed stage's dead indices back to ready.
func (c *Client) revive(ctx context.Context, conn span.Conn, q *db.Queries, id uuid.UUID, s db.LockAllStagesRow, attempts int) (int, []span.Ready, error) {
	parked, err := q.ParkedOf(ctx, db.ParkedOfParams{RunID: id, Ord: s.Ord})
	if err != nil {
		return 0, nil, fmt.Errorf("reading the dead indices of stage %d: %w", s.Ord, err)
	}
	n, most := 0, int16(0)
	rows := make(map[uuid.UUID]shard.Set)
	plan := false
	for _, p := range parked {
		reason := span.ParkReason(p.Reason)
		if p.Generation != s.Generation || reason != span.Dead && reason != span.Poison {
			continue
		}
		set, err := shard.ParseSet(p.Todo)
		if err != nil {
			return 0, nil, fmt.Errorf("reading parked row %s: %w", p.ID, err)
		}
		rows[p.ID] = set
		n += set.Len()
		most = max(most, p.Attempt)
		plan = plan || set.Min() == span.PlanIndex
	}
	if n == 0 {
		return 0, nil, nil
	}
	to := stage.StageRunning
	if plan {
		to = stage.StagePlanning
	}
	if err := q.RaiseAttempts(ctx, db.RaiseAttemptsParams{MaxAttempts: most + int16(min(attempts, 1000)), State: int16(to), RunID: id, Ord: s.Ord,
		Generation: s.Generation, FromStates: []int16{int16(stage.StageFailed)}}); err != nil {
		return 0, nil, fmt.Errorf("opening stage %d again: %w", s.Ord, err)
	}
	ready, err := span.Revive(ctx, conn, span.StageKey{Run: id, Ord: s.Ord}, s.Generation, to, rows)
	return n, ready, err
}
