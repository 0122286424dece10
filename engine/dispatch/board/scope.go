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

// Scope names a part of the work that can be limited or held as a whole. Make one with OfStage and its like.
type Scope struct {
	Kind      ScopeKind
	Namespace string // of a key, queue, flow or downstream; a stage's is in its name
	Name      string
}

// OfStage is the scope of a stage, by Span.StageKey.
func OfStage(stageKey string) Scope { return Scope{Kind: StageScope, Name: stageKey} }

// OfKey is the scope of a concurrency key, by Span.Key.
func OfKey(namespace, key string) Scope {
	return Scope{Kind: KeyScope, Namespace: namespace, Name: key}
}

// OfFlow is the scope of a flow.
func OfFlow(namespace, flow string) Scope {
	return Scope{Kind: FlowScope, Namespace: namespace, Name: flow}
}

// OfDownstream is the scope of a named downstream.
func OfDownstream(namespace, name string) Scope {
	return Scope{Kind: DownstreamScope, Namespace: namespace, Name: name}
}

// OfQueue is the scope of a queue.
func OfQueue(namespace, queue string) Scope {
	return Scope{Kind: QueueScope, Namespace: namespace, Name: queue}
}

// OfHandler is the scope of the spans whose Breaker is set, by Span.StageKey.
func OfHandler(stageKey string) Scope { return Scope{Kind: HandlerScope, Name: stageKey} }

// String returns the scope in words, such as "queue default/mail".
func (s Scope) String() string {
	name := s.Name
	if s.Namespace != "" {
		name = s.Namespace + "/" + name
	}
	return scopeNames[s.Kind%ScopeKind(len(scopeNames))] + " " + name
}

var scopeNames = [...]string{StageScope: "stage", KeyScope: "key", QueueScope: "queue", FlowScope: "flow", HandlerScope: "handler",
	DownstreamScope: "downstream"}

// scope counts what runs of a Scope and keeps the lanes that wait for it.
type scope struct {
	id       Scope
	limit    int // -1: none
	used     int // Σ least(par, left) over its flights
	holds    []hold
	heldFrom uint8 // the least level of the holds, or levels
	waiters
	refs    int     // lanes, strands and flights that point here
	policy  *policy // a queue's own
	demoted uint8   // a queue's levels from here on are demoted; levels when none is

	pending, handedOut Count // a queue's
}

type hold struct {
	name, reason string
	from         uint8
}

func (b *Board) scope(id Scope) *scope {
	s := b.scopes[id]
	if s == nil {
		s = &scope{id: id, limit: -1, heldFrom: levels, demoted: levels}
		b.scopes[id] = s
	}
	return s
}

func (s *scope) unused() bool {
	return s.refs == 0 && s.limit < 0 && len(s.holds) == 0 && s.policy == nil && s.demoted == levels
}

// room is how many more indices of the level may run at once.
func (s *scope) room(level uint8) int {
	if level >= s.heldFrom {
		return 0
	}
	if s.limit >= 0 {
		return s.limit - s.used
	}
	return math.MaxInt
}

// probing tells whether the scope is a half-open circuit: circuits are held or probed, never limited otherwise.
func (s *scope) probing() bool {
	return s.limit >= 0 && (s.id.Kind == HandlerScope || s.id.Kind == DownstreamScope)
}

// use changes what runs and wakes the waiting lanes when there may be room again.
func (b *Board) use(s *scope, delta int) {
	s.used += delta
	if delta < 0 && !s.waiters.empty() && (s.limit < 0 || s.used < s.limit) {
		b.wake(&s.waiters)
	}
}

// SetLimit caps how many indices of a scope run at once in the cluster; below 0 lifts the cap. It holds beside the limit
// of a span itself. A limit of a handler or a downstream is a half-open circuit's: use 1, and pieces are then of one index.
// Lowering it below what runs recalls nothing: the count falls as flights end.
func (b *Board) SetLimit(id Scope, limit int) {
	s := b.scope(id)
	s.limit = max(-1, limit)
	b.wake(&s.waiters)
}

// Hold keeps back the levels `from`..P5 of a scope (P0 for all) under a name, such as "paused" or "breaker", which Explain
// reports with the reason. The same name again replaces it. Flights go on.
func (b *Board) Hold(id Scope, name string, from stage.Level, reason string) {
	s := b.scope(id)
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
	s := b.scope(id)
	i := s.find(name)
	if i < 0 {
		return false
	}
	s.holds = slices.Delete(s.holds, i, i+1)
	b.reheld(s)
	return true
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
	b.wake(&s.waiters)
}
