package control

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/sql/db"
	"axflow/sql/payload"
	"axflow/sql/span"
	"axflow/stage"
)

// Inspect tells all attempts of one index of a stage (0 of an unsharded one, -1: the plan).
func (c *Client) Inspect(ctx context.Context, id uuid.UUID, stageName string, index int) (Inspection, error) {
	run, err := c.Run(ctx, id)
	if err != nil {
		return Inspection{}, err
	}
	v, err := c.cfg.Versions.Get(ctx, c.q, run.VersionID)
	if err != nil {
		return Inspection{}, err
	}
	ord, ok := v.Graph.Ord(stageName)
	if !ok {
		return Inspection{}, &Error{Code: CodeNotFound, Text: fmt.Sprintf("flow %s version %s has no stage %q", v.Flow, v.Hash, stageName)}
	}
	head, err := c.q.StageHead(ctx, db.StageHeadParams{RunID: id, Ord: int16(ord)})
	if err != nil {
		return Inspection{}, fmt.Errorf("reading stage %s of run %s: %w", stageName, id, err)
	}
	if index < span.PlanIndex || head.ShardTotal != nil && index >= int(*head.ShardTotal) {
		return Inspection{}, &Error{Code: CodeNotFound, Text: fmt.Sprintf("stage %q of run %s has no index %d: its indices are 0 to the number of its shards, and %d for its plan", stageName, id, index, span.PlanIndex)}
	}
	in := Inspection{Run: id, Stage: stageName, Ord: ord, Index: index, Generation: int(head.Generation)}
	where, err := c.q.WhereIs(ctx, db.WhereIsParams{RunID: id, Ord: int16(ord), Generation: head.Generation, Shard: int32(index)})
	if err != nil {
		return Inspection{}, fmt.Errorf("looking for index %d of stage %s of run %s: %w", index, stageName, id, err)
	}
	for _, w := range where {
		switch w.Place {
		case 1:
			in.Where, in.NotBefore = "ready", &w.NotBefore
		case 2:
			in.Where = "in flight"
		case 3:
			in.Where, in.Parked = "parked", parkNames[span.ParkReason(w.Reason)]
		}
	}
	rows, err := c.q.ResultsOf(ctx, db.ResultsOfParams{RunID: id, Ord: int16(ord), Shard: int32(index)})
	if err != nil {
		return Inspection{}, fmt.Errorf("reading the attempts of index %d of stage %s of run %s: %w", index, stageName, id, err)
	}
	for _, r := range rows {
		a := Attempt{Generation: int(r.Generation), Attempt: int(r.Attempt), Delivery: int(r.Delivery), Outcome: stage.Outcome(r.Outcome),
			Worker: r.WorkerID, Execution: r.ExecutionID, ReadyAt: r.ReadyAt, DispatchedAt: r.DispatchedAt, StartedAt: r.StartedAt,
			FinishedAt: r.FinishedAt, Failure: failureOf(r.Error), Output: r.Output}
		if plain, err := c.OpenPayload(ctx, payload.Place{Kind: payload.Output, Run: id, Ord: ord}, r.Output); err == nil {
			a.Output = plain
		}
		in.Attempts = append(in.Attempts, a)
		if in.Where == "" && a.Outcome == stage.Succeeded && a.Generation == in.Generation {
			in.Where = "done"
		}
	}
	return in, nil
}
