package pgtest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// What takes longer than slow, beside the tick, is a standstill.
const (
	tick = 10 * time.Millisecond
	slow = 100 * time.Millisecond
)

// Stopwatch measures time without the moments for which the machine stood still: those in which a session of its own got no
// answer to the least of questions. A test that bounds a time measures it so.
type Stopwatch struct {
	begun time.Time
	from  int64
	stood atomic.Int64 // so far, in nanoseconds
}

// Stopwatch starts one on a database; it ends with the test.
func (d *DB) Stopwatch(t testing.TB) *Stopwatch {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	conn, err := pgx.ConnectConfig(ctx, d.Pool.Config().ConnConfig)
	if err != nil {
		stop()
		t.Fatalf("pgtest: connecting the stopwatch: %v", err)
	}
	w := new(Stopwatch)
	done := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-done
		_ = conn.Close(context.Background())
	})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			asked := time.Now()
			timer := time.NewTimer(tick)
			<-timer.C
			if _, err := conn.Exec(ctx, "SELECT 1"); err != nil {
				return
			}
			if late := time.Since(asked) - tick; late > slow {
				w.stood.Add(int64(late))
			}
		}
	}()
	w.Reset()
	return w
}

// Reset makes it measure from now on.
func (w *Stopwatch) Reset() { w.begun, w.from = time.Now(), w.stood.Load() }

// Elapsed is the time since it was started or reset.
func (w *Stopwatch) Elapsed() time.Duration { return time.Since(w.begun) - w.Stood() }

// Stood is for how long the machine has stood still since.
func (w *Stopwatch) Stood() time.Duration { return time.Duration(w.stood.Load() - w.from) }
