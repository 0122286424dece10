package worker

import (
	"sync"
	"sync/atomic"
	"time"
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
