package board

import (
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/stage"
)

// Span is a pending piece of a stage: the indices that share one fate, from one to a million of them. It mirrors a
// row of the table ready.
type Span struct {
	ID, Run         uuid.UUID
	Ord, Generation int
	// Plan marks the planning task of a sharded stage; its Todo holds one index. No limit, key or rate counts it.
	Plan                      bool
	Attempt, Delivery, Losses int
	Level                     stage.Level
	Namespace, Queue          string
	// Handler is what a worker must offer: flow.HandlerKey.
	Handler string
	Todo    shard.Set
	// NotBefore is when it may first be handed out; zero means at once.
	NotBefore time.Time
	// ReadyAt is when it became ready. Waiting counts from the later of it and NotBefore; zero means from AddSpan.
	ReadyAt time.Time
	// StageKey names the stage in all of its versions: namespace/flow/stage. Flow is the flow's name.
	StageKey, Flow string
	// Limit is how many indices of StageKey may run at once in the cluster; 0 means no limit.
	Limit int
	// Key is the value of the concurrency key with its group; "" means none. The whole Todo has it. KeyLimit is how many
	// indices of the key may run at once; 0 means no limit.
	Key      string
	KeyLimit int
	// KeyRate and StageRate bound the starts of the key's and of the stage's indices; RetryWindow those of the stage's spans with
	// Attempt > 1.
	KeyRate, StageRate, RetryWindow Rate
	// Breaker says that the stage's handler has a circuit breaker of its own: the scope OfHandler of StageKey counts.
	Breaker bool
	// Downstreams are the systems whose circuit breakers hold the span.
	Downstreams []string
	// Cost is the declared duration of one index, used until a mean was learned; 0 means unknown.
	Cost time.Duration
	// Requires are the labels that a worker must have. Prefers are those that it should have: among the workers that have
	// room, those with most of them come first.
	Requires, Prefers []string
	// Routing is how the worker is chosen; "" means stage.LeastCost.
	Routing stage.Routing
	// Tx spans are handed out one index at a time.
	Tx bool
	// Data is the caller's own; it is handed through to the Grant.
	Data any
}

// riskyDelivery is the delivery from which indices are handed out one at a time: so many losses without a result may mean
// that an index kills its worker, and its neighbours must not be taken along.
const riskyDelivery = 3

// solo tells whether at most as many flights as a pool has slots may be out: a plan's cost is unknown, and the risky must
// not pile up on one worker.
func (s *Span) solo() bool { return s.Plan || s.Delivery >= riskyDelivery }

// single tells whether every flight holds one index.
func (s *Span) single() bool { return s.Tx || s.solo() }

// Added is AddSpan's answer.
type Added uint8

// The answers of AddSpan. After any but Pending, no span of that id is pending.
const (
	// Pending: the span is on the Board.
	Pending Added = iota
	// NotDue: NotBefore is in the future; add it when it is due.
	NotDue
	// Empty: there is nothing to do in it.
	Empty
	// Invalid: the id is zero or the level is beyond P5.
	Invalid
)

// String returns the answer's name.
func (a Added) String() string {
	return [...]string{"pending", "not due", "empty", "invalid"}[a&3]
}

// node is a span on the Board. Nodes are reused.
type node struct {
	span   Span
	n      int   // indices in span.Todo
	ready  int64 // ns since 1970
	seq    uint64
	strand *strand
	pos    int // in strand.spans

	listed           bool // in Board.spans and its run's list
	nextRun, prevRun *node
}

func (n *node) place(i int) { n.pos = i }

// AddSpan makes a span pending. An id that is pending already is replaced and, if it became ready at the same time, keeps
// its place; adding the same span twice changes nothing. It takes the span's slices over.
//
// The span's Todo is what the database says remains. A caller that loads spans while cuts are under way must not add
// an older reading after a newer one; a cut of what is gone is refused by the database and ends in Reject.
func (b *Board) AddSpan(now time.Time, s Span) Added {
	b.see(now.UnixNano())
	old := b.spans[s.ID]
	verdict := admit(now, &s)
	if verdict != Pending {
		if old != nil {
			b.drop(old)
		}
		return verdict
	}
	var before node
	if old != nil {
		before = *old
		b.drop(old)
	}
	n := b.node(now, s)
	if old != nil && before.ready == n.ready {
		n.seq = before.seq
	}
	n.listed = true
	b.spans[s.ID] = n
	if first := b.runs[s.Run]; first != nil {
		n.nextRun, n.prevRun = first.nextRun, first
		if first.nextRun != nil {
			first.nextRun.prevRun = n
		}
		first.nextRun = n
	} else {
		b.runs[s.Run] = n
	}
	b.enqueue(n)
	return Pending
}

