package resolve

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/flow"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

// Found is what a full scan repaired, and the news that follows from it.
type Found struct {
	Ready    []span.Ready
	Ended    []uuid.UUID
	Stages   []span.StageKey // decided: their dependents
	Aligned  []span.StageKey
	Asked    []uuid.UUID // workers that were asked to drop flights: tell them to beat
	Orphans  []uuid.UUID // runs whose parent does not wait for them any more: cancel them
	Runs     int         // open runs looked at
	Repaired int         // decisions that had been due for longer than LateAfter, and lost retirements
}

// Scan looks at every open run, page by page, and makes up for what events missed: stages whose retirement was
// lost with its worker, dependents and runs that could be decided. It locks only runs that have something to
// decide, so its cost in a healthy cluster is reading. A scan beside a busy fast path decides a little of what
// that would have decided a moment later; only what is late counts as repaired.
func (r *Resolver) Scan(ctx context.Context, conn Conn, page int) (Found, error) {
	q := db.New(conn)
	var found Found
	if err := r.retireEmpty(ctx, conn, q, page); err != nil {
		return found, err
	}
	if err := r.wakeLost(ctx, conn, q, page, &found); err != nil {
		return found, err
	}
	after := uuid.Nil
	for {
		ids, err := q.OpenRuns(ctx, db.OpenRunsParams{After: after, Most: int32(page)})
		if err != nil {
			return found, fmt.Errorf("reading open runs: %w", err)
		}
		if len(ids) == 0 {
			return found, nil
		}
		after = ids[len(ids)-1]
		found.Runs += len(ids)
		if err := r.retireIdle(ctx, conn, q, ids, &found); err != nil {
			return found, err
		}
		if err := r.orphans(ctx, q, ids, &found); err != nil {
			return found, err
		}
		due, broken, err := r.due(ctx, q, ids)
		if err != nil {
			return found, err
		}
		if len(broken) > 0 {
			if err := r.failFast(ctx, conn, q, broken, &found); err != nil {
				return found, err
			}
		}
		if len(due) == 0 {
			continue
		}
		a, err := r.Resolve(ctx, conn, News{Runs: due}, nil)
		if err != nil {
			return found, err
		}
		found.Ready = append(found.Ready, a.Ready...)
		found.Ended = append(found.Ended, a.Ended...)
		found.Aligned = append(found.Aligned, a.Aligned...)
		found.Repaired += a.Late
	}
}

// retireEmpty retires the flights of workers that died between an InTx commit and its retirement.
func (r *Resolver) retireEmpty(ctx context.Context, conn Conn, q *db.Queries, page int) error {
	rows, err := q.EmptyFlights(ctx, int32(page))
	if err != nil {
		return fmt.Errorf("looking for empty flights: %w", err)
	}
	if len(rows) == 0 {
		return nil
	}
	var keys []span.StageKey
	var flights []uuid.UUID
	for _, row := range rows {
		keys = append(keys, span.StageKey{Run: row.RunID, Ord: row.Ord})
		flights = append(flights, row.ID)
	}
	_, err = span.Retire(ctx, conn, keys, flights)
	return err
}

// retireIdle decides released stages that hold nothing any more.
func (r *Resolver) retireIdle(ctx context.Context, conn Conn, q *db.Queries, ids []uuid.UUID, found *Found) error {
	rows, err := q.IdleStages(ctx, ids)
	if err != nil {
		return fmt.Errorf("looking for idle stages: %w", err)
	}
	if len(rows) == 0 {
		return nil
	}
	keys := make([]span.StageKey, len(rows))
	for i, row := range rows {
		keys[i] = span.StageKey{Run: row.RunID, Ord: row.Ord}
	}
	decided, err := span.Retire(ctx, conn, keys, nil)
	found.Repaired += len(decided)
	return err
}

// failFast stops stages that should have stopped when one shard too many failed.
func (r *Resolver) failFast(ctx context.Context, conn Conn, q *db.Queries, stages map[span.StageKey]bool, found *Found) error {
	ids := make([]uuid.UUID, 0, len(stages))
	for k := range stages {
		ids = append(ids, k.Run)
	}
	rows, err := q.BrokenAmong(ctx, distinct(ids))
	if err != nil {
		return fmt.Errorf("counting failed shards of %d stages: %w", len(stages), err)
	}
	var keys []span.StageKey
	for _, row := range rows {
		if k := (span.StageKey{Run: row.RunID, Ord: row.Ord}); stages[k] {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	receipt, err := span.FailFast(ctx, conn, r.Fence, keys)
	if err != nil {
		return err
	}
	found.Repaired += len(keys)
	found.Asked = append(found.Asked, receipt.Asked...)
	for _, d := range receipt.Decided {
		found.Stages = append(found.Stages, d.StageKey)
	}
	return nil
}

// due are the runs among ids that have something to decide, and stages that fail fast and run, read without locks.
func (r *Resolver) due(ctx context.Context, q *db.Queries, ids []uuid.UUID) ([]uuid.UUID, map[span.StageKey]bool, error) {
	heads, err := q.RunHeads(ctx, ids)
	if err != nil {
		return nil, nil, fmt.Errorf("reading open runs: %w", err)
	}
	stages, err := q.StagesOf(ctx, ids)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the stages of open runs: %w", err)
	}
	status := make(map[uuid.UUID]map[int]flow.Status, len(ids))
	waited := make(map[uuid.UUID]map[int]time.Duration, len(ids))
	for _, s := range stages {
		if status[s.RunID] == nil {
			status[s.RunID] = make(map[int]flow.Status)
			waited[s.RunID] = make(map[int]time.Duration)
		}
		waited[s.RunID][int(s.Ord)] = seconds(s.WaitedS)
		status[s.RunID][int(s.Ord)] = flow.Status{State: stage.StageState(s.State), Planned: s.ShardTotal >= 0, Total: int(max(s.ShardTotal, 0))}
	}
	var due []uuid.UUID
	fast := make(map[span.StageKey]bool)
	for _, h := range heads {
		v, err := r.Versions.Get(ctx, q, h.VersionID)
		if r.Versions.Unreadable(err) {
			due = append(due, h.RunID) // Resolve sets it aside
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		look := func(ord int) (flow.Status, bool) { s, ok := status[h.RunID][ord]; return s, ok }
		_, over := flow.Outcome(v.Graph, look)
		switch {
		case over,
			stage.RunState(h.State) == stage.RunCancelling && len(flow.ResolveCancelling(v.Graph, look, nil)) > 0,
			stage.RunState(h.State) == stage.RunRunning &&
				(len(flow.Resolve(v.Graph, look, nil)) > 0 || len(expired(v.Graph, look, waited[h.RunID])) > 0):
			due = append(due, h.RunID)
		}
		for ord := range v.Graph.Stages {
			if v.Graph.Stages[ord].FailFast && status[h.RunID][ord].State == stage.StageRunning {
				fast[span.StageKey{Run: h.RunID, Ord: int16(ord)}] = true
			}
		}
	}
	return due, fast, nil
}
