package metamorph

import (
	"fmt"
	"strings"

	"axflow/stage"
)

// model says what must have come of a run in which nothing but its script decided. It goes stage by stage: given how the
// stages before have ended, which ends of this one are right?
type model struct {
	seed   uint64
	number int // of the run
	flow   *flowSpec
	now    *runFacts
	before *runFacts // nil: the run began in this phase
	first  *op       // the verb that began the phase; nil: none
	wrong  func(format string, args ...any)
}

// end is how an index ended.
type end int

const (
	won end = iota
	dead
	upstreamLost
	cancelled
	notNeeded
)

// judge compares every stage, and the run.
func (m *model) judge() {
	o := m.opened()
	for i := range m.flow.Stages {
		s := &m.flow.Stages[i]
		now := m.now.stages[s.Name]
		switch {
		case m.before == nil || o.reset[s.Name]:
			want := 1
			if m.before != nil {
				want = m.before.stages[s.Name].generation + 1
			}
			if now.generation != want {
				m.fault(s, "it is in generation %d, want %d", now.generation, want)
				continue
			}
			m.fresh(s, now)
		case o.again[s.Name] != nil:
			m.again(s, now, m.before.stages[s.Name], o.again[s.Name])
		default:
			if diff := now.same(m.before.stages[s.Name]); diff != "" {
				m.fault(s, "nothing should have happened to it: %s", diff)
			}
		}
	}
	if want := m.runState(); m.now.state != want {
		m.wrong("run %d is %v, want %v by its stages", m.number, m.now.state, want)
	}
}

func (m *model) fault(s *stageSpec, format string, args ...any) {
	m.wrong("run %d, stage %s: %s", m.number, s.Name, fmt.Sprintf(format, args...))
}

// fresh judges a stage that began to wait in this phase.
func (m *model) fresh(s *stageSpec, now *stageFacts) {
	var n ups
	for _, u := range s.Upstreams {
		n.add(m.now.stages[u].state)
	}
	v := n.judge(s.Rule)
	if s.Teardown != "" {
		v = skips
		if m.now.stages[s.Teardown].state == stage.StageSucceeded {
			v = runs
		}
	}
	if s.Kind == stage.Aligned && m.followed(s, now, v) {
		return
	}
	switch {
	case v == failsWith:
		m.untouched(s, now, stage.StageUpstreamFailed)
	case v == skips || s.Disabled:
		m.untouched(s, now, stage.StageSkipped)
	case s.Kind == stage.Single:
		m.settled(s, now, 1, s.Attempts)
	case s.Kind == stage.Sharded:
		m.sharded(s, now)
	case s.Kind == stage.Aligned:
		m.untouched(s, now, m.unfollowed(s))
	}
}

// untouched judges a stage that must have ended in a state without having done anything.
func (m *model) untouched(s *stageSpec, now *stageFacts, want stage.StageState) {
	if now.state != want {
		m.fault(s, "it is %v, want %v after %s", now.state, want, m.upstreamsOf(s))
	}
	if len(now.results)+len(now.parked) > 0 {
		m.fault(s, "it is %v and has %d results, %d parked indices", now.state, len(now.results), len(now.parked))
	}
}

func (m *model) upstreamsOf(s *stageSpec) string {
	var all []string
	for _, u := range s.Upstreams {
		all = append(all, fmt.Sprintf("%s %v", u, m.now.stages[u].state))
	}
	return strings.Join(all, ", ")
}

// followed judges an aligned stage that follows the shards of its upstream; false when it does not. It may do so although its
// upstream failed in the end: it is let go as soon as that one has a plan and everything else allows it, if that comes first.
func (m *model) followed(s *stageSpec, now *stageFacts, final verdict) bool {
	up := m.now.stages[s.Upstreams[0]]
	if s.Disabled || up.total <= 0 || up.state == stage.StageSkipped {
		return false
	}
	must := final == runs // else early is the only way
	n := ups{s: 1}
	for _, u := range s.Upstreams[1:] {
		n.add(m.now.stages[u].state)
	}
	if !must && (n.judge(s.Rule) != runs || now.total < 0) {
		return false
	}
	if now.total != up.total {
		m.fault(s, "it has %d shards, %s has %d", now.total, s.Upstreams[0], up.total)
		return true
	}
	m.settled(s, now, up.total, s.Attempts)
	return true
}

// unfollowed is how an aligned stage ends whose rule lets it run and whose upstream has no shards.
func (m *model) unfollowed(s *stageSpec) stage.StageState {
	up := m.now.stages[s.Upstreams[0]]
	switch {
	case up.state == stage.StageSkipped:
		return stage.StageSkipped
	case up.total == 0 && s.SkipEmpty:
		return stage.StageSkipped
	case up.total == 0:
		return stage.StageSucceeded
	default:
		return stage.StageUpstreamFailed
	}
}

