package stage_test

import (
	"slices"
	"testing"

	"axflow/stage"
)

// The numbers are stored in databases.
func TestStoredNumbers(t *testing.T) {
	for _, tc := range []struct {
		got  int
		want int
		name string
		text string
	}{
		{int(stage.RunRunning), 1, "running", stage.RunRunning.String()},
		{int(stage.RunCancelling), 2, "cancelling", stage.RunCancelling.String()},
		{int(stage.RunSucceeded), 10, "succeeded", stage.RunSucceeded.String()},
		{int(stage.RunFailed), 11, "failed", stage.RunFailed.String()},
		{int(stage.RunCancelled), 12, "cancelled", stage.RunCancelled.String()},
		{int(stage.StageWaiting), 0, "waiting", stage.StageWaiting.String()},
		{int(stage.StagePlanning), 1, "planning", stage.StagePlanning.String()},
		{int(stage.StageRunning), 2, "running", stage.StageRunning.String()},
		{int(stage.StageCancelling), 3, "cancelling", stage.StageCancelling.String()},
		{int(stage.StageSucceeded), 10, "succeeded", stage.StageSucceeded.String()},
		{int(stage.StageFailed), 11, "failed", stage.StageFailed.String()},
		{int(stage.StageCancelled), 12, "cancelled", stage.StageCancelled.String()},
		{int(stage.StageSkipped), 13, "skipped", stage.StageSkipped.String()},
		{int(stage.StageUpstreamFailed), 14, "upstream_failed", stage.StageUpstreamFailed.String()},
		{int(stage.Succeeded), 10, "succeeded", stage.Succeeded.String()},
		{int(stage.Failed), 11, "failed", stage.Failed.String()},
		{int(stage.NotNeeded), 13, "skipped", stage.NotNeeded.String()},
		{int(stage.TimedOut), 15, "timed_out", stage.TimedOut.String()},
		{int(stage.Interrupted), 16, "interrupted", stage.Interrupted.String()},
		{int(stage.Lost), 17, "lost", stage.Lost.String()},
		{int(stage.Single), 0, "single", stage.Single.String()},
		{int(stage.Sharded), 1, "sharded", stage.Sharded.String()},
		{int(stage.Aligned), 2, "aligned", stage.Aligned.String()},
		{int(stage.P0), 0, "P0", stage.P0.String()},
		{int(stage.DefaultLevel), 2, "P2", stage.DefaultLevel.String()},
		{int(stage.P5), 5, "P5", stage.P5.String()},
	} {
		if tc.got != tc.want || tc.text != tc.name {
			t.Errorf("%s is %d, called %q; want %d", tc.name, tc.got, tc.text, tc.want)
		}
	}
	if got := stage.StageState(99).String(); got != "unknown(99)" {
		t.Errorf("state 99 is called %q", got)
	}
}

// stageWay is the decided table, from each state.
var stageWay = map[stage.StageState][]stage.StageState{
	stage.StageWaiting: {stage.StagePlanning, stage.StageRunning, stage.StageSkipped, stage.StageUpstreamFailed,
		stage.StageCancelled, stage.StageSucceeded},
	stage.StagePlanning: {stage.StageWaiting, stage.StageRunning, stage.StageSucceeded, stage.StageSkipped, stage.StageFailed,
		stage.StageCancelling, stage.StageCancelled},
	stage.StageRunning: {stage.StageWaiting, stage.StageSucceeded, stage.StageFailed, stage.StageSkipped, stage.StageUpstreamFailed, stage.StageCancelling,
		stage.StageCancelled},
	stage.StageCancelling:     {stage.StageSucceeded, stage.StageFailed, stage.StageCancelled, stage.StageSkipped},
	stage.StageSucceeded:      {stage.StageWaiting, stage.StageRunning},
	stage.StageFailed:         {stage.StageWaiting, stage.StagePlanning, stage.StageRunning},
	stage.StageCancelled:      {stage.StageWaiting},
	stage.StageSkipped:        {stage.StageWaiting},
	stage.StageUpstreamFailed: {stage.StageWaiting, stage.StageRunning},
}

var runWay = map[stage.RunState][]stage.RunState{
	stage.RunRunning:    {stage.RunCancelling, stage.RunSucceeded, stage.RunFailed, stage.RunCancelled},
	stage.RunCancelling: {stage.RunCancelled, stage.RunSucceeded, stage.RunFailed},
	stage.RunSucceeded:  {stage.RunRunning},
	stage.RunFailed:     {stage.RunRunning},
	stage.RunCancelled:  {stage.RunRunning},
}

func TestStageMoves(t *testing.T) {
	checkMoves(t, stage.StageStates(), stageWay, stage.StageState.CanMove, stage.StageFrom)
}

func TestRunMoves(t *testing.T) {
	checkMoves(t, stage.RunStates(), runWay, stage.RunState.CanMove, stage.RunFrom)
}

