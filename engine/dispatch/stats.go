package dispatch

import (
	"sync/atomic"
	"time"
)

// Stats counts what the leader does. All fields are safe for concurrent use and only grow.
type Stats struct {
	standing atomic.Pointer[Standing]

	Rounds        atomic.Uint64 // transactions that handed out
	Handed        atomic.Uint64 // indices handed out
	Refused       atomic.Uint64 // pieces that the database refused
	Resolved      atomic.Uint64 // stages and runs decided
	Repaired      atomic.Uint64 // decisions that only the full scan found: 0 in a healthy run
	Seized        atomic.Uint64 // indices taken from dead workers
	Stuck         atomic.Uint64 // runs set aside
	Jumps         atomic.Uint64 // steps of the database's clock
	Faults        atomic.Uint64 // failed turns
	Scans         atomic.Uint64 // full scans
	Expired       atomic.Uint64 // stages that ran out of their overall budget
	CircuitMoves  atomic.Uint64 // moves of circuit breakers
	PressureMoves atomic.Uint64 // of queues with a capacity
	Latency       Histogram     // from ready to handed out
	TimerLag      Histogram     // from due to fired
}

// Standing is how flow control stands, as this engine saw it last while it led; nil: it has not led.
func (s *Stats) Standing() *Standing { return s.standing.Load() }

// Histogram counts durations in buckets of powers of two from 64 µs on.
type Histogram struct {
	buckets [24]atomic.Uint64
	sum     atomic.Int64
}

// Observe counts a duration; negative ones count as 0.
func (h *Histogram) Observe(d time.Duration) {
	d = max(d, 0)
	h.sum.Add(int64(d))
	i := 0
	for bound := 64 * time.Microsecond; d > bound && i < len(h.buckets)-1; bound *= 2 {
		i++
	}
	h.buckets[i].Add(1)
}

// Snapshot returns the count of each bucket, the buckets' upper bounds, and the sum. The last bucket has no
// upper bound.
func (h *Histogram) Snapshot() (counts []uint64, bounds []time.Duration, sum time.Duration) {
	bound := 64 * time.Microsecond
	for i := range h.buckets {
		counts, bounds = append(counts, h.buckets[i].Load()), append(bounds, bound)
		bound *= 2
	}
	return counts, bounds, time.Duration(h.sum.Load())
}
