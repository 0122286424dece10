package metamorph

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"axflow/stage"
)

// shrinkLimit is how long a failing scenario is made smaller, and shrinkTries how often a smaller one is played before it
// counts as passing: chance has a part in most failures.
const (
	shrinkLimit = 2 * time.Minute
	shrinkTries = 2
)

// shrink leaves parts of a failing scenario out as long as it goes on failing, the big ones first: phases, runs, operations,
// stages. It returns the smallest that failed, with what it came to.
func shrink(t *testing.T, s *scenario, failed outcome) (*scenario, outcome) {
	t.Helper()
	limit := time.Now().Add(shrinkLimit)
	for smaller := true; smaller; {
		smaller = false
		for _, c := range s.less() {
			o, fails := again(t, c, limit)
			if time.Now().After(limit) {
				return s, failed
			}
			if fails {
				s, failed, smaller = c, o, true
				break
			}
		}
	}
	return s, failed
}

// again plays a scenario a few times, until it fails.
func again(t *testing.T, s *scenario, limit time.Time) (o outcome, fails bool) {
	t.Helper()
	for range shrinkTries {
		if time.Now().After(limit) {
			return o, false
		}
		t.Run("smaller", func(t *testing.T) { o = play(t, s) })
		if len(o.faults) > 0 {
			return o, true
		}
	}
	return o, false
}

// less are the scenarios with one part fewer.
func (s *scenario) less() []*scenario {
	var all []*scenario
	add := func(change func(c *scenario)) {
		c := s.clone()
		change(c)
		if c.sound() {
			all = append(all, c)
		}
	}
	for i := len(s.phases) - 1; i > 0; i-- {
		add(func(c *scenario) { c.phases = slices.Delete(c.phases, i, i+1) })
	}
	for _, r := range s.runs {
		if len(s.runs) > 1 {
			add(func(c *scenario) { c.dropRun(r.ID) })
		}
	}
	for i := range s.phases {
		if n := len(s.phases[i].ops); n > 2 {
			add(func(c *scenario) { c.phases[i].ops = c.phases[i].ops[:n/2] })
			add(func(c *scenario) { c.phases[i].ops = c.phases[i].ops[n/2:] })
		}
		for j := range s.phases[i].ops {
			add(func(c *scenario) { c.phases[i].ops = slices.Delete(c.phases[i].ops, j, j+1) })
		}
		for j := range s.phases[i].verbs {
			add(func(c *scenario) { c.phases[i].verbs = slices.Delete(c.phases[i].verbs, j, j+1) })
		}
	}
	for i := range s.flows {
		for j := len(s.flows[i].Stages) - 1; j >= 0; j-- {
			name := s.flows[i].Stages[j].Name
			add(func(c *scenario) { c.dropStage(i, name) })
		}
	}
	if len(s.workers) > 1 {
		add(func(c *scenario) { c.workers = c.workers[:len(c.workers)-1] })
	}
	if s.engines > 1 {
		add(func(c *scenario) { c.engines-- })
	}
	return all
}

// clone copies all that less changes.
func (s *scenario) clone() *scenario {
	c := *s
	c.flows = slices.Clone(s.flows)
	for i := range c.flows {
		c.flows[i].Stages = slices.Clone(s.flows[i].Stages)
		for j := range c.flows[i].Stages {
			c.flows[i].Stages[j].Upstreams = slices.Clone(c.flows[i].Stages[j].Upstreams)
		}
	}
	c.runs, c.workers = slices.Clone(s.runs), slices.Clone(s.workers)
	c.phases = slices.Clone(s.phases)
	for i := range c.phases {
		c.phases[i].ops, c.phases[i].verbs = slices.Clone(s.phases[i].ops), slices.Clone(s.phases[i].verbs)
	}
	return &c
}

func (s *scenario) dropRun(id int) {
	s.runs = slices.DeleteFunc(s.runs, func(r runSpec) bool { return r.ID == id })
	s.dropOps(func(o op) bool { return o.Run == id && !o.isFault() || o.Stage != "" && o.WaitRun == id })
}

func (s *scenario) dropOps(which func(op) bool) {
	for i := range s.phases {
		s.phases[i].ops = slices.DeleteFunc(s.phases[i].ops, which)
		s.phases[i].verbs = slices.DeleteFunc(s.phases[i].verbs, which)
	}
}

func (s *scenario) dropStage(flow int, name string) {
	f := &s.flows[flow]
	f.Stages = slices.DeleteFunc(f.Stages, func(x stageSpec) bool { return x.Name == name })
	for i := range f.Stages {
		x := &f.Stages[i]
		if x.Kind == stage.Aligned && x.Upstreams[0] == name {
			x.Kind, x.Upstreams = stage.Sharded, x.Upstreams[1:] // it has nothing to follow
		}
		x.Upstreams = slices.DeleteFunc(x.Upstreams, func(u string) bool { return u == name })
		if x.Teardown == name {
			x.Teardown = ""
		}
	}
	of := func(run int) bool { r := s.run(run); return r != nil && r.Flow == f.Name }
	s.dropOps(func(o op) bool { return o.Target == name && of(o.Run) || o.Stage == name && of(o.WaitRun) })
}

func (o op) isFault() bool {
	switch o.Act {
	case killLeader, freezeLeader, flapLeader, resignLeader, killWorker, cutWorker, flapWorker, drainWorker, muteWorker, pauseQueue:
		return true
	default:
		return false
	}
}

// sound tells whether a scenario can be played.
func (s *scenario) sound() bool {
	for i := range s.flows {
		if len(s.flows[i].Stages) == 0 {
			return false
		}
	}
	return len(s.runs) > 0
}

// Every smaller scenario of many seeds makes flows that can be built, and the same seed the same scenario.
func TestScenariosAreSound(t *testing.T) {
	for seed := range uint64(12) {
		s := generate(seed)
		if a, b := s.String(), generate(seed).String(); a != b {
			t.Fatalf("seed %d makes two scenarios:\n%s\n%s", seed, a, b)
		}
		c := &cluster{s: s, book: newBook()}
		for _, x := range append(s.less(), s) {
			for i := range x.flows {
				if _, err := c.build(&x.flows[i]); err != nil {
					t.Fatalf("seed %d: %v\n%v", seed, err, x)
				}
			}
			for _, p := range x.phases {
				for _, o := range append(slices.Clone(p.ops), p.verbs...) {
					if (!o.isFault() && x.run(o.Run) == nil) || o.Stage != "" && x.run(o.WaitRun) == nil {
						t.Fatalf("seed %d: %v names a run that is not there", seed, o)
					}
				}
			}
		}
	}
	if len(generate(7).less()) == 0 {
		t.Error(fmt.Errorf("nothing can be left out of seed 7"))
	}
}
