package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

// leaseName is the lease that engines contend for: engine.LeaseName, which this package is below.
const leaseName = "leader"

// readPolicies reads who leads, and what operators and the leader have paused, opened or filled of the run's.
func (x *scene) readPolicies(ctx context.Context) error {
	lease, err := x.q.WhyLease(ctx, leaseName)
	switch {
	case err == nil:
		x.lease = &lease
	case !errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("reading the lease: %w", err)
	}
	ns := x.run.Namespace
	queues := []string{x.run.Queue}
	var circuits []string
	if x.version != nil {
		for _, s := range x.version.Graph.Stages {
			if s.Queue != "" {
				queues = append(queues, s.Queue)
			}
			circuits = append(circuits, x.run.Flow+"/"+s.Name)
			circuits = append(circuits, s.Downstreams...)
		}
	}
	names := append([]string{x.run.RunID.String(), x.run.Flow}, queues...)
	holds, err := x.q.WhyHolds(ctx, db.WhyHoldsParams{Namespace: ns, Kinds: []string{"run", "flow", "queue"}, Names: names})
	if err != nil {
		return fmt.Errorf("reading what is paused: %w", err)
	}
	x.holds = make(map[[2]string]db.WhyHoldsRow)
	for _, h := range holds {
		x.holds[[2]string{h.Kind, h.Name}] = h
	}
	rows, err := x.q.WhyQueues(ctx, db.WhyQueuesParams{Namespace: ns, Names: queues})
	if err != nil {
		return fmt.Errorf("reading the queues: %w", err)
	}
	x.queues = make(map[string]db.WhyQueuesRow)
	for _, q := range rows {
		x.queues[q.Name] = q
	}
	open, err := x.q.WhyCircuits(ctx, db.WhyCircuitsParams{Namespace: ns, Kinds: []string{"handler", "downstream"}, Names: circuits})
	if err != nil {
		return fmt.Errorf("reading the circuits: %w", err)
	}
	x.circuits = make(map[[2]string]db.WhyCircuitsRow)
	for _, c := range open {
		x.circuits[[2]string{c.Kind, c.Name}] = c
	}
	return nil
}

// readStages reads the stages, and where the tasks that are asked for stand.
func (x *scene) readStages(ctx context.Context, t Target) error {
	rows, err := x.q.WhyStages(ctx, x.run.RunID)
	if err != nil {
		return fmt.Errorf("reading the stages: %w", err)
	}
	x.stages = make([]standing, len(rows))
	for i, r := range rows {
		if int(r.Ord) != i {
			return fmt.Errorf("run %s has no row for stage %d", x.run.RunID, i)
		}
		x.stages[i] = standing{row: r, state: stage.StageState(r.State)}
	}
	ord, shard, most := int32(x.ord), int32(-2), int32(mostBrief)
	switch {
	case x.ord >= 0 && x.stages[x.ord].state == stage.StageWaiting:
		ord = -1 // it has no tasks: what its upstreams wait for is asked
	case x.ord >= 0:
		most = mostFull
	}
	if t.Shard != nil && ord >= 0 && x.stages[x.ord].state != stage.StagePlanning { // what is being planned has its plan only
		shard = int32(*t.Shard)
	}
	ready, err := x.q.WhyReady(ctx, db.WhyReadyParams{Now: x.now, RunID: x.run.RunID, Ord: ord, Shard: shard, Most: most})
	if err != nil {
		return fmt.Errorf("reading what is ready: %w", err)
	}
	flights, err := x.q.WhyFlights(ctx, db.WhyFlightsParams{RunID: x.run.RunID, Ord: ord, Shard: shard, Most: 10 * most})
	if err != nil {
		return fmt.Errorf("reading what is in flight: %w", err)
	}
	parked, err := x.q.WhyParked(ctx, db.WhyParkedParams{RunID: x.run.RunID, Ord: ord, Shard: shard, Most: most})
	if err != nil {
		return fmt.Errorf("reading what is parked: %w", err)
	}
	// Rows of an older generation are on their way out.
	for _, r := range ready {
		if s := &x.stages[r.Ord]; r.Generation == s.row.Generation {
			s.ready = append(s.ready, r)
		}
	}
	for _, r := range flights {
		if s := &x.stages[r.Ord]; r.Generation == s.row.Generation {
			s.flights = append(s.flights, r)
		}
	}
	for _, r := range parked {
		if s := &x.stages[r.Ord]; r.Generation == s.row.Generation {
			s.parked = append(s.parked, r)
		}
	}
	if err := x.readErrors(ctx, t); err != nil {
		return err
	}
	return x.readChildren(ctx, t)
}

