package sql_test

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"axflow/internal/pgtest"
	"axflow/sql/db"
	"axflow/stage"
)

func numbers[S ~int16](states []S) []int16 {
	out := make([]int16, len(states))
	for i, s := range states {
		out[i] = int16(s)
	}
	return out
}

// Every statement that moves a stage is run on a stage of every state: it moves those that its purpose names, to the
// state that the table of moves allows, and leaves all others alone.
func TestStatementsMoveStagesByTheTable(t *testing.T) {
	d := pgtest.New(t)
	ctx := context.Background()
	q := db.New(d.Pool)
	run := uuid.Must(uuid.NewV7())
	runs, ords := []uuid.UUID{run}, []int16{0}
	park := func(reason int) func() {
		return func() {
			exec(t, d, `INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, reason, namespace, queue, todo)
				VALUES (gen_random_uuid(), $1, now(), now(), 1, 1, 0, 1, 0, 1, 1, 0, 2, $2, 'd', 'd', '{[0,1)}')`, run, reason)
		}
	}
	retire := func() error {
		_, err := q.RetireStages(ctx, db.RetireStagesParams{StageRuns: runs, Ords: ords, RunIds: runs, Active: []int16{1, 2, 3}})
		return err
	}
	apply := func(to stage.StageState) func() error {
		return func() error {
			_, err := q.ApplyDecisions(ctx, db.ApplyDecisionsParams{StageRuns: runs, Ords: ords, Generations: []int16{1}, States: []int16{int16(to)},
				Totals: []int32{1}, Reasons: []string{""}, SpanIds: []uuid.UUID{uuid.New()}, SpanPlaces: []int16{0}, WorkerIds: []uuid.UUID{{}},
				Kinds: []int16{0}, Ns: []int32{1}, Todos: []string{"{[0,1)}"}, DelaysS: []float64{0}, VersionIds: []int32{1}, Levels: []int16{2}, Namespaces: []string{"d"}, Queues: []string{"d"}, RunIds: runs})
			return err
		}
	}
	// Statements with two lines below: what the other line names is not left alone.
	shared := map[string]bool{"cancel": true, "retire, one without its upstream": true}
	active := []stage.StageState{stage.StagePlanning, stage.StageRunning, stage.StageCancelling}
	for _, c := range []struct {
		name   string
		before func()
		act    func() error
		from   []stage.StageState
		to     stage.StageState
	}{
		{"release", nil, apply(stage.StageRunning), []stage.StageState{stage.StageWaiting}, stage.StageRunning},
		{"plan", nil, apply(stage.StagePlanning), []stage.StageState{stage.StageWaiting}, stage.StagePlanning},
		{"skip", nil, apply(stage.StageSkipped), []stage.StageState{stage.StageWaiting}, stage.StageSkipped},
		{"fail upstream", nil, apply(stage.StageUpstreamFailed), []stage.StageState{stage.StageWaiting}, stage.StageUpstreamFailed},
		{"retire, all succeeded", nil, retire, active, stage.StageSucceeded},
		{"retire, one dead", park(1), retire, active, stage.StageFailed},
		{"retire, one cancelled", park(2), retire, active, stage.StageCancelled},
		{"retire, one without its upstream", park(5), retire, []stage.StageState{stage.StageRunning}, stage.StageUpstreamFailed},
		{"retire, one without its upstream", park(5), retire, []stage.StageState{stage.StagePlanning, stage.StageCancelling}, stage.StageCancelled},
		{"retire, one waits for its aligned upstream", park(4), retire, nil, 0},
		{"cancel", nil, func() error { return cancelled(q.CancelStages(ctx, db.CancelStagesParams{RunID: run})) }, []stage.StageState{stage.StageWaiting}, stage.StageCancelled},
		{"cancel", nil, func() error { return cancelled(q.CancelStages(ctx, db.CancelStagesParams{RunID: run})) }, []stage.StageState{stage.StagePlanning, stage.StageRunning}, stage.StageCancelling},
		{"expire", nil, func() error {
			_, err := q.StopStages(ctx, db.StopStagesParams{Why: "expired", RunIds: runs, StageRuns: runs, Ords: ords, Generations: []int16{1}})
			return err
		}, []stage.StageState{stage.StagePlanning, stage.StageRunning}, stage.StageCancelling},
		{"fail fast", park(1), func() error {
			_, err := q.StopBroken(ctx, db.StopBrokenParams{RunIds: runs, StageRuns: runs, Ords: ords})
			return err
		}, []stage.StageState{stage.StageRunning}, stage.StageCancelling},
		{"retry", nil, func() error {
			return q.RaiseAttempts(ctx, db.RaiseAttemptsParams{MaxAttempts: 5, State: int16(stage.StageRunning), RunID: run, Ord: 0, Generation: 1, FromStates: []int16{int16(stage.StageFailed)}})
		}, []stage.StageState{stage.StageFailed}, stage.StageRunning},
		{"rerun", nil, func() error { return q.RaiseGeneration(ctx, db.RaiseGenerationParams{RunID: run, Ords: ords}) },
			[]stage.StageState{stage.StageWaiting, stage.StagePlanning, stage.StageRunning, stage.StageSucceeded, stage.StageFailed,
				stage.StageCancelled, stage.StageSkipped, stage.StageUpstreamFailed}, stage.StageWaiting},
	} {
		named := make(map[stage.StageState]bool)
		for _, s := range c.from {
			named[s] = true
		}
		for _, from := range stage.StageStates() {
			if c.name == "rerun" && from == stage.StageCancelling {
				continue // the verb refuses a run that is being cancelled
			}
			exec(t, d, `DELETE FROM ax.stage`)
			exec(t, d, `DELETE FROM ax.parked`)
			exec(t, d, `INSERT INTO ax.stage (run_id, ord, state, shard_total) VALUES ($1, 0, $2, 1)`, run, int16(from))
			if c.before != nil {
				c.before()
			}
			if err := c.act(); err != nil {
				t.Fatalf("%s from %s: %v", c.name, from, err)
			}
			var got int16
			if err := d.Pool.QueryRow(ctx, `SELECT state FROM ax.stage`).Scan(&got); err != nil {
				t.Fatal(err)
			}
			to := stage.StageState(got)
			switch {
			case named[from] && to != c.to:
				t.Errorf("%s from %s: %s, want %s", c.name, from, to, c.to)
			case !named[from] && !shared[c.name] && to != from:
				t.Errorf("%s from %s: moved to %s, want it left alone", c.name, from, to)
			case to != from && !from.CanMove(to):
				t.Errorf("%s moves %s to %s, which is no legal move", c.name, from, to)
			}
		}
	}
}

