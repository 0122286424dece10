package board

import (
	"math"
	"time"

	"axflow/shard"
	"axflow/stage"
)

// candidates are the pools that may take the lane's next span, of the best kind there is: with idle slots (and then
// their number), with urgent slots, with room ahead. The slice is valid until the next call.
func (b *Board) candidates(l *lane) (pools []*Pool, idle int, urgent bool) {
	pools = b.seats[:0]
	ahead := 0
	for _, p := range l.route.pools {
		takes, slot := p.free(l.key.solo)
		if slot {
			if idle == 0 {
				pools = pools[:0]
			}
			idle += p.slots - p.out
			pools = append(pools, p)
		} else if takes && idle == 0 {
			ahead++
			pools = append(pools, p)
		}
	}
	if idle == 0 && l.key.level == 0 {
		n := len(pools)
		for _, p := range l.route.pools {
			if p.worker.urgentFree() > 0 {
				pools = append(pools, p)
			}
		}
		if len(pools) > n {
			copy(pools, pools[n:])
			pools, urgent = pools[:len(pools)-n], true
		}
	}
	b.seats = pools
	return pools, idle, urgent
}

// measure works out how many indices of the span go to the pool, and how many of them may run at once.
func (b *Board) measure(n *node, p *Pool, idle int, urgent bool) (size, par int) {
	slots, most, room := p.slots, p.most, p.most-p.out
	if urgent {
		room = p.worker.urgentFree()
		slots, most = room, room
	}
	size = min(n.n, room, b.maxPiece)
	if n.span.single() {
		return 1, 1
	}
	limit, _ := n.lane.room()
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
	n := l.spans.top()
	pools, idle, urgent := b.candidates(l)
	p := pools[b.pick(&n.span, pools)]
	size, par := b.measure(n, p, idle, urgent)
	return b.cut(n, p, size, par, urgent, now)
}

func (b *Board) pick(s *Span, pools []*Pool) int {
	if len(pools) == 1 {
		return 0
	}
	if i := b.router.Pick(s, pools); i > 0 && i < len(pools) {
		return i
	}
	return 0
}

// cut books a piece of the handler's proposed span as a flight of the pool.
func (b *Board) cut(n *node, p *Pool, size, par int, urgent bool, now int64) Grant {
	h, l := n.lane.handler, n.lane
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
	if !urgent {
		h.turns.charge(&b.weights, h.next.turn, int64(size), h.next.set)
	}
	b.stamp++
	b.open(flight{
		id: g.Flight, run: n.span.Run, pool: p, scopes: l.scopes, left: size, par: g.Par, cost: b.estimate(h),
		since: now, level: l.key.level, urgent: urgent, solo: l.key.solo,
	})
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
// first) it changes nothing and answers false, and the span takes the long way: a ready row, AddSpan, Round.
func (b *Board) Reserve(now time.Time, s Span) (Grant, bool) {
	if b.spans[s.ID] != nil || admit(now, &s) != Pending {
		return Grant{}, false
	}
	n := b.node(now, s)
	b.enqueue(n)
	h := n.lane.handler
	if b.propose(h, now.UnixNano()) && h.next.lane.spans.top() == n {
		pools, idle, urgent := b.candidates(n.lane)
		p := pools[b.pick(&n.span, pools)]
		size, par := b.measure(n, p, idle, urgent)
		if size == n.n && (n.n == 1 || s.Todo.NumRanges() <= b.maxRanges) {
			return b.cut(n, p, size, par, urgent, now.UnixNano()), true
		}
	}
	b.drop(n)
	return Grant{}, false
}
