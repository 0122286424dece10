package worker

import (
	"errors"
	"time"

	"axflow/sql/span"
	"axflow/stage"
)

// failure is the result of an attempt that has failed, or was stopped before it could.
func (t *task) failure(err, cause error) span.Result {
	switch {
	case cause == nil:
	case errors.Is(cause, ErrTimeout):
		return t.timedOut(CodeTimeout, ErrTimeout, "the attempt took longer than its Execution time-out of "+t.f.h.spec.Timeout.Execution.String())
	case errors.Is(cause, ErrSilent):
		return t.timedOut(CodeSilent, ErrSilent, "the handler gave no sign of life (stage.Heartbeat) within its Heartbeat time-out of "+t.f.h.spec.Timeout.Heartbeat.String())
	default:
		r := t.resultOf(stage.Interrupted)
		r.Error = failure{Code: CodeInterrupted, Message: cause.Error(), Retryable: true}.encode()
		return r
	}
	if errors.Is(err, errAside) {
		r := t.resultOf(stage.Interrupted)
		r.Error = failure{Code: CodeInterrupted, Message: err.Error(), Retryable: true}.encode()
		return r
	}
	if errors.Is(err, stage.ErrAwait) { // had it waited, its result would not be asked for
		err = stage.Permanent(faultf(CodeAwait, "the handler returned stage.ErrAwait, but its task waits for no run: return it only when Env.Child did"))
	}
	v := t.judge(err)
	r := t.resultOf(stage.Failed)
	r.Again, r.Delay, r.Exact = v.again, v.delay, v.exact
	f := failureOf(err, r.Again).identify()
	r.Error, r.Fingerprint = f.encode(), f.Fingerprint
	t.health = health{failed: r.Again, downstream: v.downstream, text: f.Message}
	return r
}

// timedOut is the result of an attempt that took too long. It never runs again at once.
func (t *task) timedOut(code string, cause error, text string) span.Result {
	retry := &t.f.h.spec.Retry
	v := t.judge(&coded{code, cause.Error()}) // so that a policy can list the code
	r := t.resultOf(stage.TimedOut)
	r.Again, r.Delay = v.again, max(v.delay, retry.InitialInterval)
	f := failure{Code: code, Message: text, Retryable: r.Again}.identify()
	r.Error, r.Fingerprint = f.encode(), f.Fingerprint
	t.health = health{failed: r.Again, text: f.Message}
	return r
}

// judgement is what an error says of what is to come.
type judgement struct {
	again      bool
	delay      time.Duration
	exact      bool   // the error has said so
	downstream string // the one that has failed; "": not said
}

// judge asks the policy and the error; an error whose methods panic is worth a retry.
func (t *task) judge(err error) (v judgement) {
	retry := &t.f.h.spec.Retry
	v.delay = retry.Delay(int(t.f.Attempt), t.f.pool.w.cfg.Rand())
	defer func() {
		if recover() != nil {
			v.again = true
		}
	}()
	v.again = retry.Retryable(err)
	if d, ok := stage.RetryAfterOf(err); ok {
		v.delay, v.exact = onGrid(d), true
	}
	v.downstream = stage.DownstreamOf(err)
	return v
}

// onGrid makes a delay up to 10 ms, or a hundredth, longer, so that what has failed together and asks for about the same
// is due together: each time that something is due at is a row.
func onGrid(d time.Duration) time.Duration {
	q := 10 * time.Millisecond
	for q*2 <= d/100 {
		q *= 2
	}
	if rest := d % q; rest > 0 {
		d += q - rest
	}
	return d
}
