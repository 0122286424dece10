package span_test

import (
	"testing"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

// What is placed is placed on the stage as it stands under the lock: in the generation that it was taken in, and only
// in a state that may hold it. Every state is tried.
func TestPlacingHeedsTheStage(t *testing.T) {
	f := newFixture(t)
	q := db.New(f.product())
	one := shard.Of(0).String()
	runs := []uuid.UUID{f.run}
	live := []int16{int16(stage.StagePlanning), int16(stage.StageRunning)}
	active := append(live[:2:2], int16(stage.StageCancelling))
	for _, state := range stage.StageStates() {
		for generation := range int16(3) {
			f.exec(`DELETE FROM ax.stage`)
			f.exec(`INSERT INTO ax.stage (run_id, ord, generation, state) VALUES ($1, 0, 1, $2)`, f.run, int16(state))
			ready, err := q.PlaceReady(f.ctx, db.PlaceReadyParams{RunIds: runs, Live: live, Ids: []uuid.UUID{uuid.Must(uuid.NewV7())}, StageRuns: runs,
				Ords: []int16{0}, Generations: []int16{generation}, Kinds: []int16{0}, VersionIds: []int32{1}, Attempts: []int16{1}, Deliveries: []int16{1},
				Losses: []int16{0}, Levels: []int16{2}, Namespaces: []string{"default"}, Queues: []string{"default"}, Keys: []string{""},
				DelayMs: []int64{0}, QuantumMs: []int64{100}, Ns: []int32{1}, Todos: []string{one}})
			if err != nil {
				t.Fatal(err)
			}
			parked, err := q.PlaceParked(f.ctx, db.PlaceParkedParams{RunIds: runs, Live: active, Ids: []uuid.UUID{uuid.Must(uuid.NewV7())}, StageRuns: runs,
				Ords: []int16{0}, Generations: []int16{generation}, Kinds: []int16{0}, VersionIds: []int32{1}, Attempts: []int16{1}, Deliveries: []int16{1},
				Losses: []int16{0}, Levels: []int16{2}, Namespaces: []string{"default"}, Queues: []string{"default"}, Keys: []string{""},
				Reasons: []int16{int16(span.Dead)}, Ns: []int32{1}, Todos: []string{one}})
			if err != nil {
				t.Fatal(err)
			}
			holdsReady := generation == 1 && (state == stage.StagePlanning || state == stage.StageRunning)
			holdsParked := holdsReady || generation == 1 && state == stage.StageCancelling
			if (len(ready) == 1) != holdsReady || (len(parked) == 1) != holdsParked {
				t.Errorf("generation %d on %s in generation 1: made ready %t, parked %t; want %t, %t",
					generation, state, len(ready) == 1, len(parked) == 1, holdsReady, holdsParked)
			}
		}
	}
}

// A plan's answer counts once: for a stage that plans, in the plan's generation, and has no total yet.
func TestFreezingHeedsTheStage(t *testing.T) {
	f := newFixture(t)
	q := db.New(f.product())
	for _, state := range stage.StageStates() {
		for generation := range int16(3) {
			for _, total := range []*int32{nil, new(int32)} {
				f.exec(`DELETE FROM ax.stage`)
				f.exec(`INSERT INTO ax.stage (run_id, ord, generation, state, shard_total) VALUES ($1, 0, 1, $2, $3)`, f.run, int16(state), total)
				n, err := q.FreezePlan(f.ctx, db.FreezePlanParams{State: int16(stage.StageRunning), ShardTotal: 7, RunID: f.run, Ord: 0,
					Generation: generation, FromStates: []int16{int16(stage.StagePlanning)}})
				if err != nil {
					t.Fatal(err)
				}
				if right := state == stage.StagePlanning && generation == 1 && total == nil; (n == 1) != right {
					t.Errorf("freezing generation %d of %s with a total: %t: %t, want %t", generation, state, total != nil, n == 1, right)
				}
			}
		}
	}
}

// A decision about a stage is about the generation that it was made for.
func TestDecisionOfAnotherGenerationIsDropped(t *testing.T) {
	f := newFixture(t)
	f.exec(`INSERT INTO ax.stage (run_id, ord, generation, state) VALUES ($1, 0, 2, 0)`, f.run)
	runs := []uuid.UUID{f.run}
	rows, err := db.New(f.product()).ApplyDecisions(f.ctx, db.ApplyDecisionsParams{StageRuns: runs, Ords: []int16{0}, Generations: []int16{1},
		States: []int16{int16(stage.StageRunning)}, Totals: []int32{1}, Reasons: []string{""}, SpanIds: []uuid.UUID{uuid.Must(uuid.NewV7())},
		SpanPlaces: []int16{1}, WorkerIds: []uuid.UUID{{}}, Kinds: []int16{0}, Ns: []int32{1}, Todos: []string{shard.Of(0).String()}, DelaysS: []float64{0},
		VersionIds: []int32{1}, Levels: []int16{2}, Namespaces: []string{"default"}, Queues: []string{"default"}, RunIds: runs})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "applied", len(rows), 0)
	want(t, "state", f.state(0), stage.StageWaiting)
	want(t, "ready", f.count(`SELECT count(*) FROM ax.ready`), 0)
}

