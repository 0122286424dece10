package stage

import "slices"

// Rule is a trigger rule: it says, from the outcomes of a stage's upstreams, whether the stage runs, is
// skipped, or fails with them. Names and final decisions are Apache Airflow's.
type Rule string

// The trigger rules. In their texts "failed" includes cancelled, and an upstream that was upstream_failed
// is named where it counts. A sharded upstream is one upstream: its stage's outcome.
const (
	// AllSuccess, the default, runs when every upstream succeeded, fails with the first that failed or was
	// upstream_failed, and is skipped when some were skipped.
	AllSuccess Rule = "all_success"
	// AllFailed runs when every upstream failed or was upstream_failed, else is skipped.
	AllFailed Rule = "all_failed"
	// AllDone runs when every upstream is decided, however.
	AllDone Rule = "all_done"
	// AllSkipped runs when every upstream was skipped, else is skipped.
	AllSkipped Rule = "all_skipped"
	// OneSuccess runs as soon as one upstream succeeded.
	OneSuccess Rule = "one_success"
	// OneFailed runs as soon as one upstream failed or was upstream_failed.
	OneFailed Rule = "one_failed"
	// OneDone runs as soon as one upstream succeeded or failed.
	OneDone Rule = "one_done"
	// NoneFailed runs when no upstream failed or was upstream_failed.
	NoneFailed Rule = "none_failed"
	// NoneFailedMinOneSuccess runs when no upstream failed or was upstream_failed and one succeeded.
	NoneFailedMinOneSuccess Rule = "none_failed_min_one_success"
	// NoneSkipped runs when no upstream was skipped.
	NoneSkipped Rule = "none_skipped"
	// AllDoneMinOneSuccess runs when every upstream is decided, none was skipped and one succeeded.
	AllDoneMinOneSuccess Rule = "all_done_min_one_success"
	// Always runs at once, waiting for no upstream.
	Always Rule = "always"
)

// Rules returns every trigger rule, the default first.
func Rules() []Rule {
	return []Rule{AllSuccess, AllFailed, AllDone, AllSkipped, OneSuccess, OneFailed, OneDone, NoneFailed,
		NoneFailedMinOneSuccess, NoneSkipped, AllDoneMinOneSuccess, Always}
}

// Valid tells whether r is one of Rules.
func (r Rule) Valid() bool { return slices.Contains(Rules(), r) }

// Counts are the outcomes of a stage's upstreams: of N upstreams, S succeeded, F failed (or were
// cancelled), U were upstream_failed, K were skipped, and the rest, N-S-F-U-K, is undecided.
type Counts struct{ N, S, F, U, K int }

// Undecided returns how many upstreams have no outcome yet.
func (c Counts) Undecided() int { return c.N - c.S - c.F - c.U - c.K }

// Verdict is what a trigger rule says.
type Verdict uint8

// The verdicts.
const (
	Wait           Verdict = iota // undecided upstreams may still change the decision
	Run                           // the stage runs
	Skip                          // the stage is skipped
	UpstreamFailed                // the stage fails with its upstreams
)

// String returns "wait", "run", "skip" or "upstream_failed".
func (v Verdict) String() string {
	switch v {
	case Wait:
		return "wait"
	case Run:
		return "run"
	case Skip:
		return "skip"
	case UpstreamFailed:
		return "upstream_failed"
	default:
		return "unknown"
	}
}

// outcomes is a set of upstream outcomes. Every rule's final decision depends only on which outcomes occur
// at all (S = n says that no other one occurs), so sixteen sets stand for all counts.
type outcomes uint8

const (
	hasS outcomes = 1 << iota
	hasF
	hasU
	hasK
	anyOutcome = hasS | hasF | hasU | hasK
)

// Decide gives the verdict of r for the upstreams' outcomes so far. It decides as soon as every way in
// which the undecided ones may still end gives the same decision, so the verdict does not depend on the
// order in which upstreams end. Two rules differ by their names: AllDone waits for every upstream, Always
// waits for none. A stage without upstreams runs. The empty rule is AllSuccess; an unknown rule and
// impossible counts wait. The cost does not grow with N.
func (r Rule) Decide(c Counts) Verdict {
	undecided := c.Undecided()
	switch {
	case undecided < 0 || min(c.S, c.F, c.U, c.K) < 0:
		return Wait
	case c.N == 0 || r == Always:
		return Run
	case r == AllDone && undecided > 0:
		return Wait
	}
	seen := c.seen()
	if undecided == 0 {
		return r.final(seen)
	}
	verdict := Wait
	for more := hasS; more <= anyOutcome; more++ {
		if more.size() > undecided {
			continue
		}
		v := r.final(seen | more)
		if verdict != Wait && v != verdict {
			return Wait
		}
		verdict = v
	}
	return verdict
}

func (c Counts) seen() outcomes {
	var o outcomes
	if c.S > 0 {
		o |= hasS
	}
	if c.F > 0 {
		o |= hasF
	}
	if c.U > 0 {
		o |= hasU
	}
	if c.K > 0 {
		o |= hasK
	}
	return o
}

func (o outcomes) size() int {
	return int(o&1 + o>>1&1 + o>>2&1 + o>>3&1)
}

// final is the decision once every upstream is decided; o is not empty.
func (r Rule) final(o outcomes) Verdict {
	failed := o&(hasF|hasU) != 0
	switch r {
	case AllSuccess, "":
		return pick(o == hasS, Run, pick(failed, UpstreamFailed, Skip))
	case AllFailed:
		return pick(o&(hasS|hasK) == 0, Run, Skip)
	case AllDone, Always:
		return Run
	case AllSkipped:
		return pick(o == hasK, Run, Skip)
	case OneSuccess:
		return pick(o&hasS != 0, Run, pick(o == hasK, Skip, UpstreamFailed))
	case OneFailed:
		return pick(failed, Run, Skip)
	case OneDone:
		return pick(o&(hasS|hasF) != 0, Run, Skip)
	case NoneFailed:
		return pick(!failed, Run, UpstreamFailed)
	case NoneFailedMinOneSuccess:
		return pick(failed, UpstreamFailed, pick(o&hasS != 0, Run, Skip))
	case NoneSkipped:
		return pick(o&hasK == 0, Run, Skip)
	case AllDoneMinOneSuccess:
		return pick(o&hasK != 0, Skip, pick(o&hasS != 0, Run, UpstreamFailed))
	default:
		return Wait
	}
}

func pick(cond bool, yes, no Verdict) Verdict {
	if cond {
		return yes
	}
	return no
}
