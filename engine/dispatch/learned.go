package dispatch

import (
	"context"
	"fmt"
	"time"

	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/pipe"
)

// learned is how many samples stand behind each handler's estimate, and which estimates are not saved.
type learned struct {
	samples map[string]int
	dirty   map[string]struct{}
	savedAt time.Time
}

func newLearned() learned {
	return learned{samples: make(map[string]int), dirty: make(map[string]struct{}), savedAt: time.Now()}
}

const (
	// saveEvery is the least time between two saves of what was learned.
	saveEvery = 10 * time.Second
	// mostSamples is how many samples an estimate remembers.
	mostSamples = 256
)

func (l *learned) note(handler string, n int) {
	l.samples[handler] = min(mostSamples, l.samples[handler]+n)
	l.dirty[handler] = struct{}{}
}

// restore teaches the Board what earlier terms learned.
func (l *Loop) restore(ctx context.Context) error {
	rows, err := l.q.Learned(ctx)
	if err != nil {
		return fmt.Errorf("reading learned costs: %w", err)
	}
	for _, row := range rows {
		l.board.Learn(row.Handler, time.Duration(row.MeanNs), int(row.Samples))
		l.learned.samples[row.Handler] = int(row.Samples)
	}
	return nil
}

// saveLearned writes the estimates that have changed, now and then.
func (l *Loop) saveLearned(ctx context.Context) error {
	x := &l.learned
	if len(x.dirty) == 0 || time.Since(x.savedAt) < saveEvery {
		return nil
	}
	x.savedAt = time.Now()
	var p db.SaveLearnedParams
	for h := range x.dirty {
		p.Handlers = append(p.Handlers, h)
		p.Means = append(p.Means, int64(l.board.Cost(h)))
		p.Samples = append(p.Samples, int32(x.samples[h]))
	}
	to := pipe.New()
	_ = l.cfg.Fence.Hold(ctx, to.Queries)
	_ = to.SaveLearned(ctx, p)
	if err := to.Send(ctx, l.cfg.Conn); err != nil {
		return fmt.Errorf("saving %d learned costs: %w", len(p.Handlers), axsql.Fenced(err))
	}
	clear(x.dirty)
	return nil
}
