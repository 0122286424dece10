package board

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

// Count is a number of spans (or flights) and of the indices in them.
type Count struct{ Spans, Indices int }

func (c *Count) add(spans, indices int) {
	c.Spans += spans
	c.Indices += indices
}

// Load is what waits, and what is handed out and not finished: its Spans are flights.
type Load struct{ Pending, HandedOut Count }

// Depth returns the load of each level P0..P5, by the spans' own level.
func (b *Board) Depth() [stage.Levels]Load {
	var d [levels]Load
	for l := range d {
		d[l] = Load{b.pending[l], b.handedOut[l]}
	}
	return d
}

// Pending is the total of what waits.
func (b *Board) Pending() Count { return total(b.pending) }

// HandedOut is the total of what is handed out and not finished; its Spans are flights.
func (b *Board) HandedOut() Count { return total(b.handedOut) }

func total(by [levels]Count) (sum Count) {
	for _, c := range by {
		sum.add(c.Spans, c.Indices)
	}
	return sum
}

// QueueLoad is the load of one queue.
type QueueLoad struct {
	Namespace, Queue string
	Load
	// Running is Σ least(par, left) over its flights, what a limit counts. Limit is -1 when there is none.
	Running, Limit int
}

// Queues returns the load of every queue that has any, by namespace and name.
func (b *Board) Queues() []QueueLoad {
	var all []QueueLoad
	for id, s := range b.scopes {
		if id.Kind == QueueScope && (s.pending != Count{} || s.handedOut != Count{}) {
			all = append(all, QueueLoad{id.Namespace, id.Name, Load{s.pending, s.handedOut}, s.used, s.limit})
		}
	}
	slices.SortFunc(all, func(x, y QueueLoad) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Queue, y.Queue))
	})
	return all
}

// PoolLoad is the activity of a handler's pools on all live workers together: Busy/Slots is the share in use.
type PoolLoad struct {
	Handler string
	Workers int
	Slots   int
	Busy    int           // slots that have an index to work on
	Ahead   int           // indices beyond them
	Pending int           // spans
	Cost    time.Duration // estimate of one index, 0 when unknown
}

// Pools returns the activity of every handler that a live worker offers or a pending span wants, by key.
func (b *Board) Pools() []PoolLoad {
	var all []PoolLoad
	for key, h := range b.handlers {
		if len(h.pools) == 0 && h.spans == 0 {
			continue
		}
		l := PoolLoad{Handler: key, Workers: len(h.pools), Pending: h.spans, Cost: time.Duration(h.cost())}
		for _, p := range h.pools {
			l.Slots += p.slots
			l.Busy += min(p.out, p.slots)
			l.Ahead += max(0, p.out-p.slots)
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(x, y PoolLoad) int { return cmp.Compare(x.Handler, y.Handler) })
	return all
}

// WorkerLoad is what a worker holds.
type WorkerLoad struct {
	Worker      uuid.UUID
	Outstanding int           // indices, those in urgent slots included
	Cost        time.Duration // estimate of all of them
	Urgent      int           // urgent slots in use
}

// Workers returns the load of every live worker, in order of arrival.
func (b *Board) Workers() []WorkerLoad {
	all := make([]WorkerLoad, len(b.live))
	for i, w := range b.live {
		out := w.urgentOut
		for _, p := range w.pools {
			out += p.out
		}
		all[i] = WorkerLoad{w.id, out, time.Duration(w.cost), w.urgentOut}
	}
	return all
}

// Running is Σ least(par, left) over the flights of a scope: what its limit counts.
func (b *Board) Running(id Scope) int {
	if s := b.scopes[id]; s != nil {
		return s.used
	}
	return 0
}

// Effective is the level that a pending span has aged to, P5 when it is demoted, and whether it is pending.
func (b *Board) Effective(id uuid.UUID, now time.Time) (stage.Level, bool) {
	n := b.spans[id]
	if n == nil {
		return 0, false
	}
	return stage.Level(n.strand.lane.risen(n.ready, now.UnixNano())), true
}
