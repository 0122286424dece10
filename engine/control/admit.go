package control

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/sql/db"
	"axflow/stage"
)

// How long a refused starter is told to wait: the leader publishes a queue's depth every second, and a queue that refuses
// takes some seconds to drain to where it does not.
const (
	retryRefused = 5 * time.Second  // the queue is full, or refuses what is not core
	retryPaused  = 15 * time.Second // the queue has stopped its low levels
)

// pressurePause is ax.queue.pressure of a queue that has stopped its low levels.
const pressurePause = 3

// wants counts the tasks that a batch brings to each queue at once, by level. A run wants room for at least one task in
// its own queue, although its roots may be elsewhere.
type wants struct {
	runs, tasks map[want]int32
}

type want struct {
	queue string
	level stage.Level
}

func (w *wants) run(queue string, level stage.Level) {
	if w.runs == nil {
		w.runs, w.tasks = make(map[want]int32), make(map[want]int32)
	}
	w.runs[want{queue, level}]++
}

func (w *wants) task(queue string, level stage.Level) { w.tasks[want{queue, level}]++ }

// columns are the wants as the statement takes them: each level of a queue with what the whole batch wants of the queue.
func (w *wants) columns() (queues []string, levels []int16, n []int32) {
	runs, tasks := make(map[string]int32), make(map[string]int32)
	all := make(map[want]bool, len(w.runs))
	for k, n := range w.runs {
		all[k] = true
		runs[k.queue] += n
	}
	for k, n := range w.tasks {
		all[k] = true
		tasks[k.queue] += n
	}
	for k := range all {
		queues, levels, n = append(queues, k.queue), append(levels, int16(k.level)), append(n, max(runs[k.queue], tasks[k.queue]))
	}
	return queues, levels, n
}

// at is the time before which nothing of the batch is handed out; the epoch if there is none.
func (w *writing) at() time.Time {
	if w.batch.At.IsZero() {
		return time.Unix(0, 0)
	}
	return w.batch.At
}

// overloaded is the refusal by the queue that is worst off.
func overloaded(refused []db.InsertRunsRow) error {
	r := slices.MaxFunc(refused, func(a, b db.InsertRunsRow) int {
		return cmp.Or(cmp.Compare(a.Pressure, b.Pressure), cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.Level, b.Level))
	})
	e := &Error{Code: CodeOverloaded, RetryAfter: retryRefused}
	if r.Pressure >= pressurePause {
		e.RetryAfter = retryPaused
	}
	if full := r.Depth+int64(r.N) > int64(r.Capacity); full {
		e.Text = fmt.Sprintf("queue %q has %d tasks waiting or running and no room for %d more; its capacity is %d: try again in %v, start fewer at once, or have its capacity raised",
			r.Name, r.Depth, r.N, r.Capacity, e.RetryAfter)
		return e
	}
	core := stage.Level(r.CoreLevel)
	e.Text = fmt.Sprintf("queue %q has %d tasks waiting or running of a capacity of %d and takes nothing below %v now, the start has level %v: try again in %v, or start it at %v",
		r.Name, r.Depth, r.Capacity, core, stage.Level(r.Level), e.RetryAfter, core)
	return e
}

// release gives up the idempotency keys that a refused batch has bound.
func release(ctx context.Context, tx Tx, b Batch, starts []Start, owners map[[2]string]uuid.UUID) error {
	if len(owners) == 0 {
		return nil
	}
	p := db.ReleaseRunKeysParams{Namespace: b.Namespace}
	for i := range starts {
		s := &starts[i]
		if s.Key != "" && owners[[2]string{s.Version.Flow, s.Key}] == s.ID {
			p.Flows, p.Keys, p.RunIds = append(p.Flows, s.Version.Flow), append(p.Keys, s.Key), append(p.RunIds, s.ID)
		}
	}
	if err := db.New(tx).ReleaseRunKeys(ctx, p); err != nil {
		return fmt.Errorf("giving up %d idempotency keys: %w", len(p.Keys), err)
	}
	return nil
}