// A stage is decided by what its own generation holds.
func TestRetireCountsItsOwnGeneration(t *testing.T) {
	for name, leave := range map[string]func(*fixture){
		"ready":  func(f *fixture) { f.ready(0, shard.Of(0)) },
		"flight": func(f *fixture) { f.flight(0, shard.Of(0), f.worker) },
		"parked": func(f *fixture) { f.parked(0, shard.Of(0), span.Dead) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.stage(0, 1)
			leave(f)
			f.exec(`UPDATE ax.stage SET generation = 2`)
			if _, err := span.Retire(f.ctx, f.product(), []span.StageKey{{Run: f.run, Ord: 0}}, nil); err != nil {
				t.Fatal(err)
			}
			want(t, "state", f.state(0), stage.StageSucceeded)
		})
	}
}

// A stage that still holds something of any of the three kinds is not decided.
func TestRetireWaitsForWhatIsLeft(t *testing.T) {
	for name, leave := range map[string]func(*fixture){
		"ready":   func(f *fixture) { f.ready(0, shard.Of(0)) },
		"flight":  func(f *fixture) { f.flight(0, shard.Of(0), f.worker) },
		"aligned": func(f *fixture) { f.parked(0, shard.Of(0), span.Aligned) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.stage(0, 1)
			leave(f)
			if _, err := span.Retire(f.ctx, f.product(), []span.StageKey{{Run: f.run, Ord: 0}}, nil); err != nil {
				t.Fatal(err)
			}
			want(t, "state", f.state(0), stage.StageRunning)
			f.check()
		})
	}
}

// A flight that a commit emptied and whose retirement was lost does not hold its stage.
func TestEmptyFlightDoesNotHoldItsStage(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 1)
	f.flight(0, shard.Of(0), f.worker)
	f.exec(`DELETE FROM ax.result`)
	f.exec(`UPDATE ax.flight SET todo = '{}'`)
	if _, err := span.Retire(f.ctx, f.product(), []span.StageKey{{Run: f.run, Ord: 0}}, nil); err != nil {
		t.Fatal(err)
	}
	want(t, "state", f.state(0), stage.StageSucceeded)
}

// Of the flights that a retirement names only the empty ones go.
func TestRetireKeepsFlightsThatHoldWork(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 2)
	e := f.flight(0, shard.Span(0, 2), f.worker)
	if _, err := span.Retire(f.ctx, f.product(), []span.StageKey{{Run: f.run, Ord: 0}}, []uuid.UUID{e}); err != nil {
		t.Fatal(err)
	}
	wantSet(t, "in flight", f.set("flight", 0), shard.Span(0, 2))
	want(t, "state", f.state(0), stage.StageRunning)
	f.check()
}

