package worker

import (
	"sync"

	"axflow/sql/span"
)

// buffers reuses the slices that results wait in.
type buffers struct{ pool sync.Pool }

func (b *buffers) get() []span.Result {
	if s, ok := b.pool.Get().(*[]span.Result); ok {
		return (*s)[:0]
	}
	return make([]span.Result, 0, 64)
}

// put takes a slice back. Nobody else may hold it.
func (b *buffers) put(s []span.Result) {
	if cap(s) < 64 {
		return
	}
	clear(s[:cap(s)]) // outputs must not be kept alive
	s = s[:0]
	b.pool.Put(&s)
}
