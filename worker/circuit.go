package worker

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"axflow/stage"
)

// The states of a circuit, as stored.
const (
	circuitClosed = 0
	circuitOpen   = 1
	circuitHalf   = 2
)

// silentBeats is for how many beats a worker that has tripped a circuit waits for the leader's word.
const silentBeats = 3

// circuit is a circuit breaker as one worker sees it: it counts what its own tasks meet, stops starting them by itself
// when too many fail in a row, and then does what the leader says, who alone opens and closes circuits.
type circuit struct {
	name     string // "handler:flow/stage" or "downstream:name"
	failures atomic.Int64
	ok, fail atomic.Int64
	streak   atomic.Int64 // failures in a row
	shut     atomic.Bool  // tripped, or not closed: ask lets

	mu      sync.Mutex
	text    string // of the last failure
	tripped bool
	carried bool          // a beat has told of the trip
	told    time.Duration // when the first such beat was answered
	seen    circuitSeen   // how the leader sees it
}

// circuitSeen is the leader's view of a circuit, as a heartbeat's answer says it; the zero value is closed.
type circuitSeen struct {
	State  int16     `json:"state"`
	Manual bool      `json:"manual"`
	Since  time.Time `json:"since"` // of the row's last change
}

// circuitSaid is a circuit in a heartbeat.
type circuitSaid struct {
	OK      int64  `json:"ok"`
	Fail    int64  `json:"fail"`
	Streak  int64  `json:"streak"`
	Tripped bool   `json:"tripped"`
	Error   string `json:"error,omitempty"`
}

// lets tells whether a task of the flight may start.
func (c *circuit) lets(f *flight) bool {
	if !c.shut.Load() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.tripped && !c.seen.refuses(f)
}

// refuses tells whether the leader's view keeps the flight from being started at all: it was handed out before the
// circuit was opened, or before probes are let through. What was handed out later was by a leader that knew.
func (s circuitSeen) refuses(f *flight) bool {
	return s.State != circuitClosed && (s.State == circuitOpen && s.Manual || f.DispatchedAt.Before(s.Since))
}

// refuses is circuitSeen.refuses of how the leader sees the circuit now.
func (c *circuit) refuses(f *flight) bool {
	if !c.shut.Load() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen.refuses(f)
}

// succeeded counts a success. It tells whether the leader waits for it.
func (c *circuit) succeeded() (urgent bool) {
	c.ok.Add(1)
	if c.streak.Load() != 0 {
		c.streak.Store(0)
	}
	return c.shut.Load()
}

// failed counts a failure. It tells whether the leader should hear of it at once: it has tripped the circuit, or was a
// probe's.
func (c *circuit) failed(text string, trips bool) (urgent bool) {
	c.fail.Add(1)
	streak := c.streak.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = text
	if trips && !c.tripped && streak >= c.failures.Load() {
		c.tripped, c.carried, c.told = true, false, 0
		c.shut.Store(true)
	}
	return c.shut.Load()
}

// say is what the next heartbeat tells; ok is false if there is nothing to tell.
func (c *circuit) say() (said circuitSaid, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said = circuitSaid{OK: c.ok.Load(), Fail: c.fail.Load(), Streak: c.streak.Load(), Tripped: c.tripped, Error: c.text}
	c.carried = c.tripped
	return said, said.OK+said.Fail > 0
}

// hear takes a heartbeat's answer and tells whether tasks may start now that might not before.
func (c *circuit) hear(seen circuitSeen, off bool, now, beat time.Duration) (resumed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.seen
	c.seen = seen
	if c.tripped {
		if c.carried && c.told == 0 {
			c.told = now
		}
		answered := seen.State == circuitOpen || seen.State == circuitHalf && !seen.Since.Equal(before.Since)
		silent := c.carried && now-c.told >= silentBeats*beat
		if off || answered || silent {
			c.tripped = false
			c.streak.Store(0)
			resumed = true
		}
	}
	if seen.State == circuitClosed && before.State != circuitClosed {
		c.streak.Store(0)
	}
	c.shut.Store(c.tripped || c.seen.State != circuitClosed)
	return resumed || before.State != circuitClosed && before != seen
}

// reset forgets everything: the worker registers anew.
func (c *circuit) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ok.Store(0)
	c.fail.Store(0)
	c.streak.Store(0)
	c.tripped, c.text = false, ""
	c.shut.Store(c.seen.State != circuitClosed)
}

// circuits are all circuits of a worker's handlers.
type circuits struct {
	off atomic.Bool // breakers are switched off: nothing trips

	mu     sync.Mutex
	byName map[string]*circuit
}

// of returns the circuits of a stage.
func (s *circuits) of(flowName string, stageName string, breaker *stage.Breaker, downstreams []string) []*circuit {
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