// Only a flight's own worker gives it back.
func TestAnotherWorkersReturnIsRefused(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 3)
	e := f.flight(0, shard.Span(0, 3), f.newWorker())
	r, err := span.Return(f.ctx, f.product(), f.worker, span.GivenBack, []span.Handback{{Execution: e, Run: f.run, Set: shard.Span(0, 3)}})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "accepted", len(r.Accepted), 0)
	wantSet(t, "in flight", f.set("flight", 0), shard.Span(0, 3))
	f.check()
}

// A give-back whose answer was lost is repeated: it takes nothing more, and what the flight still holds stays.
func TestGiveBackRepeated(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 10)
	e := f.flight(0, shard.Span(0, 10), f.worker)
	c := f.product()
	for range 2 {
		if _, err := span.Return(f.ctx, c, f.worker, span.GivenBack, []span.Handback{{Execution: e, Run: f.run, Set: shard.Span(4, 10)}}); err != nil {
			t.Fatal(err)
		}
	}
	wantSet(t, "in flight", f.set("flight", 0), shard.Span(0, 4))
	wantSet(t, "ready", f.set("ready", 0), shard.Span(4, 10))
	want(t, "ready rows", f.count(`SELECT count(*) FROM ax.ready`), 1)
	f.check()
}

// Work of a worker that is registered is its own, whatever its beat.
func TestSeizeLeavesTheLiving(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 3)
	e := f.flight(0, shard.Span(0, 2), f.worker)
	f.flight(0, shard.Of(2), uuid.Must(uuid.NewV7()))
	seized, _ := f.seize()
	want(t, "seized", len(seized), 1)
	want(t, "flights that stay", f.count(`SELECT count(*) FROM ax.flight WHERE id = $1`, e), 1)
	wantSet(t, "ready", f.set("ready", 0), shard.Of(2))
	f.check()
}

// A batch of reports in which one flight is done and another is not: only the done one goes.
func TestFinishKeepsWhatIsLeftOfOthers(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 10)
	a, b := f.flight(0, shard.Span(0, 5), f.worker), f.flight(0, shard.Span(5, 10), f.worker)
	part := f.report(b, 0, shard.Span(5, 7), stage.Succeeded)
	part.Last = false
	f.finish(f.product(), f.report(a, 0, shard.Span(0, 5), stage.Succeeded), part)
	want(t, "flights", f.count(`SELECT count(*) FROM ax.flight`), 1)
	wantSet(t, "in flight", f.set("flight", 0), shard.Span(7, 10))
	want(t, "state", f.state(0), stage.StageRunning)
	f.check()
}

// A worker beats while the leader buries it: it lives.
func TestBeatAgainstBurial(t *testing.T) {
	f := newFixture(t)
	dead := f.newWorker()
	leader, worker := db.New(f.product()), db.New(f.product())
	var buried []uuid.UUID
	f.together(`SELECT 1 FROM ax.worker WHERE id = $1 FOR UPDATE`, []any{f.worker},
		func() {
			if b, err := worker.Beat(f.ctx, db.BeatParams{ID: f.worker, Handlers: []byte("{}"), Running: []byte("[]")}); err != nil || b.Alive != 1 {
				t.Errorf("beat: %+v, %v", b, err)
			}
		},
		func() {
			var err error
			if buried, err = leader.BuryWorkers(f.ctx, db.BuryWorkersParams{Ids: []uuid.UUID{f.worker, dead}, Beats: []int64{0, 0}}); err != nil {
				t.Errorf("burying: %v", err)
			}
		})
	if len(buried) != 1 || buried[0] != dead {
		t.Errorf("buried %v, want %v alone: the other has beaten", buried, dead)
	}
	want(t, "workers", f.count(`SELECT count(*) FROM ax.worker`), 1)
}
