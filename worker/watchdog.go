package worker

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// watchGap is the least time between two looks, and so how late a time-out may be noticed.
const watchGap = 5 * time.Millisecond

// watchdog ends what takes too long. It looks at everything that runs when the first of it may be due, so that a
// start costs a comparison and no timer.
type watchdog struct {
	w    *Worker
	next atomic.Int64 // monotonic time of the next look
	kick chan struct{}
}

func newWatchdog(w *Worker) *watchdog {
	d := &watchdog{w: w, kick: make(chan struct{}, 1)}
	d.next.Store(math.MaxInt64)
	return d
}

// soon sees to it that the next look is not after due.
func (d *watchdog) soon(due time.Duration) {
	for {
		next := d.next.Load()
		if int64(due) >= next {
			return
		}
		if d.next.CompareAndSwap(next, int64(due)) {
			select {
			case d.kick <- struct{}{}:
			default:
			}
			return
		}
	}
}

func (d *watchdog) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := time.Hour
		if next := d.next.Load(); next != math.MaxInt64 {
			wait = max(time.Duration(next)-d.w.clk.now(), watchGap)
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-d.kick:
			continue
		case <-timer.C:
		}
		if time.Duration(d.next.Load()) > d.w.clk.now() {
			continue
		}
		d.next.Store(math.MaxInt64) // what starts during the look asks for another
		d.soon(d.look())
	}
}

// look ends what is due and returns when the next may be.
func (d *watchdog) look() time.Duration {
	next := time.Duration(math.MaxInt64)
	for _, p := range d.w.pools {
		next = min(next, p.expire(d.w.clk.now()))
	}
	return min(next, d.w.unstarted())
}

// expire ends what is due in a pool and returns when the next is.
func (p *pool) expire(now time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := time.Duration(math.MaxInt64)
	for t := p.tasks; t != nil; {
		following := t.next
		silent := t.silentAt()
		switch {
		case t.ended || t.cause != nil:
		case now >= t.due:
			t.stop(ErrTimeout, now+p.w.cfg.Abandon)
		case now >= silent:
			t.stop(ErrSilent, now+p.w.cfg.Abandon)
		}
		switch {
		case t.ended:
		case t.cause == nil:
			next = min(next, t.due, silent)
		case now >= t.give:
			p.w.log.Error("a handler does not return after its context was cancelled; its slot stays taken",
				append(t.f.attrs(), "shard", t.index, "cause", t.cause)...)
			p.abandon(t)
		default:
			next = min(next, t.give)
		}
		t = following
	}
	return next
}

// unstarted gives back what was not started within its Dispatch time-out, and returns when the next is due.
func (w *Worker) unstarted() time.Duration {
	next := time.Duration(math.MaxInt64)
	now := w.clk.now()
	for _, f := range w.held() {
		if f.pool == nil {
			continue
		}
		f.pool.mu.Lock()
		switch {
		case f.unstarted == 0:
		case now > f.expires:
			w.log.Warn("work was not started in time and goes back", f.attrs()...)
			f.pool.giveBack(f)
		default:
			next = min(next, f.expires+1)
		}
		f.pool.mu.Unlock()
	}
	return next
}

// silentAt is when the task's Heartbeat time-out runs out unless it gives a sign of life before; never, without one.
func (t *task) silentAt() time.Duration {
	limit := t.f.h.spec.Timeout.Heartbeat
	if limit == 0 {
		return math.MaxInt64
	}
	return time.Duration(t.sign.Load()) + limit
}
