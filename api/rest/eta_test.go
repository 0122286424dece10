package rest

import (
	"math"
	"strings"
	"testing"
	"time"

	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/sql/versions"
	"axflow/stage"
)

// The graph is a chain with a branch: load, then parts and other, then report.
func progressOf(at time.Time, stages ...control.StageProgress) control.Progress {
	g := &flow.Graph{Stages: []flow.StageSpec{{Name: "load"}, {Name: "parts", Upstreams: []int{0}}, {Name: "other", Upstreams: []int{0}}, {Name: "report", Upstreams: []int{1, 2}}}}
	for i := range stages {
		stages[i].Name, stages[i].Ord = g.Stages[i].Name, i
	}
	return control.Progress{At: at, Version: &versions.Version{Graph: g}, Stages: stages}
}

func TestEta(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	ago := func(s int) *time.Time { at := now.Add(-time.Duration(s) * time.Second); return &at }
	waits := control.StageProgress{State: stage.StageWaiting}
	done := control.StageProgress{State: stage.StageSucceeded, FinishedAt: ago(5)}
	known := &usual{samples: 9, stages: map[string]stageUsual{"load": {9, 10}, "parts": {9, 60}, "other": {9, 20}, "report": {9, 5}}}
	shards := func(succeeded, ready, flying, dead int) control.StageProgress {
		return control.StageProgress{State: stage.StageRunning, Kind: stage.Sharded, ReadyAt: ago(20), Total: succeeded + ready + flying + dead, Succeeded: succeeded,
			Ready: ready, InFlight: flying, Dead: dead}
	}
	for name, c := range map[string]struct {
		p     control.Progress
		u     *usual
		left  float64 // 0: nothing is said
		basis string
	}{
		"all of it is to come":                {progressOf(now, control.StageProgress{State: stage.StageRunning, ReadyAt: ago(4)}, waits, waits, waits), known, 6 + 60 + 5, "load usually takes 10 s"},
		"by the rate":                         {progressOf(now, done, shards(190, 390, 10, 10), done, waits), known, 40 + 5, "parts has finished 10 shards a second, and 400 are left"},
		"the longer branch counts":            {progressOf(now, done, shards(190, 0, 10, 10), control.StageProgress{State: stage.StageRunning, ReadyAt: ago(1)}, waits), known, 19 + 5, "other usually takes 20 s"},
		"longer than usual":                   {progressOf(now, done, done, done, control.StageProgress{State: stage.StageRunning, ReadyAt: ago(6)}), known, 0, ""},
		"nobody knows":                        {progressOf(now, done, waits, waits, waits), &usual{}, 0, ""},
		"only what runs, without a past":      {progressOf(now, done, shards(100, 100, 0, 0), done, done), &usual{}, 20, "5 shards a second"},
		"a branch that is usually skipped":    {progressOf(now, done, waits, waits, waits), &usual{samples: 3, stages: map[string]stageUsual{"parts": {3, 60}, "report": {3, 5}}}, 65, "the last 3 runs"},
		"no shard has finished":               {progressOf(now, done, shards(0, 100, 0, 0), done, done), known, 40, "parts usually takes 60 s"},
		"all is decided and the run ends now": {progressOf(now, done, done, done, done), known, 0, ""},
	} {
		eta := etaOf(c.p, c.u)
		switch {
		case c.left == 0 && eta == nil:
		case eta == nil:
			t.Errorf("%s: nothing is said, want %v s", name, c.left)
		case math.Abs(eta.LeftS-c.left) > 0.01 || !strings.Contains(eta.Basis, c.basis) || eta.At.Before(now):
			t.Errorf("%s: %+v, want %v s by %q", name, *eta, c.left, c.basis)
		}
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values []float64
		q, is  float64
	}{{[]float64{7}, 0.5, 7}, {[]float64{4, 1, 3, 2}, 0.5, 2.5}, {[]float64{1, 2, 3, 4, 5}, 0.95, 4.8}, {[]float64{1, 2}, 1, 2}, {[]float64{5, 1}, 0, 1}} {
		if got := quantile(c.values, c.q); math.Abs(got-c.is) > 1e-9 {
			t.Errorf("quantile %v of %v is %v, want %v", c.q, c.values, got, c.is)
		}
	}
}

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{812.4: "812", 12.5: "12", 4.25: "4.3", 0.856: "0.86", 0.0123: "0.012"} {
		if got := figure(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

func TestRank(t *testing.T) {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	all := []attention{
		note(gen.AttentionKindRunsFailed, 50, at, nil, "e"),
		note(gen.AttentionKindDeadLetters, 3, at, nil, "d"),
		note(gen.AttentionKindDeadLetters, 9, at, nil, "b"),
		note(gen.AttentionKindNoLeader, 1, at, nil, "a"),
		note(gen.AttentionKindDeadLetters, 3, at.Add(-time.Hour), nil, "c"),
	}
	rank(all)
	order := ""
	for _, a := range all {
		order += a.Text
	}
	if order != "abcde" {
		t.Errorf("the order is %s", order)
	}
	for _, kind := range []gen.AttentionKind{gen.AttentionKindWorkerSilent, gen.AttentionKindCircuitOpen, gen.AttentionKindQueuePaused, gen.AttentionKindHoldOld, gen.AttentionKindSwitchOff} {
		if note(kind, 1, at, nil, "x").needs != gen.PermissionFleetRead {
			t.Errorf("%s is told to who may not see the fleet", kind)
		}
	}
}

// A queue that grows has no time by which it is empty; one that nobody has looked at before gets the benefit of the doubt.
func TestShrinks(t *testing.T) {
	n := &namespaceOverview{depths: make(map[string][]depthAt)}
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		after time.Duration
		depth int
		want  bool
	}{{0, 100, true}, {5 * time.Second, 200, true}, {30 * time.Second, 150, false}, {60 * time.Second, 100, false}, {90 * time.Second, 99, true}, {10 * time.Minute, 500, true}} {
		if got := n.shrinks("q", at.Add(c.after), c.depth); got != c.want {
			t.Errorf("%d: %d after %v: %v", i, c.depth, c.after, got)
		}
	}
}

func TestBecause(t *testing.T) {
	if got := because("it is so", " a\n  reason "); got != "it is so: a reason" {
		t.Error(got)
	}
	if got := because("it is so", ""); got != "it is so" {
		t.Error(got)
	}
	if got := []rune(because("", strings.Repeat("ä", 500))); len(got) != 162 || got[161] != '…' {
		t.Errorf("%d %q", len(got), string(got))
	}
}
