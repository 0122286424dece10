// Package dbtime estimates the database's clock from samples of it and the machine's monotonic clock, so
// that every process reads the one clock there is, without asking for it each time and without trusting
// its own wall clock.
//
// The package is pure: samples and the monotonic clock are passed in. axflow/engine/clock takes the
// samples.
package dbtime

import (
	"sync"
	"time"
)

// Defaults of Config.
const (
	DefaultThreshold = 500 * time.Millisecond
	DefaultDriftPPM  = 500
)

// Config says how an Estimator reads its samples.
type Config struct {
	// Monotonic reads the machine's monotonic clock. Its zero point is free; only differences count.
	// Required; Since makes one.
	Monotonic func() time.Duration
	// Threshold is how far a sample must contradict the estimate to count as a jump of the clock rather
	// than as an error of measurement. Default 500 ms.
	Threshold time.Duration
	// DriftPPM is how fast the two clocks may drift apart, in millionths; 500 is what NTP slews at most.
	// It is how fast an estimate that gets no new samples grows uncertain. Default 500.
	DriftPPM int
}

// Since returns a monotonic clock whose zero point is begin, a time that time.Now returned.
func Since(begin time.Time) func() time.Duration {
	return func() time.Duration { return time.Since(begin) }
}

// Jump is a step of the database's clock against the machine's monotonic clock: an administrator or a
// time service set the database's clock, the database moved to another machine, or this machine slept.
type Jump struct {
	// Count numbers the jumps of one Estimator from 1. A subscriber that sees a number missing has missed
	// that jump.
	Count uint64
	// By is how far the estimate moved: positive when the clock went forward.
	By time.Duration
	// Now is the new estimate at the moment of the sample's receipt.
	Now time.Time
}

// Estimator answers what time it is on the database's clock. It is safe for concurrent use, and Now does
// no I/O.
//
// A sample whose request was sent at monotonic time s, whose answer came at r and which says d proves that
// the offset between the clocks lay in [d − r, d − s] then. The estimate is the middle of what the samples
// leave possible: each new interval is intersected with the old one, widened by the drift since. So a slow
// answer can make the estimate no worse, and cannot pass for a jump. (Cristian's algorithm, 1989, with
// Marzullo's intersection.)
type Estimator struct {
	monotonic func() time.Duration
	threshold time.Duration
	driftPPM  time.Duration // a bare factor

	mu          sync.Mutex
	zero        time.Time // offsets are counted from here
	lo, hi      time.Duration
	at          time.Duration // the monotonic time at which [lo, hi] held
	floor       time.Time     // Now does not answer less
	least       time.Time     // Earliest does not answer less
	jumps       uint64
	subscribers map[chan Jump]struct{}
}

// New returns an Estimator that starts from one sample; see Sample for its arguments. (An estimator
// without a sample would have to guess.) It panics when cfg.Monotonic is nil.
func New(cfg Config, sent, received time.Duration, db time.Time) *Estimator {
	e := &Estimator{
		monotonic:   cfg.Monotonic,
		threshold:   cfg.Threshold,
		driftPPM:    time.Duration(cfg.DriftPPM),
		zero:        db.Round(0).UTC(),
		at:          received,
		subscribers: map[chan Jump]struct{}{},
	}
	if e.monotonic == nil {
		panic("dbtime: Config.Monotonic is nil; pass dbtime.Since(time.Now())")
	}
	if e.threshold <= 0 {
		e.threshold = DefaultThreshold
	}
	if e.driftPPM <= 0 {
		e.driftPPM = DefaultDriftPPM
	}
	sent = min(sent, received)
	widen := e.drift(received - sent)
	e.lo, e.hi = -received-widen, -sent+widen
	return e
}

// Now is the estimate of the database's clock, in UTC. Between two jumps it never goes back: where a
// sample shows that the estimate was ahead, it stands still until the clock has caught up.
func (e *Estimator) Now() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.estimate(e.monotonic())
	if now.Before(e.floor) {
		return e.floor
	}
	e.floor = now
	return now
}

// Earliest is the least that the database's clock can show now, in UTC: what is due by it is due by the database's clock too. It
// is what to act by when acting early would be wrong. Like Now, it goes back at jumps only.
func (e *Estimator) Earliest() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.monotonic()
	if least := e.zero.Add(now + e.lo - e.drift(max(0, now-e.at))); least.After(e.least) {
		e.least = least
	}
	return e.least
}

// Uncertainty is by how much the estimate may be wrong now, either way, unless the clock has jumped since
// the last sample.
func (e *Estimator) Uncertainty() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return (e.hi-e.lo)/2 + e.drift(max(0, e.monotonic()-e.at))
}

// Jumps is how many jumps were detected so far.
func (e *Estimator) Jumps() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.jumps
}

// Sample takes one reading of the database's clock: db is what it said, sent and received are the
// monotonic times before the request was sent and after the answer had come. When db contradicts the
// estimate by more than the threshold, the estimate jumps: jumped is true, j says how far, and every
// subscriber is told. A smaller contradiction moves the estimate silently. A sample that was received
// before it was sent, or before the last sample, is ignored.
func (e *Estimator) Sample(sent, received time.Duration, db time.Time) (j Jump, jumped bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if received < sent || received < e.at {
		return Jump{}, false
	}
	old := e.estimate(received)
	widen := e.drift(received - e.at)
	lo, hi := e.lo-widen, e.hi+widen
	d := db.Sub(e.zero)
	widen = e.drift(received - sent) // the reading may be as old as the request
	sampleLo, sampleHi := d-received-widen, d-sent+widen
	gap := max(sampleLo-hi, lo-sampleHi)
	if gap > 0 {
		e.lo, e.hi = sampleLo, sampleHi
	} else {
		e.lo, e.hi = max(lo, sampleLo), min(hi, sampleHi)
	}
	e.at = received
	if gap <= e.threshold {
		return Jump{}, false
	}
	now := e.estimate(received)
	e.floor, e.least = now, time.Time{}
	e.jumps++
	j = Jump{Count: e.jumps, By: now.Sub(old), Now: now}
	for ch := range e.subscribers {
		tell(ch, j)
	}
	return j, true
}

// Subscribe returns a channel that receives the newest jump after each one. It holds one: a subscriber
// that is slow loses the older jumps, which Count shows, and never delays Sample. stop ends the
// subscription; the channel is not closed.
func (e *Estimator) Subscribe() (jumps <-chan Jump, stop func()) {
	ch := make(chan Jump, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.subscribers[ch] = struct{}{}
	return ch, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.subscribers, ch)
	}
}

// tell replaces what the channel holds. The mutex makes it the only sender.
func tell(ch chan Jump, j Jump) {
	select {
	case <-ch:
	default:
	}
	ch <- j
}

// estimate is the middle of what is possible at a monotonic time.
func (e *Estimator) estimate(monotonic time.Duration) time.Time {
	return e.zero.Add(monotonic + e.lo + (e.hi-e.lo)/2)
}

// drift is how far the two clocks may move apart in a time.
func (e *Estimator) drift(in time.Duration) time.Duration {
	ppm := int64(e.driftPPM)
	return time.Duration(int64(in)/1e6*ppm + int64(in)%1e6*ppm/1e6)
}