// sharded judges a stage that began with its plan.
func (m *model) sharded(s *stageSpec, now *stageFacts) {
	switch m.fate(s, now, planIndex, 1, s.Attempts) {
	case notNeeded:
		m.ended(s, now, stage.StageSkipped, nil)
	case won:
		m.planned(s, now, s.Attempts)
	default:
		if now.state != stage.StageFailed || now.total >= 0 {
			m.fault(s, "its plan must have failed; it is %v with %d shards", now.state, now.total)
		}
	}
}

// planned judges a stage whose plan has succeeded. A retry of the plan raises the limit of its shards too: it is the stage's.
func (m *model) planned(s *stageSpec, now *stageFacts, limit int) {
	total := s.shards(m.seed, m.number, now.generation)
	switch {
	case total == 0 && s.SkipEmpty:
		m.ended(s, now, stage.StageSkipped, nil)
	case total == 0:
		m.ended(s, now, stage.StageSucceeded, nil)
	case now.total != total:
		m.fault(s, "it has %d shards, want %d", now.total, total)
	default:
		m.settled(s, now, total, limit)
	}
}

// settled judges a stage by its indices, each of which has had its attempts up to a limit.
func (m *model) settled(s *stageSpec, now *stageFacts, total, limit int) {
	ends := make([]end, total)
	for i := range ends {
		if s.Kind == stage.Aligned && m.upstreamEnd(s, i) != won {
			ends[i] = m.follows(s, now, i)
			if len(now.results[i]) > 0 {
				m.fault(s, "shard %d follows one that has not succeeded and has %d results", i, len(now.results[i]))
			}
			continue
		}
		ends[i] = m.fate(s, now, i, 1, limit)
	}
	m.ended(s, now, m.stateOf(s, now, ends), ends)
}

// upstreamEnd is how the shard ended that an aligned one follows.
func (m *model) upstreamEnd(s *stageSpec, i int) end { return m.now.stages[s.Upstreams[0]].end(i) }

// follows is how an aligned shard must have ended whose upstream shard did not succeed: skipped with it, else given up.
func (m *model) follows(s *stageSpec, now *stageFacts, i int) end {
	if s.FailFast && now.parked[i].reason == parkedCancelled {
		return cancelled // others were dead while it waited
	}
	want, reason := upstreamLost, parkedUpstream
	if m.upstreamEnd(s, i) == notNeeded {
		want, reason = notNeeded, parkedSkipped
	}
	if p := now.parked[i]; p.reason != reason {
		m.fault(s, "shard %d follows one that has not succeeded: it is parked for reason %d, want %d", i, p.reason, reason)
	}
	return want
}

// again judges a stage of which some indices run once more, each from an attempt on; the others stay as they were.
func (m *model) again(s *stageSpec, now, before *stageFacts, from map[int]int) {
	if now.generation != before.generation {
		m.fault(s, "it is in generation %d, want %d: its shards run again within it", now.generation, before.generation)
		return
	}
	limit := max(now.limit, s.Attempts)
	if first, plan := from[planIndex]; plan {
		switch m.fate(s, now, planIndex, first, limit) {
		case won:
			m.planned(s, now, limit)
		default:
			if now.state != stage.StageFailed || now.total >= 0 {
				m.fault(s, "its plan must have failed again; it is %v with %d shards", now.state, now.total)
			}
		}
		return
	}
	ends := make([]end, before.total)
	for i := range ends {
		first, runs := from[i]
		switch {
		case !runs:
			ends[i] = before.end(i)
			if now.end(i) != ends[i] {
				m.fault(s, "nothing should have happened to shard %d: it is parked for reason %d and was for %d", i, now.parked[i].reason, before.parked[i].reason)
			}
		case s.Kind == stage.Aligned && m.upstreamEnd(s, i) != won:
			ends[i] = m.follows(s, now, i)
		default:
			ends[i] = m.fate(s, now, i, first, limit)
		}
	}
	m.ended(s, now, m.stateOf(s, now, ends), ends)
}

// end is how an index ended.
func (f *stageFacts) end(i int) end {
	switch f.parked[i].reason {
	case 0:
		return won
	case parkedCancelled:
		return cancelled
	case parkedSkipped:
		return notNeeded
	case parkedUpstream:
		return upstreamLost
	default:
		return dead
	}
}

