package stage

import "errors"

// Errors of reading an upstream's output.
var (
	// ErrNoEnv says that the context is not one that a worker gave to a handler.
	ErrNoEnv = errors.New("this context is not a stage handler's: use the context that the handler was called with")
	// ErrNotUpstream says that the stage whose output was asked for is no upstream of the running one.
	ErrNotUpstream = errors.New("not an upstream of this stage: name it in After")
	// ErrNoOutput says that the upstream has no output: it did not succeed, or that shard of it did not.
	ErrNoOutput = errors.New("the upstream has no output")
)

// Coded is an error with a stable code, by which policies and people can tell it from others.
// Retry.NonRetryable lists codes.
type Coded interface{ Code() string }

// CodeOf returns the code of the outermost Coded error in err's chain, or "".
func CodeOf(err error) string {
	var code string
	anyInChain(err, func(err error) bool {
		c, ok := err.(Coded)
		if ok {
			code = c.Code()
		}
		return ok
	})
	return code
}

type permanent struct{ err error }

func (p permanent) Error() string { return p.err.Error() }
func (p permanent) Unwrap() error { return p.err }

// Permanent marks err as not worth a retry: the task goes straight to the dead letters, whatever attempts
// are left. The text and the chain of err stay. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

// IsPermanent tells whether err, or an error that it wraps, was marked by Permanent.
func IsPermanent(err error) bool {
	_, ok := errors.AsType[permanent](err)
	return ok
}
