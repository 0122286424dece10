// Package wheel is a hierarchical timing wheel: a ring of milliseconds under a ring of coarse blocks of
// about a second, and a min-heap for what lies beyond both.
//
// The wheel only reminds. What is due is decided in the database; a reminder that is lost with the
// process, or that comes twice, costs a look and changes nothing. That sets the loading policy, which is
// the caller's: only timers due within [Window] of now are added; later ones wait in the database and are
// loaded as they near (for instance once a minute, everything due within the window and not yet added).
// So a restart or a fail-over loads one window and not the whole future, and the heap stays almost empty;
// it is there so that a timer beyond the rings is still right, not so that it is cheap.
//
// The package is pure: it reads no clock, starts no goroutine and does no I/O. Time is passed in, and one
// goroutine owns a wheel.
package wheel

import (
	"math/bits"
	"time"
)

// Resolution is the wheel's tick. A due time is rounded up to it and the time given to Advance is rounded
// down, so nothing fires early and nothing fires more than one tick late for the wheel's sake.
const Resolution = time.Millisecond

// Window is how far ahead timers should be loaded; see the package comment. It is less than [Span], so a
// caller that keeps to it never meets the heap (but for timers that are overdue when they are added).
const Window = 5 * time.Minute

// Span is how far ahead the rings reach at the least; timers due later go to the heap, where adding and
// cancelling cost O(log n).
const Span = (blocks - 1) * ticks * Resolution

const (
	tickBits  = 10
	ticks     = 1 << tickBits // milliseconds a block, slots of the fine ring
	blockBits = 9
	blocks    = 1 << blockBits // slots of the coarse ring
)

// Handle names one added timer. The zero Handle names none. A handle goes stale when its timer fires, is
// cancelled or is dropped by Reset, and stays stale for ever: it is never given to another timer.
type Handle struct {
	seq  uint64
	node int32
}

// Fired is a timer that has come due.
type Fired[T any] struct {
	// Due is when it was due, in UTC, rounded up to Resolution.
	Due time.Time
	// Payload is what was given to Add.
	Payload T
}

// Wheel holds timers with payloads of type T. Make one with New. It is not safe for concurrent use.
//
// In a steady state (the number of pending timers stays below its former maximum) no method allocates;
// memory once used for timers is kept for the next ones.
type Wheel[T any] struct {
	now   int64 // the tick up to which everything has fired
	seq   uint64
	count int

	nodes []node[T] // nodes[0] stands for "none"
	free  int32     // first free node, linked by next

	// fine holds what is due in the block of now, by tick; coarse what is due in the blocks-1 blocks
	// after it, by block. Block by block, rather than "within 1024 ticks": a later timer can then never
	// get in front of an earlier one of the same tick that still waits in the coarse ring.
	fine   ring[[ticks / 64]uint64, [ticks]list]
	coarse ring[[blocks / 64]uint64, [blocks]list]
	// far holds what is due beyond the coarse ring, and what was overdue already when it was added.
	far farHeap

	next      int64 // the earliest tick, while nextKnown
	nextKnown bool
}

type node[T any] struct {
	tick       int64
	seq        uint64 // 0 while the node is free
	prev, next int32
	heap       int32 // place in far, or -1 while in a ring
	payload    T
}

type list struct{ head, tail int32 }

type ring[B, L any] struct {
	used B // one bit a slot
	slot L
}

// New returns an empty wheel whose time is now.
func New[T any](now time.Time) *Wheel[T] {
	return &Wheel[T]{now: floor(now), nodes: make([]node[T], 1)}
}

// Now is the wheel's time in UTC: the latest one given to New, Advance or Reset, rounded down to
// Resolution.
func (w *Wheel[T]) Now() time.Time { return time.UnixMilli(w.now).UTC() }

// Len is the number of pending timers.
func (w *Wheel[T]) Len() int { return w.count }

// Add makes payload come out of the first Advance to due or later. A due time that has passed already is
// legal: such a timer fires on the next Advance, also on one to the very time of the last.
//
// It costs O(1) when due is within Span of the wheel's time, O(log n) otherwise.
func (w *Wheel[T]) Add(due time.Time, payload T) Handle {
	i := w.free
	if i != 0 {
		w.free = w.nodes[i].next
	} else {
		w.nodes = append(w.nodes, node[T]{})
		i = int32(len(w.nodes) - 1)
	}
	w.seq++
	n := &w.nodes[i]
	n.tick, n.seq, n.payload = ceil(due), w.seq, payload
	w.place(i)
	w.count++
	if w.count == 1 || w.nextKnown && n.tick < w.next {
		w.next, w.nextKnown = n.tick, true
	}
	return Handle{seq: w.seq, node: i}
}

