package metamorph

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

// book is what the handlers of all workers tell: what starts, what runs, and who waits for which start.
type book struct {
	mu      sync.Mutex
	starts  map[point]int
	waiting map[point][]*barrier
	running map[execution]time.Time
	log     []startOf
}

// point is where a start is counted.
type point struct {
	run   int
	stage string
}

// execution is one index of one hand-out.
type execution struct {
	id    uuid.UUID
	index int
}

// startOf is one start of a handler.
type startOf struct {
	at                         time.Time
	run                        int
	stage                      *stageSpec
	generation, index, attempt int
}

// barrier is an operation that waits for a start, which waits until it has struck.
type barrier struct {
	count   int
	reached chan struct{}
	struck  chan struct{}
}

// patience of a start with the operation that strikes before it.
const barrierLimit = 300 * time.Millisecond

func newBook() *book {
	return &book{starts: make(map[point]int), waiting: make(map[point][]*barrier), running: make(map[execution]time.Time)}
}

// turn begins a phase: starts are counted anew.
func (b *book) turn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.starts)
	clear(b.waiting)
}

func (b *book) expect(p point, count int) *barrier {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := &barrier{count: count, reached: make(chan struct{}), struck: make(chan struct{})}
	b.waiting[p] = append(b.waiting[p], w)
	return w
}

// start notes that a handler begins, and holds it while an operation strikes. The returned function notes its end.
func (b *book) start(ctx context.Context, run int, s *stageSpec, info *stage.Info) (end func()) {
	p := point{run, s.Name}
	e := execution{info.Execution, info.Index}
	b.mu.Lock()
	b.running[e] = time.Now()
	b.log = append(b.log, startOf{at: time.Now(), run: run, stage: s, generation: info.Generation, index: info.Index, attempt: info.Attempt})
	b.starts[p]++
	var reached []*barrier
	for _, w := range b.waiting[p] {
		if w.count == b.starts[p] {
			reached = append(reached, w)
		}
	}
	b.mu.Unlock()
	for _, w := range reached {
		close(w.reached)
		limit := time.NewTimer(barrierLimit)
		select {
		case <-w.struck:
		case <-ctx.Done():
		case <-limit.C:
		}
		limit.Stop()
	}
	return func() {
		b.mu.Lock()
		delete(b.running, e)
		b.mu.Unlock()
	}
}

// runs are the executions that run now.
func (b *book) runs() map[execution]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make(map[execution]bool, len(b.running))
	for e := range b.running {
		all[e] = true
	}
	return all
}
