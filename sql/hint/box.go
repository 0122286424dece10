package hint

import "sync"

// Box is an unbounded mailbox: Put never waits, the reader takes everything at once. It is safe for concurrent
// use. What is put after Close is dropped.
type Box[T any] struct {
	mu     sync.Mutex
	items  []T
	closed bool
	signal chan struct{}
	leave  func()
}

func newBox[T any]() *Box[T] { return &Box[T]{signal: make(chan struct{}, 1)} }

// Put adds an item and wakes the reader.
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

// C is signalled after a Put. One signal may stand for several.
func (b *Box[T]) C() <-chan struct{} { return b.signal }

// Take returns what has come since the last Take, in order; nil for nothing.
func (b *Box[T]) Take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = nil
	return items
}

// Close ends the subscription. It may be called twice.
func (b *Box[T]) Close() {
	b.mu.Lock()
	done := b.closed
	b.closed, b.items = true, nil
	b.mu.Unlock()
	if !done && b.leave != nil {
		b.leave()
	}
}
