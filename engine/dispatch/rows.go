package dispatch

import (
	"encoding/json"
	"fmt"

	"axflow/engine/dispatch/board"
	"axflow/flow"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/sql/versions"
	"axflow/stage"
)

// BoardSpan is a ready row as the Board sees it: the row, and what its stage declares. Not to be used with an ord that the
// version does not have.
func BoardSpan(v *versions.Version, r *span.Ready) board.Span {
	spec := &v.Graph.Stages[r.Ord]
	s := board.Span{ID: r.ID, Run: r.Run, Ord: int(r.Ord), Generation: int(r.Generation), Plan: r.Kind == span.Plan,
		Attempt: int(r.Attempt), Delivery: int(r.Delivery), Losses: int(r.Losses), Level: r.Level, Namespace: r.Namespace,
		Queue: r.Queue, Handler: v.Handlers[r.Ord], Todo: r.Set, NotBefore: r.NotBefore, ReadyAt: r.ReadyAt,
		StageKey: v.LimitKeys[r.Ord], Flow: v.Flow, Breaker: spec.Breaker != nil, Downstreams: spec.Downstreams,
		Requires: spec.Requires, Prefers: spec.Prefers, Routing: spec.Routing, Cost: spec.Cost, Tx: spec.Tx, Data: r.VersionID}
	if s.Plan {
		return s
	}
	s.Limit = spec.Limit
	s.Key, s.KeyLimit, s.KeyRate, s.StageRate, s.RetryWindow = bounds(spec, r.Key)
	return s
}

// bounds are what the stage says of one key's and of all its starts.
func bounds(spec *flow.StageSpec, key string) (_ string, limit int, ofKey, ofStage, retries board.Rate) {
	if spec.Key != nil && key != "" {
		limit = spec.Key.Limit
		if spec.Key.Starts > 0 {
			ofKey = board.Rate{N: spec.Key.Starts, Per: spec.Key.Per}
		}
	} else {
		key = ""
	}
	if spec.Rate != nil {
		ofStage = board.Rate{N: spec.Rate.Starts, Per: spec.Rate.Per}
	}
	if spec.RetryWindow != nil {
		retries = board.Rate{N: spec.RetryWindow.Retries, Per: spec.RetryWindow.Per}
	}
	return key, limit, ofKey, ofStage, retries
}

// boardFlight is a flight's row as the Board sees it; left is how much of it is unfinished.
func boardFlight(v *versions.Version, row *db.FlightsRow, left int) board.Flight {
	spec := &v.Graph.Stages[row.Ord]
	f := board.Flight{ID: row.ID, Run: row.RunID, Worker: row.WorkerID, Handler: v.Handlers[row.Ord], Namespace: row.Namespace,
		Queue: row.Queue, Level: stage.Level(row.Level), StageKey: v.LimitKeys[row.Ord], Flow: v.Flow, Breaker: spec.Breaker != nil,
		Downstreams: spec.Downstreams, Plan: span.Kind(row.Kind) == span.Plan, Attempt: int(row.Attempt), Delivery: int(row.Delivery),
		Left: left, Par: int(row.Par), Since: row.DispatchedAt, Cost: spec.Cost}
	if !f.Plan {
		f.Key, _, f.KeyRate, f.StageRate, f.RetryWindow = bounds(spec, row.Key)
	}
	return f
}

func flightSet(row *db.FlightsRow) (shard.Set, error) {
	set, err := shard.ParseSet(row.Todo)
	if err != nil {
		return shard.Set{}, fmt.Errorf("reading the set of flight %s: %w", row.ID, err)
	}
	return set, nil
}

const draining = 1 // in ax.worker.state

// readWorker is a worker's row as the watch passes it on.
func readWorker(row *db.WorkersRow) (Worker, error) {
	w := Worker{CPU: float64(row.Cpu), Memory: float64(row.Memory), Worker: board.Worker{ID: row.ID, Labels: row.Labels,
		Urgent: int(row.Urgent), Draining: row.State == draining}}
	if err := json.Unmarshal(row.Handlers, &w.Handlers); err != nil {
		return Worker{}, fmt.Errorf("reading the handlers of worker %s: %w", row.ID, err)
	}
	return w, nil
}
