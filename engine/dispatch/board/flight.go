package board

import (
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/stage"
)

// Grant is a decision: these indices of a span go to this worker as this flight.
type Grant struct {
	Span, Flight, Worker uuid.UUID
	// Set is what is granted, a part of Head.Todo.
	Set shard.Set
	// Par is how many of the indices may run at once.
	Par int
	// Urgent flights use the worker's urgent slots, not the handler's.
	Urgent bool
	// Turn is the level whose share the grant was charged to: the span's own, or the one it has aged to.
	Turn stage.Level
	// Head is the span as it was before the grant.
	Head Span
}

// Flight is a row of the table flight, for rebuilding the books.
type Flight struct {
	ID, Run, Worker  uuid.UUID
	Handler          string
	Namespace, Queue string
	Level            stage.Level
	// StageKey, Flow, Key, the rates, Breaker and Downstreams are those of its Span.
	StageKey, Flow, Key             string
	KeyRate, StageRate, RetryWindow Rate
	Breaker                         bool
	Downstreams                     []string
	Plan                            bool
	Attempt, Delivery               int
	Left, Par                       int // indices not finished; how many of them may run at once
	Urgent                          bool
	Since                           time.Time     // when it was handed out
	Cost                            time.Duration // declared duration of one index, 0 when unknown
}

// flight is a flight on the books, in its worker's list. Flights are reused.
type flight struct {
	id, run      uuid.UUID
	pool         *pool
	scopes       []*scope
	left, par    int
	cost         int64 // ns, estimate of one index
	since        int64
	due          int64  // when it will have ended, by the estimate
	order        uint64 // of coming onto the books
	level        uint8
	urgent, solo bool
	prev, next   *flight

	// Of flights with rates: how many indices it held, for how many of them a slot was idle, how many are known to have started.
	rates             []*rate
	size, idle, begun int
	inherited         bool
}

// load is how many of a flight's indices can be running.
func (f *flight) load() int { return min(f.left, f.par) }

// open puts a flight on the books; idle slots are free for it at once.
func (b *Board) open(f flight, idle int) *flight {
	var p *flight
	if k := len(b.freeFlights); k > 0 {
		p = b.freeFlights[k-1]
		b.freeFlights = b.freeFlights[:k-1]
	} else {
		p = new(flight)
	}
	*p = f
	p.size, p.idle = f.left, max(0, min(f.load(), idle))
	p.begun = p.idle
	p.due = f.since + f.cost*int64((f.left+f.par-1)/f.par)
	b.seq++
	p.order = b.seq
	w := p.pool.worker
	if w.last != nil {
		w.last.next, p.prev = p, w.last
	} else {
		w.first = p
	}
	w.last = p
	b.flights[p.id] = p
	b.handedOut[p.level].Spans++
	if p.solo && !p.urgent {
		p.pool.solo++
	}
	for _, s := range p.scopes {
		s.refs++
	}
	p.pool.handler.refs++
	p.scopes[byQueue].handedOut.Spans++
	b.carry(p, p.left, p.load())
	return p
}

// carry books a change of what the flight holds, in indices and in load.
func (b *Board) carry(f *flight, indices, load int) {
	p, w := f.pool, f.pool.worker
	if f.urgent {
		w.urgentOut += indices
	} else {
		p.out += indices
	}
	w.cost += int64(indices) * f.cost
	b.handedOut[f.level].Indices += indices
	f.scopes[byQueue].handedOut.Indices += indices
	if load != 0 {
		for _, s := range f.scopes {
			b.use(s, load)
		}
	}
}

// settle books what is left of a flight and takes it off the books when that is nothing.
func (b *Board) settle(f *flight, left int) {
	before, load := f.left, f.load()
	if f.rates != nil {
		b.begin(f, left)
	}
	f.left = left
	b.carry(f, left-before, f.load()-load)
	p, w := f.pool, f.pool.worker
	if left == 0 {
		b.handedOut[f.level].Spans--
		f.scopes[byQueue].handedOut.Spans--
		for _, s := range f.scopes {
			s.refs--
		}
		p.handler.refs--
		if f.solo && !f.urgent {
			p.solo--
		}
		if f.prev != nil {
			f.prev.next = f.next
		} else {
			w.first = f.next
		}
		if f.next != nil {
			f.next.prev = f.prev
		} else {
			w.last = f.prev
		}
		delete(b.flights, f.id)
	}
	if f.urgent {
		for _, q := range w.pools {
			b.roomier(q.handler)
		}
	} else {
		b.roomier(p.handler)
	}
	if left == 0 {
		*f = flight{}
		if len(b.freeFlights) < maxFree {
			b.freeFlights = append(b.freeFlights, f)
		}
	}
}

