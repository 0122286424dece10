package worker

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"axflow/sql/payload"
	"axflow/sql/span"
	"axflow/stage"
)

// verdict says what became of a task beside its result.
type verdict uint8

const (
	reported  verdict = iota // its result is to be committed with others
	committed                // it has committed its end itself
	dropped                  // it was not this worker's any more
	awaiting                 // it was parked until the run that it has started ends
)

// task is one index of a flight in its handler. It is the handler's context and its Env; handlers may keep it.
type task struct {
	context.Context // cancelled with a cause
	cancel          context.CancelCauseFunc

	f       *flight
	index   int32
	begun   time.Duration
	verdict verdict     // written by its executor before it ends
	result  span.Result // likewise
	health  health      // likewise

	sign     atomic.Int64 // monotonic time of the last sign of life
	progress progress
	logs     atomic.Pointer[taskLog] // nil until the handler asks for its logger

	faultMu sync.Mutex
	fault   error // of a stream, by Env.Fail

	// What follows is guarded by pool.mu.

	prev, next *task
	due        time.Duration // the execution time-out
	cause      error         // why its context was cancelled before the handler returned
	give       time.Duration // when it ends without its handler; 0: never
	txUntil    time.Duration // its transaction may last until then; 0: it has none
	ended      bool
}

func newTask() *task {
	t := new(task)
	t.Context, t.cancel = context.WithCancelCause(context.Background())
	return t
}

// Deadline is when the execution time-out runs out.
func (t *task) Deadline() (time.Time, bool) { return t.f.pool.w.clk.born.Add(t.due), true }

// stop cancels the context. give is when the task ends without its handler.
func (t *task) stop(cause error, give time.Duration) {
	t.cause, t.give = cause, give
	if t.txUntil > 0 {
		// Only the end of its transaction tells how it ended; the database ends it at txUntil at the latest.
		t.give = max(give, t.txUntil+t.f.pool.w.cfg.Abandon)
	}
	t.cancel(cause)
}

// stopped is why the context was cancelled, nil if it was not.
func (t *task) stopped() error {
	t.f.pool.mu.Lock()
	defer t.f.pool.mu.Unlock()
	return t.cause
}

// run runs the handler and settles its result. It runs in an executor.
func (t *task) run() {
	needed, err := t.needed()
	switch {
	case t.verdict != reported:
	case err != nil:
		t.settle(nil, err)
	case !needed:
		t.result = t.resultOf(stage.NotNeeded)
		t.time(t.f.pool.w.clk.now())
	case t.f.Kind == span.Plan:
		t.runPlan()
	case t.f.h.def.Handler.Tx != nil:
		t.runTx()
	default:
		if output, err := t.handle(); t.verdict == reported {
			t.settle(output, err)
		}
	}
	t.cancel(ErrReturned)
}

// needed asks a conditional stage's condition, before the handler of an unsharded stage and the plan of a sharded one.
func (t *task) needed() (ok bool, err error) {
	h := t.f.h
	when := h.def.Handler.When
	if when == nil || !h.spec.Conditional || t.f.Kind != span.Plan && h.origin >= 0 {
		return true, nil
	}
	c, err := t.call()
	if err != nil {
		return false, err
	}
	defer t.recovered(&err)
	ok, err = when(stage.WithEnv(t, t), c.Params)
	return ok, t.failed(err)
}

// handle calls a plain handler.
func (t *task) handle() (output []byte, err error) {
	c, err := t.call()
	if err != nil {
		return nil, err
	}
	defer t.recovered(&err)
	output, err = t.f.h.def.Handler.Run(stage.WithEnv(t, t), c)
	return output, t.failed(err)
}

// call is what the handler is called with.
func (t *task) call() (stage.Call, error) {
	f := t.f
	params := f.params
	if params == nil {
		var err error
		if params, err = t.decode(); err != nil {
			return stage.Call{}, err
		}
	}
	item := f.items.at(int(t.index))
	var err error
	if item.Input, err = t.openAt(t, payload.Input, f.h.origin, item.Input); err != nil {
		return stage.Call{}, err
	}
	return stage.Call{Params: params, Index: int(t.index), Total: f.total, Item: item, Cut: f.cut}, nil
}

func (t *task) decode() (params any, err error) {
	defer t.recovered(&err)
	if t.f.corrupt != nil {
		return nil, t.f.corrupt
	}
	params, err = t.f.h.def.Handler.Params(t.f.raw)
	if err != nil {
		return nil, stage.Permanent(faultf(CodeParams, "%s: start the run with other params, or run it with the code of its version", err))
	}
	return params, nil
}

// recovered makes a panic an error.
func (t *task) recovered(err *error) {
	if r := recover(); r != nil {
		*err = &crash{value: r, stack: debug.Stack()}
	}
}

// failed is the handler's error, or that of a stream it has read.
func (t *task) failed(err error) error {
	t.faultMu.Lock()
	defer t.faultMu.Unlock()
	if err == nil {
		return t.fault
	}
	return err
}

// settle makes the result of what the handler returned.
func (t *task) settle(output []byte, err error) {
	f := t.f
	w := f.pool.w
	if err == nil {
		err = w.checkOutput(f, output)
	}
	if err == nil {
		output, err = t.seal(output)
	}
	if err == nil {
		t.result = t.resultOf(stage.Succeeded)
		t.result.Output = output
	} else {
		t.result = t.failure(err, t.stopped())
	}
	t.time(w.clk.now())
}

// time sets the result's times, by the database's clock.
func (t *task) time(end time.Duration) {
	clk := t.f.pool.w.clk
	t.result.Started = clk.db(t.begun)
	t.result.Finished = clk.db(end)
	if t.result.Finished.Before(t.result.Started) {
		t.result.Finished = t.result.Started
	}
}

// abandon ends the task without its handler, which was told to stop and has not. The slot stays taken.
func (p *pool) abandon(t *task) {
	t.result = t.failure(nil, t.cause)
	t.time(p.w.clk.now())
	p.stuck++
	p.end(t)
}
