package clock_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"axflow/engine/clock"
)

// clocks is a database clock beside the bubble's: ahead of it by offset.
type clocks struct {
	mu     sync.Mutex
	offset time.Duration
	err    error
	reads  int
}

func (c *clocks) read(context.Context) (time.Time, error) {
	time.Sleep(2 * time.Millisecond) // virtual
	c.mu.Lock()
	c.reads++
	now, err := time.Now().Add(c.offset), c.err
	c.mu.Unlock()
	time.Sleep(2 * time.Millisecond)
	return now, err
}

func (c *clocks) set(offset time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset, c.err = offset, err
}

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &clocks{offset: 3 * time.Hour}
		var log bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		c, err := clock.Open(ctx, clock.Config{Read: db.read, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil || db.reads != 3 {
			t.Fatalf("Open: %v after %d reads, want 3", err, db.reads)
		}
		ended := make(chan error)
		go func() { ended <- c.Run(ctx) }()
		jumps, stop := c.Subscribe()
		defer stop()
		check := func(when string, failures, seen uint64) {
			t.Helper()
			synctest.Wait()
			// The delays are even, so the estimate is exact but for what drift makes possible.
			if off := c.Now().Sub(time.Now().Add(db.offset)); off.Abs() > 4*time.Millisecond {
				t.Errorf("%s: off by %v", when, off)
			}
			if c.Failures() != failures || c.Jumps() != seen {
				t.Errorf("%s: %d failures, %d jumps; want %d, %d", when, c.Failures(), c.Jumps(), failures, seen)
			}
		}
		check("at first", 0, 0)
		time.Sleep(59*time.Second + 500*time.Millisecond)
		check("after a minute", 0, 0)

		db.set(3*time.Hour, errors.New("gone"))
		time.Sleep(3 * time.Second)
		check("without a database", 3, 0)
		db.set(3*time.Hour, nil)
		time.Sleep(time.Second)

		db.set(2*time.Hour, nil)
		j := <-jumps
		if (j.By+time.Hour).Abs() > 4*time.Millisecond || j.Count != 1 {
			t.Errorf("jump %+v, want an hour back", j)
		}
		check("after the jump", 3, 1)

		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		for want, n := range map[string]int{"does not tell": 1, "tells its time again": 1, "has jumped": 1} {
			if got := strings.Count(log.String(), want); got != n {
				t.Errorf("logged %q %d times, want %d:\n%s", want, got, n, &log)
			}
		}
	})
}

func TestOpenFails(t *testing.T) {
	if _, err := clock.Open(t.Context(), clock.Config{}); err == nil {
		t.Error("Open without Read should fail")
	}
	gone := errors.New("gone")
	_, err := clock.Open(t.Context(), clock.Config{Read: func(context.Context) (time.Time, error) { return time.Time{}, gone }})
	if !errors.Is(err, gone) {
		t.Errorf("Open: %v, want %v", err, gone)
	}
}

// TestTimeout: a database that does not answer holds a sample no longer than the time-out.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, err := clock.Open(t.Context(), clock.Config{Read: func(ctx context.Context) (time.Time, error) {
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		}})
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != clock.DefaultTimeout {
			t.Errorf("Open: %v after %v", err, took)
		}
	})
}
