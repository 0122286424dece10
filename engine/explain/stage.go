package explain

import (
	"fmt"
	"strings"

	"axflow/flow"
	"axflow/stage"
)

// status is what flow.Resolve is asked with.
func (x *scene) status(ord int) (flow.Status, bool) {
	if ord < 0 || ord >= len(x.stages) {
		return flow.Status{}, false
	}
	s := &x.stages[ord]
	st := flow.Status{State: s.state}
	if s.row.ShardTotal != nil {
		st.Planned, st.Total = true, int(*s.row.ShardTotal)
	}
	return st, true
}

// ofStage reports on one stage.
func (x *scene) ofStage(ord int, full bool) Report {
	s := &x.stages[ord]
	r := x.head()
	r.Stage, r.State = x.version.Graph.Stages[ord].Name, s.state.String()
	switch {
	case s.state == stage.StageWaiting:
		r.Gates = x.waitingGates(ord, full)
		r.Diagnosis = "waiting: " + because(r.Gates)
		r.Next = x.next(r.Gates)
	case s.state.Decided():
		r.Groups = x.groups(ord)
		r.Diagnosis = x.decidedText(ord, r.Groups)
		for _, g := range r.Groups {
			if g.Fate == FateDead || g.Fate == FateExpired {
				r.Next = g.Next
				break
			}
		}
	default:
		r.Gates = x.wide()
		r.Groups = x.groups(ord)
		x.live(ord, &r)
	}
	return r
}

// live says how a stage stands that is planning, running or cancelling.
func (x *scene) live(ord int, r *Report) {
	s := &x.stages[ord]
	if s.state == stage.StageCancelling {
		g := gate(GateCancel, false, "the stage is being cancelled: what runs is asked to stop")
		if s.row.Verdict != nil && s.row.Reason != nil {
			g.Reason = fmt.Sprintf("the stage is being cancelled (%s): what runs is asked to stop", *s.row.Reason)
		} else if s.state == stage.StageCancelling && x.version.Graph.Stages[ord].Uninterruptible {
			g.Reason = "the stage is being cancelled: what runs cannot be interrupted and finishes"
		}
		r.Gates = append(r.Gates, g)
	}
	if s.state == stage.StagePlanning {
		r.Gates = append(r.Gates, gate(GatePlan, false, "its shards wait for its plan"))
	}
	alive := 0
	for _, g := range r.Groups {
		if !g.Fate.ended() {
			alive++
		}
	}
	if alive == 0 {
		r.Gates = append(r.Gates, gate(GateDecision, false,
			"all its tasks have ended: the engine decides the stage with its next full scan (every 10 s), if no event comes first"))
	}
	r.Diagnosis = x.liveText(ord, r)
	for _, g := range r.Groups {
		if r.Next == "" {
			r.Next = g.Next
		}
	}
}

// liveText is a stage's tasks in one sentence: numbers by fate, each with its reason once.
func (x *scene) liveText(ord int, r *Report) string {
	s := &x.stages[ord]
	if len(r.Groups) == 0 {
		return because(r.Gates)
	}
	single := x.version.Graph.Stages[ord].Kind == stage.Single || s.state == stage.StagePlanning
	if single && len(r.Groups) == 1 {
		text := r.Groups[0].Diagnosis
		for _, g := range r.Gates {
			if g.Name == GateDecision || g.Name == GateCancel {
				text += "; " + g.Reason
			}
		}
		return text
	}
	var parts []string
	done := 0
	for _, g := range r.Groups {
		if g.Fate == FateSucceeded {
			done = g.Tasks
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %s (%s)", number(g.Tasks), fateWords(g.Fate), g.Diagnosis))
	}
	const most = 3
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("and %d more groups", len(parts)-most))
	}
	text := strings.Join(parts, ", ")
	if s.row.ShardTotal != nil {
		text = fmt.Sprintf("%s of %s done", number(done), counted(int(*s.row.ShardTotal), "shard")) + comma(text)
	}
	for _, g := range r.Gates {
		if g.Name == GateDecision || g.Name == GateCancel {
			text += "; " + g.Reason
		}
	}
	return text
}

func comma(text string) string {
	if text == "" {
		return ""
	}
	return ", " + text
}

func fateWords(f Fate) string {
	switch f {
	case FateInFlight:
		return "in flight"
	case FateAligned:
		return "waiting aligned"
	case FateChild:
		return "waiting for sub-flows"
	case FateUpstream:
		return "failed with their upstream shards"
	default:
		return string(f)
	}
}