// Cancel drops a pending timer and reports whether it was pending. A stale or zero handle is harmless and
// reports false.
//
// It costs O(1), or O(log n) for a timer that is in the heap.
func (w *Wheel[T]) Cancel(h Handle) bool {
	if h.seq == 0 || int(h.node) >= len(w.nodes) || w.nodes[h.node].seq != h.seq {
		return false
	}
	n := &w.nodes[h.node]
	switch {
	case n.heap >= 0:
		w.farRemove(int(n.heap))
	case n.tick>>tickBits == w.now>>tickBits:
		w.fineRemove(h.node)
	default:
		w.coarseRemove(h.node)
	}
	if w.nextKnown && n.tick == w.next {
		w.nextKnown = false
	}
	w.release(h.node)
	return true
}

// Next is when the next timer is due (rounded up to Resolution, in UTC); ok is false when none is pending.
// It may lie in the past. A caller sleeps until then, or until a timer is added that is due before.
func (w *Wheel[T]) Next() (due time.Time, ok bool) {
	if w.count == 0 {
		return time.Time{}, false
	}
	if !w.nextKnown {
		w.next, w.nextKnown = w.earliest(), true
	}
	return time.UnixMilli(w.next).UTC(), true
}

// Advance moves the wheel's time to now and appends every timer due by then to fired, in the order of
// their due times; timers due at the same tick come in the order in which they were added. Pass the slice
// of the last call cut to [:0] and nothing is allocated.
//
// Time does not go back inside a wheel: with a now before Now the wheel stays as it is, nothing is
// appended and ok is false. Whoever sees that reloads: see Reset.
func (w *Wheel[T]) Advance(now time.Time, fired []Fired[T]) (_ []Fired[T], ok bool) {
	target := floor(now)
	if target < w.now {
		return fired, false
	}
	// Overdue when added: before everything in the rings.
	for len(w.far) > 0 && w.far[0].tick < w.now {
		fired = w.fire(w.farRemove(0), fired)
	}
	for {
		block := w.now >> tickBits
		last := min(target, block<<tickBits|(ticks-1))
		fired = w.fireFine(last, fired)
		w.now = last
		if last == target {
			break
		}
		w.enter(min(w.nextBlock(block), target>>tickBits))
	}
	w.nextKnown = false
	return fired, true
}

// Reset drops every timer and sets the wheel's time to now, back or forth. It is the answer to a jump of
// the clock: empty, then load the window anew. It returns how many timers it dropped. Memory is kept.
func (w *Wheel[T]) Reset(now time.Time) (dropped int) {
	dropped = w.count
	for i := 1; i < len(w.nodes); i++ {
		if w.nodes[i].seq != 0 {
			w.release(int32(i))
		}
	}
	clear(w.fine.used[:])
	clear(w.fine.slot[:])
	clear(w.coarse.used[:])
	clear(w.coarse.slot[:])
	w.far = w.far[:0]
	w.now = floor(now)
	w.nextKnown = false
	return dropped
}

// place puts a node where its tick belongs at the wheel's time.
func (w *Wheel[T]) place(i int32) {
	n := &w.nodes[i]
	ahead := n.tick>>tickBits - w.now>>tickBits
	switch {
	case n.tick < w.now || ahead >= blocks:
		w.farPush(i)
	case ahead == 0:
		s := n.tick & (ticks - 1)
		w.fine.used[s>>6] |= 1 << (s & 63)
		w.append(&w.fine.slot[s], i)
	default:
		s := n.tick >> tickBits & (blocks - 1)
		w.coarse.used[s>>6] |= 1 << (s & 63)
		w.append(&w.coarse.slot[s], i)
	}
}

// fireFine fires what the fine ring holds up to the tick last, which lies in the block of now.
func (w *Wheel[T]) fireFine(last int64, fired []Fired[T]) []Fired[T] {
	to := last & (ticks - 1)
	for s := firstBit(w.fine.used[:], int(w.now&(ticks-1))); s >= 0 && int64(s) <= to; s = firstBit(w.fine.used[:], s+1) {
		for i := w.fine.slot[s].head; i != 0; {
			next := w.nodes[i].next
			fired = w.fire(i, fired)
			i = next
		}
		w.fine.slot[s] = list{}
		w.fine.used[s>>6] &^= 1 << (s & 63)
	}
	return fired
}

