package board

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Blocked tells whether the pending span stands behind a closed scope or rate for now, and which: the Scope's String, or the
// rate's name. It does not ask whether there are workers, or who goes first.
func (b *Board) Blocked(id uuid.UUID) (name string, blocked bool) {
	n := b.spans[id]
	if n == nil {
		return "", false
	}
	s := n.strand
	l := s.lane
	if gate := l.closed(); gate >= len(l.scopes) {
		return l.passes[gate-len(l.scopes)].rate.name, true
	} else if gate >= 0 {
		return l.scopes[gate].id.String(), true
	}
	switch s.closed() {
	case keyLimit:
		return s.key.id.String(), true
	case keyRate:
		return s.pass.rate.name, true
	}
	return "", false
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
		many := ""
		if len(l.route.labels) > 1 {
			many = "s"
		}
		g.Reason = fmt.Sprintf("needs label%s %s: 0 of %d live workers that can run %s", many, strings.Join(l.route.labels, ", "), able, l.key.handler)
	default:
		g.Reason = fmt.Sprintf("every live worker that can run %s is draining or overloaded: %d of %d", l.key.handler,
			labelled, labelled)
	}
	return g
}

// held explains a hold of a scope.
func held(s *scope, h hold, level uint8) Gate {
	g := Gate{Name: h.name, Open: level < h.from, Scope: s.id, Limit: -1}
	switch {
	case h.name == GateBreaker && strings.HasPrefix(h.reason, "circuit "):
		g.Reason = h.reason
	case h.name == GateBreaker:
		g.Reason = fmt.Sprintf("circuit %s open: %s", s.id.Name, h.reason)
	case h.from == 0:
		g.Reason = fmt.Sprintf("%s is held (%s): %s", s.id, h.name, h.reason)
	default:
		g.Reason = fmt.Sprintf("%s holds P%d and below (%s): %s", s.id, h.from, h.name, h.reason)
	}
	return g
}

// limit explains the limit of one of the strand's scopes, if there is any.
func (b *Board) limit(st *strand, i int) (Gate, bool) {
	s := st.scopes[i]
	limit := math.MaxInt
	if s.limit >= 0 {
		limit = s.limit
	}
	if own := st.lane.key.limit; s.id.Kind == StageScope && own > 0 {
		limit = min(limit, own)
	}
	if s == st.key && st.lane.key.terms.keyLimit > 0 {
		limit = min(limit, st.lane.key.terms.keyLimit)
	}
	if limit == math.MaxInt {
		return Gate{}, false
	}
	g := Gate{Name: GateLimit, Open: s.used < limit, Scope: s.id, Used: s.used, Limit: limit}
	g.Reason = fmt.Sprintf("%s %d/%d", s.id, s.used, limit)
	if s.probing() {
		g.Name = GateBreaker
		g.Reason = fmt.Sprintf("circuit %s half-open: %d of %d probes out", s.id.Name, s.used, limit)
	}
	var oldest *flight
	for _, f := range b.flights {
		if (oldest == nil || f.order < oldest.order) && holds(f, s) {
			oldest = f
		}
	}
	if oldest != nil {
		g.Holder, g.Since = oldest.run, time.Unix(0, oldest.since)
		g.Reason += fmt.Sprintf(", oldest holder run %s", oldest.run)
	}
	return g, true
}

func holds(f *flight, s *scope) bool {
	for _, x := range f.scopes {
		if x == s {
			return true
		}
	}
	return false
}

// paced explains a rate.
func paced(name string, of Scope, p *pass) Gate {
	started, pending := p.ring.started(*p.rate.now), p.rate.pending()
	g := Gate{Name: name, Open: p.room() > 0, Scope: of, Used: started + pending, Limit: p.n}
	what := "started"
	if name == GateRetryWindow {
		what = "retries started"
	}
	g.Reason = fmt.Sprintf("%d of %d %s in the last %s", started, p.n, what, p.per)
	if pending > 0 {
		g.Reason += fmt.Sprintf(", %d handed out and not started", pending)
	}
	if g.Open {
		return g
	}
	if at, ok := p.opens(); ok {
		g.Next = time.Unix(0, at).UTC()
		g.Reason += fmt.Sprintf(", next in %s", time.Duration(at-*p.rate.now).Round(time.Millisecond))
	} else {
		g.Reason += ", next when those have started"
	}
	return g
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
	if l.rank == 0 && urgent > 0 {
		g.Reason += fmt.Sprintf(", %d urgent slots free", urgent)
	}
	return g
}

// turn explains who goes first. Spans behind closed gates of their own are not in front.
func (b *Board) turn(n *node, now int64, dispatchable bool) Gate {
	l := n.strand.lane
	h, at := l.handler, l.risen(n.ready, now)
	g := Gate{Name: GateTurn, Limit: -1}
	for _, r := range h.routes {
		for rank := range r.lanes {
			for _, q := range r.lanes[rank].e {
				g.Used += b.ahead(q.item, n, at, now)
			}
		}
	}
	g.Open = g.Used == 0
	if dispatchable {
		g.Open = b.propose(h, now) && h.next.lane.head().item == n
	}
	switch {
	case g.Open && dispatchable:
		g.Reason = "next"
	case g.Used > 0:
		g.Reason = fmt.Sprintf("%d ahead at P%d", g.Used, at)
	case g.Open:
		g.Reason = fmt.Sprintf("first at P%d", at)
	case b.strict:
		g.Reason = fmt.Sprintf("first at P%d; P%d goes before it", at, h.next.turn)
	default:
		g.Reason = fmt.Sprintf("first at P%d; it is the turn of P%d by weight", at, h.next.turn)
	}
	return g
}

// ahead counts the spans of a lane that go before n in the turns of a level.
func (b *Board) ahead(l *lane, n *node, turn int, now int64) (count int) {
	if l.closed() >= 0 || !b.seated(l) {
		return 0
	}
	if l.byKey == nil {
		return l.own.ahead(n, turn, now)
	}
	for _, e := range l.strands.e {
		if e.item.closed() < 0 {
			count += e.item.ahead(n, turn, now)
		}
	}
	return count
}

func (s *strand) ahead(n *node, turn int, now int64) (count int) {
	l, mine := s.lane, n.strand.lane.entered(turn, n.ready)
	for i := range s.spans.e {
		e := &s.spans.e[i]
		if l.turn() != turn && l.risen(e.at, now) != turn {
			continue
		}
		if at := l.entered(turn, e.at); at < mine || at == mine && e.seq < n.seq {
			count++
		}
	}
	return count
}
