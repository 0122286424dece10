package stage

import (
	"errors"
	"fmt"
	"time"
)

// MaxRetryAfter bounds RetryAfter.
const MaxRetryAfter = 30 * 24 * time.Hour

type retryAfter struct {
	wait time.Duration
	err  error
}

func (r retryAfter) Error() string { return r.err.Error() }
func (r retryAfter) Unwrap() error { return r.err }

// RetryAfter is an error that fails the attempt and says how long to wait before the next one, in place of the retry
// policy's interval and without jitter: what a server's Retry-After header said. It costs an attempt, as every failure does.
// cause, if given, is the error that people see. d is held between 0 and MaxRetryAfter.
func RetryAfter(d time.Duration, cause ...error) error {
	d = min(max(d, 0), MaxRetryAfter)
	err := errors.Join(cause...)
	if err == nil {
		err = fmt.Errorf("the handler asked to be tried again in %v", d)
	}
	return retryAfter{d, err}
}

// RetryAfterOf returns the wait that err asks for; ok is false if it asks for none.
func RetryAfterOf(err error) (d time.Duration, ok bool) {
	r, ok := errors.AsType[retryAfter](err)
	return r.wait, ok
}
