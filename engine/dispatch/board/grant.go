package board

import (
	"math"
	"slices"
	"time"

	"axflow/shard"
	"axflow/stage"
)

// candidates are the pools that may take the lane's next span, of the best kind there is: with idle slots (and then
// their number), with urgent slots, with room ahead. Before that, where the lane says so, the preferred ones are all
// that count, or idle slots count for nothing. The slice is valid until the next call.
func (b *Board) candidates(l *lane) (pools []*pool, idle int, urgent bool) {
	pools = b.seats[:0]
	t := l.key.terms
	if t != nil && (t.prefers != "" || affine(t.routing)) {
		for _, p := range l.route.pools {
			if takes, _ := p.free(l.key.solo); takes {
				pools = append(pools, p)
			}
		}
		if l.rank == 0 {
			pools, _ = idlers(pools) // P0 would rather start at once than be at home
		}
		pools = preferred(pools, l.prefers)
		if !affine(t.routing) {
			pools, idle = idlers(pools)
		}
	} else {
		for _, p := range l.route.pools {
			takes, slot := p.free(l.key.solo)
			if slot {
				if idle == 0 {
					pools = pools[:0]
				}
				idle += p.slots - p.out
				pools = append(pools, p)
			} else if takes && idle == 0 {
				pools = append(pools, p)
			}
		}
	}
	if l.rank == 0 && idle == 0 && !slices.ContainsFunc(pools, (*pool).idle) {
		n := len(pools)
		for _, p := range l.route.pools {
			if p.worker.urgentFree() > 0 {
				pools = append(pools, p)
			}
		}
		if len(pools) > n {
			copy(pools, pools[n:])
			pools, urgent = preferred(pools[:len(pools)-n], l.prefers), true
		}
	}
	b.seats = pools
	return pools, idle, urgent
}

// idlers are the pools with idle slots, and those slots' number; all pools when none has any.
func idlers(pools []*pool) ([]*pool, int) {
	idle, n := 0, 0
	for _, p := range pools {
		if p.idle() {
			idle += p.slots - p.out
			pools[n], n = p, n+1
		}
	}
	if n > 0 {
		pools = pools[:n]
	}
	return pools, idle
}

// measure works out how many indices of the span go to the pool, and how many of them may run at once.
func (b *Board) measure(n *node, p *pool, idle int, urgent bool) (size, par int) {
	slots, most, room := p.slots, p.most, p.most-p.out
	if urgent {
		room = p.worker.urgentFree()
		slots, most = room, room
	}
	if n.span.single() || n.strand.lane.probing() {
		return 1, 1
	}
	limit, starts := n.strand.room()
	size = min(n.n, room, b.maxPiece, starts)
	par = min(limit, slots, size)
	if limit != math.MaxInt {
		// Fewer at once than the pool's slots take longer over a piece: keep it to the horizon.
		size = min(size, max(par, par*(most/slots)))
	}
	if idle > 0 {
		// What does not fill all idle slots is spread over them, but not into crumbs.
		free := p.slots - p.out
		share := (n.n*free + idle - 1) / idle
		size = min(size, max(share, most/32))
	}
	return size, min(par, size)
}

// grant carries out the handler's proposal.
func (b *Board) grant(h *handler, now int64) Grant {
	l := h.next.lane
	n := l.top().spans.top()
	pools, idle, urgent := b.candidates(l)
	p := pools[b.pick(n, pools, now)]
	size, par := b.measure(n, p, idle, urgent)
	return b.cut(n, p, size, par, urgent, now)
}

// cut books a piece of the handler's proposed span as a flight of the pool.
func (b *Board) cut(n *node, p *pool, size, par int, urgent bool, now int64) Grant {
	l := n.strand.lane
	h := l.handler
	room := p.slots - p.out
	if urgent {
		room = p.worker.urgentFree()
	}
	g := Grant{
		Span: n.span.ID, Flight: b.newID(), Worker: p.worker.id, Urgent: urgent,
		Turn: stage.Level(h.next.turn), Head: n.span,
	}
	if n.n == 1 {
		g.Set, n.span.Todo = n.span.Todo, shard.Set{}
	} else {
		g.Set, n.span.Todo = n.span.Todo.Take(size, b.maxRanges)
		size = g.Set.Len()
	}
	g.Par = min(par, size)
	if !urgent && !b.strict {
		h.turns.charge(h.next.weights, h.next.turn, int64(size), h.next.set)
	}
	b.stamp++
	f := b.open(flight{
		id: g.Flight, run: n.span.Run, pool: p, scopes: n.strand.scopes, rates: n.strand.rates, left: size, par: g.Par,
		cost: b.estimate(h), since: now, level: l.key.level, urgent: urgent, solo: l.key.solo,
	}, room)
	if f.rates != nil {
		b.charge(f)
	}
	if n.span.Todo.Empty() {
		b.drop(n)
	} else {
		n.n -= size
		b.count(n, 0, -size)
	}
	return g
}

// Reserve is the resolver's short cut: it hands out a span that is not pending yet, at once and whole, if the handler's next
// turn would be that span's. Otherwise (there is no room for all of it, a gate is closed, or something that waits goes
// first) it changes nothing and answers false, and the span takes the long way: a ready row, AddSpan, Round. So does every span
// with a rate, which is written down with the rounds.
func (b *Board) Reserve(now time.Time, s Span) (Grant, bool) {
	at := now.UnixNano()
	b.tell(at)
	if b.spans[s.ID] != nil || admit(now, &s) != Pending {
		return Grant{}, false
	}
	n := b.node(now, s)
	b.enqueue(n)
	h := n.strand.lane.handler
	if n.strand.rates == nil && b.propose(h, at) && h.next.lane.head().item == n {
		pools, idle, urgent := b.candidates(n.strand.lane)
		p := pools[b.pick(n, pools, at)]
		size, par := b.measure(n, p, idle, urgent)
		if size == n.n && (n.n == 1 || s.Todo.NumRanges() <= b.maxRanges) {
			return b.cut(n, p, size, par, urgent, at), true
		}
	}
	b.drop(n)
	return Grant{}, false
}
