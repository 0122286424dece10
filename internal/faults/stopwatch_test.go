package faults

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// stopwatch measures the time from now on, without the moments for which the machine stood still. A test that bounds a time
// measures it so.
func (s *site) stopwatch() (elapsed func() time.Duration) {
	s.t.Helper()
	begun := time.Now()
	if s.stood == nil {
		s.stood = s.pulse()
	}
	before := s.stood.Load()
	return func() time.Duration { return time.Since(begun) - time.Duration(s.stood.Load()-before) }
}

// pulse sums up, until the test ends, for how long the machine stands still: a session of its own asks the least of questions
// and gets no answer.
func (s *site) pulse() (stood *atomic.Int64) {
	s.t.Helper()
	const tick, slow = 10 * time.Millisecond, 100 * time.Millisecond
	conn, err := pgx.ConnectConfig(s.ctx, s.pool.Config().ConnConfig)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(s.ctx)
	done := make(chan struct{})
	stood = new(atomic.Int64)
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
				stood.Add(int64(late))
			}
		}
	}()
	s.t.Cleanup(func() {
		stop()
		<-done
		_ = conn.Close(context.Background())
	})
	return stood
}
