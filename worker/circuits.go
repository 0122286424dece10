package worker

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"axflow/stage"
)

// circuits are all circuits of a worker's handlers.
type circuits struct {
	off atomic.Bool // breakers are switched off: nothing trips

	mu     sync.Mutex
	byName map[string]*circuit
}

// of returns the circuits of a stage.
func (s *circuits) of(flowName, stageName string, breaker *stage.Breaker, downstreams []string) []*circuit {
	var all []*circuit
	if breaker != nil {
		all = append(all, s.get("handler:"+flowName+"/"+stageName, breaker.Failures))
	}
	for _, name := range downstreams {
		all = append(all, s.get("downstream:"+name, stage.DefaultBreaker().Failures))
	}
	return all
}

func (s *circuits) get(name string, failures int) *circuit {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byName[name]
	if c == nil {
		c = &circuit{name: name}
		s.byName[name] = c
	}
	c.failures.Store(int64(failures)) // the newest version's
	return c
}

func (s *circuits) all() []*circuit {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*circuit, 0, len(s.byName))
	for _, c := range s.byName {
		all = append(all, c)
	}
	return all
}

// say is what a heartbeat stores of the circuits. urgent tells whether the leader should look at it now.
func (s *circuits) say() (stored []byte, urgent bool) {
	said := make(map[string]circuitSaid)
	for _, c := range s.all() {
		if x, ok := c.say(); ok {
			said[c.name] = x
			urgent = urgent || c.shut.Load()
		}
	}
	b, err := json.Marshal(said)
	if err != nil {
		panic(fmt.Sprintf("worker: encoding numbers and clean texts: %v", err)) // it cannot be
	}
	return b, urgent
}

// hear takes what a heartbeat's answer says of the circuits that are not closed. resumed tells whether work may start
// again somewhere, shut whether any circuit is not closed.
func (s *circuits) hear(answer []byte, off bool, now, beat time.Duration) (resumed, shut bool, err error) {
	var seen map[string]circuitSeen
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &seen); err != nil {
			return false, false, fmt.Errorf("reading the circuits: %w", err)
		}
	}
	if off {
		seen = nil
	}
	s.off.Store(off)
	for _, c := range s.all() {
		if c.hear(seen[c.name], off, now, beat) {
			resumed = true
		}
		shut = shut || c.shut.Load()
	}
	return resumed, shut, nil
}

// health is what the end of a task says of the circuits that it belongs to.
type health struct {
	failed     bool   // by a fault that may be the system's and not the task's own
	downstream string // the one at fault; "": not said
	text       string
}

// tell counts the end of a task for its circuits. The caller holds pool.mu.
func (t *task) tell() {
	all := t.f.h.circuits
	if len(all) == 0 {
		return
	}
	w := t.f.pool.w
	urgent := false
	switch {
	case t.verdict == committed, t.verdict == reported && t.result.Outcome == stage.Succeeded:
		for _, c := range all {
			urgent = c.succeeded() || urgent
		}
	case t.verdict == reported && t.health.failed:
		text := clean(t.health.text, 300)
		for _, c := range all {
			if t.health.blames(c) {
				urgent = c.failed(text, !w.circuits.off.Load()) || urgent
			}
		}
	default: // it says nothing; but a probe may have ended without a word
		for _, c := range all {
			urgent = urgent || c.shut.Load()
		}
	}
	if urgent {
		w.heart.beatNow()
	}
}

// blames tells whether the failure counts against a circuit: a handler's own always, a downstream's unless the error
// names another.
func (x health) blames(c *circuit) bool {
	const prefix = len("downstream:")
	return x.downstream == "" || len(c.name) < prefix || c.name[:prefix] != "downstream:" || c.name[prefix:] == x.downstream
}

// allowed tells whether every circuit lets the flight's next task start.
func (f *flight) allowed() bool {
	for _, c := range f.h.circuits {
		if !c.lets(f) {
			return false
		}
	}
	return true
}

// refused tells whether a circuit keeps the flight from starting at all, so that it has to go back.
func (f *flight) refused() bool {
	if f.h == nil {
		return false
	}
	for _, c := range f.h.circuits {
		if c.refuses(f) {
			return true
		}
	}
	return false
}

// obey gives back what the leader's circuits keep from starting, and starts what they let start again.
func (w *Worker) obey(resumed bool) {
	for _, f := range w.held() {
		if f.h == nil || len(f.h.circuits) == 0 {
			continue
		}
		f.pool.mu.Lock()
		if f.refused() {
			f.pool.giveBack(f)
		}
		f.pool.mu.Unlock()
	}
	if !resumed {
		return
	}
	for _, p := range w.pools {
		p.mu.Lock()
		p.wake()
		p.mu.Unlock()
	}
}
