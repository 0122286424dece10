package flow_test

import (
	"fmt"
	"slices"
	"testing"

	"axflow/flow"
	"axflow/stage"
)

// states is what is known of a run's stages; a stage that is absent was not read.
type states map[int]flow.Status

func (s states) status(ord int) (flow.Status, bool) {
	st, ok := s[ord]
	return st, ok
}

func in(state stage.StageState) flow.Status { return flow.Status{State: state} }

// graph makes a graph of stages named a, b, c, ... with the given specs.
func graph(specs ...flow.StageSpec) *flow.Graph {
	g := &flow.Graph{Flow: "f", Stages: specs}
	for i := range g.Stages {
		g.Stages[i].Name = string(rune('a' + i))
		if g.Stages[i].Kind != stage.Aligned {
			g.Stages[i].AlignedTo = -1
		}
		if g.Stages[i].Rule == "" {
			g.Stages[i].Rule = stage.AllSuccess
		}
	}
	return g
}

func after(ups ...int) flow.StageSpec { return flow.StageSpec{Upstreams: ups} }

func alignedTo(up int, others ...int) flow.StageSpec {
	ups := append([]int{up}, others...)
	slices.Sort(ups)
	return flow.StageSpec{Kind: stage.Aligned, AlignedTo: up, Upstreams: ups}
}

func with(s flow.StageSpec, change func(*flow.StageSpec)) flow.StageSpec {
	change(&s)
	return s
}

func rule(r stage.Rule) func(*flow.StageSpec) { return func(s *flow.StageSpec) { s.Rule = r } }

// acts writes decisions down as "1 release, 2 skip".
func acts(decisions []flow.Decision) string {
	text := ""
	for i, d := range decisions {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d %v", d.Ord, d.Act)
		if d.Act == flow.Align {
			text += fmt.Sprintf(" of %d", d.Total)
		}
	}
	return text
}

