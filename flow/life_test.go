package flow_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"axflow/flow"
	"axflow/stage"
)

// fate is what a stage's own work comes to, should it run.
type fate struct {
	planFails bool
	total     int              // shards of its plan
	end       stage.StageState // succeeded, failed or cancelled
}

// world is a random flow with the fate of each of its stages.
type world struct {
	g     *flow.Graph
	fates []fate
}

func drawWorld(t *rapid.T) world {
	n := rapid.IntRange(1, 9).Draw(t, "stages")
	w := world{g: &flow.Graph{Flow: "f"}}
	for i := range n {
		s := flow.StageSpec{Name: string(rune('a' + i)), AlignedTo: -1, Rule: rapid.SampledFrom(stage.Rules()).Draw(t, "rule")}
		var sharded []int
		for u := range i {
			if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				s.Upstreams = append(s.Upstreams, u)
				if w.g.Stages[u].Kind != stage.Single {
					sharded = append(sharded, u)
				}
			}
		}
		s.Kind = rapid.SampledFrom([]stage.Kind{stage.Single, stage.Sharded}).Draw(t, "kind")
		if len(sharded) > 0 && rapid.Bool().Draw(t, "aligned") {
			s.Kind, s.AlignedTo = stage.Aligned, rapid.SampledFrom(sharded).Draw(t, "aligned to")
			// one_done tells an upstream's failure from an upstream_failed, and an aligned stage starts before that
			// is known.
			for slices.Contains([]stage.Rule{stage.AllFailed, stage.AllSkipped, stage.OneFailed, stage.OneDone}, s.Rule) {
				s.Rule = rapid.SampledFrom(stage.Rules()).Draw(t, "rule of an aligned stage")
			}
		}
		s.Disabled = rapid.IntRange(0, 9).Draw(t, "disabled") == 0
		s.SkipEmpty = s.Kind != stage.Single && rapid.Bool().Draw(t, "skip empty")
		w.g.Stages = append(w.g.Stages, s)
		w.fates = append(w.fates, fate{
			planFails: rapid.IntRange(0, 5).Draw(t, "plan fails") == 0,
			total:     rapid.IntRange(0, 2).Draw(t, "shards"),
			end: rapid.SampledFrom([]stage.StageState{stage.StageSucceeded, stage.StageSucceeded, stage.StageSucceeded,
				stage.StageFailed, stage.StageCancelled}).Draw(t, "end"),
		})
	}
	return w
}

// naive computes how every stage ends, from the finished upstreams alone and the page of trigger rules: no
// events, no early decisions.
func (w world) naive() []flow.Status {
	ends := make([]flow.Status, len(w.g.Stages))
	for i, s := range w.g.Stages {
		has := map[stage.StageState]int{}
		for _, u := range s.Upstreams {
			has[ends[u].State]++
		}
		n, f := len(s.Upstreams), has[stage.StageFailed]+has[stage.StageCancelled]
		S, U, K := has[stage.StageSucceeded], has[stage.StageUpstreamFailed], has[stage.StageSkipped]
		ends[i] = w.naiveEnd(i, naiveRule(s.Rule, n, S, f+U, f, K), ends)
	}
	return ends
}

// naiveRule is the page's table, once more: bad counts failed and upstream_failed, f failed alone.
func naiveRule(r stage.Rule, n, s, bad, f, k int) byte {
	yes := func(ok bool, otherwise byte) byte {
		if ok {
			return 'R'
		}
		return otherwise
	}
	either := func(ok bool, a, b byte) byte {
		if ok {
			return a
		}
		return b
	}
	if n == 0 {
		return 'R'
	}
	switch r {
	case "all_success":
		return yes(s == n, either(bad > 0, 'X', 'k'))
	case "all_failed":
		return yes(bad == n, 'k')
	case "all_skipped":
		return yes(k == n, 'k')
	case "one_success":
		return yes(s > 0, either(k == n, 'k', 'X'))
	case "one_failed":
		return yes(bad > 0, 'k')
	case "one_done":
		return yes(s+f > 0, 'k')
	case "none_failed":
		return yes(bad == 0, 'X')
	case "none_failed_min_one_success":
		return either(bad > 0, 'X', yes(s > 0, 'k'))
	case "none_skipped":
		return yes(k == 0, 'k')
	case "all_done_min_one_success":
		return either(k > 0, 'k', yes(s > 0, 'X'))
	default: // all_done, always
		return 'R'
	}
}