// AddFlight puts a flight of the database on the books: after a take-over, or when the resolver made one by itself. Its
// worker may still be unknown. A flight that is on the books already, or has nothing left, changes nothing.
func (b *Board) AddFlight(f Flight) {
	if f.Left <= 0 || b.flights[f.ID] != nil || int(f.Level) >= levels {
		return
	}
	p := b.pool(b.worker(f.Worker), f.Handler)
	if f.Cost > 0 {
		b.declare(p.handler, f.Cost)
	}
	n := flight{
		id: f.ID, run: f.Run, pool: p, left: f.Left, par: max(1, f.Par), cost: b.estimate(p.handler), since: f.Since.UnixNano(),
		level: uint8(f.Level), urgent: f.Urgent, solo: f.Plan || f.Delivery >= riskyDelivery,
	}
	stage := f.StageKey
	if f.Plan {
		stage = ""
	}
	n.scopes = b.scopesOf(f.Namespace, f.Queue, f.Flow, stage, breakerOf(f.Breaker, f.StageKey), f.Downstreams)
	if !f.Plan {
		if f.Key != "" {
			n.scopes = append(n.scopes, b.scope(OfKey(f.Namespace, f.Key)))
		}
		n.rates = b.ratesOf(&f)
	}
	if p := b.open(n, n.par); p.rates != nil {
		b.adopt(p)
	}
}

// ratesOf lists the rates that count a flight.
func (b *Board) ratesOf(f *Flight) (list []*rate) {
	add := func(name string, r Rate) {
		if r = r.clean(); r != (Rate{}) {
			x := b.rate(name)
			x.ring(widthOf(r.Per))
			list = append(list, x)
		}
	}
	add(stageRateName(f.StageKey), f.StageRate)
	if f.Attempt > 1 {
		add(retryRateName(f.StageKey), f.RetryWindow)
	}
	if f.Key != "" {
		add(keyRateName(f.Namespace, f.Key), f.KeyRate)
	}
	return list
}

// estimate is the cost of one index in ns for balancing: where nothing is known, the horizon stands in.
func (b *Board) estimate(h *handler) int64 {
	if c := h.cost(); c > 0 {
		return c
	}
	return b.horizon
}

// Left notes how many indices of a flight are unfinished; 0 takes it off the books. The number only falls: a higher
// one is an older report and changes nothing. It tells whether the flight is known.
func (b *Board) Left(id uuid.UUID, left int) bool {
	f := b.flights[id]
	if f == nil {
		return false
	}
	if left = max(0, left); left < f.left {
		b.settle(f, left)
	}
	return true
}

// Reject notes that a grant did not happen: its flight leaves the books, its room and its share return, and its span is
// no longer pending. The caller loads the span again from the database.
func (b *Board) Reject(g Grant) {
	if f := b.flights[g.Flight]; f != nil {
		if f.rates != nil {
			b.uncharge(f)
		}
		h := f.pool.handler
		b.settle(f, 0)
		if !g.Urgent && !b.strict {
			b.turns.refund(int(g.Turn), 1)
			h.turns.refund(int(g.Turn), int64(g.Set.Len()))
		}
	}
	b.RemoveSpan(g.Span)
}

// HasFlight tells whether a flight is on the books.
func (b *Board) HasFlight(id uuid.UUID) bool { return b.flights[id] != nil }

// Flights returns the ids of what a worker holds, oldest first.
func (b *Board) Flights(worker uuid.UUID) []uuid.UUID {
	w := b.workers[worker]
	if w == nil {
		return nil
	}
	var ids []uuid.UUID
	for f := w.first; f != nil; f = f.next {
		ids = append(ids, f.id)
	}
	return ids
}