func TestResolve(t *testing.T) {
	sharded := flow.StageSpec{Kind: stage.Sharded}
	waiting := in(stage.StageWaiting)
	planned := func(s stage.StageState, total int) flow.Status {
		return flow.Status{State: s, Planned: true, Total: total}
	}
	disable := func(s *flow.StageSpec) { s.Disabled = true }
	skipEmpty := func(s *flow.StageSpec) { s.SkipEmpty = true }
	for name, tc := range map[string]struct {
		g          *flow.Graph
		known      states
		candidates []int
		want       string
	}{
		"roots are released": {
			graph(after(), sharded, after(0, 1)), states{0: waiting, 1: waiting, 2: waiting}, nil,
			"0 release, 1 plan",
		},
		"a success releases its dependents": {
			graph(after(), after(0), with(after(0), func(s *flow.StageSpec) { s.Kind = stage.Sharded }), after(1)),
			states{0: in(stage.StageSucceeded), 1: waiting, 2: waiting, 3: waiting}, []int{2, 1},
			"1 release, 2 plan",
		},
		"one of two successes releases nothing": {
			graph(after(), after(), after(0, 1)), states{0: in(stage.StageSucceeded), 1: in(stage.StageRunning), 2: waiting}, nil,
			"",
		},
		"a failure cascades at once, past what still runs": {
			graph(after(), after(), after(0, 1), after(2), with(after(3), rule(stage.OneFailed)), with(after(3), rule(stage.AllDone))),
			states{0: in(stage.StageFailed), 1: in(stage.StageRunning), 2: waiting, 3: waiting, 4: waiting, 5: waiting}, []int{2},
			"2 fail_upstream, 3 fail_upstream, 4 release, 5 release",
		},
		"a cascade stops where nothing is known": {
			graph(after(), after(0), after(1), after(2)),
			states{0: in(stage.StageFailed), 1: waiting, 3: waiting}, nil,
			"1 fail_upstream",
		},
		"cancelled counts as failed": {
			graph(after(), after(0), with(after(0), rule(stage.AllFailed))),
			states{0: in(stage.StageCancelled), 1: waiting, 2: waiting}, nil,
			"1 fail_upstream, 2 release",
		},
		"skips cascade": {
			graph(after(), after(0), after(1), with(after(2), rule(stage.AllSkipped))),
			states{0: in(stage.StageSkipped), 1: waiting, 2: waiting, 3: waiting}, nil,
			"1 skip, 2 skip, 3 release",
		},
		"a disabled stage is skipped when it is reached": {
			graph(after(), with(after(0), disable), after(1)), states{0: in(stage.StageSucceeded), 1: waiting, 2: waiting}, nil,
			"1 skip, 2 skip",
		},
		"and not before": {
			graph(after(), with(after(0), disable), after(1)), states{0: in(stage.StageRunning), 1: waiting, 2: waiting}, nil,
			"",
		},
		"and fails with its upstreams all the same": {
			graph(after(), with(after(0), disable)), states{0: in(stage.StageFailed), 1: waiting}, nil,
			"1 fail_upstream",
		},
		"always does not wait": {
			graph(after(), with(after(0), rule(stage.Always))), states{0: in(stage.StageRunning), 1: waiting}, nil,
			"1 release",
		},
		"only what waits is decided": {
			graph(after(), after(0), after(0), after(0)),
			states{0: in(stage.StageFailed), 1: in(stage.StageRunning), 2: in(stage.StageCancelled), 3: in(stage.StageSucceeded)}, nil,
			"",
		},
		"an unknown upstream may still end otherwise": {
			graph(after(), after(), after(0, 1), with(after(0, 1), rule(stage.OneSuccess))),
			states{0: in(stage.StageSucceeded), 2: waiting, 3: waiting}, nil,
			"3 release",
		},
		"no candidates, no decisions": {
			graph(after()), states{0: waiting}, []int{},
			"",
		},
		"candidates twice, out of order and out of range": {
			graph(after(), after()), states{0: waiting, 1: waiting}, []int{1, 0, 1, 7, -3, 0},
			"0 release, 1 release",
		},
		"aligned waits for the plan": {
			graph(sharded, alignedTo(0)), states{0: in(stage.StagePlanning), 1: waiting}, nil,
			"",
		},
		"aligned starts with the plan": {
			graph(sharded, alignedTo(0)), states{0: planned(stage.StageRunning, 7), 1: waiting}, nil,
			"1 align of 7",
		},
		"so does what is aligned to it": {
			graph(sharded, alignedTo(0), alignedTo(1), alignedTo(2), after(3)),
			states{0: planned(stage.StageRunning, 7), 1: waiting, 2: waiting, 3: waiting, 4: waiting}, []int{1},
			"1 align of 7, 2 align of 7, 3 align of 7",
		},
		"aligned waits for its other upstreams": {
			graph(sharded, after(), alignedTo(0, 1)),
			states{0: planned(stage.StageRunning, 7), 1: in(stage.StageRunning), 2: waiting}, nil,
			"",
		},
		"aligned starts late": {
			graph(sharded, after(), alignedTo(0, 1)),
			states{0: planned(stage.StageSucceeded, 7), 1: in(stage.StageSucceeded), 2: waiting}, nil,
			"2 align of 7",
		},
		"aligned fails with its upstream": {
			graph(sharded, alignedTo(0)), states{0: planned(stage.StageFailed, 7), 1: waiting}, nil,
			"1 fail_upstream",
		},
		"an upstream that drains is no success": {
			graph(sharded, alignedTo(0)), states{0: planned(stage.StageCancelling, 7), 1: waiting}, nil,
			"",
		},
		"aligned to an empty plan succeeds": {
			graph(sharded, alignedTo(0), after(1)), states{0: planned(stage.StageSucceeded, 0), 1: waiting, 2: waiting}, nil,
			"1 succeed, 2 release",
		},
		"or is skipped": {
			graph(sharded, with(alignedTo(0), skipEmpty)), states{0: planned(stage.StageSucceeded, 0), 1: waiting}, nil,
			"1 skip",
		},
		"aligned to one that failed before its plan": {
			graph(sharded, with(alignedTo(0), rule(stage.AllDone))), states{0: in(stage.StageFailed), 1: waiting}, nil,
			"1 fail_upstream",
		},
		"aligned to one that was skipped": {
			graph(sharded, with(alignedTo(0), rule(stage.AllDone))), states{0: in(stage.StageSkipped), 1: waiting}, nil,
			"1 skip",
		},
		"always waits for the plan": {
			graph(sharded, with(alignedTo(0), rule(stage.Always))), states{0: in(stage.StagePlanning), 1: waiting}, nil,
			"",
		},
		"always starts with the plan": {
			graph(sharded, after(), with(alignedTo(0, 1), rule(stage.Always))),
			states{0: planned(stage.StageRunning, 3), 1: in(stage.StageRunning), 2: waiting}, nil,
			"2 align of 3",
		},
		"a success without its plan read decides nothing": {
			graph(sharded, alignedTo(0)), states{0: in(stage.StageSucceeded), 1: waiting}, nil,
			"",
		},
		"a disabled aligned stage waits for the end": {
			graph(sharded, with(alignedTo(0), disable)), states{0: planned(stage.StageRunning, 7), 1: waiting}, nil,
			"",
		},
		"a plan that runs does not count against its rule": {
			graph(sharded, with(alignedTo(0), rule(stage.NoneFailed))), states{0: planned(stage.StageRunning, 7), 1: waiting}, nil,
			"1 align of 7",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := flow.Resolve(tc.g, tc.known.status, tc.candidates)
			if acts(got) != tc.want {
				t.Errorf("the decisions are %q, want %q", acts(got), tc.want)
			}
			for _, d := range got {
				if d.Reason == "" {
					t.Errorf("there is no reason for %d %v", d.Ord, d.Act)
				}
				if to := moved(d.Act); !stage.StageWaiting.CanMove(to) {
					t.Errorf("%v is no legal move", d.Act)
				}
			}
		})
	}
}

