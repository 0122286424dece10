package worker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

// head is how a sharded or aligned stage was cut. It is frozen by the plan and holds for one generation: a rerun
// of the origin is a rerun of what is aligned to it.
type head struct {
	generation int16
	total      int
	cut        *stage.Cut
	items      int16 // generation of the origin, under which items are stored
}

// readHead reads a stage's head, from memory if it is of the generation; 0 takes the newest.
func (w *Worker) readHead(ctx context.Context, q *db.Queries, run uuid.UUID, h *handling, generation int16) (head, error) {
	key := span.StageKey{Run: run, Ord: int16(h.ord)}
	if generation > 0 {
		if got, ok := w.heads.get(key); ok && got.generation == generation {
			return got, nil
		}
	}
	row, err := q.StageHead(ctx, db.StageHeadParams{RunID: run, Ord: key.Ord})
	if err != nil {
		return head{}, fmt.Errorf("reading stage %d of run %s: %w", h.ord, run, err)
	}
	got := head{generation: row.Generation, items: row.Generation}
	if row.ShardTotal != nil {
		got.total = int(*row.ShardTotal)
	}
	frozen := row.ShardTotal != nil
	if h.origin != h.ord && h.origin >= 0 {
		if row, err = q.StageHead(ctx, db.StageHeadParams{RunID: run, Ord: int16(h.origin)}); err != nil {
			return head{}, fmt.Errorf("reading stage %d of run %s: %w", h.origin, run, err)
		}
		got.items = row.Generation
	}
	if len(row.Cut) > 0 {
		got.cut = new(stage.Cut)
		if err := json.Unmarshal(row.Cut, got.cut); err != nil {
			return head{}, fmt.Errorf("%w: the cut of stage %d of run %s: %w", errUnreadable, h.origin, run, err)
		}
	}
	if frozen {
		w.heads.put(key, got)
	}
	return got, nil
}

// readParams reads a run's params, from memory if they were read before. corrupt is what keeps every worker from opening them.
func (w *Worker) readParams(ctx context.Context, run uuid.UUID) (raw []byte, corrupt, err error) {
	if p, ok := w.params.get(run); ok {
		return p, nil, nil
	}
	rows, err := w.q.RunHeads(ctx, []uuid.UUID{run})
	if err != nil {
		return nil, nil, fmt.Errorf("reading the params of run %s: %w", run, err)
	}
	if len(rows) == 0 {
		return nil, nil, fmt.Errorf("%w: run %s does not exist", errUnreadable, run)
	}
	if raw, corrupt, err = w.openParams(ctx, rows[0].Namespace, run, rows[0].Params); err == nil && corrupt == nil {
		w.params.put(run, raw)
	}
	return raw, corrupt, err
}

// readAttempts reads how many attempts the flight's tasks have: an operator's retry raises the policy's number, which
// shows once that is reached.
func (w *Worker) readAttempts(ctx context.Context, f *flight, h *handling) error {
	f.attempts = h.spec.Retry.MaxAttempts
	if int(f.Attempt) < f.attempts {
		return nil
	}
	row, err := w.q.StageHead(ctx, db.StageHeadParams{RunID: f.Run, Ord: f.Ord})
	if err != nil {
		return fmt.Errorf("reading stage %d of run %s: %w", f.Ord, f.Run, err)
	}
	if row.MaxAttempts != nil {
		f.attempts = max(f.attempts, int(*row.MaxAttempts))
	}
	return nil
}