// spokenOf is the task by which a row is spoken of: the one that is asked for, or its first.
func spokenOf(t Target, ord, generation int16, first int32) taskKey {
	k := taskKey{ord, generation, first}
	if t.Shard != nil {
		k.shard = int32(*t.Shard)
	}
	return k
}

// readErrors reads the last error of a task of every row that has failed before.
func (x *scene) readErrors(ctx context.Context, t Target) error {
	var keys []taskKey
	for i := range x.stages {
		s := &x.stages[i]
		for _, r := range s.ready {
			if r.Attempt > 1 {
				keys = append(keys, spokenOf(t, r.Ord, r.Generation, r.First))
			}
		}
		for _, r := range s.flights {
			if r.Attempt > 1 {
				keys = append(keys, spokenOf(t, r.Ord, r.Generation, r.First))
			}
		}
		for _, r := range s.parked {
			switch span.ParkReason(r.Reason) {
			case span.Dead, span.Poison, span.Expired, span.Discarded:
				keys = append(keys, spokenOf(t, r.Ord, r.Generation, r.First))
			}
		}
	}
	x.errors = make(map[taskKey]db.WhyErrorsRow)
	p := db.WhyErrorsParams{RunID: x.run.RunID}
	if len(keys) == 0 {
		return nil
	}
	p.Ords, p.Generations, p.Shards = columns(keys)
	rows, err := x.q.WhyErrors(ctx, p)
	if err != nil {
		return fmt.Errorf("reading the last errors: %w", err)
	}
	for _, r := range rows {
		x.errors[taskKey{r.Ord, r.Generation, r.Shard}] = r
	}
	return nil
}

// readChildren reads which runs sub-flow stages wait for.
func (x *scene) readChildren(ctx context.Context, t Target) error {
	var keys []taskKey
	for i := range x.stages {
		for _, r := range x.stages[i].parked {
			if span.ParkReason(r.Reason) == span.Child {
				keys = append(keys, spokenOf(t, r.Ord, r.Generation, r.First))
			}
		}
	}
	x.children = make(map[taskKey]uuid.UUID)
	if len(keys) == 0 {
		return nil
	}
	p := db.WhyChildrenParams{RunID: x.run.RunID}
	p.Ords, p.Generations, p.Shards = columns(keys)
	rows, err := x.q.WhyChildren(ctx, p)
	if err != nil {
		return fmt.Errorf("reading the sub-flows' runs: %w", err)
	}
	for _, r := range rows { // of each task the newest attempt comes first
		k := taskKey{r.Ord, r.Generation, r.Shard}
		if _, ok := x.children[k]; !ok {
			x.children[k] = r.ChildRun
		}
	}
	return nil
}

// columns are the distinct values of the keys' parts.
func columns(keys []taskKey) (ords, generations []int16, shards []int32) {
	for _, k := range keys {
		ords, generations, shards = append(ords, k.ord), append(generations, k.generation), append(shards, k.shard)
	}
	slices.Sort(ords)
	slices.Sort(generations)
	slices.Sort(shards)
	return slices.Compact(ords), slices.Compact(generations), slices.Compact(shards)
}
