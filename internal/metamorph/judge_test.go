package metamorph

import (
	"cmp"
	"fmt"

	"axflow/engine/control"
	"axflow/sql/history"
	"axflow/stage"
)

// judge compares everything at the end of a phase with what must be.
func (c *cluster) judge(phase int) error {
	found, err := history.Check(c.ctx, c.pool, history.Options{Ended: true})
	if err != nil {
		return fmt.Errorf("checking the history: %w", err)
	}
	for _, v := range found {
		c.fault("history: %s", v)
	}
	for _, r := range c.s.runs {
		now, err := c.read(r.ID)
		if err != nil {
			return err
		}
		c.mu.Lock()
		verbs, before := c.applied[r.ID], c.known[r.ID]
		c.mu.Unlock()
		spec := c.s.flow(r.Flow)
		j := &judge{c: c, number: r.ID, spec: spec, now: now, before: before, verbs: verbs}
		j.always()
		if j.disturbed() {
			j.loosely()
		} else if phase == 0 || len(verbs) > 0 {
			m := &model{seed: c.s.seed, number: r.ID, flow: spec, now: now, before: before, wrong: c.fault}
			if len(verbs) > 0 {
				m.first = &verbs[0].op
			}
			m.judge()
		} else {
			for name, s := range now.stages {
				if diff := s.same(before.stages[name]); diff != "" {
					c.fault("run %d, stage %s: nobody touched the run: %s", r.ID, name, diff)
				}
			}
		}
		c.mu.Lock()
		c.known[r.ID] = now
		c.mu.Unlock()
	}
	return nil
}

// judge is the judgement of one run.
type judge struct {
	c           *cluster
	number      int
	spec        *flowSpec
	now, before *runFacts
	verbs       []applied
}

// disturbed tells whether an operator acted while the run went on, so that its script alone does not say what comes.
func (j *judge) disturbed() bool {
	for _, v := range j.verbs {
		if !v.quiet && !harmless(v.op.Act) {
			return true
		}
	}
	return false
}

// harmless tells whether an act changes when things happen, and not what.
func harmless(a act) bool {
	return a == setLevel || a == pauseRun || a == pauseFlow || a == pauseQueue
}

// always judges what must hold whatever operators did.
func (j *judge) always() {
	for name, s := range j.now.stages {
		spec := j.spec.stage(name)
		limit := max(s.limit, spec.Attempts)
		for _, rs := range s.results {
			for _, r := range rs {
				if r.attempt > limit {
					j.c.fault("run %d, stage %s, shard %d: attempt %d, the limit is %d", j.number, name, r.index, r.attempt, limit)
				}
				j.conforms(spec, r)
				j.heldBack(spec, r)
			}
		}
		for _, r := range s.older {
			j.conforms(spec, r)
		}
	}
}

// conforms tells when an attempt ended otherwise than its script says.
func (j *judge) conforms(s *stageSpec, r resultFact) {
	if r.byHand {
		return
	}
	switch r.outcome {
	case stage.Interrupted, stage.Lost, stage.NotNeeded:
		return
	default:
	}
	d := excused(s, s.deedOf(j.c.s.seed, j.number, r.generation, r.index, r.attempt), r)
	if !d.makes(r.outcome) {
		j.c.fault("run %d, stage %s, generation %d, shard %d: attempt %d has %v (%s), which must %v", j.number, s.Name, r.generation, r.index, r.attempt, r.outcome, r.message, d)
	}
}

// loosely judges a run in which operators acted while it went on.
func (j *judge) loosely() {
	last := -1 // the last entry that opened the run
	cancelledAt := -1
	for i, e := range j.now.journal {
		switch e.kind {
		case "cancel":
			cancelledAt = i
		case "retry", "rerun", "retry_shards", "rerun_shard", "skip", "mark_success":
			last = i
		}
	}
	if cancelledAt < 0 || cancelledAt < last {
		return
	}
	if j.now.state != stage.RunCancelled {
		j.c.fault("run %d was cancelled and is %v", j.number, j.now.state)
	}
	at := j.now.journal[cancelledAt].at
	for name, s := range j.now.stages {
		if j.spec.stage(name).Teardown != "" {
			continue
		}
		for _, rs := range s.results {
			for _, r := range rs {
				if r.dispatched.After(at) {
					j.c.fault("run %d, stage %s, shard %d: attempt %d was handed out at %v, the run was cancelled at %v", j.number, name, r.index, r.attempt, r.dispatched, at)
				}
			}
		}
	}
}

// heldBack tells when something was handed out long after it was paused.
func (j *judge) heldBack(s *stageSpec, r resultFact) {
	j.c.mu.Lock()
	holds := j.c.holds
	j.c.mu.Unlock()
	run := j.c.s.run(j.number)
	queue := cmp.Or(s.Queue, run.Queue, "default")
	for _, h := range holds {
		if h.name != map[control.HoldKind]string{control.HoldRun: j.now.id.String(), control.HoldFlow: run.Flow, control.HoldQueue: queue}[h.kind] {
			continue
		}
		if r.dispatched.After(h.from.Add(holdSlack)) && r.dispatched.Before(h.until) && !r.byHand {
			j.c.fault("run %d, stage %s, shard %d: handed out at %v, %s %s was paused from %v to %v", j.number, s.Name, r.index, r.dispatched, h.kind, h.name, h.from, h.until)
		}
	}
}
