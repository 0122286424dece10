package dispatch

import (
	"slices"

	"github.com/google/uuid"

	"axflow/engine/dispatch/board"
	"axflow/sql/db"
)

// Worker is what a worker's row says of it.
type Worker struct {
	board.Worker
	CPU, Memory float64 // shares of its machine in use, 0..1
}

// ReadWorker reads a worker's row.
func ReadWorker(row *db.WorkersRow) (Worker, error) { return readWorker(row) }

// setWorkers brings the Board's workers up to date.
func (l *Loop) setWorkers(list []Worker) {
	live := make(map[uuid.UUID]bool, len(list))
	for i := range list {
		live[list[i].ID] = true
	}
	for _, w := range l.board.Workers() {
		if !live[w.Worker] {
			for _, id := range l.board.RemoveWorker(w.Worker) {
				delete(l.flights, id)
			}
		}
	}
	loads := make(map[uuid.UUID]board.WorkerLoad)
	for _, w := range l.board.Workers() {
		loads[w.Worker] = w
	}
	l.overload.mark(list, func(w *Worker) float64 {
		slots := 0
		for _, n := range w.Handlers {
			slots += n
		}
		return queued(loads[w.ID], slots, l.inAdvance)
	})
	for i := range list {
		l.board.SetWorker(list[i].Worker)
	}
}

// Overload says when a worker counts as overloaded, in shares: of its machine's processors and memory, and of the work
// that it may hold ahead of its slots.
type Overload struct {
	// Enter is from what share on it gets nothing new. Default 0.90; below 0: never.
	Enter float64
	// Leave is below what share it does again. Default 0.75.
	Leave float64
}

// overload marks overloaded workers.
type overload struct {
	Overload
	over map[uuid.UUID]bool
}

func newOverload(c Overload) overload {
	if c.Enter == 0 {
		c.Enter = 0.90
	}
	if c.Leave == 0 {
		c.Leave = min(0.75, c.Enter)
	}
	return overload{c, make(map[uuid.UUID]bool)}
}

// mark sets Overloaded of the workers in the list. A worker leaves the others to do its work only where there are such:
// where all that can run a handler are overloaded, or the only one is, waiting for them would help nobody.
func (o *overload) mark(list []Worker, queued func(*Worker) float64) {
	if o.Enter < 0 {
		return
	}
	next := make(map[uuid.UUID]bool)
	fit := make(map[string]int) // handler to workers that are not overloaded
	for i := range list {
		w := &list[i]
		share := max(w.CPU, w.Memory, queued(w))
		if share >= o.Enter || o.over[w.ID] && share >= o.Leave {
			next[w.ID] = true
		} else if !w.Draining {
			for h, n := range w.Handlers {
				if n > 0 {
					fit[h]++
				}
			}
		}
	}
	o.over = next
	for i := range list {
		w := &list[i]
		w.Overloaded = next[w.ID]
		for h := range w.Handlers {
			w.Overloaded = w.Overloaded && fit[h] > 0
		}
	}
}

// horizonsAhead is how many times what is handed out ahead of a worker's slots by its estimate may be in fact before
// it counts as too much.
const horizonsAhead = 4

// queued is how much a worker holds ahead of its slots, as a share of horizonsAhead times what the Board gives in advance.
func queued(w board.WorkerLoad, slots int, horizon float64) float64 {
	ahead := w.Outstanding - w.Urgent - slots
	if ahead <= 0 || slots == 0 {
		return 0
	}
	each := w.Cost.Seconds() / float64(w.Outstanding)
	return float64(ahead) * each / (float64(slots) * horizon * horizonsAhead)
}

// names lists the overloaded workers.
func (o *overload) names() []uuid.UUID {
	var ids []uuid.UUID
	for id := range o.over {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, compareIDs)
	return ids
}
