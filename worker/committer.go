package worker

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/shard"
	"axflow/sql/span"
)

const (
	maxBatchBytes  = 16 << 20 // of outputs and errors in one commit
	maxBufferBytes = 64 << 20 // waiting, of one committer; then no further task starts
)

// committer writes the ends of tasks down: whatever has come while one commit was under way makes the next. The
// flights are divided among the committers, so that one flight's commits keep their order. It has a connection
// of its own: InTx handlers that fill the pool do not slow it.
type committer struct {
	w    *Worker
	conn *pgx.Conn
	wake chan struct{}
	// write commits results: span.Finish. Benchmarks of what is above it put something else here, and set dry.
	write func(context.Context, span.Conn, uuid.UUID, []span.Report) (span.Receipt, error)
	dry   bool // without a connection

	forced  atomic.Bool  // something does not want to wait for others
	pending atomic.Int64 // results that are not committed
	bytes   atomic.Int64

	mu     sync.Mutex
	room   sync.Cond // executors wait for room
	dirty  []*flight // with something to tell, in order
	since  time.Duration
	busy   bool
	closed bool // no room is waited for any more
}

func newCommitter(w *Worker) *committer {
	c := &committer{w: w, wake: make(chan struct{}, 1), write: span.Finish}
	c.room.L = &c.mu
	return c
}

// note tells that a flight has n more results, or something else to tell. force does not let it wait. The caller
// holds the flight's pool.mu.
func (c *committer) note(f *flight, n, bytes int, force bool) {
	signal := false
	if n > 0 {
		c.bytes.Add(int64(bytes))
		signal = c.pending.Add(int64(n)) == int64(c.w.cfg.BatchSize)
	}
	if force && !c.forced.Load() {
		signal = c.forced.CompareAndSwap(false, true) || signal
	}
	if !f.dirty {
		f.dirty = true
		c.mu.Lock()
		if len(c.dirty) == 0 {
			c.since = c.w.clk.now()
			signal = true
		}
		c.dirty = append(c.dirty, f)
		c.mu.Unlock()
	}
	if signal {
		c.signal()
	}
}

func (c *committer) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// drop forgets results that wait.
func (c *committer) drop(n, bytes int) {
	c.bytes.Add(int64(-bytes))
	if c.pending.Add(int64(-n)); n > 0 {
		c.roomier()
	}
}

func (c *committer) full() bool {
	return c.pending.Load() >= int64(max(1, c.w.cfg.Buffer/len(c.w.committers))) || c.bytes.Load() >= maxBufferBytes
}

// waitForRoom waits until results can be taken again.
func (c *committer) waitForRoom() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.full() && !c.closed {
		c.room.Wait()
	}
}

func (c *committer) roomier() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.room.Broadcast()
}

// idle tells whether everything is committed.
func (c *committer) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.dirty) == 0 && !c.busy
}

// close lets nobody wait for room any more.
func (c *committer) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.room.Broadcast()
}

// run commits until ctx ends.
func (c *committer) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	defer c.disconnect()
	for c.wait(ctx, timer) {
		if b := c.collect(); b != nil {
			c.commit(ctx, b)
		}
		c.mu.Lock()
		c.busy = false
		c.mu.Unlock()
		c.w.nudge()
	}
}

// wait waits until it is time to commit; false when ctx has ended.
func (c *committer) wait(ctx context.Context, timer *time.Timer) bool {
	for {
		c.mu.Lock()
		n, since := len(c.dirty), c.since
		left := since + c.w.cfg.Flush - c.w.clk.now()
		now := n > 0 && (c.forced.Load() || left <= 0 || c.pending.Load() >= int64(c.w.cfg.BatchSize))
		c.busy = now
		c.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return false
		case now:
			return true
		case n > 0:
			timer.Reset(left)
			select {
			case <-ctx.Done():
			case <-c.wake:
			case <-timer.C:
			}
		default:
			select {
			case <-ctx.Done():
			case <-c.wake:
			}
		}
	}
}

// part is one flight's part of a batch.
type part struct {
	f       *flight
	report  span.Report
	bytes   int
	back    shard.Set
	retire  bool
	refused bool // the row was gone while there was more of it here
}

// batch is what one turn writes down.
type batch struct {
	worker  uuid.UUID
	parts   []part
	results int
	bytes   int
	unsure  bool // a commit's answer was lost: what it decided is not known
}

// collect takes the next batch.
func (c *committer) collect() *batch {
	c.forced.Store(false)
	c.mu.Lock()
	dirty := c.dirty
	c.dirty = nil
	c.mu.Unlock()
	b := &batch{parts: make([]part, 0, len(dirty))}
	var left []*flight
	for i, f := range dirty {
		if b.results >= c.w.cfg.BatchSize || b.bytes >= maxBatchBytes {
			left = append(left, dirty[i:]...)
			break
		}
		if !c.take(b, f) {
			left = append(left, f)
		}
	}
	if len(left) > 0 {
		c.mu.Lock()
		c.dirty = append(left, c.dirty...)
		c.since = c.w.clk.now() - c.w.cfg.Flush // they have waited
		c.mu.Unlock()
	}
	if len(b.parts) == 0 {
		return nil
	}
	return b
}

// take adds what there is of a flight to the batch. It tells whether that was all.
func (c *committer) take(b *batch, f *flight) (all bool) {
	f.pool.mu.Lock()
	defer f.pool.mu.Unlock()
	if f.gone {
		f.dirty = false
		return true
	}
	if len(b.parts) > 0 && f.worker != b.worker {
		return false
	}
	b.worker = f.worker
	p := part{f: f, report: span.Report{Execution: f.ID, Run: f.Run, Ord: f.Ord}}
	all = true
	if n := len(f.done); n > 0 {
		room := min(n, c.w.cfg.BatchSize-b.results)
		for i := range room {
			p.bytes += len(f.done[i].Output) + len(f.done[i].Error)
			if b.bytes+p.bytes >= maxBatchBytes {
				room = i + 1
				break
			}
		}
		p.report.Results = f.done[:room]
		if all = room == n; all {
			f.done = nil
		} else {
			f.done = append(c.w.buffers.get(), f.done[room:]...)
		}
		f.bytes -= p.bytes
	}
	if all {
		p.back, f.back = f.back, shard.Set{}
		p.retire = f.retire
		f.dirty = false
	}
	if f.h != nil {
		p.report.MaxAttempts = f.h.spec.Retry.MaxAttempts
		p.report.FailFast = f.h.spec.FailFast
	}
	p.report.Last = all && !f.holds() && p.back.Empty()
	b.results += len(p.report.Results)
	b.bytes += p.bytes
	b.parts = append(b.parts, p)
	return all
}
