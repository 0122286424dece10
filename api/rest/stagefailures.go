package rest

import (
	"cmp"
	"context"
	"slices"

	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/internal/fingerprint"
	"axflow/shard"
	"axflow/sql/db"
)

// mostStageErrors is how many failed attempts of a stage are grouped.
const mostStageErrors = 10_000

// GroupStageFailures groups the failed attempts of a stage by what went wrong.
func (h *Handlers) GroupStageFailures(ctx context.Context, req gen.GroupStageFailuresRequestObject) (gen.GroupStageFailuresResponseObject, error) {
	_, _, g, ord, err := h.stageOf(ctx, req.Run, req.Stage)
	if err != nil {
		return nil, err
	}
	q := h.reads()
	now, err := q.StageNow(ctx, db.StageNowParams{RunID: req.Run, Ord: int16(ord)})
	if err != nil {
		return nil, reading("stage "+req.Stage, err)
	}
	rows, err := q.StageErrors(ctx, db.StageErrorsParams{RunID: req.Run, Ord: int16(ord), Generation: now.Generation, Most: mostStageErrors + 1})
	if err != nil {
		return nil, slow(reading("the failures of stage "+req.Stage, err), "list the failures instead")
	}
	out := gen.GroupStageFailures200JSONResponse{Generation: int(now.Generation), Items: []gen.StageFailureGroup{}}
	if len(rows) > mostStageErrors {
		rows, out.Partial = rows[:mostStageErrors], opt(true)
	}
	groups, err := h.stageFailures(ctx, g.Flow, req.Stage, rows)
	if err != nil {
		return nil, err
	}
	dead, err := q.DeadOfStage(ctx, db.DeadOfStageParams{RunID: req.Run, Ord: int16(ord), Generation: now.Generation, Most: mostStageErrors})
	if err != nil {
		return nil, slow(reading("the dead shards of stage "+req.Stage, err), "list the dead letters instead")
	}
	var gone shard.Set
	for _, d := range dead {
		set, err := shard.ParseSet(d.Todo)
		if err != nil {
			return nil, reading("the dead shards of stage "+req.Stage, err)
		}
		gone = gone.Union(set)
	}
	for _, x := range groups[:min(len(groups), mostFailureGroups)] {
		set := shard.Of(x.shards...)
		x.Shards, x.ShardCount, x.Dead = setText(set, mostRanges), set.Len(), set.Intersect(gone).Len()
		out.Items = append(out.Items, x.StageFailureGroup)
	}
	return out, nil
}

// stageFailure is a group of failed attempts.
type stageFailure struct {
	gen.StageFailureGroup
	shards []int
}

// stageFailures groups failed attempts, the newest first, by their normalised errors. The newest of each is the example.
func (h *Handlers) stageFailures(ctx context.Context, flow, stage string, rows []db.StageErrorsRow) ([]*stageFailure, error) {
	by := make(map[string]*stageFailure)
	var groups []*stageFailure
	for _, r := range rows {
		f := control.FailureOf(r.Error)
		hash, _ := fingerprint.Of(f.Code, f.Message)
		x := by[hash]
		if x == nil {
			x = &stageFailure{StageFailureGroup: gen.StageFailureGroup{Fingerprint: hash, Last: r.FinishedAt, ExampleShard: int(r.Shard)}}
			if e := h.failure(ctx, flow, stage, f); e != nil {
				x.Example = *e
			}
			by[hash] = x
			groups = append(groups, x)
		}
		x.Attempts++
		x.First = r.FinishedAt
		x.shards = append(x.shards, int(r.Shard))
	}
	slices.SortStableFunc(groups, func(a, b *stageFailure) int { return cmp.Compare(b.Attempts, a.Attempts) })
	return groups, nil
}
