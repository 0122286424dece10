package metamorph

import (
	"testing"

	"axflow/stage"
)

// verdict is what a trigger rule says at last.
type verdict int

const (
	runs verdict = iota
	skips
	failsWith
)

// ups counts how upstreams ended.
type ups struct{ s, f, u, k int }

func (n *ups) add(s stage.StageState) {
	switch s {
	case stage.StageSucceeded:
		n.s++
	case stage.StageFailed, stage.StageCancelled:
		n.f++
	case stage.StageUpstreamFailed:
		n.u++
	case stage.StageSkipped:
		n.k++
	default:
	}
}

// judge is the table of the trigger rules once all upstreams are decided: a reading of their definition that shares
// nothing with the engine's.
func (n ups) judge(r stage.Rule) verdict {
	all, bad := n.s+n.f+n.u+n.k, n.f+n.u
	if all == 0 {
		return runs
	}
	choose := func(run bool, or verdict) verdict {
		if run {
			return runs
		}
		return or
	}
	switch r {
	case stage.AllSuccess:
		if bad > 0 {
			return failsWith
		}
		return choose(n.s == all, skips)
	case stage.AllFailed:
		return choose(bad == all, skips)
	case stage.AllDone, stage.Always:
		return runs
	case stage.AllSkipped:
		return choose(n.k == all, skips)
	case stage.OneSuccess:
		if n.k == all {
			return skips
		}
		return choose(n.s > 0, failsWith)
	case stage.OneFailed:
		return choose(bad > 0, skips)
	case stage.OneDone:
		return choose(n.s+n.f > 0, skips)
	case stage.NoneFailed:
		return choose(bad == 0, failsWith)
	case stage.NoneFailedMinOneSuccess:
		if bad > 0 {
			return failsWith
		}
		return choose(n.s > 0, skips)
	case stage.NoneSkipped:
		return choose(n.k == 0, skips)
	case stage.AllDoneMinOneSuccess:
		if n.k > 0 {
			return skips
		}
		return choose(n.s > 0, failsWith)
	}
	panic("the test does not know rule " + string(r))
}

// The spot values of the rules' definition.
func TestRulesOfTheModel(t *testing.T) {
	for _, x := range []struct {
		rule stage.Rule
		n    ups
		want verdict
	}{
		{stage.AllSuccess, ups{s: 1, k: 1}, skips},
		{stage.AllSuccess, ups{f: 1, k: 1}, failsWith},
		{stage.OneSuccess, ups{f: 1, k: 1}, failsWith},
		{stage.OneFailed, ups{u: 2}, runs},
		{stage.OneDone, ups{u: 2}, skips},
		{stage.NoneSkipped, ups{u: 2}, runs},
		{stage.AllDoneMinOneSuccess, ups{s: 1, k: 1}, skips},
		{stage.AllDoneMinOneSuccess, ups{f: 2}, failsWith},
		{stage.NoneFailedMinOneSuccess, ups{k: 2}, skips},
	} {
		if got := x.n.judge(x.rule); got != x.want {
			t.Errorf("%s of %+v: %d, want %d", x.rule, x.n, got, x.want)
		}
	}
}
