package flow_test

import (
	"fmt"
	"testing"

	"axflow/flow"
	"axflow/stage"
)

// tearing is setup (0), work (1) after it, teardown (2) of setup after both, and a stage (3) after the teardown.
func tearing(kind stage.Kind) *flow.Graph {
	down := after(0, 1)
	down.Kind, down.TeardownOf, down.Rule = kind, new(0), stage.AllFailed // its rule is not asked
	return graph(after(), after(0), down, after(2))
}

// Every mix of states of setup and work: a teardown runs once both are decided if setup has succeeded, and is skipped as
// soon as setup has ended otherwise; in a cancelling run as in a running one.
func TestTeardownByEnumeration(t *testing.T) {
	for _, kind := range []stage.Kind{stage.Single, stage.Sharded} {
		for _, setup := range stage.StageStates() {
			for _, work := range stage.StageStates() {
				g := tearing(kind)
				status := read([]flow.Status{in(setup), in(work), in(stage.StageWaiting), in(stage.StageSucceeded)})
				want := "waits"
				switch {
				case setup.Decided() && setup != stage.StageSucceeded:
					want = "skip"
				case setup.Decided() && work.Decided():
					want = map[stage.Kind]string{stage.Single: "release", stage.Sharded: "plan"}[kind]
				}
				for name, resolve := range map[string]func(*flow.Graph, func(int) (flow.Status, bool), []int) []flow.Decision{
					"running": flow.Resolve, "cancelling": flow.ResolveCancelling} {
					got := "waits"
					for _, d := range resolve(g, status, []int{2}) {
						if d.Ord == 2 {
							got = d.Act.String()
						}
					}
					if got != want {
						t.Errorf("%s: setup %s, work %s: %s, want %s", name, setup, work, got, want)
					}
				}
			}
		}
	}
}

// What waits in a cancelling run is cancelled, whatever its rule and upstreams; nothing else moves.
func TestCancellingRunsReleaseTeardownsAlone(t *testing.T) {
	for _, state := range stage.StageStates() {
		for _, up := range stage.StageStates() {
			g := graph(after(), with(after(0), rule(stage.Always)))
			got := fmt.Sprint(flow.ResolveCancelling(g, read([]flow.Status{in(up), in(state)}), []int{1}))
			want := "[]"
			if state == stage.StageWaiting {
				want = fmt.Sprint([]flow.Decision{{Ord: 1, Act: flow.Cancel, Reason: "the run was cancelled"}})
			}
			if got != want {
				t.Errorf("%s after %s: %s, want %s", state, up, got, want)
			}
		}
	}
}

// A cancelled run whose setup was skipped or failed by the cascade ends: its teardown does not wait for ever.
func TestCancellingCascades(t *testing.T) {
	g := tearing(stage.Single)
	all := []flow.Status{in(stage.StageCancelled), in(stage.StageWaiting), in(stage.StageWaiting), in(stage.StageWaiting)}
	decisions := flow.ResolveCancelling(g, read(all), nil)
	for _, d := range decisions {
		all[d.Ord] = in(moved(d.Act))
	}
	if state, over := flow.Outcome(g, read(all)); !over || state != stage.RunCancelled {
		t.Errorf("after %v the outcome is %s, %t", decisions, state, over)
	}
}

// A disabled teardown is skipped.
func TestDisabledTeardown(t *testing.T) {
	g := tearing(stage.Single)
	g.Stages[2].Disabled = true
	d := flow.Resolve(g, read([]flow.Status{in(stage.StageSucceeded), in(stage.StageFailed), in(stage.StageWaiting), in(stage.StageSucceeded)}), []int{2})
	if len(d) != 1 || d[0].Act != flow.Skip {
		t.Errorf("decided %v", d)
	}
}

// Wrong teardowns and conditions are told when the flow is built.
func TestTeardownFaults(t *testing.T) {
	setup := single("setup")
	if _, err := flow.Build("f", stage.Node[params](single("down", stage.Teardown(setup)))); err == nil {
		t.Error("a teardown of a stage that is not in the flow was let through")
	}
	a := single("a")
	b := single("b", stage.Teardown(a))
	a.After(b)
	if _, err := flow.Build("f", stage.Node[params](a), b); err == nil {
		t.Error("a teardown before its setup was let through")
	}
	bad := func(change func(*flow.Graph)) {
		t.Helper()
		f := flow.New("f", setup, single("down", stage.Teardown(setup)))
		g, err := flow.ParseGraph(f.Graph().Encode())
		if err != nil {
			t.Fatal(err)
		}
		change(g)
		if _, err := flow.ParseGraph(g.Encode()); err == nil {
			t.Error("a stored graph was let through")
		}
	}
	for _, of := range []int{-1, 1, 7} {
		bad(func(g *flow.Graph) { ord, _ := g.Ord("down"); g.Stages[ord].TeardownOf = new(of) })
	}
	bad(func(g *flow.Graph) { g.Stages[1].Kind, g.Stages[1].AlignedTo = stage.Aligned, 0 })
}
