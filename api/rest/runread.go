package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/sql/db"
	"axflow/stage"
)

// reads are the queries of lists and looks.
func (h *Handlers) reads() *db.Queries { return db.New(h.cfg.Reads) }

// ReadRuns are the runs of a namespace among ids, the newest first, as lists show them. What is not there is left out.
func (h *Handlers) ReadRuns(ctx context.Context, namespace string, ids []uuid.UUID) ([]gen.Run, error) {
	if len(ids) == 0 {
		return []gen.Run{}, nil
	}
	q := h.reads()
	rows, err := q.ReadRuns(ctx, db.ReadRunsParams{Ids: ids, Namespace: namespace})
	if err != nil {
		return nil, fmt.Errorf("reading %d runs: %w", len(ids), err)
	}
	tallies, err := tallyStages(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	held, err := holdsAmong(ctx, q, namespace, rows)
	if err != nil {
		return nil, err
	}
	parents, err := h.parents(ctx, q, namespace, rows)
	if err != nil {
		return nil, err
	}
	runs := make([]gen.Run, len(rows))
	for i, r := range rows {
		runs[i] = runOf(r, tallies[r.RunID], parents[r.RunID])
		runs[i].Paused = opt(r.FinishedAt == nil && len(held.on(r)) > 0)
	}
	return runs, nil
}

// runOf is a run as it was read. A run is late from its deadline on, whether it has ended since or not.
func runOf(r db.ReadRunsRow, tally gen.StageTally, parent *gen.ParentTask) gen.Run {
	run := gen.Run{Id: r.RunID, Flow: r.Flow, Version: r.Hash, State: runState(stage.RunState(r.State)), Level: level(r.Level), Queue: r.Queue,
		Trigger: r.Trigger, CreatedAt: r.CreatedAt, FinishedAt: r.FinishedAt, LateAt: r.Deadline, Stuck: r.Stuck, Parent: parent, Etag: opt(int(r.Version))}
	if len(tally) > 0 {
		run.Stages = &tally
	}
	if r.Deadline != nil {
		end := r.Now
		if r.FinishedAt != nil {
			end = *r.FinishedAt
		}
		run.Late = opt(r.Deadline.Before(end))
	}
	if json.Unmarshal(r.Tags, &run.Tags) != nil || len(run.Tags) == 0 {
		run.Tags = nil
	}
	return run
}

func tallyStages(ctx context.Context, q *db.Queries, ids []uuid.UUID) (map[uuid.UUID]gen.StageTally, error) {
	rows, err := q.TallyStages(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("counting the stages of %d runs: %w", len(ids), err)
	}
	tallies := make(map[uuid.UUID]gen.StageTally, len(ids))
	for _, r := range rows {
		if tallies[r.RunID] == nil {
			tallies[r.RunID] = make(gen.StageTally)
		}
		tallies[r.RunID][stage.StageState(r.State).String()] = int(r.N)
	}
	return tallies, nil
}

// holds are what is paused, by kind and name.
type holds map[[2]string]control.Hold

// on are the holds on a run, its flow and its queue.
func (h holds) on(r db.ReadRunsRow) []control.Hold {
	var all []control.Hold
	for _, key := range [][2]string{{"run", r.RunID.String()}, {"flow", r.Flow}, {"queue", r.Queue}} {
		if hold, ok := h[key]; ok {
			all = append(all, hold)
		}
	}
	return all
}

func holdsAmong(ctx context.Context, q *db.Queries, namespace string, runs []db.ReadRunsRow) (holds, error) {
	p := db.HoldsAmongParams{Namespace: namespace}
	for _, r := range runs {
		p.Runs, p.Flows, p.Queues = append(p.Runs, r.RunID.String()), append(p.Flows, r.Flow), append(p.Queues, r.Queue)
	}
	slices.Sort(p.Flows)
	slices.Sort(p.Queues)
	p.Flows, p.Queues = slices.Compact(p.Flows), slices.Compact(p.Queues)
	rows, err := q.HoldsAmong(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("reading what is paused: %w", err)
	}
	all := make(holds, len(rows))
	for _, r := range rows {
		all[[2]string{r.Kind, r.Name}] = control.Hold{Kind: control.HoldKind(r.Kind), Name: r.Name, Actor: r.Actor, Reason: r.Reason, HeldAt: r.HeldAt}
	}
	return all, nil
}

// childTrigger is what has started the run of a sub-flow.
const childTrigger = "child"

// parents are the tasks that have started runs of sub-flows.
func (h *Handlers) parents(ctx context.Context, q *db.Queries, namespace string, runs []db.ReadRunsRow) (map[uuid.UUID]*gen.ParentTask, error) {
	var ids []uuid.UUID
	for _, r := range runs {
		if r.Trigger == childTrigger {
			ids = append(ids, r.RunID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	tasks, err := q.ParentTasks(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("looking for the tasks that have started %d runs: %w", len(ids), err)
	}
	ids = ids[:0]
	for _, t := range tasks {
		ids = append(ids, t.ParentRun)
	}
	rows, err := q.ReadRuns(ctx, db.ReadRunsParams{Ids: ids, Namespace: namespace})
	if err != nil {
		return nil, fmt.Errorf("reading the runs that have started others: %w", err)
	}
	versions := make(map[uuid.UUID]int32, len(rows))
	for _, r := range rows {
		versions[r.RunID] = r.VersionID
	}
	parents := make(map[uuid.UUID]*gen.ParentTask, len(tasks))
	for _, t := range tasks {
		id, ok := versions[t.ParentRun]
		if !ok {
			continue
		}
		v, err := h.cfg.Client.Pinned(ctx, id)
		if err != nil || int(t.Ord) >= len(v.Graph.Stages) {
			continue // a version that this binary cannot read has no names for its stages
		}
		parents[t.ChildRun] = &gen.ParentTask{Run: t.ParentRun, Stage: v.Graph.Stages[t.Ord].Name, Shard: int(t.Shard)}
	}
	return parents, nil
}