func admit(now time.Time, s *Span) Added {
	switch {
	case s.ID == uuid.Nil || int(s.Level) >= levels:
		return Invalid
	case s.Todo.Empty():
		return Empty
	case s.NotBefore.After(now):
		return NotDue
	}
	return Pending
}

// node makes the node of a span, bound to its strand but not in it yet.
func (b *Board) node(now time.Time, s Span) *node {
	var n *node
	if k := len(b.freeNodes); k > 0 {
		n = b.freeNodes[k-1]
		b.freeNodes = b.freeNodes[:k-1]
	} else {
		n = new(node)
	}
	if s.ReadyAt.IsZero() {
		s.ReadyAt = now
	}
	ready := s.ReadyAt.UnixNano()
	if !s.NotBefore.IsZero() {
		ready = max(ready, s.NotBefore.UnixNano())
	}
	b.seq++
	*n = node{span: s, n: s.Todo.Len(), ready: ready, seq: b.seq, pos: -1}
	n.strand = b.strand(&n.span)
	return n
}

// enqueue puts a node into its strand.
func (b *Board) enqueue(n *node) {
	s := n.strand
	s.spans.push(n.ready, n.seq, n)
	if len(s.spans.e) == 1 {
		b.idle--
	}
	h := s.lane.handler
	h.spans++
	b.count(n, 1, n.n)
	if s.parked == nil {
		s.moved()
		if s.lane.parked == nil {
			b.activate(h)
		}
	}
}

// dequeue takes a node out of its strand.
func (b *Board) dequeue(n *node) {
	s := n.strand
	s.spans.remove(n.pos)
	s.lane.handler.spans--
	b.count(n, -1, -n.n)
	if s.spans.empty() {
		b.idle++
		if s.parked != nil {
			s.unpark()
		}
	}
	if s.parked == nil {
		s.moved()
	}
}

func (b *Board) count(n *node, spans, indices int) {
	b.pending[n.span.Level].add(spans, indices)
	n.strand.scopes[byQueue].pending.add(spans, indices)
}

// drop forgets a pending span.
func (b *Board) drop(n *node) {
	b.dequeue(n)
	if n.listed {
		b.unlist(n)
	}
	*n = node{}
	if len(b.freeNodes) < maxFree {
		b.freeNodes = append(b.freeNodes, n)
	}
	b.sweep()
}

func (b *Board) unlist(n *node) {
	delete(b.spans, n.span.ID)
	switch {
	case n.prevRun != nil:
		n.prevRun.nextRun = n.nextRun
	case n.nextRun != nil:
		b.runs[n.span.Run] = n.nextRun
	default:
		delete(b.runs, n.span.Run)
	}
	if n.nextRun != nil {
		n.nextRun.prevRun = n.prevRun
	}
}

// maxFree bounds the free lists, so that a burst's memory goes back.
const maxFree = 4096

// RemoveSpan forgets a pending span and tells whether there was one. Its flights stay.
func (b *Board) RemoveSpan(id uuid.UUID) bool {
	n := b.spans[id]
	if n != nil {
		b.drop(n)
	}
	return n != nil
}

// RemoveRun forgets the pending spans of a run (it was cancelled or paused) and returns how many there were. Its flights
// stay until they are reported gone.
func (b *Board) RemoveRun(run uuid.UUID) int {
	count := 0
	for n := b.runs[run]; n != nil; n = b.runs[run] {
		b.drop(n)
		count++
	}
	return count
}

// HasSpan tells whether a span is pending.
func (b *Board) HasSpan(id uuid.UUID) bool { return b.spans[id] != nil }

// Span returns a pending span with what is left of its Todo.
func (b *Board) Span(id uuid.UUID) (Span, bool) {
	n := b.spans[id]
	if n == nil {
		return Span{}, false
	}
	return n.span, true
}
