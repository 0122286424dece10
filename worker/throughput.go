package worker

import (
	"context"
	"sync"
	"sync/atomic"

	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

// throughput counts what the worker starts and finishes, by queue, until a heartbeat adds it to the table. Plans do not count, and
// nothing that somebody else will end.
type throughput struct {
	mu sync.Mutex
	by map[string]*queueCount
}

// queueCount is what was done of one queue and not told yet.
type queueCount struct{ started, succeeded, failed atomic.Int64 }

// of is the count of a queue.
func (t *throughput) of(queue string) *queueCount {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = make(map[string]*queueCount)
	}
	n := t.by[queue]
	if n == nil {
		n = &queueCount{}
		t.by[queue] = n
	}
	return n
}

// take takes what there is; give puts it back.
func (t *throughput) take() (p db.AddTasksParams) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for queue, n := range t.by {
		started, succeeded, failed := n.started.Swap(0), n.succeeded.Swap(0), n.failed.Swap(0)
		if started|succeeded|failed == 0 {
			continue
		}
		p.Queues = append(p.Queues, queue)
		p.Started, p.Succeeded, p.Failed = append(p.Started, started), append(p.Succeeded, succeeded), append(p.Failed, failed)
	}
	return p
}

func (t *throughput) give(p db.AddTasksParams) {
	for i, queue := range p.Queues {
		n := t.of(queue)
		n.started.Add(p.Started[i])
		n.succeeded.Add(p.Succeeded[i])
		n.failed.Add(p.Failed[i])
	}
}

// begun counts the start of a task of a flight.
func (f *flight) begun() {
	if f.Kind != span.Plan {
		f.count.started.Add(1)
	}
}

// over counts the end of a task.
func (f *flight) over(o stage.Outcome) {
	switch {
	case f.Kind == span.Plan || o == stage.Interrupted:
	case o == stage.Succeeded || o == stage.NotNeeded:
		f.count.succeeded.Add(1)
	default:
		f.count.failed.Add(1)
	}
}

// tell adds what was done since the last time to the table. These are figures for people: whatever is wrong with them, the heart beats.
func (h *heart) tell(ctx context.Context, q *db.Queries) {
	w := h.w
	p := w.throughput.take()
	if len(p.Queues) == 0 {
		return
	}
	p.Namespace, p.WorkerID = w.cfg.Namespace, w.ID()
	if err := q.AddTasks(ctx, p); err != nil {
		w.throughput.give(p)
		w.log.Warn("adding to the throughput failed; the next heartbeat tries again", "worker", p.WorkerID, "err", err)
	}
}
