package flow

import "axflow/stage"

// Outcome returns how a run has ended, once every stage is decided: failed if a stage failed or was
// upstream_failed, else cancelled if one was cancelled, else succeeded. ok is false while a stage is
// undecided or not known.
func Outcome(g *Graph, status func(ord int) (Status, bool)) (state stage.RunState, ok bool) {
	state = stage.RunSucceeded
	for ord := range g.Stages {
		s, known := status(ord)
		if !known || !s.State.Decided() {
			return 0, false
		}
		switch s.State {
		case stage.StageFailed, stage.StageUpstreamFailed:
			state = stage.RunFailed
		case stage.StageCancelled:
			if state != stage.RunFailed {
				state = stage.RunCancelled
			}
		}
	}
	return state, true
}

// Undecided returns the upstreams of stage ord that are undecided or not known, ascending: what it waits for.
func Undecided(g *Graph, status func(ord int) (Status, bool), ord int) []int {
	var open []int
	for _, u := range g.Stages[ord].Upstreams {
		if s, known := status(u); !known || !s.State.Decided() {
			open = append(open, u)
		}
	}
	return open
}