// The same for runs: each statement names the states that it moves from, taken from the table.
func TestStatementsMoveRunsByTheTable(t *testing.T) {
	d := pgtest.New(t)
	ctx := context.Background()
	q := db.New(d.Pool)
	for _, from := range stage.RunStates() {
		for _, to := range stage.RunStates() {
			run := uuid.Must(uuid.NewV7())
			exec(t, d, `INSERT INTO ax.run (run_id, version_id, state, level, created_at, finished_at, namespace, flow, queue, trigger, params)
				VALUES ($1, 1, $2::smallint, 2, now(), CASE WHEN $2::smallint >= 10 THEN now() END, 'd', 'f', 'd', 't', '{}')`, run, int16(from))
			var err error
			switch to {
			case stage.RunCancelling:
				_, err = q.CancelRun(ctx, db.CancelRunParams{State: int16(to), RunID: run, FromStates: numbers(stage.RunFrom(to))})
			case stage.RunRunning:
				_, err = q.ReopenRun(ctx, db.ReopenRunParams{State: int16(to), RunID: run, FromStates: numbers(stage.RunFrom(to))})
			default:
				_, err = q.EndRuns(ctx, db.EndRunsParams{Ended: []uuid.UUID{run}, States: []int16{int16(to)}, FromStates: numbers(stage.RunFrom(to))})
			}
			if err != nil {
				t.Fatalf("%s to %s: %v", from, to, err)
			}
			var state int16
			var ended bool
			if err := d.Pool.QueryRow(ctx, `SELECT state, finished_at IS NOT NULL FROM ax.run WHERE run_id = $1`, run).Scan(&state, &ended); err != nil {
				t.Fatal(err)
			}
			want := from
			if from.CanMove(to) {
				want = to
			}
			if stage.RunState(state) != want || ended != want.Ended() {
				t.Errorf("%s to %s: %s, ended %t; want %s, ended %t", from, to, stage.RunState(state), ended, want, want.Ended())
			}
		}
	}
}

func exec(t *testing.T, d *pgtest.DB, sql string, args ...any) {
	t.Helper()
	if _, err := d.Pool.Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func cancelled(_ []db.CancelStagesRow, err error) error { return err }
