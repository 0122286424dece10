package explain

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"axflow/sql/db"
	"axflow/stage"
)

// runPast adds what operators did to the run.
func (x *scene) runPast(ctx context.Context, r *Report) error {
	acts, err := x.acts(ctx, -1)
	if err != nil {
		return err
	}
	r.Past = &Past{Why: "started by " + x.run.Trigger + " " + clock(x.run.CreatedAt, x.now), Acts: acts}
	return nil
}

// stagePast adds why the stage was released and how often its tasks ran.
func (x *scene) stagePast(ctx context.Context, r *Report) error {
	p, err := x.past(ctx)
	if err != nil {
		return err
	}
	s := &x.stages[x.ord]
	w, err := x.q.WhyWork(ctx, db.WhyWorkParams{RunID: x.run.RunID, Ord: int16(x.ord), Generation: s.row.Generation, Most: mostWork})
	if err != nil {
		return fmt.Errorf("counting results: %w", err)
	}
	p.Results, p.Workers, p.Attempts, p.Partial = int(w.Results), int(w.Workers), int(w.Attempts), w.Results == mostWork
	r.Past = p
	return nil
}

// taskPast adds the results of one task.
func (x *scene) taskPast(ctx context.Context, r *Report, index int) error {
	p, err := x.past(ctx)
	if err != nil {
		return err
	}
	rows, err := x.q.WhyResults(ctx, db.WhyResultsParams{RunID: x.run.RunID, Ord: int16(x.ord), Shard: int32(index), Most: mostResults})
	if err != nil {
		return fmt.Errorf("reading results: %w", err)
	}
	workers := make(map[uuid.UUID]bool)
	for _, row := range rows {
		workers[row.WorkerID] = true
		p.Results = int(row.AllResults)
		p.Attempts = max(p.Attempts, int(row.Attempt))
		a := Attempt{Generation: int(row.Generation), Attempt: int(row.Attempt), Delivery: int(row.Delivery), Outcome: stage.Outcome(row.Outcome).String(),
			Worker: row.WorkerID, StartedAt: row.StartedAt, FinishedAt: row.FinishedAt, WaitedS: row.DispatchedAt.Sub(row.ReadyAt).Seconds()}
		if len(row.Error) > 0 {
			a.Error = errorText(row.Error)
		}
		p.Last = append(p.Last, a)
	}
	p.Workers, p.Partial = len(workers), p.Results > len(rows)
	r.Past = p
	if len(rows) > 0 && r.State == string(FateSucceeded) {
		last := rows[0]
		r.Diagnosis = fmt.Sprintf("succeeded in attempt %d after %s, %s ago", last.Attempt, lasting(last.FinishedAt.Sub(last.StartedAt)),
			lasting(x.now.Sub(last.FinishedAt)))
	}
	return nil
}

func (x *scene) past(ctx context.Context) (*Past, error) {
	s := &x.stages[x.ord]
	acts, err := x.acts(ctx, x.ord)
	if err != nil {
		return nil, err
	}
	p := &Past{Generation: int(s.row.Generation), Acts: acts}
	if s.row.Reason != nil {
		p.Why = *s.row.Reason
	}
	return p, nil
}

// acts are the journal's newest entries that concern a stage, or the run.
func (x *scene) acts(ctx context.Context, ord int) ([]Act, error) {
	rows, err := x.q.WhyJournal(ctx, db.WhyJournalParams{RunID: x.run.RunID, Ord: int32(ord), Most: mostActs})
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	acts := make([]Act, 0, len(rows))
	for _, r := range rows {
		a := Act{At: r.At, Kind: r.Kind, Actor: r.Actor}
		if r.Ord != nil && *r.Ord >= 0 && x.version != nil && int(*r.Ord) < len(x.version.Graph.Stages) {
			a.Stage = x.version.Graph.Stages[*r.Ord].Name
		}
		var detail struct{ Reason string }
		if json.Unmarshal(r.Detail, &detail) == nil {
			a.Reason = oneLine(detail.Reason)
		}
		acts = append(acts, a)
	}
	return acts, nil
}
