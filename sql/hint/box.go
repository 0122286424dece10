package hint

import "sync"

// maxKept is the greatest buffer, in items, that a Box keeps for reuse; what a burst made larger is let go.
const maxKept = 1024

// Box is an unbounded mailbox: Put never waits, its one reader takes everything at once. It is safe for
// concurrent use. What is put after Close is dropped. In steady state it allocates nothing.
type Box[T any] struct {
	mu     sync.Mutex
	items  []T
	lent   []T // what the last Take returned: the next buffer
	closed bool
	signal chan struct{}
	leave  func() // ends the subscription
}

func newBox[T any](leave func(*Box[T])) *Box[T] {
	b := &Box[T]{signal: make(chan struct{}, 1)}
	b.leave = func() { leave(b) }
	return b
}

// Put adds an item and wakes the reader. What the item points to is shared: neither side may change it afterwards.
func (b *Box[T]) Put(item T) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	b.items = append(b.items, item)
	b.mu.Unlock()
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// C is signalled after a Put. One signal may stand for several, and what it stands for may have been taken already.
func (b *Box[T]) C() <-chan struct{} { return b.signal }

// Take returns what has come since the last Take, in order; nil for nothing. The slice is the reader's until the next
// Take, which uses its memory again; the items may be kept.
func (b *Box[T]) Take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.lent)
	if len(b.items) == 0 {
		b.lent = b.lent[:0]
		return nil
	}
	if cap(b.lent) > maxKept {
		b.lent = nil
	}
	b.items, b.lent = b.lent[:0], b.items
	return b.lent
}

// Close ends the subscription. It may be called twice.
func (b *Box[T]) Close() {
	b.mu.Lock()
	done := b.closed
	b.closed, b.items = true, nil
	b.mu.Unlock()
	if !done {
		b.leave()
	}
}
