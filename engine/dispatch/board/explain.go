package board

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The names of the Board's gates, in the order in which Explain lists them. A hold is a gate under its own name.
const (
	GateNotBefore  = "not_before" // it is not due yet
	GateCapability = "capability" // a worker that takes work can run it
	GateLimit      = "limit"      // a concurrency limit leaves room
	GateCapacity   = "capacity"   // such a worker has room
	GateTurn       = "turn"       // nothing else goes first
)

// Gate is one condition for handing a span out.
type Gate struct {
	Name string
	// Open tells whether the condition holds.
	Open bool
	// Reason says how it stands, with its numbers.
	Reason string
	// Scope is what a limit or a hold covers; zero for other gates.
	Scope Scope
	// Used of Limit is taken: indices running, workers able, slots busy, spans ahead. Limit is -1 where there is none.
	Used, Limit int
	// Holder is the run that has held the limit longest, and Since when its flight left; zero for other gates.
	Holder uuid.UUID
	Since  time.Time
}

// Explain says for every gate of a pending span how it stands, by the functions that Round decides with. When all are
// open, the span is its handler's next grant; otherwise the closed ones say why it waits. It returns nil when the
// span is not pending.
func (b *Board) Explain(id uuid.UUID, now time.Time) []Gate {
	n := b.spans[id]
	if n == nil {
		return nil
	}
	return b.gates(n, now.UnixNano())
}

// ExplainSpan explains a span that is not pending as if it were, with the gate not_before in front.
func (b *Board) ExplainSpan(s Span, now time.Time) []Gate {
	due := Gate{Name: GateNotBefore, Open: true, Reason: "due", Limit: -1}
	if wait := s.NotBefore.Sub(now); wait > 0 {
		due.Open = false
		due.Reason = fmt.Sprintf("due in %s", wait.Round(time.Millisecond))
		s.NotBefore = now
	}
	if n := b.spans[s.ID]; n != nil {
		return append([]Gate{due}, b.gates(n, now.UnixNano())...)
	}
	if admit(now, &s) != Pending {
		return []Gate{due}
	}
	n := b.node(now, s)
	b.enqueue(n)
	gates := append([]Gate{due}, b.gates(n, now.UnixNano())...)
	b.drop(n)
	return gates
}

func (b *Board) gates(n *node, now int64) []Gate {
	l := n.lane
	gates := []Gate{b.capability(l)}
	for kind, s := range l.scopes {
		if s == nil {
			continue
		}
		for _, h := range s.holds {
			g := Gate{Name: h.name, Open: l.key.level < h.from, Scope: s.id, Limit: -1}
			g.Reason = fmt.Sprintf("%s holds P%d and below: %s", s.id, h.from, h.reason)
			gates = append(gates, g)
		}
		if g, ok := b.limit(l, kind); ok {
			gates = append(gates, g)
		}
	}
	gates = append(gates, b.capacity(l))
	open := true
	for _, g := range gates {
		open = open && g.Open
	}
	return append(gates, b.turn(n, now, open))
}

func (b *Board) capability(l *lane) Gate {
	able, labelled := 0, 0
	for _, w := range b.live {
		if w.said.Handlers[l.key.handler] > 0 {
			able++
			if w.has(l.route.labels) {
				labelled++
			}
		}
	}
	g := Gate{Name: GateCapability, Open: len(l.route.pools) > 0, Used: len(l.route.pools), Limit: len(b.live)}
	switch {
	case g.Open:
		g.Reason = fmt.Sprintf("%d of %d live workers can run %s", g.Used, g.Limit, l.key.handler)
	case able == 0:
		g.Reason = fmt.Sprintf("no live worker can run %s: 0 of %d", l.key.handler, g.Limit)
	case labelled == 0:
		g.Reason = fmt.Sprintf("no live worker that can run %s has the labels %s: 0 of %d", l.key.handler,
			strings.Join(l.route.labels, ", "), able)
	default:
		g.Reason = fmt.Sprintf("every live worker that can run %s is draining or overloaded: %d of %d", l.key.handler,
			labelled, labelled)
	}
	return g
}

// limit explains the limit of one of the lane's scopes, if there is any.
func (b *Board) limit(l *lane, kind int) (Gate, bool) {
	s := l.scopes[kind]
	limit := math.MaxInt
	if s.limit >= 0 {
		limit = s.limit
	}
	if kind == byKey && l.key.limit > 0 {
		limit = min(limit, l.key.limit)
	}
	if limit == math.MaxInt {
		return Gate{}, false
	}
	g := Gate{Name: GateLimit, Open: s.used < limit, Scope: s.id, Used: s.used, Limit: limit}
	g.Reason = fmt.Sprintf("limit of %s %d/%d", s.id, s.used, limit)
	var oldest *flight
	for _, f := range b.flights {
		if f.scopes[kind] == s && (oldest == nil || f.order < oldest.order) {
			oldest = f
		}
	}
	if oldest != nil {
		g.Holder, g.Since = oldest.run, time.Unix(0, oldest.since)
		g.Reason += fmt.Sprintf(", oldest holder run %s", oldest.run)
	}
	return g, true
}

func (b *Board) capacity(l *lane) Gate {
	g := Gate{Name: GateCapacity, Open: b.seated(l)}
	ahead, urgent := 0, 0
	for _, p := range l.route.pools {
		g.Used += min(p.out, p.slots)
		g.Limit += p.slots
		ahead += max(0, p.out-p.slots)
		urgent += p.worker.urgentFree()
	}
	state := "full"
	if g.Open {
		state = "have room"
	}
	g.Reason = fmt.Sprintf("worker pools %s: %d/%d slots", state, g.Used, g.Limit)
	if ahead > 0 {
		g.Reason += fmt.Sprintf(" and %d handed out ahead", ahead)
	}
	if l.key.level == 0 && urgent > 0 {
		g.Reason += fmt.Sprintf(", %d urgent slots free", urgent)
	}
	return g
}

// turn explains who goes first. Spans behind closed gates of their own are not in front.
func (b *Board) turn(n *node, now int64, dispatchable bool) Gate {
	h, level := n.lane.handler, int(n.span.Level)
	at := b.risen(level, n.ready, now)
	g := Gate{Name: GateTurn, Limit: -1}
	for _, r := range h.routes {
		for x := range levels {
			for _, q := range r.lanes[x].e {
				if room, _ := q.item.room(); room > 0 && b.seated(q.item) {
					g.Used += b.ahead(q.item, n, at, now)
				}
			}
		}
	}
	g.Open = g.Used == 0
	if dispatchable {
		g.Open = b.propose(h, now) && h.next.lane.spans.top() == n
	}
	switch {
	case g.Open && dispatchable:
		g.Reason = "next"
	case g.Used > 0:
		g.Reason = fmt.Sprintf("%d ahead at P%d", g.Used, at)
	case g.Open:
		g.Reason = fmt.Sprintf("first at P%d", at)
	default:
		g.Reason = fmt.Sprintf("first at P%d; it is the turn of P%d by weight", at, h.next.turn)
	}
	return g
}

// ahead counts the spans of a lane that go before n in the turns of a level.
func (b *Board) ahead(l *lane, n *node, turn int, now int64) int {
	rank, count := b.rank(int(n.span.Level), n.ready), 0
	for i := range l.spans.e {
		e := &l.spans.e[i]
		if x := int(l.key.level); x != turn && b.risen(x, e.at, now) != turn {
			continue
		}
		if r := b.rank(int(l.key.level), e.at); r < rank || r == rank && e.seq < n.seq {
			count++
		}
	}
	return count
}