// stateOf is the state of a stage whose indices have ended so.
func (m *model) stateOf(s *stageSpec, now *stageFacts, ends []end) stage.StageState {
	n := count(ends)
	tolerated := s.Tolerate
	if share := int(s.TolerateShare*float64(len(ends)) + 1e-9); share > tolerated {
		tolerated = share
	}
	failed := n[dead] + n[upstreamLost]
	if s.FailFast && n[cancelled] > 0 && (failed > tolerated || m.before == nil) {
		if failed <= tolerated {
			m.fault(s, "it failed fast with %v, and tolerates %d", n, tolerated)
		}
		return stage.StageFailed
	}
	switch {
	case s.FailFast && failed > tolerated && now.verdict:
		return stage.StageFailed // it was stopped before its last shard had ended
	case n[notNeeded] > 0 && n[notNeeded] == len(ends):
		return stage.StageSkipped
	case failed <= tolerated && n[cancelled] == 0:
		return stage.StageSucceeded
	case n[dead] > 0:
		return stage.StageFailed
	case n[upstreamLost] > 0:
		return stage.StageUpstreamFailed
	case n[cancelled] > 0:
		return stage.StageCancelled
	default:
		return stage.StageSucceeded
	}
}

func count(ends []end) map[end]int {
	n := make(map[end]int)
	for _, e := range ends {
		n[e]++
	}
	return n
}

// ended compares state and counts.
func (m *model) ended(s *stageSpec, now *stageFacts, want stage.StageState, ends []end) {
	if now.state != want {
		m.fault(s, "it is %v, want %v: %v of its shards", now.state, want, count(ends))
		return
	}
	n := count(ends)
	if want == stage.StageSkipped {
		return
	}
	if now.succeeded != n[won] || now.failed != n[dead]+n[upstreamLost] || now.cancelled != n[cancelled] {
		m.fault(s, "its counts are %s, want %d/%d/0/%d", now.counts(), n[won], n[dead]+n[upstreamLost], n[cancelled])
	}
}

// fate is how an index must have ended, from its script; it compares its results attempt by attempt. What the script
// cannot know is taken from the results: a time-out on a machine that was too slow, a read that a cut connection failed,
// a task that took its workers down too often.
func (m *model) fate(s *stageSpec, now *stageFacts, index, first, limit int) end {
	what := fmt.Sprintf("shard %d", index)
	byAttempt := make(map[int]resultFact)
	last := 0
	for _, r := range now.results[index] {
		if r.outcome != stage.Interrupted && r.outcome != stage.Lost && r.attempt >= first {
			if _, twice := byAttempt[r.attempt]; twice {
				m.fault(s, "%s has two ends of attempt %d", what, r.attempt)
			}
			byAttempt[r.attempt] = r
		}
		last = max(last, r.attempt)
	}
	if s.FailFast && now.parked[index].reason == parkedCancelled {
		return cancelled // others were dead before it could end
	}
	for a := first; ; a++ {
		d := s.deedOf(m.seed, m.number, now.generation, index, a)
		r, there := byAttempt[a]
		if !there {
			if now.parked[index].reason == parkedPoison {
				return dead
			}
			m.fault(s, "%s has no end of attempt %d, which must %v (it is parked for reason %d, attempt %d)", what, a, d, now.parked[index].reason, now.parked[index].attempt)
			return dead
		}
		if needless(s, index) && !s.wants(m.seed, m.number, now.generation) && r.outcome == stage.NotNeeded {
			return notNeeded
		}
		d = excused(s, d, r)
		if !d.makes(r.outcome) {
			m.fault(s, "%s: attempt %d has %v (%s), which must %v", what, a, r.outcome, r.message, d)
			return dead
		}
		switch {
		case d == succeed:
			if last > a {
				m.fault(s, "%s succeeded in attempt %d and has an attempt %d", what, a, last)
			}
			return won
		case d == permanent || a >= limit:
			if last > a {
				m.fault(s, "%s must be dead after attempt %d and has an attempt %d", what, a, last)
			}
			if p, ok := now.parked[index]; !ok || p.reason != parkedDead {
				m.fault(s, "%s must be a dead letter after attempt %d; it is parked for reason %d", what, a, p.reason)
			}
			return dead
		}
	}
}

// needless tells whether a stage's condition is asked with this index.
func needless(s *stageSpec, index int) bool {
	return s.When && (s.Kind == stage.Single || index == planIndex)
}

// makes tells whether a deed ends with an outcome.
func (d deed) makes(o stage.Outcome) bool {
	switch d {
	case succeed:
		return o == stage.Succeeded
	case hang:
		return o == stage.TimedOut
	default:
		return o == stage.Failed
	}
}

// excused is the deed that an attempt came to when the machine was too slow for its script, or a connection was cut while it
// read.
func excused(s *stageSpec, d deed, r resultFact) deed {
	switch {
	case r.outcome == stage.TimedOut && s.Hangs:
		return hang
	case r.outcome == stage.Failed && d == succeed && strings.Contains(r.message, "reading the outputs"):
		return fail
	default:
		return d
	}
}

// runState is how a run ends whose stages have ended so.
func (m *model) runState() stage.RunState {
	state := stage.RunSucceeded
	for _, s := range m.now.stages {
		switch s.state {
		case stage.StageFailed, stage.StageUpstreamFailed:
			return stage.RunFailed
		case stage.StageCancelled:
			state = stage.RunCancelled
		default:
		}
	}
	return state
}
