package dispatch

import (
	"context"
	"fmt"
	"time"

	"axflow/sql/span"
)

// When the database's clock goes back, what was ready before is ready in the future: left alone, all of it would wait until
// the clock has caught up. A row that was written in the future says so by its ready_at, and waits from now on as long
// as it was to wait from then on.

const (
	// aheadSlack is what a row may be ahead for other reasons: the estimate of the clock is no better.
	aheadSlack = time.Second
	// aheadWait bounds the waits that are taken for relative ones (a retry, a delay). Longer ones may be for a time
	// of day that somebody named, and keep it.
	aheadWait = 5 * time.Minute
)

// early moves a row that was written in the future to the present, and tells whether it was one.
func early(r *span.Ready, now time.Time) bool {
	ahead := r.ReadyAt.Sub(now)
	if ahead <= aheadSlack || r.NotBefore.Sub(r.ReadyAt) > aheadWait {
		return false
	}
	r.ReadyAt, r.NotBefore = now, r.NotBefore.Add(-ahead)
	return true
}

// lookAhead finds out how far ahead of the clock rows may be, where that is not known: at the beginning of a term, after
// a step, and while there are any.
func (l *Loop) lookAhead(ctx context.Context) error {
	if !l.fresh && !l.stepped && l.ahead == 0 {
		return nil
	}
	s, err := l.q.ReadyAhead(ctx)
	if err != nil {
		return fmt.Errorf("looking how far ready rows are ahead of the clock: %w", err)
	}
	l.stepped, l.ahead = false, 0
	if ahead := time.Duration(s * float64(time.Second)); ahead > aheadSlack {
		l.ahead = ahead
	}
	return nil
}
