package board

import (
	"math"
	"slices"
	"strings"
)

// laneKey is everything that decides through which gates a span must pass. The spans of one lane pass or wait together.
type laneKey struct {
	handler, namespace, queue, stageKey, requires string
	limit                                         int
	level                                         uint8
	solo                                          bool
}

// A lane's scopes, by index. A lane without a limit key has no scope of that kind.
const (
	byKey = iota
	byQueue
	byHandler
	scopeKinds
)

// lane is a queue of spans that share every gate, in the order of their waiting. It is in its route's heap while it has
// spans and is not parked.
type lane struct {
	key     laneKey
	handler *handler
	route   *route
	scopes  [scopeKinds]*scope
	spans   heap[*node]
	pos     int    // in route.lanes[level], -1 when outside
	parked  *scope // the closed gate that it waits for, scopes[parkBy]
	parkBy  int
	parkPos int // in parked.waiting
}

func (l *lane) place(i int) { l.pos = i }

// route is the lanes of a handler that may use the same workers.
type route struct {
	requires string
	labels   []string
	solo     bool
	pools    []*Pool // of workers that have the labels and take work
	lanes    [levels]heap[*lane]
	// full holds the handler's epoch at which no room was found, for P0 (which has the urgent pools besides) and for others.
	full [2]uint64
}

// class is the index in route.full.
func class(level int) int { return min(level, 1) }

// lane finds or makes the lane of a span.
func (b *Board) lane(s *Span) *lane {
	key := laneKey{
		handler: s.Handler, namespace: s.Namespace, queue: s.Queue, stageKey: s.StageKey,
		requires: labelKey(s.Requires), limit: max(0, s.Limit), level: uint8(s.Level), solo: s.solo(),
	}
	l := b.lanes[key]
	if l == nil {
		h := b.handler(s.Handler)
		l = &lane{key: key, handler: h, route: b.route(h, key.requires, key.solo), pos: -1}
		l.scopes[byQueue] = b.scope(OfQueue(s.Namespace, s.Queue))
		l.scopes[byHandler] = h.scope
		if s.StageKey != "" {
			l.scopes[byKey] = b.scope(OfStage(s.StageKey))
		}
		for _, c := range l.scopes {
			c.hold(1)
		}
		b.lanes[key] = l
		b.allLanes = append(b.allLanes, l)
		b.idle++
	}
	if s.Cost > 0 {
		b.declare(l.handler, s.Cost)
	}
	return l
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

func (b *Board) route(h *handler, requires string, solo bool) *route {
	for _, r := range h.routes {
		if r.requires == requires && r.solo == solo {
			return r
		}
	}
	r := &route{requires: requires, solo: solo}
	if requires != "" {
		r.labels = strings.Split(requires, "\x00")
	}
	r.reseat(h)
	h.routes = append(h.routes, r)
	return r
}

// reseat finds the pools that the route's lanes may use.
func (r *route) reseat(h *handler) {
	r.pools = r.pools[:0]
	for _, p := range h.pools {
		if p.worker.open() && p.worker.has(r.labels) {
			r.pools = append(r.pools, p)
		}
	}
	r.full = [2]uint64{}
}

// moved puts the lane where its first span says.
func (l *lane) moved() {
	q := &l.route.lanes[l.key.level]
	switch {
	case l.spans.empty():
		if l.pos >= 0 {
			q.remove(l.pos)
		}
	case l.pos < 0:
		q.push(l.spans.e[0].at, l.spans.e[0].seq, l)
	default:
		q.fix(l.pos, l.spans.e[0].at, l.spans.e[0].seq)
	}
}

// room returns how many more indices of the lane may run at once by its limits, and when it is none, which scope is closed.
func (l *lane) room() (room, closed int) {
	room = math.MaxInt
	for kind := range l.scopes {
		room = min(room, l.roomIn(kind))
		if room <= 0 {
			return 0, kind
		}
	}
	return room, -1
}

// roomIn is the room that one of the lane's scopes leaves.
func (l *lane) roomIn(kind int) int {
	s := l.scopes[kind]
	room := math.MaxInt
	if s == nil {
		return room
	}
	if s.limit >= 0 {
		room = s.limit - s.used
	}
	if kind == byKey && l.key.limit > 0 {
		room = min(room, l.key.limit-s.used)
	}
	if l.key.level >= s.heldFrom {
		room = 0
	}
	return room
}

// park takes the lane out of sight until the scope opens.
func (l *lane) park(kind int) {
	s := l.scopes[kind]
	l.route.lanes[l.key.level].remove(l.pos)
	l.parked, l.parkBy, l.parkPos = s, kind, len(s.waiting)
	s.waiting = append(s.waiting, l)
}

func (l *lane) unpark() {
	s := l.parked
	last := len(s.waiting) - 1
	s.waiting[l.parkPos] = s.waiting[last]
	s.waiting[l.parkPos].parkPos = l.parkPos
	s.waiting[last] = nil
	s.waiting = s.waiting[:last]
	l.parked = nil
}

// sweep forgets lanes, scopes and handlers that nothing uses any more, once they are many.
func (b *Board) sweep() {
	if b.idle < 1024 || b.idle < len(b.allLanes)/2 {
		return
	}
	kept := b.allLanes[:0]
	for _, l := range b.allLanes {
		if !l.spans.empty() {
			kept = append(kept, l)
			continue
		}
		delete(b.lanes, l.key)
		for _, c := range l.scopes {
			c.hold(-1)
		}
	}
	clear(b.allLanes[len(kept):])
	b.allLanes, b.idle = kept, 0
	for id, s := range b.scopes {
		if s.unused() {
			delete(b.scopes, id)
		}
	}
	for key, h := range b.handlers {
		if h.scope.unused() && len(h.pools) == 0 && !h.active {
			delete(b.handlers, key)
		}
	}
}
