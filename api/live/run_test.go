package live

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	apiclient "axflow/api/client"
	"axflow/api/gen"
	"axflow/stage"
)

// anyRun draws a run of three stages; successive ones differ in anything.
func anyRun(id uuid.UUID) *rapid.Generator[*run] {
	at := rapid.Custom(func(t *rapid.T) *time.Time {
		n := rapid.IntRange(-2, 3).Draw(t, "at")
		if n < 0 {
			return nil
		}
		return pointer(time.Unix(int64(n), 0).UTC())
	})
	few := rapid.IntRange(-1, 2)
	return rapid.Custom(func(t *rapid.T) *run {
		r := &run{id: id, namespace: "default", state: rapid.SampledFrom(stage.RunStates()).Draw(t, "state"), finishedAt: at.Draw(t, "finished"),
			paused: rapid.Bool().Draw(t, "paused")}
		for i := range 3 {
			r.stages = append(r.stages, stageCounts{name: fmt.Sprint("s", i), state: rapid.SampledFrom(stage.StageStates()).Draw(t, "stage state"),
				generation: few.Draw(t, "generation"), total: few.Draw(t, "total"), succeeded: few.Draw(t, "succeeded"), ready: few.Draw(t, "ready"),
				inFlight: few.Draw(t, "in flight"), dead: few.Draw(t, "dead"), parked: few.Draw(t, "parked"), upstreamFailed: few.Draw(t, "upstream failed"),
				readyAt: at.Draw(t, "ready at"), finishedAt: at.Draw(t, "finished at")})
		}
		return r
	})
}

func asJSON(t failer, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Whoever has a run and merges a delta, once or twice, has the next run; where that cannot be, the delta says so.
func TestDeltasLeadToTheNextState(t *testing.T) {
	id := uuid.Must(uuid.NewV7())
	rapid.Check(t, func(t *rapid.T) {
		was, is := anyRun(id).Draw(t, "was"), anyRun(id).Draw(t, "is")
		if rapid.Bool().Draw(t, "the same") {
			is = was
		}
		delta, changed, whole := was.diff(is)
		before, after := asJSON(t, was.snapshot()), asJSON(t, is.snapshot())
		if changed != (before != after) {
			t.Fatalf("changed: %v, from %s to %s", changed, before, after)
		}
		vanished := gone(was.finishedAt, is.finishedAt)
		for i := range was.stages {
			vanished = vanished || gone(was.stages[i].readyAt, is.stages[i].readyAt) || gone(was.stages[i].finishedAt, is.stages[i].finishedAt)
		}
		if whole != vanished {
			t.Fatalf("whole: %v, want %v", whole, vanished)
		}
		if whole || !changed {
			return
		}
		known := was.snapshot()
		for range 2 {
			apiclient.Merge(&known, apiclient.Event{Kind: apiclient.EventDelta, Live: &delta})
			if got := asJSON(t, known); got != after {
				t.Fatalf("merged %s, want %s", got, after)
			}
		}
	})
}

func TestDeltaHoldsOnlyWhatChanged(t *testing.T) {
	was := &run{id: uuid.Max, state: stage.RunRunning, stages: []stageCounts{{name: "a", total: 10, ready: 5, succeeded: 5}, {name: "b", total: -1}}}
	is := &run{id: uuid.Max, state: stage.RunRunning, stages: []stageCounts{{name: "a", total: 10, ready: 4, succeeded: 6}, {name: "b", total: -1}}}
	delta, _, _ := was.diff(is)
	if got, want := asJSON(t, delta), `{"id":"ffffffff-ffff-ffff-ffff-ffffffffffff","stages":{"a":{"ready":4,"succeeded":6}}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var known gen.LiveRun
	apiclient.Merge(&known, apiclient.Event{Kind: apiclient.EventRun})
	if got := asJSON(t, known); got != asJSON(t, gen.LiveRun{}) {
		t.Errorf("an event of another kind changed what is known: %s", got)
	}
}
