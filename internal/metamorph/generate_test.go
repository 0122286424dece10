package metamorph

import (
	"fmt"
	"math/rand/v2"
	"time"

	"axflow/stage"
)

// dice throws the dice of one seed.
type dice struct{ *rand.Rand }

func (d dice) odds(p float64) bool { return d.Float64() < p }

// between is a number of [lo, hi].
func (d dice) between(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

func (d dice) millis(lo, hi int) time.Duration {
	return time.Duration(d.between(lo, hi)) * time.Millisecond
}

func pick[T any](d dice, all ...T) T { return all[d.IntN(len(all))] }

// generate makes the scenario of a seed.
func generate(seed uint64) *scenario {
	d := dice{rand.New(rand.NewPCG(seed, 0x5eed))}
	s := &scenario{seed: seed, engines: d.between(1, 2)}
	for range d.between(1, 3) {
		s.workers = append(s.workers, workerSpec{Slots: d.between(1, 6), Urgent: pick(d, -1, 2), Grace: d.millis(1, 200)})
	}
	for _, name := range []string{"q1", "q2"} {
		if d.odds(0.3) {
			s.queues = append(s.queues, queueSpec{Name: name, Concurrency: d.between(1, 4)})
		}
	}
	if d.odds(0.25) {
		s.off = append(s.off, pick(d, "events", "wheel", "aging", "weights", "breaker", "pressure"))
	}
	for i := range d.between(1, 2) {
		s.flows = append(s.flows, d.flow(fmt.Sprintf("f%d", i)))
	}
	for i := range d.between(1, 5) {
		r := runSpec{ID: i, Flow: s.flows[d.IntN(len(s.flows))].Name, Customer: pick(d, "ann", "bob")}
		if d.odds(0.5) {
			r.At = d.millis(0, 200)
		}
		if d.odds(0.2) {
			r.Delay = d.millis(50, 300)
		}
		if d.odds(0.3) {
			l := stage.Level(d.IntN(6))
			r.Level = &l
		}
		r.Queue = pick(d, "", "", "q1")
		s.runs = append(s.runs, r)
	}
	id := 0
	for i := range d.between(1, 3) {
		var p phase
		if i > 0 {
			p.verbs = d.quiet(s, &id)
		}
		var lively []point // what has something to do in this phase
		for _, r := range s.runs {
			for _, x := range s.flow(r.Flow).Stages {
				if i == 0 {
					lively = append(lively, point{r.ID, x.Name})
				}
			}
		}
		for _, o := range p.verbs {
			if o.Target != "" {
				lively = append(lively, point{o.Run, o.Target})
			}
			for _, name := range s.flow(s.run(o.Run).Flow).descendants(o.Target) {
				lively = append(lively, point{o.Run, name})
			}
			if o.Target == "" {
				lively = append(lively, point{o.Run, d.anyStage(s, o.Run)})
			}
		}
		for range pick(d, 0, 1, 2, 3, 4, 6) {
			p.ops = append(p.ops, d.op(s, lively, &id))
		}
		s.phases = append(s.phases, p)
	}
	return s
}

func (d dice) flow(name string) flowSpec {
	f := flowSpec{Name: name}
	for i := range d.between(1, 8) {
		f.Stages = append(f.Stages, d.stage(&f, i))
	}
	return f
}

func (d dice) stage(f *flowSpec, i int) stageSpec {
	s := stageSpec{Name: string(rune('a' + i)), Rule: stage.AllSuccess, Attempts: d.between(1, 4), Wait: d.millis(5, 80)}
	s.Kind = pick(d, stage.Single, stage.Single, stage.Sharded, stage.Aligned)
	var sharded []string
	for _, u := range f.Stages {
		if u.Kind != stage.Single {
			sharded = append(sharded, u.Name)
		}
	}
	if s.Kind == stage.Aligned && len(sharded) == 0 {
		s.Kind = stage.Sharded
	}
	if s.Kind == stage.Aligned {
		s.Upstreams = append(s.Upstreams, pick(d, sharded...))
	}
	for _, j := range d.Perm(i) {
		u := f.Stages[j].Name
		if d.odds(1.3/float64(i)) && (len(s.Upstreams) == 0 || s.Upstreams[0] != u) {
			s.Upstreams = append(s.Upstreams, u)
		}
	}
	d.rule(&s)
	d.policies(&s)
	d.script(&s)
	if features.teardown && s.Kind == stage.Single && len(s.Upstreams) > 0 && d.odds(0.15) {
		s.Teardown, s.Rule, s.Disabled = s.Upstreams[0], stage.AllSuccess, false
	}
	return s
}

func (d dice) rule(s *stageSpec) {
	if d.odds(0.45) {
		return
	}
	rules := stage.Rules()
	for {
		s.Rule = rules[d.IntN(len(rules))]
		if s.Kind != stage.Aligned || s.Rule != stage.AllFailed && s.Rule != stage.AllSkipped && s.Rule != stage.OneFailed {
			return
		}
	}
}

func (d dice) policies(s *stageSpec) {
	if d.odds(0.15) {
		l := stage.Level(d.IntN(6))
		s.Level = &l
	}
	s.Queue = pick(d, "", "", "", "q1", "q2")
	if d.odds(0.25) {
		s.Limit = d.between(1, 3)
	}
	if d.odds(0.1) {
		s.Delay = d.millis(10, 200)
	}
	s.Disabled = d.odds(0.05)
	s.Uninterruptible = d.odds(0.1)
	s.SkipEmpty = s.Kind != stage.Single && d.odds(0.3)
	if features.when && s.Kind != stage.Aligned {
		s.When = d.odds(0.15)
	}
	if features.tolerance && (s.Kind == stage.Sharded || s.Kind == stage.Aligned && features.alignedTolerance) {
		s.FailFast = d.odds(0.2)
		if d.odds(0.3) {
			s.Tolerate = d.between(1, 4)
		} else if d.odds(0.2) {
			s.TolerateShare = d.Float64()
		}
	}
	if features.keys && d.odds(0.2) {
		s.Key = &stage.Key{From: "params.customer", Group: pick(d, "", "g1"), Limit: d.between(1, 3)}
		if s.Kind == stage.Sharded && d.odds(0.5) {
			s.Key.From = stage.ShardKey
		}
	}
	if features.rates {
		if d.odds(0.1) {
			s.Rate = &stage.Rate{Starts: d.between(2, 20), Per: d.millis(100, 400)}
		}
		if d.odds(0.1) {
			s.RetryWindow = &stage.RetryWindow{Retries: d.between(1, 10), Per: d.millis(100, 300)}
		}
		if d.odds(0.08) {
			s.Breaker = &stage.Breaker{Failures: d.between(2, 5), CoolDown: d.millis(100, 300)}
		}
	}
}

func (d dice) script(s *stageSpec) {
	s.MaxShards = pick(d, 1, 3, 6, 12)
	if d.odds(0.07) {
		s.MaxShards = 150
	}
	s.FailShare = pick(d, 0, 0, 0, 0.1, 0.3, 0.5, 0.9)
	s.PlanFailShare = pick(d, 0, 0, 0, 0.2, 0.5)
	s.Hangs = d.odds(0.2)
	if s.MaxShards <= 12 {
		s.Work = d.millis(0, 60)
	}
}

// anyStage is a stage of the flow of a run.
func (d dice) anyStage(s *scenario, run int) string {
	f := s.flow(s.run(run).Flow)
	return f.Stages[d.IntN(len(f.Stages))].Name
}

// op is an operation in the middle of things.
func (d dice) op(s *scenario, lively []point, id *int) op {
	at := pick(d, lively...)
	o := op{ID: *id, Run: at.run, Member: d.IntN(len(s.workers))}
	*id++
	if d.odds(0.6) {
		if d.odds(0.5) {
			at = pick(d, lively...)
		}
		o.WaitRun, o.Stage, o.Count = at.run, at.stage, pick(d, 1, 1, 1, 1, 2, 3)
	} else {
		o.At = d.millis(1, 600)
	}
	faults := []act{killLeader, freezeLeader, flapLeader, resignLeader, killWorker, killWorker, cutWorker, flapWorker, drainWorker, muteWorker}
	if d.odds(0.7) {
		o.Act = pick(d, faults...)
		switch o.Act {
		case freezeLeader:
			o.For = d.millis(100, 900)
		case cutWorker:
			o.For = d.millis(50, 900)
		case muteWorker:
			o.For = d.millis(100, 1000)
		default:
		}
		return o
	}
	o.Act = pick(d, verbs()...)
	switch o.Act {
	case pauseRun:
		o.For = d.millis(50, 600)
	case pauseQueue:
		o.Target, o.For = pick(d, "default", "q1", "q2"), d.millis(50, 600)
	case pauseFlow:
		o.Target, o.For = s.run(o.Run).Flow, d.millis(50, 600)
	case rerunStage, skipStage, markSuccess, retryShards, rerunShard, discardDead:
		o.Target = d.anyStage(s, o.Run)
		o.Index = d.IntN(6)
	case setLevel:
		o.Level = stage.Level(d.IntN(6))
	default:
	}
	if o.For > 0 && d.odds(0.1) {
		o.For = 4 * time.Second
	}
	return o
}

// quiet are verbs on runs that have ended, one a run at most.
func (d dice) quiet(s *scenario, id *int) []op {
	var all []op
	must := d.IntN(len(s.runs))
	for i := range s.runs {
		if i != must && d.odds(0.4) {
			continue
		}
		o := op{ID: *id, Run: i, Act: pick(d, quietVerbs()...)}
		*id++
		if o.Act != retryRun {
			o.Target = d.anyStage(s, i)
			o.Index = pick(d, 0, 0, 1, d.IntN(6))
		}
		all = append(all, o)
	}
	return all
}
