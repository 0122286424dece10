package metamorph

import "axflow/stage"

// opening is what a verb on an ended run sets in motion, by the verbs' own words: which stages start over in their next
// generation, and which indices run again within it, from which attempt on.
type opening struct {
	*model
	reset map[string]bool
	again map[string]map[int]int
}

func (m *model) opened() *opening {
	o := &opening{m, make(map[string]bool), make(map[string]map[int]int)}
	if m.first == nil {
		return o
	}
	switch m.first.Act {
	case rerunStage:
		o.startOver(m.first.Target, func(*stageFacts) bool { return true })
		o.reset[m.first.Target] = true
	case retryRun:
		for i := range m.flow.Stages {
			o.retry(&m.flow.Stages[i], nil)
		}
	case retryShards:
		o.retry(m.flow.stage(m.first.Target), []int{m.first.Index})
	case rerunShard:
		name := m.first.Target
		o.more(name, m.first.Index, m.before.stages[name].newest(m.first.Index)+1)
		o.followRerun(name, []int{m.first.Index})
	default:
	}
	return o
}

// newest is the number of an index's newest attempt.
func (f *stageFacts) newest(i int) int {
	n := 0
	for _, r := range f.results[i] {
		n = max(n, r.attempt)
	}
	return n
}

func (o *opening) more(name string, index, from int) {
	if o.again[name] == nil {
		o.again[name] = make(map[int]int)
	}
	o.again[name][index] = from
}

// startOver starts those stages after one over that which says.
func (o *opening) startOver(name string, which func(*stageFacts) bool) {
	for _, d := range o.flow.descendants(name) {
		if which(o.before.stages[d]) {
			o.reset[d] = true
			delete(o.again, d)
		}
	}
}

// retry gives dead indices of a stage (only: some of them) further attempts; with those that failing fast has cancelled. What was
// lost with them is decided anew.
func (o *opening) retry(s *stageSpec, only []int) {
	before := o.before.stages[s.Name]
	if o.reset[s.Name] {
		return
	}
	reasons := []int{parkedDead, parkedPoison, parkedExpired}
	switch before.state {
	case stage.StageFailed:
		if before.verdict {
			reasons = append(reasons, parkedCancelled)
		}
	case stage.StageSucceeded:
	default:
		if o.again[s.Name] == nil { // it runs again already
			return
		}
	}
	var took []int
	for _, i := range before.parkedFor(reasons...) {
		if only == nil || i == only[0] {
			took = append(took, i)
			from := before.parked[i].attempt
			if before.parked[i].reason != parkedCancelled {
				from++
			}
			o.more(s.Name, i, from)
		}
	}
	if len(took) == 0 {
		return
	}
	if before.state == stage.StageSucceeded && len(o.again[s.Name]) == len(took) {
		o.followRerun(s.Name, took)
		return
	}
	repaired := make(map[string]bool)
	o.repair(s.Name, took, repaired)
	o.startOver(s.Name, func(f *stageFacts) bool {
		return !repaired[o.nameOf(f)] && (f.state == stage.StageUpstreamFailed || f.state == stage.StageSkipped)
	})
}

func (o *opening) nameOf(f *stageFacts) string {
	for name, x := range o.before.stages {
		if x == f {
			return name
		}
	}
	return ""
}

// followers are the stages that are aligned to one.
func (o *opening) followers(name string) []string {
	var all []string
	for i := range o.flow.Stages {
		if s := &o.flow.Stages[i]; s.Kind == stage.Aligned && s.Upstreams[0] == name {
			all = append(all, s.Name)
		}
	}
	return all
}

// repair lets aligned shards wait again that were given up with shards of name.
func (o *opening) repair(name string, set []int, repaired map[string]bool) {
	for _, dep := range o.followers(name) {
		f := o.before.stages[dep]
		if f.total < 0 || o.reset[dep] || f.state != stage.StageFailed && f.state != stage.StageUpstreamFailed && f.state != stage.StageSucceeded {
			continue
		}
		var took []int
		for _, i := range set {
			if p := f.parked[i]; p.reason == parkedUpstream {
				took = append(took, i)
				o.more(dep, i, p.attempt)
			}
		}
		if len(took) > 0 {
			repaired[dep] = true
			o.repair(dep, took, repaired)
		}
	}
}

// followRerun lets everything run again that depends on some shards of a stage that has succeeded: of aligned stages the same
// shards, of others the stage and what comes after it.
func (o *opening) followRerun(name string, set []int) {
	var aligned []string
	roots := make(map[string]bool)
	var walk func(string)
	walk = func(from string) {
		for i := range o.flow.Stages {
			s := &o.flow.Stages[i]
			f := o.before.stages[s.Name]
			for j, u := range s.Upstreams {
				switch {
				case u != from:
				case s.Kind == stage.Aligned && j == 0 && f.total >= 0 && f.state != stage.StageSkipped && f.state != stage.StageCancelled:
					aligned = append(aligned, s.Name)
					walk(s.Name)
				default:
					roots[s.Name] = true
				}
			}
		}
	}
	walk(name)
	for r := range roots {
		o.reset[r] = true
		delete(o.again, r)
		o.startOver(r, func(*stageFacts) bool { return true })
	}
	moved := map[string][]int{name: set}
	for i := range o.flow.Stages { // upstreams come first
		s := &o.flow.Stages[i]
		if s.Kind != stage.Aligned || o.reset[s.Name] || moved[s.Upstreams[0]] == nil {
			continue
		}
		f := o.before.stages[s.Name]
		for _, index := range moved[s.Upstreams[0]] {
			p, parked := f.parked[index]
			switch {
			case !parked:
				o.more(s.Name, index, f.newest(index)+1)
			case p.reason == parkedUpstream:
				o.more(s.Name, index, p.attempt)
			case p.reason == parkedDead || p.reason == parkedPoison || p.reason == parkedExpired:
				o.more(s.Name, index, p.attempt+1)
			default:
				continue
			}
			moved[s.Name] = append(moved[s.Name], index)
		}
	}
}
