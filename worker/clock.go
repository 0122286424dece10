package worker

import (
	"sync/atomic"
	"time"

	"axflow/internal/dbtime"
)

// clock measures with the machine's monotonic clock and tells database time from it.
type clock struct {
	born   time.Time
	fixed  func() time.Time  // Config.Clock
	est    *dbtime.Estimator // nil before the first sample; only the heartbeat's goroutine uses it
	anchor atomic.Pointer[anchor]
}

// anchor is what the database's clock showed at one moment.
type anchor struct {
	at time.Duration // monotonic
	db time.Time
}

func newClock(fixed func() time.Time) *clock {
	c := &clock{born: time.Now(), fixed: fixed}
	c.anchor.Store(&anchor{db: c.born})
	return c
}

// now is the monotonic time.
func (c *clock) now() time.Duration { return time.Since(c.born) }

// db is the database's time at a monotonic time close to now.
func (c *clock) db(at time.Duration) time.Time {
	if c.fixed != nil {
		return c.fixed()
	}
	a := c.anchor.Load()
	return a.db.Add(at - a.at)
}

// sample takes what the database's clock said between two monotonic times.
func (c *clock) sample(sent, received time.Duration, db time.Time) {
	if c.est == nil {
		c.est = dbtime.New(dbtime.Config{Monotonic: c.now}, sent, received, db)
	} else {
		c.est.Sample(sent, received, db)
	}
	now := c.est.Now()
	c.anchor.Store(&anchor{at: c.now(), db: now})
}