// decidedText says how a decided stage has ended and why.
func (x *scene) decidedText(ord int, groups []Group) string {
	s := &x.stages[ord]
	reason := ""
	if s.row.Reason != nil {
		reason = *s.row.Reason
	}
	text := strings.ReplaceAll(s.state.String(), "_", " ")
	if s.row.ReadyAt != nil && s.row.FinishedAt != nil && s.row.FinishedAt.After(*s.row.ReadyAt) {
		text += " after " + lasting(s.row.FinishedAt.Sub(*s.row.ReadyAt))
	}
	switch s.state {
	case stage.StageSkipped, stage.StageUpstreamFailed:
		if reason != "" {
			return strings.ReplaceAll(s.state.String(), "_", " ") + ": " + reason
		}
	case stage.StageFailed, stage.StageSucceeded, stage.StageCancelled:
		if x.version.Graph.Stages[ord].Kind != stage.Single && s.row.ShardTotal != nil {
			text += fmt.Sprintf(": %s of %s succeeded", number(int(s.row.Succeeded)), counted(int(*s.row.ShardTotal), "shard"))
		}
		if s.row.Verdict != nil && reason != "" {
			text += "; " + reason
		}
	}
	parts := 0
	for _, g := range groups {
		if g.Fate == FateSucceeded || parts == 3 {
			continue
		}
		parts++
		if g.Tasks == 1 {
			text += "; " + g.Diagnosis
		} else {
			text += fmt.Sprintf("; %s %s (%s)", number(g.Tasks), fateWords(g.Fate), g.Diagnosis)
		}
	}
	return text
}

// waitingGates say what a stage waits for: what its rule counts, and what those upstreams wait for.
func (x *scene) waitingGates(ord int, deep bool) []Gate {
	gates := x.wide()
	g := x.version.Graph
	spec := &g.Stages[ord]
	if x.state.Ended() {
		return append(gates, gate(GateDecision, false, "the run has ended"))
	}
	resolve := flow.Resolve
	if x.state == stage.RunCancelling {
		resolve = flow.ResolveCancelling
	}
	for _, d := range resolve(g, x.status, []int{ord}) {
		if d.Ord != ord {
			continue
		}
		what := strings.ReplaceAll(d.Act.String(), "_", " ")
		if d.Reason != "" {
			what += ": " + d.Reason
		}
		if x.state == stage.RunCancelling && spec.TeardownOf == nil {
			gates = append(gates, gate(GateCancel, false, "the run is being cancelled, and with it every stage that waits"))
		}
		gates = append(gates, gate(GateUpstream, true, "decided (%s)", what))
		return append(gates, gate(GateDecision, false,
			"it is to be decided (%s): the engine does so with the next event, or with its full scan (every 10 s)", what))
	}
	up := gate(GateUpstream, false, "%s", x.upstreamText(ord, deep))
	since := x.stages[ord].row.Since
	up.Since = &since
	if limit := spec.Timeout.Dependency; limit > 0 {
		until := since.Add(limit)
		up.Until = &until
		up.Reason += fmt.Sprintf("; it gives up %s", soon(until.Sub(x.now)))
	}
	return append(gates, up)
}

// upstreamText is the rule, its counts, and the undecided upstreams with what they wait for.
func (x *scene) upstreamText(ord int, deep bool) string {
	g := x.version.Graph
	spec := &g.Stages[ord]
	open := flow.Undecided(g, x.status, ord)
	counts := make(map[string]int)
	var kinds []string
	for _, u := range spec.Upstreams {
		if st := x.stages[u].state; st.Decided() {
			name := strings.ReplaceAll(st.String(), "_", " ")
			if counts[name] == 0 {
				kinds = append(kinds, name)
			}
			counts[name]++
		}
	}
	rule := string(spec.Rule)
	if spec.TeardownOf != nil {
		rule = "teardown of " + stageName(x, *spec.TeardownOf)
	}
	text := fmt.Sprintf("%s: of %s", rule, counted(len(spec.Upstreams), "upstream"))
	for _, k := range kinds {
		text += fmt.Sprintf(" %d %s,", counts[k], k)
	}
	text += fmt.Sprintf(" %d undecided", len(open))
	const most = 3
	for i, u := range open {
		if i == most {
			text += fmt.Sprintf(", and %d more", len(open)-most)
			break
		}
		sep := ": "
		if i > 0 {
			sep = ", "
		}
		text += sep + stageName(x, u) + " is " + strings.ReplaceAll(x.stages[u].state.String(), "_", " ")
		if deep {
			if why := x.standsText(u); why != "" {
				text += " (" + why + ")"
			}
		}
	}
	return text
}

// standsText is why an undecided upstream is not done yet: for one that waits itself, the stages that all waiting
// comes from.
func (x *scene) standsText(ord int) string {
	if x.stages[ord].state != stage.StageWaiting {
		r := x.ofStage(ord, false)
		return r.Diagnosis
	}
	var roots []string
	seen := make(map[int]bool)
	var walk func(int)
	walk = func(o int) {
		for _, u := range flow.Undecided(x.version.Graph, x.status, o) {
			if seen[u] {
				continue
			}
			seen[u] = true
			if x.stages[u].state == stage.StageWaiting {
				walk(u)
				continue
			}
			roots = append(roots, x.version.Graph.Stages[u].Name)
		}
	}
	walk(ord)
	if len(roots) == 0 {
		return ""
	}
	return "for " + named(roots)
}