func checkMoves[S ~int16](t *testing.T, all []S, way map[S][]S, can func(S, S) bool, from func(S) []S) {
	t.Helper()
	if !slices.IsSorted(all) || len(all) != len(way) {
		t.Errorf("the states are %v, want the %d of the table in order", all, len(way))
	}
	for _, to := range all {
		var want []S
		for _, s := range all {
			legal := slices.Contains(way[s], to)
			if can(s, to) != legal {
				t.Errorf("%v to %v: legal is %v, want %v", s, to, !legal, legal)
			}
			if legal {
				want = append(want, s)
			}
		}
		got := from(to)
		if !slices.Equal(got, want) {
			t.Errorf("the states from which %v is legal are %v, want %v", to, got, want)
		}
		if len(got) > 0 {
			got[0] = 99 // must be the caller's own
			if !slices.Equal(from(to), want) {
				t.Errorf("the table of moves to %v can be changed from outside", to)
			}
		}
	}
}

func TestEnds(t *testing.T) {
	for _, s := range stage.StageStates() {
		if want := s >= 10; s.Decided() != want {
			t.Errorf("%v decided: %v", s, s.Decided())
		}
	}
	for _, s := range stage.RunStates() {
		if want := s >= 10; s.Ended() != want {
			t.Errorf("%v ended: %v", s, s.Ended())
		}
	}
}

func TestTaskStates(t *testing.T) {
	var names []string
	for _, s := range stage.TaskStates() {
		names = append(names, s.String())
	}
	want := []string{"created", "waiting", "ready", "dispatched", "running", "retrying", "succeeded", "failed", "cancelled",
		"expired", "timed_out", "skipped", "dead", "circuit_open"}
	if !slices.Equal(names, want) {
		t.Errorf("the task states are %q, want %q", names, want)
	}
	for _, tc := range []struct {
		from, to stage.TaskState
		legal    bool
	}{
		{stage.TaskCreated, stage.TaskWaiting, true},
		{stage.TaskWaiting, stage.TaskReady, true},
		{stage.TaskReady, stage.TaskDispatched, true},
		{stage.TaskDispatched, stage.TaskRunning, true},
		{stage.TaskDispatched, stage.TaskReady, true}, // dispatch time-out, give-back
		{stage.TaskRunning, stage.TaskSucceeded, true},
		{stage.TaskRunning, stage.TaskFailed, true},
		{stage.TaskFailed, stage.TaskRetrying, true},
		{stage.TaskRetrying, stage.TaskDispatched, true},
		{stage.TaskFailed, stage.TaskDead, true},
		{stage.TaskDead, stage.TaskReady, true}, // replay
		{stage.TaskSucceeded, stage.TaskReady, true},
		{stage.TaskWaiting, stage.TaskRunning, false},
		{stage.TaskWaiting, stage.TaskDispatched, false},
		{stage.TaskSucceeded, stage.TaskFailed, false},
		{stage.TaskCancelled, stage.TaskRunning, false},
		{stage.TaskDead, stage.TaskSucceeded, false},
		{stage.TaskSkipped, stage.TaskSucceeded, false},
		{stage.TaskCircuitOpen, stage.TaskRunning, false},
	} {
		if got := tc.from.CanMove(tc.to); got != tc.legal {
			t.Errorf("%v to %v: legal is %v", tc.from, tc.to, got)
		}
	}
	// Every task state but the first is reached from it.
	reached := map[stage.TaskState]bool{stage.TaskCreated: true}
	for range stage.TaskStates() {
		for _, to := range stage.TaskStates() {
			for _, from := range stage.TaskFrom(to) {
				reached[to] = reached[to] || reached[from]
			}
		}
	}
	if len(reached) != 14 {
		t.Errorf("only %v are reached", reached)
	}
}

func TestParseStates(t *testing.T) {
	for _, s := range stage.StageStates() {
		if got, err := stage.ParseStageState(s.String()); err != nil || got != s {
			t.Errorf("%v is read as %v, %v", s, got, err)
		}
	}
	for _, s := range stage.RunStates() {
		if got, err := stage.ParseRunState(s.String()); err != nil || got != s {
			t.Errorf("%v is read as %v, %v", s, got, err)
		}
	}
	for _, s := range stage.TaskStates() {
		if got, err := stage.ParseTaskState(s.String()); err != nil || got != s {
			t.Errorf("%v is read as %v, %v", s, got, err)
		}
	}
	if got, err := stage.ParseOutcome("lost"); err != nil || got != stage.Lost {
		t.Errorf("lost is read as %v, %v", got, err)
	}
	_, err := stage.ParseRunState("done")
	want := `run state "done" is unknown: use one of ["running" "cancelling" "succeeded" "failed" "cancelled"]`
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

func TestParseLevel(t *testing.T) {
	for text, want := range map[string]stage.Level{"P0": stage.P0, "p3": stage.P3, "5": stage.P5} {
		if got, err := stage.ParseLevel(text); err != nil || got != want {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "P", "P6", "6", "PP", "high", "P00", "-1"} {
		if got, err := stage.ParseLevel(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
