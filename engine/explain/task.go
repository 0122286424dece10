package explain

import (
	"context"
	"fmt"

	"axflow/sql/span"
	"axflow/stage"
)

// ofTask reports on one task: an index of a stage, or its plan.
func (x *scene) ofTask(ctx context.Context, index int) (*Report, error) {
	s := &x.stages[x.ord]
	spec := &x.version.Graph.Stages[x.ord]
	r := x.head()
	r.Stage, r.Shard = spec.Name, &index
	switch {
	case index < span.PlanIndex,
		index == span.PlanIndex && spec.Kind != stage.Sharded,
		spec.Kind == stage.Single && index > 0,
		s.row.ShardTotal != nil && index >= int(*s.row.ShardTotal):
		total := "it has no shards: its index is 0"
		if spec.Kind != stage.Single {
			total = "its shards are not known yet"
			if s.row.ShardTotal != nil {
				total = fmt.Sprintf("it has %s, from 0 on", counted(int(*s.row.ShardTotal), "shard"))
			}
		}
		return nil, notFound("stage %q of run %s has no index %d: %s", spec.Name, x.run.RunID, index, total)
	case s.state == stage.StageWaiting:
		w := x.ofStage(x.ord, true)
		r.State, r.Gates, r.Diagnosis, r.Next = string(FateWaiting), w.Gates, w.Diagnosis, w.Next
	case s.row.ShardTotal == nil && index != span.PlanIndex && !s.state.Decided():
		p := x.ofStagePlan()
		r.State, r.Gates, r.Diagnosis, r.Next = string(FateWaiting), p.Gates, p.Diagnosis, p.Next
	case len(s.ready)+len(s.flights)+len(s.parked) > 0:
		// A row moves in one transaction, and this is one snapshot: the index is in one row only.
		groups := append(append(x.readyGroups(x.ord), x.flightGroups(x.ord)...), x.parkedGroups(x.ord)...)
		g := groups[0]
		r.State, r.Gates, r.Diagnosis, r.Next = string(g.Fate), g.Gates, g.Diagnosis, g.Next
		if g.Fate == FateAligned {
			if err := x.followed(ctx, &r, index); err != nil {
				return nil, err
			}
		}
		r.Groups = nil
	case s.row.ShardTotal == nil && s.state != stage.StageSucceeded:
		r.State, r.Diagnosis = s.state.String(), x.decidedText(x.ord, nil)
	default:
		r.State, r.Diagnosis = string(FateSucceeded), "succeeded"
	}
	if err := x.taskPast(ctx, &r, index); err != nil {
		return nil, err
	}
	return &r, x.adoptChild(ctx, &r)
}

// ofStagePlan says why shards that are not known yet do not run: their plan does not.
func (x *scene) ofStagePlan() Report {
	s := x.ofStage(x.ord, true)
	for _, g := range s.Groups {
		s.Gates = append(s.Gates, g.Gates...)
		s.Diagnosis = "its shards wait for the stage's plan: " + g.Diagnosis
	}
	return s
}

// followed adds what the upstream shard does that an aligned shard waits for.
func (x *scene) followed(ctx context.Context, r *Report, index int) error {
	up := x.version.Graph.Stages[x.ord].AlignedTo
	name := x.version.Graph.Stages[up].Name
	y, err := x.scene(ctx, Target{Run: x.run.RunID, Stage: name, Shard: &index})
	if err != nil {
		return err
	}
	of, err := y.ofTask(ctx, index)
	if err != nil {
		return err
	}
	for i := range r.Gates {
		if g := &r.Gates[i]; g.Name == GateAligned {
			g.Reason = fmt.Sprintf("waits for shard %d of %q, which is %s: %s", index, name, fateWords(Fate(of.State)), of.Diagnosis)
		}
	}
	r.Diagnosis = because(r.Gates)
	return nil
}
