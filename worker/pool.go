package worker

import (
	"sync"
	"time"

	"axflow/shard"
	"axflow/sql/span"
	"axflow/stage"
)

// pool runs the tasks of one handler, size at once, whatever other handlers do. Its goroutines are made when
// there is work for them and kept.
type pool struct {
	w    *Worker
	key  string // flow.HandlerKey
	name string // "flow/stage"
	wg   sync.WaitGroup

	mu      sync.Mutex
	cond    sync.Cond // idle executors wait for work
	size    int
	base    int // the configured size
	forced  int // the one that an operator has set; 0: none
	live    int // executors, without those in urgent slots
	idle    int
	queues  [stage.P5 + 1]queue // flights with something to start
	tasks   *task               // running
	stuck   int                 // tasks whose end was told before their handler returned
	started uint64
	closed  bool
}

func newPool(w *Worker, key string, size int) *pool {
	p := &pool{w: w, key: key, size: size, base: size}
	p.cond.L = &p.mu
	return p
}

// add takes a flight that is ready to run.
func (p *pool) add(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.load()
	switch {
	case f.gone:
	case f.Set.Empty(): // a transaction of a lost past has emptied it
		f.retire = true
		f.c.note(f, 0, 0, true)
	case p.closed, f.refused():
		p.giveBack(f)
	default:
		p.queues[f.Level].pushBack(f)
		p.wake()
	}
}

// executor runs tasks until the pool has none for it.
func (p *pool) executor(urgent bool) {
	var t *task
	defer func() {
		if t != nil && t.f != nil {
			// The handler has ended the goroutine (runtime.Goexit): only its deferred calls run.
			t.settle(nil, faultf(CodePanic, "the handler ended its goroutine: return instead of calling runtime.Goexit"))
			t.cancel(ErrReturned)
			p.mu.Lock()
			p.leave(t)
			p.part(urgent)
			p.wake()
			p.mu.Unlock()
		}
		p.wg.Done()
	}()
	for {
		t = p.next(t, urgent)
		if t == nil {
			return
		}
		t.run()
	}
}

// next books the end of the task that its caller has run and gives it another, or nil when it shall end.
func (p *pool) next(t *task, urgent bool) *task {
	fresh := newTask()
	now := p.w.clk.now()
	p.mu.Lock()
	if t != nil {
		p.leave(t)
	}
	for {
		f := p.front(urgent)
		switch {
		case !urgent && p.live > p.size:
			p.part(false)
			p.mu.Unlock()
			return nil
		case f != nil && now > f.expires:
			p.w.log.Warn("work was not started in time and goes back", f.attrs()...)
			p.giveBack(f)
		case f != nil && f.c.full():
			p.mu.Unlock()
			f.c.waitForRoom()
			now = p.w.clk.now()
			p.mu.Lock()
		case f != nil:
			p.start(fresh, f, now)
			p.wake()
			p.mu.Unlock()
			return fresh
		case urgent || p.closed:
			p.part(urgent)
			p.mu.Unlock()
			return nil
		default:
			p.idle++
			p.cond.Wait()
			p.idle--
			now = p.w.clk.now()
		}
	}
}

// part books the end of an executor.
func (p *pool) part(urgent bool) {
	if urgent {
		p.w.urgent.Add(-1)
		return
	}
	p.live--
}

// front is the flight to start from next: of the highest level, the oldest that its circuits let start.
func (p *pool) front(urgent bool) *flight {
	if p.closed {
		return nil
	}
	levels := p.queues[:]
	if urgent {
		levels = levels[:1]
	}
	for i := range levels {
		for f := levels[i].first; f != nil; f = f.next {
			if len(f.h.circuits) == 0 || f.allowed() {
				return f
			}
		}
	}
	return nil
}

// wake finds somebody for work that can start.
func (p *pool) wake() {
	f := p.front(false)
	if f == nil {
		return
	}
	switch {
	case p.idle > 0:
		p.cond.Signal()
	case p.live < p.size:
		p.live++
		p.wg.Add(1)
		go p.executor(false)
	case f.Level == stage.P0:
		if int(p.w.urgent.Add(1)) > p.w.cfg.Urgent {
			p.w.urgent.Add(-1)
			return
		}
		p.wg.Add(1)
		go p.executor(true)
	}
}

// start makes t the task of the flight's next index.
func (p *pool) start(t *task, f *flight, now time.Duration) {
	t.f, t.index, t.begun = f, f.take(), now
	t.due = now + f.h.spec.Timeout.Execution
	t.sign.Store(int64(now))
	f.running++
	f.open++
	p.started++
	f.begun()
	if f.unstarted == 0 || f.running >= f.Par {
		p.queues[f.Level].remove(f)
	}
	t.next = p.tasks
	if t.next != nil {
		t.next.prev = t
	}
	p.tasks = t
	p.w.dog.soon(min(t.due, t.silentAt()))
}