// enter makes block, a later one, the block of now: the heap gives the coarse ring what it reaches now,
// and the coarse ring gives the fine ring the block. No block before it holds anything.
func (w *Wheel[T]) enter(block int64) {
	w.now = block << tickBits
	s := block & (blocks - 1)
	i := w.coarse.slot[s].head
	w.coarse.slot[s] = list{}
	w.coarse.used[s>>6] &^= 1 << (s & 63)
	for i != 0 {
		next := w.nodes[i].next
		w.place(i)
		i = next
	}
	// A block is either in the ring or in the heap, never in both: what is due there was added to the
	// heap until the ring reached it, and to the ring afterwards. So order within a tick is kept.
	for len(w.far) > 0 && w.far[0].tick>>tickBits-block < blocks {
		w.place(w.farRemove(0))
	}
}

// nextBlock is the first block after the given one, the block of now, that holds a timer; a block beyond
// all times when none does.
func (w *Wheel[T]) nextBlock(block int64) int64 {
	if b := w.coarseBlock(block); b >= 0 {
		return block + b
	}
	if len(w.far) > 0 {
		return w.far[0].tick >> tickBits
	}
	return 1<<63 - 1
}

// coarseBlock is how many blocks after the given one the coarse ring's first timer is due, or -1.
func (w *Wheel[T]) coarseBlock(block int64) int64 {
	from := int(block+1) & (blocks - 1)
	s := firstBit(w.coarse.used[:], from)
	if s < 0 {
		s = firstBit(w.coarse.used[:], 0)
	}
	if s < 0 {
		return -1
	}
	return int64((s-from)&(blocks-1)) + 1
}

// earliest finds the earliest tick of a wheel that is not empty.
func (w *Wheel[T]) earliest() int64 {
	if len(w.far) > 0 && w.far[0].tick < w.now {
		return w.far[0].tick
	}
	if s := firstBit(w.fine.used[:], int(w.now&(ticks-1))); s >= 0 {
		return w.now>>tickBits<<tickBits + int64(s)
	}
	block := w.now >> tickBits
	ahead := w.coarseBlock(block)
	if ahead < 0 {
		return w.far[0].tick
	}
	first := int64(1<<63 - 1)
	for i := w.coarse.slot[(block+ahead)&(blocks-1)].head; i != 0; i = w.nodes[i].next {
		first = min(first, w.nodes[i].tick)
	}
	return first
}

func (w *Wheel[T]) fire(i int32, fired []Fired[T]) []Fired[T] {
	n := &w.nodes[i]
	fired = append(fired, Fired[T]{Due: time.UnixMilli(n.tick).UTC(), Payload: n.payload})
	w.release(i)
	return fired
}

// release gives a node that is in no list back; its handles are stale from here on.
func (w *Wheel[T]) release(i int32) {
	w.nodes[i] = node[T]{next: w.free}
	w.free = i
	w.count--
}

func (w *Wheel[T]) append(l *list, i int32) {
	n := &w.nodes[i]
	n.heap, n.prev, n.next = -1, l.tail, 0
	if l.tail != 0 {
		w.nodes[l.tail].next = i
	} else {
		l.head = i
	}
	l.tail = i
}

func (w *Wheel[T]) unlink(l *list, i int32) (empty bool) {
	n := &w.nodes[i]
	if n.prev != 0 {
		w.nodes[n.prev].next = n.next
	} else {
		l.head = n.next
	}
	if n.next != 0 {
		w.nodes[n.next].prev = n.prev
	} else {
		l.tail = n.prev
	}
	return l.head == 0
}

func (w *Wheel[T]) fineRemove(i int32) {
	s := w.nodes[i].tick & (ticks - 1)
	if w.unlink(&w.fine.slot[s], i) {
		w.fine.used[s>>6] &^= 1 << (s & 63)
	}
}

func (w *Wheel[T]) coarseRemove(i int32) {
	s := w.nodes[i].tick >> tickBits & (blocks - 1)
	if w.unlink(&w.coarse.slot[s], i) {
		w.coarse.used[s>>6] &^= 1 << (s & 63)
	}
}

// firstBit is the first set bit at from or after it, or -1.
func firstBit(words []uint64, from int) int {
	k := from >> 6
	if k >= len(words) {
		return -1
	}
	if rest := words[k] >> (from & 63); rest != 0 {
		return from + bits.TrailingZeros64(rest)
	}
	for k++; k < len(words); k++ {
		if words[k] != 0 {
			return k<<6 + bits.TrailingZeros64(words[k])
		}
	}
	return -1
}

func floor(t time.Time) int64 { return t.UnixMilli() }

func ceil(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.Nanosecond()%int(Resolution) != 0 {
		ms++
	}
	return ms
}