func (w world) naiveEnd(i int, decision byte, ends []flow.Status) flow.Status {
	s, own := w.g.Stages[i], w.fates[i]
	empty := flow.Status{State: stage.StageSucceeded, Planned: true}
	if s.SkipEmpty {
		empty.State = stage.StageSkipped
	}
	switch {
	case decision == 'X':
		return in(stage.StageUpstreamFailed)
	case decision == 'k' || s.Disabled:
		return in(stage.StageSkipped)
	case s.Kind == stage.Single:
		return in(own.end)
	case s.Kind == stage.Sharded && own.planFails:
		return in(stage.StageFailed)
	case s.Kind == stage.Sharded && own.total == 0:
		return empty
	case s.Kind == stage.Sharded:
		return flow.Status{State: own.end, Planned: true, Total: own.total}
	}
	up := ends[s.AlignedTo]
	switch {
	case up.State == stage.StageSkipped:
		return in(stage.StageSkipped)
	case !up.Planned:
		return in(stage.StageUpstreamFailed)
	case up.Total == 0:
		return empty
	case up.State != stage.StageSucceeded: // its shards can never all run
		return flow.Status{State: stage.StageUpstreamFailed, Planned: true, Total: up.Total}
	default:
		return flow.Status{State: own.end, Planned: true, Total: up.Total}
	}
}

// live is a run under way.
type live struct {
	world
	t      *rapid.T
	now    states
	ends   []flow.Status
	events []int // stages of which something has changed that dependents do not know yet
}

// apply does what Resolve decided, checking that it is what the whole run comes to.
func (l *live) apply(decisions []flow.Decision) {
	for i, d := range decisions {
		if i > 0 && decisions[i-1].Ord >= d.Ord {
			l.t.Fatalf("the decisions %v are not in order", acts(decisions))
		}
		if l.now[d.Ord].State != stage.StageWaiting {
			l.t.Fatalf("stage %d is decided in state %v", d.Ord, l.now[d.Ord].State)
		}
		end := l.ends[d.Ord]
		to := flow.Status{State: moved(d.Act), Planned: d.Act == flow.Align || d.Act == flow.Succeed, Total: d.Total}
		if to.State.Decided() && to.State != end.State {
			l.t.Fatalf("stage %d: %v, but it ends as %v", d.Ord, d.Act, end.State)
		}
		if d.Act == flow.Align && d.Total != end.Total && end.State != stage.StageUpstreamFailed {
			l.t.Fatalf("stage %d takes %d shards, its upstream has %d", d.Ord, d.Total, end.Total)
		}
		l.now[d.Ord] = to
		l.events = append(l.events, d.Ord)
	}
}

// work lets one stage that is under way take its next step.
func (l *live) work(ord int) {
	s, own := l.g.Stages[ord], l.fates[ord]
	switch l.now[ord].State {
	case stage.StagePlanning:
		switch {
		case own.planFails:
			l.now[ord] = in(stage.StageFailed)
		case own.total == 0:
			l.now[ord] = l.ends[ord]
		default:
			l.now[ord] = flow.Status{State: stage.StageRunning, Planned: true, Total: own.total}
		}
	case stage.StageRunning:
		up := flow.Status{State: stage.StageSucceeded}
		if s.Kind == stage.Aligned {
			up = l.now[s.AlignedTo]
		}
		if up.State != stage.StageSucceeded {
			l.now[ord] = flow.Status{State: stage.StageUpstreamFailed, Planned: true, Total: l.now[ord].Total}
		} else {
			l.now[ord] = flow.Status{State: own.end, Planned: l.now[ord].Planned, Total: l.now[ord].Total}
		}
	}
	l.events = append(l.events, ord)
}

// busy returns the stages that can take a step.
func (l *live) busy() []int {
	var busy []int
	for ord, s := range l.g.Stages {
		switch st := l.now[ord].State; {
		case st == stage.StagePlanning:
			busy = append(busy, ord)
		case st == stage.StageRunning && (s.Kind != stage.Aligned || l.now[s.AlignedTo].State.Decided()):
			busy = append(busy, ord)
		}
	}
	return busy
}