// leave books that t's handler has returned. Unless t has ended before, its result counts.
func (p *pool) leave(t *task) {
	f := t.f
	if l := t.logs.Load(); l != nil {
		l.end()
	}
	if t.prev == nil {
		p.tasks = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	}
	t.prev, t.next = nil, nil
	f.running--
	if f.unstarted > 0 && !f.queued && !p.closed {
		p.queues[f.Level].pushFront(f)
	}
	if t.ended {
		p.stuck--
		p.w.count.late.Add(1)
	} else {
		p.end(t)
	}
}

// end lets t's task end, once, with the result that t holds.
func (p *pool) end(t *task) {
	t.ended = true
	f := t.f
	f.open--
	t.tell()
	if p.closed {
		defer p.w.nudge()
	}
	switch {
	case f.gone:
	case t.verdict == dropped, t.verdict == committed && f.Kind == span.Plan:
		f.gone = true
		p.w.forget(f)
	case t.verdict == awaiting: // it is parked already
		f.owed--
		f.c.note(f, 0, 0, true)
	case t.verdict == committed: // its row is empty and waits to be retired
		f.owed--
		f.ended++
		f.busy += t.result.Finished.Sub(t.result.Started)
		f.retire = true
		f.c.note(f, 0, 0, true)
	default:
		if f.done == nil {
			f.done = p.w.buffers.get()
		}
		f.done = append(f.done, t.result)
		bytes := len(t.result.Output) + len(t.result.Error)
		f.bytes += bytes
		f.c.note(f, 1, bytes, !f.holds() || f.alone())
	}
}

// giveBack returns what has not started of a flight.
func (p *pool) giveBack(f *flight) {
	if f.queued {
		p.queues[f.Level].remove(f)
	}
	if f.unstarted == 0 || f.gone {
		return
	}
	f.back = f.back.Union(f.rest())
	f.c.note(f, 0, 0, true)
}

// cancel answers the ask to stop a flight: what runs is told to stop, unless the stage must not be interrupted,
// and what has not started goes back.
func (p *pool) cancel(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.giveBack(f)
	if f.cancelled || f.gone || f.h == nil || f.h.spec.Uninterruptible {
		return
	}
	f.cancelled = true
	p.stop(ErrCancelled, func(t *task) bool { return t.f == f })
}

// handBack answers the ask to give a flight back.
func (p *pool) handBack(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.giveBack(f)
}

// lose drops a flight that was taken away.
func (p *pool) lose(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.gone {
		return
	}
	f.gone = true
	if f.queued {
		p.queues[f.Level].remove(f)
	}
	f.rest()
	f.back = shard.Set{}
	f.c.drop(len(f.done), f.bytes)
	f.done, f.bytes = nil, 0
	p.stop(ErrLost, func(t *task) bool { return t.f == f })
}

// stop cancels running tasks. Those that do not return within Abandon are ended without it.
func (p *pool) stop(cause error, which func(*task) bool) {
	give := p.w.clk.now() + p.w.cfg.Abandon
	for t := p.tasks; t != nil; t = t.next {
		if t.cause == nil && !t.ended && which(t) {
			t.stop(cause, give)
			p.w.dog.soon(t.give)
		}
	}
}

// close ends the pool: nothing more starts, and what has not started goes back.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for i := range p.queues {
		for f := p.queues[i].first; f != nil; f = p.queues[i].first {
			p.giveBack(f)
		}
	}
	for t := p.tasks; t != nil; t = t.next { // flights at their parallelism are in no queue
		p.giveBack(t.f)
	}
	p.cond.Broadcast()
}

// interrupt cancels whatever runs.
func (p *pool) interrupt(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop(cause, func(*task) bool { return true })
}

// open is how many tasks have started and not ended.
func (p *pool) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for t := p.tasks; t != nil; t = t.next {
		if !t.ended {
			n++
		}
	}
	return n
}

// slots is how many tasks the pool can run: its size without the slots that hold handlers which do not return.
func (p *pool) slots() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.size-p.stuck)
}

// configure changes the pool's configured size.
func (p *pool) configure(size int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.base = size
	p.resize()
}

// force sets the size that an operator wants; with 0 the configured one holds again. It tells whether that changes
// anything.
func (p *pool) force(size int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forced == size {
		return false
	}
	p.forced = size
	p.resize()
	return true
}

// resize makes the pool's size what it should be. What runs goes on.
func (p *pool) resize() {
	p.size = p.base
	if p.forced > 0 {
		p.size = p.forced
	}
	p.cond.Broadcast()
	p.wake()
}

// attrs are the log attributes of a flight.
func (f *flight) attrs() []any {
	name := any(f.Ord)
	if f.h != nil {
		name = f.h.spec.Name
	}
	return []any{"run", f.Run, "stage", name, "attempt", f.Attempt, "worker", f.worker, "execution", f.ID}
}

// resultOf starts a result of t.
func (t *task) resultOf(outcome stage.Outcome) span.Result {
	return span.Result{Index: t.index, Outcome: outcome}
}
