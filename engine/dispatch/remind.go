package dispatch

import (
	"time"

	"github.com/google/uuid"

	"axflow/engine/resolve"
)

// reminder is something to do again in a moment. Reminders go by this machine's monotonic clock and not through the
// wheel, so that neither a step of the database's clock nor the wheel's switch holds them up. They are few.
type reminder struct {
	at    time.Time
	news  resolve.News
	spans []uuid.UUID
	lane  laneKey // to load again
	align bool
}

// remind does something again after d.
func (l *Loop) remind(d time.Duration, r reminder) {
	r.at = time.Now().Add(d)
	l.reminders = append(l.reminders, r)
}

// recall takes the reminders that are due.
func (l *Loop) recall() {
	if len(l.reminders) == 0 {
		return
	}
	now := time.Now()
	kept := l.reminders[:0]
	for i := range l.reminders {
		r := &l.reminders[i]
		switch {
		case r.at.After(now):
			kept = append(kept, *r)
		case r.align:
			l.aligned.due = true
		case r.lane != laneKey{}:
			if ln := l.lanes[r.lane]; ln != nil {
				l.stale[ln] = struct{}{}
			}
		default:
			l.news.Stages = append(l.news.Stages, r.news.Stages...)
			l.news.Runs = append(l.news.Runs, r.news.Runs...)
			l.refresh = append(l.refresh, r.spans...)
		}
	}
	clear(l.reminders[len(kept):])
	l.reminders = kept
}

// untilReminder is how long no reminder is due, at most d.
func (l *Loop) untilReminder(d time.Duration) time.Duration {
	for i := range l.reminders {
		d = min(d, time.Until(l.reminders[i].at))
	}
	return max(0, d)
}
