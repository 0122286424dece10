package flow

import (
	"fmt"
	"slices"

	"axflow/stage"
)

// Status is what is known of one stage of a run.
type Status struct {
	State   stage.StageState
	Planned bool // a sharded or aligned stage's number of shards is frozen
	Total   int  // that number
}

// Act is what is to be done with a waiting stage.
type Act uint8

// The acts, with the move of the stage that each one stands for.
const (
	Release      Act = iota // waiting to running: an unsharded stage's task is ready
	Plan                    // waiting to planning: a sharded stage's plan task is ready
	Align                   // waiting to running: an aligned stage takes its upstream's plan; its shards wait for that one's
	Skip                    // waiting to skipped
	FailUpstream            // waiting to upstream_failed
	Succeed                 // waiting to succeeded: an aligned stage of an empty plan has nothing to do
	Cancel                  // waiting to cancelled: only of a run that is being cancelled
)

// String returns the act's name, such as "fail_upstream".
func (a Act) String() string {
	names := [...]string{"release", "plan", "align", "skip", "fail_upstream", "succeed", "cancel"}
	if int(a) < len(names) {
		return names[a]
	}
	return fmt.Sprintf("unknown(%d)", a)
}

// state returns the state that a stage is in after the act.
func (a Act) state() stage.StageState {
	return [...]stage.StageState{stage.StageRunning, stage.StagePlanning, stage.StageRunning, stage.StageSkipped,
		stage.StageUpstreamFailed, stage.StageSucceeded, stage.StageCancelled}[a]
}

// Decision is what Resolve decided for one waiting stage.
type Decision struct {
	Ord    int
	Act    Act
	Total  int    // of Align: how many shards there are
	Reason string // for people
}

// Resolve decides what is to be done with the waiting stages among candidates (nil: all stages) and, in turn,
// with those that wait for a stage that it skipped, failed or aligned. status tells what is known of a stage;
// false means that its row was not read. A stage that is not known is not decided, and one whose upstreams
// are not known counts them as undecided, so that a decision made from part of a run is the one that the
// whole would give. There is one decision a stage at most; they are ordered by ord.
//
// An aligned stage is released when its rule would have it run once the upstream that it is aligned to has
// succeeded, and that one's plan is frozen; otherwise that upstream counts by its final outcome, as every
// other does. Where the rule runs an aligned stage, but that upstream was skipped or ended without a plan, it is
// skipped or fails with it.
//
// A teardown waits for all of its upstreams to be decided, whatever became of them, and runs if its setup succeeded; it
// is skipped as soon as its setup has ended otherwise.
//
// Resolve is for runs that are running; see ResolveCancelling. It panics if status does.
func Resolve(g *Graph, status func(ord int) (Status, bool), candidates []int) []Decision {
	return resolve(resolver{graph: g, read: status}, candidates)
}

// ResolveCancelling is Resolve for runs that are being cancelled: what waits is cancelled, whatever its rule, but
// teardowns whose setup is undecided or has succeeded. These are decided as in a running run.
func ResolveCancelling(g *Graph, status func(ord int) (Status, bool), candidates []int) []Decision {
	return resolve(resolver{graph: g, read: status, cancelling: true}, candidates)
}

func resolve(r resolver, candidates []int) []Decision {
	g := r.graph
	if candidates == nil {
		r.todo = make([]int, len(g.Stages))
		for i := range r.todo {
			r.todo[i] = i
		}
	} else {
		r.todo = make(ordHeap, 0, len(candidates)+8)
		for _, ord := range candidates {
			r.todo.push(ord)
		}
	}
	last := -1
	for len(r.todo) > 0 {
		ord := r.todo.pop()
		if ord == last || ord < 0 || ord >= len(g.Stages) {
			continue
		}
		last = ord
		d, ok := r.decide(ord)
		if !ok {
			continue
		}
		r.decided = append(r.decided, d)
		if r.after == nil {
			r.after = make(map[int]Status)
		}
		r.after[ord] = Status{State: d.Act.state(), Planned: d.Act == Align || d.Act == Succeed, Total: d.Total}
		if d.Act == Release || d.Act == Plan {
			continue
		}
		for _, dep := range g.Dependents(ord) {
			r.todo.push(dep)
		}
	}
	slices.SortFunc(r.decided, func(a, b Decision) int { return a.Ord - b.Ord })
	return r.decided
}

type resolver struct {
	graph      *Graph
	read       func(ord int) (Status, bool)
	cancelling bool
	after      map[int]Status // what the decisions so far have made of stages
	todo       ordHeap        // lowest first, so that upstreams are decided before what waits for them
	decided    []Decision
}

