package board

import (
	"math"
	"slices"
	"strings"

	"axflow/stage"
)

// laneKey is everything but the concurrency key that decides through which gates a span must pass and who may run it.
type laneKey struct {
	handler, namespace, queue, flow, requires string
	stage                                     string // StageKey; "" for plans
	terms                                     *terms
	limit                                     int
	level                                     uint8
	solo                                      bool
}

// terms are what few stages have. Equal terms are one object, and a span with none of them has nil.
type terms struct {
	keyed                     bool
	keyLimit                  int
	keyRate, stageRate, retry Rate
	breaker                   string // StageKey of the handler's breaker
	downstreams, prefers      string // as by labelKey
	routing                   stage.Routing
}

// lane is a queue of spans that share every gate but that of their key. It is in its route's heap while it has a head and is not
// parked.
type lane struct {
	key     laneKey
	handler *handler
	route   *route
	rank    uint8    // which of the route's heaps: the level, or demoted
	scopes  []*scope // the queue's first
	passes  []pass
	prefers []string
	strands heap[*strand]      // of lanes with keys: those that have spans and are not parked
	byKey   map[string]*strand // of lanes with keys
	own     strand             // of lanes without
	pos     int                // in route.lanes[rank], -1 when outside
	parked  *waiters           // whom it waits with for its gate number parkBy
	parkBy  int
	parkPos int
}

// byQueue is the place of the queue in the scopes of lanes, strands and flights.
const byQueue = 0

// strand is the spans of one key in a lane, in the order of their waiting. Lanes without keys have one.
type strand struct {
	lane    *lane
	scopes  []*scope // the lane's and, last, the key's
	rates   []*rate  // the lane's and, last, the key's
	id      string   // the key
	key     *scope   // nil without a key
	pass    pass     // the key's rate
	spans   heap[*node]
	pos     int // in lane.strands, -1 when outside
	parked  *waiters
	parkBy  int // keyLimit or keyRate
	parkPos int
}

func (l *lane) place(i int)   { l.pos = i }
func (s *strand) place(i int) { s.pos = i }

// queue is the heap that the lane belongs to.
func (l *lane) queue() *heap[*lane] { return &l.route.lanes[l.rank] }

// head is the entry of the lane's first span in sight, or nil.
func (l *lane) head() *entry[*node] {
	q := &l.own.spans
	if l.byKey != nil {
		if l.strands.empty() {
			return nil
		}
		q = &l.strands.top().spans
	}
	if q.empty() {
		return nil
	}
	return &q.e[0]
}

// top is the strand of the head.
func (l *lane) top() *strand {
	if l.byKey != nil {
		return l.strands.top()
	}
	return &l.own
}

// turn is the level whose turns the lane takes by itself.
func (l *lane) turn() int { return min(int(l.rank), levels-1) }

// strand finds or makes where a span queues.
func (b *Board) strand(s *Span) *strand {
	key := laneKey{
		handler: s.Handler, namespace: s.Namespace, queue: s.Queue, flow: s.Flow, requires: labelKey(s.Requires),
		terms: b.termsOf(s), level: uint8(s.Level), solo: s.solo(),
	}
	if !s.Plan {
		key.stage, key.limit = s.StageKey, max(0, s.Limit)
	}
	l := b.lanes[key]
	if l == nil {
		l = b.newLane(key, s)
	}
	if s.Cost > 0 {
		b.declare(l.handler, s.Cost)
	}
	if l.byKey == nil {
		return &l.own
	}
	st := l.byKey[s.Key]
	if st == nil {
		st = b.newStrand(l, s)
	}
	return st
}

func (b *Board) newLane(key laneKey, s *Span) *lane {
	h := b.handler(key.handler)
	l := &lane{key: key, handler: h, pos: -1}
	l.scopes = b.scopesOf(s.Namespace, s.Queue, s.Flow, key.stage, breakerOf(s.Breaker, s.StageKey), s.Downstreams)
	for _, c := range l.scopes {
		c.refs++
	}
	queue := l.scopes[byQueue]
	l.route = b.route(h, key.requires, key.solo, b.policyOf(queue))
	l.rank = placeOf(queue, key.level)
	h.refs++
	b.lanes[key] = l
	var rates []*rate
	if t := key.terms; t != nil {
		if t.prefers != "" {
			l.prefers = strings.Split(t.prefers, "\x00")
		}
		if t.stageRate != (Rate{}) {
			l.passes = append(l.passes, b.pass(stageRateName(key.stage), t.stageRate))
		}
		if t.retry != (Rate{}) {
			l.passes = append(l.passes, b.pass(retryRateName(key.stage), t.retry))
		}
		for i := range l.passes {
			rates = append(rates, l.passes[i].rate)
		}
		if t.keyed {
			l.byKey = map[string]*strand{}
		}
	}
	l.own = strand{lane: l, scopes: l.scopes, rates: rates, pos: -1}
	if l.byKey == nil {
		b.strands = append(b.strands, &l.own)
		b.idle++
	}
	return l
}

