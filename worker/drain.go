package worker

import (
	"context"
	"fmt"
	"time"
)

const (
	flushLimit = 15 * time.Second // for the last results, once nothing runs
	leaveLimit = 3 * time.Second
	// lastLogsLimit is how long the last lines of handlers' logs may take, once the results are written down.
	lastLogsLimit = 3 * time.Second
)

// drain ends the work: see Run.
func (w *Worker) drain() error {
	w.mu.Lock()
	w.state = draining
	w.mu.Unlock()
	w.heart.beatNow()
	for _, p := range w.pools {
		p.close()
	}
	grace := time.NewTimer(w.cfg.Grace)
	defer grace.Stop()
	if !w.await(grace.C, w.hurried.Done(), func() bool { return w.open() == 0 }) {
		for _, p := range w.pools {
			p.interrupt(ErrDraining)
		}
		// The watchdog ends what does not return.
		w.await(nil, nil, func() bool { return w.open() == 0 })
	}
	w.mu.Lock()
	w.loaded = true
	w.mu.Unlock()
	w.loading.Wait()
	limit := time.NewTimer(flushLimit)
	defer limit.Stop()
	if w.await(limit.C, nil, w.flushed) {
		return nil
	}
	waiting := w.Stats().Waiting
	return fmt.Errorf("worker: the database could not be reached for %v: %d results are lost and their tasks will run again", flushLimit, waiting)
}

// await waits for a condition, which it asks whenever something has ended; false when a limit comes first.
func (w *Worker) await(limit <-chan time.Time, hurry <-chan struct{}, condition func() bool) bool {
	for {
		if condition() {
			return true
		}
		select {
		case <-w.nudged:
		case <-limit:
			return false
		case <-hurry:
			return false
		}
	}
}

// nudge makes await ask again.
func (w *Worker) nudge() {
	select {
	case w.nudged <- struct{}{}:
	default:
	}
}

// open is how many tasks have started and not ended.
func (w *Worker) open() int {
	n := 0
	for _, p := range w.pools {
		n += p.open()
	}
	return n
}

func (w *Worker) flushed() bool {
	for _, c := range w.committers {
		if !c.idle() {
			return false
		}
	}
	return true
}

// leave takes the worker off the list. If that fails, the leader will find it dead.
func (w *Worker) leave() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.hard), leaveLimit)
	defer cancel()
	if err := w.heart.leave(ctx); err != nil {
		w.log.Warn("the worker could not take itself off the list; the leader will find it dead", "worker", w.ID(), "err", err)
	}
}

// reap waits for executors to end; those in a handler that does not return are left behind.
func (w *Worker) reap() {
	for _, p := range w.pools {
		p.mu.Lock()
		stuck := p.stuck
		p.mu.Unlock()
		if stuck == 0 {
			p.wg.Wait()
		}
	}
}