func (r *resolver) status(ord int) (Status, bool) {
	if s, ok := r.after[ord]; ok {
		return s, true
	}
	return r.read(ord)
}

func (r *resolver) decide(ord int) (Decision, bool) {
	spec := &r.graph.Stages[ord]
	if s, known := r.status(ord); !known || s.State != stage.StageWaiting {
		return Decision{}, false
	}
	counts := countUpstreams(spec, r.status)
	if spec.TeardownOf != nil {
		return r.tearDown(ord, counts)
	}
	if r.cancelling {
		return Decision{Ord: ord, Act: Cancel, Reason: "the run was cancelled"}, true
	}
	verdict := spec.Rule.Decide(counts)
	var up Status // of the stage that this one is aligned to
	if spec.Kind == stage.Aligned {
		up, _ = r.status(spec.AlignedTo)
		if verdict == stage.Wait && !spec.Disabled && up.State == stage.StageRunning && up.Planned {
			counts.S++
			if spec.Rule.Decide(counts) == stage.Run {
				verdict = stage.Run
			}
		}
	}
	d := Decision{Ord: ord}
	switch verdict {
	case stage.Wait:
		return Decision{}, false
	case stage.Skip:
		d.Act = Skip
	case stage.UpstreamFailed:
		d.Act = FailUpstream
	case stage.Run:
		if spec.Disabled {
			return Decision{Ord: ord, Act: Skip, Reason: "the stage is disabled"}, true
		}
		switch spec.Kind {
		case stage.Single:
			d.Act = Release
		case stage.Sharded:
			d.Act = Plan
		case stage.Aligned:
			return r.align(ord, up, counts)
		}
	}
	d.Reason = r.reason(spec, counts)
	return d, true
}

// tearDown decides a teardown, whose trigger rule is not asked.
func (r *resolver) tearDown(ord int, counts stage.Counts) (Decision, bool) {
	spec := &r.graph.Stages[ord]
	name := r.graph.Stages[*spec.TeardownOf].Name
	setup, known := r.status(*spec.TeardownOf)
	switch {
	case !known || !setup.State.Decided():
		return Decision{}, false
	case setup.State != stage.StageSucceeded:
		return Decision{Ord: ord, Act: Skip, Reason: fmt.Sprintf("%q, which it takes down, ended as %v", name, setup.State)}, true
	case counts.Undecided() > 0:
		return Decision{}, false
	case spec.Disabled:
		return Decision{Ord: ord, Act: Skip, Reason: "the stage is disabled"}, true
	}
	d := Decision{Ord: ord, Act: Release, Reason: fmt.Sprintf("%q, which it takes down, has succeeded, and all before it has ended", name)}
	if spec.Kind == stage.Sharded {
		d.Act = Plan
	}
	return d, true
}

// align decides an aligned stage that its rule lets run, from the status of the stage that it is aligned to.
func (r *resolver) align(ord int, up Status, counts stage.Counts) (Decision, bool) {
	spec := &r.graph.Stages[ord]
	name := r.graph.Stages[spec.AlignedTo].Name
	switch {
	case up.State == stage.StageSkipped: // before it had a plan, or because that is empty
		return Decision{Ord: ord, Act: Skip, Reason: fmt.Sprintf("%q, whose shards it follows, was skipped", name)}, true
	case up.Planned && up.Total > 0:
		return Decision{Ord: ord, Act: Align, Total: up.Total, Reason: r.reason(spec, counts)}, true
	case up.Planned && spec.SkipEmpty:
		return Decision{Ord: ord, Act: Skip, Reason: fmt.Sprintf("the plan of %q is empty", name)}, true
	case up.Planned:
		return Decision{Ord: ord, Act: Succeed, Reason: fmt.Sprintf("the plan of %q is empty", name)}, true
	case up.State == stage.StageFailed || up.State == stage.StageCancelled || up.State == stage.StageUpstreamFailed:
		return Decision{Ord: ord, Act: FailUpstream, Reason: fmt.Sprintf("%q ended as %v before it had a plan", name, up.State)}, true
	default:
		return Decision{}, false
	}
}

// countUpstreams counts the outcomes of a stage's upstreams. A cancelled one counts as failed.
func countUpstreams(spec *StageSpec, status func(ord int) (Status, bool)) stage.Counts {
	c := stage.Counts{N: len(spec.Upstreams)}
	for _, u := range spec.Upstreams {
		s, known := status(u)
		if !known {
			continue
		}
		switch s.State {
		case stage.StageSucceeded:
			c.S++
		case stage.StageFailed, stage.StageCancelled:
			c.F++
		case stage.StageUpstreamFailed:
			c.U++
		case stage.StageSkipped:
			c.K++
		}
	}
	return c
}
