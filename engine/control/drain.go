package control

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/sql/db"
	"axflow/sql/hint"
)

// DrainWorker has a worker of the namespace end as if its process had been told to: it is handed nothing more from now on, gives
// back what it has not started, finishes what runs, and leaves; the worker's Run returns nil. It hears of it by a hint, or by
// its next heartbeat. One that drains already is left alone. A worker that is dead leaves when the leader finds it dead.
//
// A request belongs to the worker's id. A worker that was given up before it heard of it registers under a new one, and works on.
func (c *Client) DrainWorker(ctx context.Context, id uuid.UUID, who Who) ([]Touch, error) {
	touched, err := c.admin(ctx, "drain", "worker/"+id.String(), who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		rows, err := q.AskDrain(ctx, db.AskDrainParams{ID: id, Namespace: c.cfg.Namespace})
		if err != nil {
			return nil, nil, fmt.Errorf("asking worker %s to drain: %w", id, err)
		}
		if len(rows) == 0 {
			there, err := q.WorkerThere(ctx, db.WorkerThereParams{ID: id, Namespace: c.cfg.Namespace})
			if err != nil {
				return nil, nil, fmt.Errorf("looking for worker %s: %w", id, err)
			}
			if !there {
				return nil, nil, &Error{Code: CodeNotFound, Text: fmt.Sprintf("there is no worker %s here: it has left, or the leader has found it dead", id)}
			}
			return nil, nil, nil
		}
		return says(fmt.Sprintf("worker %s (%s, pid %d) drains and ends", id, rows[0].Host, rows[0].Pid)), map[string]any{"host": rows[0].Host, "pid": rows[0].Pid}, nil
	})
	if err == nil && len(touched) > 0 && !who.DryRun {
		c.cfg.Bus.ToEngine(hint.Engine{Workers: true})
		c.cfg.Bus.ToWorker(id, hint.Worker{Asks: true})
	}
	return touched, err
}