// moved is the state that the contract gives for each act.
func moved(a flow.Act) stage.StageState {
	return map[flow.Act]stage.StageState{
		flow.Release: stage.StageRunning, flow.Plan: stage.StagePlanning, flow.Align: stage.StageRunning,
		flow.Skip: stage.StageSkipped, flow.FailUpstream: stage.StageUpstreamFailed, flow.Succeed: stage.StageSucceeded,
		flow.Cancel: stage.StageCancelled,
	}[a]
}

func TestReasons(t *testing.T) {
	g := graph(after(), after(), after(), after(), after(0, 1, 2, 3), with(after(0), rule(stage.NoneSkipped)), with(after(), rule(stage.AllDone)))
	known := states{0: in(stage.StageSucceeded), 1: in(stage.StageCancelled), 2: in(stage.StageSkipped), 3: in(stage.StageRunning),
		4: in(stage.StageWaiting), 5: in(stage.StageWaiting), 6: in(stage.StageWaiting)}
	want := []string{
		`all_success: of 4 upstreams 1 succeeded, 1 failed ("b"), 1 skipped ("c"), 1 undecided`,
		`none_skipped: of 1 upstream 1 succeeded`,
		`it has no upstreams`,
	}
	got := flow.Resolve(g, known.status, nil)
	if len(got) != len(want) {
		t.Fatalf("the decisions are %q", acts(got))
	}
	for i, d := range got {
		if d.Reason != want[i] {
			t.Errorf("the reason is %q, want %q", d.Reason, want[i])
		}
	}
	g = graph(flow.StageSpec{Kind: stage.Sharded}, alignedTo(0), with(alignedTo(0), rule(stage.AllDone)), with(after(0), func(s *flow.StageSpec) { s.Disabled = true }))
	for text, up := range map[string]flow.Status{
		`the plan of "a" is empty`:                        {State: stage.StageSucceeded, Planned: true},
		`"a", whose shards it follows, was skipped`:       in(stage.StageSkipped),
		`"a" ended as cancelled before it had a plan`:     in(stage.StageCancelled),
		`"a" ended as failed before it had a plan`:        in(stage.StageFailed),
		`all_done: of 1 upstream 1 upstream_failed ("a")`: {State: stage.StageUpstreamFailed, Planned: true, Total: 3},
	} {
		known := states{0: up, 2: in(stage.StageWaiting)}
		if got := flow.Resolve(g, known.status, nil); len(got) != 1 || got[0].Reason != text {
			t.Errorf("the decisions are %+v, want the reason %q", got, text)
		}
	}
	known = states{0: in(stage.StageSucceeded), 3: in(stage.StageWaiting)}
	if got := flow.Resolve(g, known.status, nil); len(got) != 1 || got[0].Reason != "the stage is disabled" {
		t.Errorf("the decisions are %+v", got)
	}
	if got := flow.Act(99).String(); got != "unknown(99)" {
		t.Errorf("act 99 is called %q", got)
	}
}

