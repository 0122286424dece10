package board

import (
	"math"
	"slices"

	"axflow/stage"
)

// ScopeKind says what a Scope covers.
type ScopeKind uint8

// The kinds of scopes.
const (
	// StageScope covers the indices of a stage, in all versions of its flow; plans are not in it.
	StageScope ScopeKind = iota
	// KeyScope covers what shares a concurrency key.
	KeyScope
	// QueueScope covers a queue of a namespace.
	QueueScope
	// FlowScope covers a flow of a namespace.
	FlowScope
	// HandlerScope covers what a handler's circuit breaker does.
	HandlerScope
	// DownstreamScope covers what the circuit breaker of a downstream does.
	DownstreamScope
)

// Scope names a part of the work that can be limited or held as a whole. Make one with OfKey, OfQueue or OfHandler.
type Scope struct {
	Kind      ScopeKind
	Namespace string // of a queue
	Name      string
}

// OfKey is the scope of a limit key.
func OfStage(stageKey string) Scope { return Scope{Kind: StageScope, Name: stageKey} }

// OfQueue is the scope of a queue.
func OfQueue(namespace, queue string) Scope {
	return Scope{Kind: QueueScope, Namespace: namespace, Name: queue}
}

// OfHandler is the scope of the spans whose Breaker is set, by Span.StageKey.
func OfHandler(stageKey string) Scope { return Scope{Kind: HandlerScope, Name: stageKey} }

// String returns the scope in words, such as "queue default/mail".
func (s Scope) String() string {
	switch s.Kind {
	case StageScope:
		return "stage " + s.Name
	case QueueScope:
		return "queue " + s.Namespace + "/" + s.Name
	default:
		return "handler " + s.Name
	}
}

// scope counts what runs of a Scope and keeps the lanes that wait for it.
type scope struct {
	id       Scope
	limit    int // -1: none
	used     int // Σ least(par, left) over its flights
	holds    []hold
	heldFrom uint8 // the least level of the holds, or levels
	waiting  []*lane
	refs     int // lanes and flights that point here

	pending, handedOut Count
}

type hold struct {
	name, reason string
	from         uint8
}

func (b *Board) scope(id Scope) *scope {
	s := b.scopes[id]
	if s == nil {
		s = newScope(id)
		b.scopes[id] = s
	}
	return s
}

func newScope(id Scope) *scope { return &scope{id: id, limit: -1, heldFrom: levels} }

// hold counts a user of the scope; a nil scope has none.
func (s *scope) hold(delta int) {
	if s != nil {
		s.refs += delta
	}
}

func (s *scope) unused() bool { return s.refs == 0 && s.limit < 0 && len(s.holds) == 0 }

// use changes what runs and wakes the waiting lanes when there may be room again.
func (b *Board) use(s *scope, delta int) {
	if s == nil || delta == 0 {
		return
	}
	s.used += delta
	if delta < 0 {
		b.wake(s)
	}
}

// wake returns the lanes that wait for the scope to sight. They are looked at again when their turn comes.
func (b *Board) wake(s *scope) {
	if len(s.waiting) == 0 || s.limit >= 0 && s.used >= s.limit {
		return
	}
	still := s.waiting[:0]
	for _, l := range s.waiting {
		if l.roomIn(l.parkBy) <= 0 {
			l.parkPos = len(still)
			still = append(still, l)
			continue
		}
		l.parked = nil
		l.moved()
		b.activate(l.handler)
	}
	clear(s.waiting[len(still):])
	s.waiting = still
}

// SetLimit caps how many indices of a scope run at once in the cluster; below 0 lifts the cap. It holds beside the limit
// of a span itself, and a half-open breaker is a handler's limit of one. Lowering it below what runs recalls
// nothing: the count falls as flights end.
func (b *Board) SetLimit(id Scope, limit int) {
	s := b.target(id)
	s.limit = max(-1, limit)
	b.wake(s)
}

// Hold keeps back the levels `from`..P5 of a scope (P0 for all) under a name, such as "paused" or "breaker", which Explain
// reports with the reason. The same name again replaces it. Flights go on.
func (b *Board) Hold(id Scope, name string, from stage.Level, reason string) {
	s := b.target(id)
	h := hold{name, reason, uint8(min(from, levels))}
	if i := s.find(name); i >= 0 {
		s.holds[i] = h
	} else {
		s.holds = append(s.holds, h)
	}
	b.reheld(s)
}

// Release ends the hold of that name and tells whether there was one.
func (b *Board) Release(id Scope, name string) bool {
	s := b.target(id)
	i := s.find(name)
	if i < 0 {
		return false
	}
	s.holds = slices.Delete(s.holds, i, i+1)
	b.reheld(s)
	return true
}

// target finds or makes the scope that an operator means. A handler's scope comes with its handler.
func (b *Board) target(id Scope) *scope {
	if id.Kind == HandlerScope {
		return b.handler(id.Name).scope
	}
	return b.scope(id)
}

func (s *scope) find(name string) int {
	return slices.IndexFunc(s.holds, func(h hold) bool { return h.name == name })
}

func (b *Board) reheld(s *scope) {
	from := uint8(math.MaxUint8)
	for _, h := range s.holds {
		from = min(from, h.from)
	}
	s.heldFrom = min(from, levels)
	b.wake(s)
}