func (b *Board) newStrand(l *lane, s *Span) *strand {
	st := &strand{lane: l, id: s.Key, key: b.scope(OfKey(s.Namespace, s.Key)), pos: -1}
	st.key.refs++
	st.scopes = append(slices.Clip(l.scopes), st.key)
	st.rates = l.own.rates
	if r := l.key.terms.keyRate; r != (Rate{}) {
		st.pass = b.pass(keyRateName(s.Namespace, s.Key), r)
		st.rates = append(slices.Clip(st.rates), st.pass.rate)
	}
	l.byKey[s.Key] = st
	b.strands = append(b.strands, st)
	b.idle++
	return st
}

// scopesOf lists the scopes, but the key's, of a span or a flight; an empty stage, flow or breaker has none.
func (b *Board) scopesOf(namespace, queue, flow, stage, breaker string, downstreams []string) []*scope {
	list := make([]*scope, 1, 3+len(downstreams))
	list[byQueue] = b.scope(OfQueue(namespace, queue))
	if flow != "" {
		list = append(list, b.scope(OfFlow(namespace, flow)))
	}
	if stage != "" {
		list = append(list, b.scope(OfStage(stage)))
	}
	if breaker != "" {
		list = append(list, b.scope(OfHandler(breaker)))
	}
	for _, d := range downstreams {
		if s := b.scope(OfDownstream(namespace, d)); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

func breakerOf(has bool, stageKey string) string {
	if has {
		return stageKey
	}
	return ""
}

// termsOf finds the terms of a span.
func (b *Board) termsOf(s *Span) *terms {
	t := terms{breaker: breakerOf(s.Breaker, s.StageKey), downstreams: labelKey(s.Downstreams), prefers: labelKey(s.Prefers)}
	if s.Routing != stage.LeastCost {
		t.routing = s.Routing
	}
	if !s.Plan {
		t.stageRate = s.StageRate.clean()
		if s.Attempt > 1 {
			t.retry = s.RetryWindow.clean()
		}
		if s.Key != "" {
			t.keyed, t.keyLimit, t.keyRate = true, max(0, s.KeyLimit), s.KeyRate.clean()
		}
	}
	if t == (terms{}) {
		return nil
	}
	p := b.terms[t]
	if p == nil {
		own := t // t itself stays off the heap
		p = &own
		b.terms[t] = p
	}
	return p
}

// labelKey joins labels so that equal sets give equal keys.
func labelKey(labels []string) string {
	switch len(labels) {
	case 0:
		return ""
	case 1:
		return labels[0]
	}
	if !slices.IsSorted(labels) {
		labels = slices.Clone(labels)
		slices.Sort(labels)
	}
	return strings.Join(labels, "\x00")
}

// room returns how many more indices of the strand may run at once by its limits, and how many may start now by its rates.
func (s *strand) room() (limit, starts int) {
	limit, starts = math.MaxInt, math.MaxInt
	l := s.lane
	for i := range l.scopes {
		limit = min(limit, l.roomIn(i))
	}
	for i := range l.passes {
		starts = min(starts, l.passes[i].room())
	}
	if s.key != nil {
		limit = min(limit, s.roomIn(keyLimit))
		starts = min(starts, s.roomIn(keyRate))
	}
	return limit, starts
}

// closed is the number of the lane's first closed gate: a scope or, behind those, a rate; -1 when all are open.
func (l *lane) closed() int {
	for i := range len(l.scopes) + len(l.passes) {
		if l.roomIn(i) <= 0 {
			return i
		}
	}
	return -1
}

// roomIn is the room that one of the lane's gates leaves.
func (l *lane) roomIn(gate int) int {
	if gate >= len(l.scopes) {
		return l.passes[gate-len(l.scopes)].room()
	}
	s := l.scopes[gate]
	room := s.room(l.key.level)
	if s.id.Kind == StageScope && l.key.limit > 0 {
		room = min(room, l.key.limit-s.used)
	}
	return room
}

// The gates of a strand.
const (
	keyLimit = iota
	keyRate
)

// closed is the strand's first closed gate besides the lane's, -1 when both are open.
func (s *strand) closed() int {
	if s.key == nil {
		return -1
	}
	for gate := keyLimit; gate <= keyRate; gate++ {
		if s.roomIn(gate) <= 0 {
			return gate
		}
	}
	return -1
}

// roomIn is the room that one of the strand's own gates leaves.
func (s *strand) roomIn(gate int) int {
	if gate == keyRate {
		if s.pass.rate == nil {
			return math.MaxInt
		}
		return s.pass.room()
	}
	room := s.key.room(s.lane.key.level)
	if limit := s.lane.key.terms.keyLimit; limit > 0 {
		room = min(room, limit-s.key.used)
	}
	return room
}

// probing tells whether a half-open circuit lets one index at a time through.
func (l *lane) probing() bool {
	for _, s := range l.scopes {
		if s.probing() {
			return true
		}
	}
	return false
}