// hear resolves the dependents of one changed stage, from their and their upstreams' rows alone.
func (l *live) hear(ord int) {
	rows := states{}
	dependents := l.g.Dependents(ord)
	for _, d := range dependents {
		rows[d] = l.now[d]
		for _, u := range l.g.Stages[d].Upstreams {
			rows[u] = l.now[u]
		}
	}
	l.apply(flow.Resolve(l.g, rows.status, slices.Clone(dependents)))
}

func (l *live) choose(from []int) int { return rapid.SampledFrom(from).Draw(l.t, "next") }

// In whatever order the stages of a run end, events are heard, lost or come early, and rows are read, the run
// ends as the rules say, and no decision on the way is one that the end belies.
func TestEveryOrderEndsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		l := &live{world: w, t: t, now: states{}, ends: w.naive()}
		for ord := range w.g.Stages {
			l.now[ord] = in(stage.StageWaiting)
		}
		l.apply(flow.Resolve(w.g, l.now.status, w.g.Roots()))
		// Stages with the rule always need no event, so the start is resolved as a whole.
		l.apply(flow.Resolve(w.g, l.now.status, nil))
		for steps := 0; ; steps++ {
			if steps > 1000 {
				t.Fatalf("the run does not end: %v", l.now)
			}
			busy := l.busy()
			switch {
			case len(l.events) > 0 && (len(busy) == 0 || rapid.Bool().Draw(t, "hear")):
				i := rapid.IntRange(0, len(l.events)-1).Draw(t, "event")
				ord := l.events[i]
				l.events = slices.Delete(l.events, i, i+1)
				l.hear(ord)
			case rapid.IntRange(0, 9).Draw(t, "read a part") == 0:
				part := states{}
				for ord, s := range l.now {
					if rapid.Bool().Draw(t, "row") {
						part[ord] = s
					}
				}
				l.apply(flow.Resolve(w.g, part.status, nil))
			case len(busy) > 0:
				l.work(l.choose(busy))
			default:
				l.finish()
				return
			}
		}
	})
}

// finish checks a run in which nothing is left to do.
func (l *live) finish() {
	if rest := flow.Resolve(l.g, l.now.status, nil); rest != nil {
		l.t.Fatalf("the events left out %v", acts(rest))
	}
	for ord, end := range l.ends {
		if l.now[ord].State != end.State {
			l.t.Fatalf("stage %d ended as %v, want %v", ord, l.now[ord].State, end.State)
		}
	}
	want := stage.RunSucceeded
	for _, end := range l.ends {
		switch end.State {
		case stage.StageFailed, stage.StageUpstreamFailed:
			want = stage.RunFailed
		case stage.StageCancelled:
			want = max(want, stage.RunCancelled)
			if want == stage.RunCancelled && slices.ContainsFunc(l.ends, func(s flow.Status) bool {
				return s.State == stage.StageFailed || s.State == stage.StageUpstreamFailed
			}) {
				want = stage.RunFailed
			}
		}
	}
	if got, ok := flow.Outcome(l.g, l.now.status); !ok || got != want {
		l.t.Fatalf("the run ended %v as %v, want %v", ok, got, want)
	}
}

// What is resolved twice from the same rows is decided alike, whatever the order of the candidates.
func TestResolveIsDeterministic(t *testing.T) {
	all := append(stage.StageStates(), stage.StageWaiting, stage.StageWaiting, stage.StageWaiting, stage.StageWaiting)
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		known := states{}
		for ord := range w.g.Stages {
			if rapid.IntRange(0, 5).Draw(t, "known") > 0 {
				s := in(rapid.SampledFrom(all).Draw(t, "state"))
				if s.Planned = w.g.Stages[ord].Kind != stage.Single && rapid.Bool().Draw(t, "planned"); s.Planned {
					s.Total = rapid.IntRange(0, 3).Draw(t, "total")
				}
				known[ord] = s
			}
		}
		before := maps.Clone(known)
		ords := rapid.Permutation(w.g.Ancestors(len(w.g.Stages)-1)).Draw(t, "candidates")
		first := flow.Resolve(w.g, known.status, ords)
		slices.Reverse(ords)
		second := flow.Resolve(w.g, known.status, ords)
		if !slices.Equal(first, second) {
			t.Fatalf("the decisions are %v and %v", first, second)
		}
		if !maps.Equal(before, known) {
			t.Fatal("Resolve changed the rows")
		}
	})
}
