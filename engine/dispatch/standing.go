package dispatch

import (
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/engine/dispatch/board"
)

// Standing is how flow control stands, as the leader saw it last. It must not be changed.
type Standing struct {
	At time.Time // database time
	// Off are the kill switches that are off, by name.
	Off []string
	// BusyPools are the handlers whose pools have been busier than BusyShare for BusyFor at a stretch, by key.
	BusyPools []board.PoolLoad
	// Overloaded workers get nothing new while others can do their work.
	Overloaded []uuid.UUID
	// OpenCircuits are those that hold work or let one task through to probe, as the Board's scopes.
	OpenCircuits []board.Scope
	// Pressed are the queues that are demoted or paused for being full.
	Pressed []Queue
	// HeldRuns is how many runs are paused.
	HeldRuns int
	// RateOpens is when the next span that waits for a start rate or a retry window may go on; zero: none waits.
	RateOpens time.Time
	// SkippedGroups is how many groups of blocked spans (of one key, or retries) are kept out of memory for being too many,
	// and SkippedSpans how many of their spans are in memory all the same.
	SkippedGroups, SkippedSpans int
	// Crowded is how many lanes (stage, queue, level) wait in the database in part.
	Crowded int
}

const (
	// BusyShare is the share of a handler's slots above which its pools count as busy.
	BusyShare = 0.80
	// BusyFor is how long they must be busy before they are flagged.
	BusyFor = 10 * time.Second
)

// busy remembers since when pools are busy.
type busy struct {
	since   map[string]time.Time
	flagged map[string]bool
}

func newBusy() busy { return busy{make(map[string]time.Time), make(map[string]bool)} }

// see returns the pools that have been busy for BusyFor, and the keys of those that were not flagged before.
func (b *busy) see(now time.Time, pools []board.PoolLoad) (flagged []board.PoolLoad, fresh []string) {
	still := make(map[string]bool)
	for _, p := range pools {
		if p.Slots == 0 || float64(p.Busy) <= BusyShare*float64(p.Slots) {
			continue
		}
		still[p.Handler] = true
		began, known := b.since[p.Handler]
		if !known {
			b.since[p.Handler] = now
			continue
		}
		if now.Sub(began) < BusyFor {
			continue
		}
		flagged = append(flagged, p)
		if !b.flagged[p.Handler] {
			b.flagged[p.Handler] = true
			fresh = append(fresh, p.Handler)
		}
	}
	for h := range b.since {
		if !still[h] {
			delete(b.since, h)
			delete(b.flagged, h)
		}
	}
	return flagged, fresh
}

// stand publishes how flow control stands.
func (l *Loop) stand() {
	now := l.cfg.Now()
	s := &Standing{At: now, Off: slices.Sorted(maps.Keys(l.policies.off)), HeldRuns: len(l.policies.runs), Overloaded: l.overload.names(), Crowded: len(l.crowded)}
	var fresh []string
	s.BusyPools, fresh = l.busy.see(time.Now(), l.board.Pools())
	for _, h := range fresh {
		l.cfg.Logger.Warn("a handler's pools are busier than 80 %", "epoch", l.cfg.Fence.Epoch, "handler", h, "for", BusyFor)
	}
	for k := range l.policies.holds {
		if k.name == holdBreaker {
			s.OpenCircuits = append(s.OpenCircuits, k.scope)
		}
	}
	for scope := range l.policies.limits {
		if scope.Kind == board.HandlerScope || scope.Kind == board.DownstreamScope {
			s.OpenCircuits = append(s.OpenCircuits, scope)
		}
	}
	for k, q := range l.policies.queues {
		if q.demote != noDemotion {
			s.Pressed = append(s.Pressed, Queue{k.namespace, k.queue})
		}
	}
	if at, ok := l.board.NextRate(now); ok {
		s.RateOpens = at
	}
	for _, ln := range l.lanes {
		if ln.late != nil {
			s.SkippedGroups++
		}
		s.SkippedGroups += len(ln.keys)
		s.SkippedSpans += ln.skipped()
	}
	l.cfg.Stats.standing.Store(s)
}