func TestOutcome(t *testing.T) {
	const (
		S = stage.StageSucceeded
		F = stage.StageFailed
		C = stage.StageCancelled
		K = stage.StageSkipped
		U = stage.StageUpstreamFailed
	)
	g := graph(after(), after(0), after(1))
	for _, tc := range []struct {
		ends []stage.StageState
		want stage.RunState
		ok   bool
	}{
		{[]stage.StageState{S, S, S}, stage.RunSucceeded, true},
		{[]stage.StageState{S, K, K}, stage.RunSucceeded, true},
		{[]stage.StageState{S, F, U}, stage.RunFailed, true},
		{[]stage.StageState{S, U, S}, stage.RunFailed, true},
		{[]stage.StageState{S, C, C}, stage.RunCancelled, true},
		{[]stage.StageState{F, C, C}, stage.RunFailed, true},
		{[]stage.StageState{C, C, F}, stage.RunFailed, true},
		{[]stage.StageState{S, S, stage.StageRunning}, 0, false},
		{[]stage.StageState{F, U, stage.StageCancelling}, 0, false},
		{[]stage.StageState{S, S}, 0, false}, // the third is not known
	} {
		known := states{}
		for i, e := range tc.ends {
			known[i] = in(e)
		}
		if got, ok := flow.Outcome(g, known.status); got != tc.want || ok != tc.ok {
			t.Errorf("the run of %v ended %v as %v, want %v as %v", tc.ends, ok, got, tc.ok, tc.want)
		}
	}
}

func TestUndecided(t *testing.T) {
	g := graph(after(), after(), after(), after(), after(0, 1, 2, 3))
	known := states{0: in(stage.StageSucceeded), 1: in(stage.StageRunning), 3: in(stage.StageFailed)}
	if got := flow.Undecided(g, known.status, 4); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("it waits for %v, want 1 and 2", got)
	}
}

// chain is a flow of n stages, each after the one before.
func chain(n int) *flow.Graph {
	g := &flow.Graph{Flow: "chain", Stages: make([]flow.StageSpec, n)}
	for i := range g.Stages {
		g.Stages[i] = flow.StageSpec{Name: fmt.Sprintf("s%d", i), AlignedTo: -1, Rule: stage.AllSuccess}
		if i > 0 {
			g.Stages[i].Upstreams = []int{i - 1}
		}
	}
	return g
}

// fan is a flow of n-1 stages and one after all of them.
func fan(n int) *flow.Graph {
	g := chain(n)
	last := &g.Stages[n-1]
	last.Upstreams = nil
	for i := range n - 1 {
		g.Stages[i].Upstreams = nil
		last.Upstreams = append(last.Upstreams, i)
	}
	return g
}

func fill(n int, s stage.StageState) []flow.Status {
	all := make([]flow.Status, n)
	for i := range all {
		all[i].State = s
	}
	return all
}

func read(all []flow.Status) func(int) (flow.Status, bool) {
	return func(ord int) (flow.Status, bool) { return all[ord], true }
}

func TestCascadeThroughTheLongestChain(t *testing.T) {
	all := fill(flow.MaxStages, stage.StageWaiting)
	all[0].State = stage.StageFailed
	got := flow.Resolve(chain(flow.MaxStages), read(all), []int{1})
	if len(got) != flow.MaxStages-1 || got[1998].Act != flow.FailUpstream || got[1998].Ord != 1999 {
		t.Errorf("%d stages were decided", len(got))
	}
}

func BenchmarkResolve(b *testing.B) {
	const n = flow.MaxStages
	run := func(name string, g *flow.Graph, all []flow.Status, candidates []int, decisions int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := flow.Resolve(g, read(all), candidates); len(got) != decisions {
					b.Fatalf("there are %d decisions, want %d", len(got), decisions)
				}
			}
		})
	}
	next := fill(n, stage.StageWaiting)
	next[0].State = stage.StageSucceeded
	run("chain/one finished", chain(n), next, []int{1}, 1)
	run("chain/full scan", chain(n), next, nil, 1)
	doomed := fill(n, stage.StageWaiting)
	doomed[0].State = stage.StageFailed
	run("chain/cascade", chain(n), doomed, []int{1}, n-1)
	open := fill(n, stage.StageRunning)
	open[0].State, open[n-1].State = stage.StageSucceeded, stage.StageWaiting
	run("fan-in/one finished", fan(n), open, []int{n - 1}, 0)
	all := fill(n, stage.StageSucceeded)
	all[n-1].State = stage.StageWaiting
	run("fan-in/last finished", fan(n), all, []int{n - 1}, 1)
}
