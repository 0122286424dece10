package board

import (
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Worker is what a worker reports about itself.
type Worker struct {
	ID uuid.UUID
	// Handlers maps each handler key that it can run to the size of that handler's pool.
	Handlers map[string]int
	Labels   []string
	// Urgent is the number of slots beside all pools that only P0 may use, when the slots of its handler are taken.
	Urgent int
	// Draining and Overloaded workers get nothing new.
	Draining, Overloaded bool
}

// worker is a worker's books. A worker that only flights have named so far is not live.
type worker struct {
	id        uuid.UUID
	said      Worker
	live      bool
	pools     map[string]*pool
	cost      int64 // ns, estimate of all that it holds
	urgentOut int
	first     *flight // its flights, oldest first
	last      *flight
	order     uint64 // of arrival
	name      string // the id, for hashing
}

func (w *worker) open() bool { return w.live && !w.said.Draining && !w.said.Overloaded }

func (w *worker) has(labels []string) bool {
	for _, l := range labels {
		if !slices.Contains(w.said.Labels, l) {
			return false
		}
	}
	return true
}

// outstanding is the estimated duration of what the worker holds, in ns. A flight that is overdue is expected to take as long
// again as it is late: what has run long runs long.
func (w *worker) outstanding(now int64) int64 {
	if w.first != nil && now > w.first.due {
		return w.cost + now - w.first.due
	}
	return w.cost
}

func (w *worker) urgentFree() int { return w.said.Urgent - w.urgentOut }

// pool is one worker's slots for one handler.
type pool struct {
	worker  *worker
	handler *handler
	slots   int
	most    int // outstanding at most, by the handler's cost
	out     int // indices handed out and not reported gone, without those in urgent slots
	solo    int // flights of solo spans among them
}

// idle tells whether a slot has nothing to do.
func (p *pool) idle() bool { return p.out < p.slots }

// free tells whether the pool takes more, and whether it has an idle slot. Ahead of idle slots it is filled in
// quarters, so that tiny shards do not travel one by one.
func (p *pool) free(solo bool) (takes, idle bool) {
	if solo && p.solo >= p.slots {
		return false, false
	}
	if p.out < p.slots {
		return true, true
	}
	room := p.most - p.out
	return room > 0 && room*4 >= p.most, false
}

// size works out how much the pool may hold: the horizon's worth by the handler's cost and at least its slots; when
// the cost is unknown, its slots.
func (p *pool) size(b *Board) {
	p.most = p.slots
	if c := p.handler.cost(); c > 0 {
		p.most = max(p.most, int(int64(p.slots)*b.horizon/c))
	}
	p.most = min(p.most, b.maxOutstanding)
	p.slots = min(p.slots, p.most)
}

// handler is one handler key: the pools that run it and the lanes that want it.
type handler struct {
	key      string
	mean     int64 // ns, learned
	samples  int   // behind mean, at most memory
	declared int64 // ns
	pools    []*pool
	routes   []*route
	spans    int // pending
	refs     int // lanes and flights that point here
	turns    rotation
	weights  [levels]int64 // of next, where queues have their own
	around   uint64        // the worker that round robin gave last, by its order
	epoch    uint64        // raised when there may be more room
	active   bool
	next     proposal
}

func (h *handler) place(int) {}

// cost is the estimated duration of one index in ns, or 0.
func (h *handler) cost() int64 {
	if h.samples > 0 {
		return h.mean
	}
	return h.declared
}

func (b *Board) handler(key string) *handler {
	h := b.handlers[key]
	if h == nil {
		h = &handler{key: key, epoch: 1}
		b.handlers[key] = h
	}
	return h
}

// roomier notes that the handler may have more room than before.
func (b *Board) roomier(h *handler) {
	h.epoch++
	b.activate(h)
}

func (b *Board) activate(h *handler) {
	if !h.active && h.spans > 0 {
		h.active = true
		b.active = append(b.active, h)
	}
}

// memory is how many samples a learned mean remembers at most: older ones fade.
const memory = 256

// costs lie between these: below, a pool is full anyway; above, sums would not fit.
const (
	minCost = int64(time.Microsecond)
	maxCost = int64(24 * time.Hour)
)

// Learn feeds the mean duration of the last `samples` finished indices of a handler into its estimate, a mean that
// remembers about 256 samples. Estimates size pieces and balance workers; they bound nothing else.
func (b *Board) Learn(handler string, mean time.Duration, samples int) {
	if samples <= 0 || mean < 0 {
		return
	}
	h := b.handler(handler)
	samples = min(samples, memory)
	old := min(h.samples, memory-samples)
	h.mean = (h.mean*int64(old) + min(int64(mean), maxCost)*int64(samples)) / int64(old+samples)
	h.mean = max(h.mean, minCost)
	h.samples = old + samples
	b.resize(h)
}

// Cost is the present estimate of one index of a handler, 0 when unknown.
func (b *Board) Cost(handler string) time.Duration {
	if h := b.handlers[handler]; h != nil {
		return time.Duration(h.cost())
	}
	return 0
}

func (b *Board) declare(h *handler, cost time.Duration) {
	c := min(max(int64(cost), minCost), maxCost)
	if h.declared == c {
		return
	}
	h.declared = c
	if h.samples == 0 {
		b.resize(h)
	}
}

func (b *Board) resize(h *handler) {
	for _, p := range h.pools {
		p.slots = p.worker.said.Handlers[h.key]
		p.size(b)
	}
	b.roomier(h)
}

// worker finds a worker's books or opens them.
func (b *Board) worker(id uuid.UUID) *worker {
	w := b.workers[id]
	if w == nil {
		b.seq++
		w = &worker{id: id, said: Worker{ID: id}, pools: map[string]*pool{}, order: b.seq, name: id.String()}
		b.workers[id] = w
	}
	return w
}

func (b *Board) pool(w *worker, key string) *pool {
	h := b.handler(key)
	p := w.pools[key]
	if p == nil || p.handler != h {
		p = &pool{worker: w, handler: h}
		w.pools[key] = p
	}
	return p
}

// SetWorker notes a worker's report: a new worker, or a change of pools, labels or state. The same report again
// costs nothing. What it holds stays on the books even when a pool shrinks below it.
func (b *Board) SetWorker(said Worker) {
	w := b.worker(said.ID)
	if w.live && w.said.Urgent == said.Urgent && w.said.Draining == said.Draining && w.said.Overloaded == said.Overloaded &&
		maps.Equal(w.said.Handlers, said.Handlers) && slices.Equal(w.said.Labels, said.Labels) {
		return
	}
	said.Handlers, said.Labels = maps.Clone(said.Handlers), slices.Clone(said.Labels)
	if !w.live {
		w.live = true
		b.live = append(b.live, w)
	}
	w.said = said
	for key, p := range w.pools {
		if said.Handlers[key] <= 0 {
			b.close(p)
		}
	}
	for key, slots := range said.Handlers {
		if slots <= 0 {
			continue
		}
		p := b.pool(w, key)
		if p.slots == 0 {
			p.handler.pools = append(p.handler.pools, p)
		}
		p.slots = slots
		p.size(b)
		b.reseat(p.handler)
	}
}

// close takes a pool out of its handler.
func (b *Board) close(p *pool) {
	p.slots, p.most = 0, 0
	if i := slices.Index(p.handler.pools, p); i >= 0 {
		p.handler.pools = slices.Delete(p.handler.pools, i, i+1)
		b.reseat(p.handler)
	}
}

func (b *Board) reseat(h *handler) {
	for _, r := range h.routes {
		r.reseat(h)
	}
	b.roomier(h)
}

// RemoveWorker forgets a worker and everything that it holds, and returns the ids of those flights, oldest first.
// Limits count the flights no longer, so call it when the database has taken them from the worker.
func (b *Board) RemoveWorker(id uuid.UUID) []uuid.UUID {
	w := b.workers[id]
	if w == nil {
		return nil
	}
	var gone []uuid.UUID
	for f := w.first; f != nil; f = w.first {
		gone = append(gone, f.id)
		b.settle(f, 0)
	}
	for _, p := range w.pools {
		b.close(p)
	}
	if i := slices.Index(b.live, w); i >= 0 {
		b.live = slices.Delete(b.live, i, i+1)
	}
	delete(b.workers, id)
	return gone
}

// HasWorker tells whether a worker has reported and was not removed.
func (b *Board) HasWorker(id uuid.UUID) bool {
	w := b.workers[id]
	return w != nil && w.live
}
