package stage

import (
	"context"
	"math"
)

// MaxDetail bounds the text of Detail, in bytes; what is longer is cut.
const MaxDetail = 200

// Number is what Progress counts in.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Progress says how far a handler is: done of total, in a unit of its own such as rows or bytes. With a total of 0 or less the
// end is not known. People see it with the worker's next heartbeat, once the task has run for longer than one. It costs some
// nanoseconds and writes nothing by itself, so a loop may call it for every row. It is a sign of life too, as Heartbeat is, and
// does nothing for a context that is not a handler's.
func Progress[N Number](ctx context.Context, done, total N) {
	env, ok := EnvFrom(ctx)
	if !ok {
		return
	}
	env.Progress(finite(float64(done)), finite(float64(total)))
}

// Detail says what a handler is doing, in a few words of at most MaxDetail bytes; the empty text takes it back. Else it is as
// Progress.
func Detail(ctx context.Context, text string) {
	if env, ok := EnvFrom(ctx); ok {
		env.Detail(text)
	}
}

// finite makes what JSON has no number for 0.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
