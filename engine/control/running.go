package control

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/sql/db"
)

// Running is a task that has run for longer than a heartbeat of its worker, with what its handler has said of itself last.
type Running struct {
	Stage      string
	Shard      int // -1: the plan
	Generation int
	Attempt    int
	Worker     uuid.UUID
	Execution  uuid.UUID
	StartedAt  time.Time
	// Done of Total is how far the handler is, in a unit of its own; nil where it has not said, or does not know.
	Done, Total *float64
	// Detail is what the handler says it is doing; "": nothing.
	Detail string
	// ReportedAt is when the handler last said any of it; nil: never.
	ReportedAt *time.Time
}

// Running lists what runs of a run, or of one stage of it, the longest first: as the workers' last heartbeats say, which each
// list their 1,000 longest tasks. What has just begun is in none of them. stageName "" means every stage.
func (c *Client) Running(ctx context.Context, id uuid.UUID, stageName string, most int) ([]Running, error) {
	run, err := c.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	v, err := c.cfg.Versions.Get(ctx, c.q, run.VersionID)
	if err != nil {
		return nil, err
	}
	p := db.RunningTasksParams{RunID: id, Ord: -1, Most: int32(min(max(most, 1), 1000))}
	if stageName != "" {
		ord, ok := v.Graph.Ord(stageName)
		if !ok {
			return nil, &Error{Code: CodeNotFound, Field: "stage", Text: fmt.Sprintf("flow %s version %s has no stage %q", v.Flow, v.Hash, stageName)}
		}
		p.Ord = int32(ord)
	}
	rows, err := c.q.RunningTasks(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("reading what runs of run %s: %w", id, err)
	}
	list := make([]Running, len(rows))
	for i, r := range rows {
		var said struct {
			Index   int        `json:"index"`
			Started time.Time  `json:"started"`
			Done    *float64   `json:"done"`
			Total   *float64   `json:"total"`
			Detail  string     `json:"detail"`
			At      *time.Time `json:"at"`
		}
		if err := json.Unmarshal([]byte(r.Task), &said); err != nil {
			return nil, fmt.Errorf("reading what worker %s says of its tasks: %w", r.WorkerID, err)
		}
		list[i] = Running{Stage: v.Graph.Stages[r.Ord].Name, Shard: said.Index, Generation: int(r.Generation), Attempt: int(r.Attempt), Worker: r.WorkerID,
			Execution: r.ID, StartedAt: said.Started, Done: said.Done, Total: said.Total, Detail: said.Detail, ReportedAt: said.At}
	}
	return list, nil
}
