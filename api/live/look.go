package live

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// watch looks whenever it is time, until ctx ends.
func (h *Hub) watch(ctx context.Context) {
	var ended <-chan struct{} // never, without a Bus
	var news func() [][]uuid.UUID
	if h.cfg.Bus != nil {
		box := h.cfg.Bus.SubscribeRuns()
		defer box.Close()
		ended, news = box.C(), box.Take
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if at := h.next(); !at.IsZero() {
			timer.Reset(time.Until(at))
		} else {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			return
		case <-h.poke:
		case <-ended:
			h.hear(news())
		case <-timer.C:
			h.look(ctx)
		}
	}
}

// next is when to look, or to tidy up; zero: when somebody comes.
func (h *Hub) next() (at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	earlier := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	open, ended := h.board.watched()
	if open {
		earlier(h.pace.next())
	}
	if ended && h.cfg.Reopen > 0 {
		earlier(h.pace.last.Add(h.cfg.Reopen))
	}
	if h.board.idle > 0 {
		earlier(h.board.tidyAt)
	}
	return at
}

// hear takes hints.
func (h *Hub) hear(all [][]uuid.UUID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ids := range all {
		if h.board.heard(ids) {
			h.pace.hurry()
		}
	}
}

// look reads what is watched and tells of what has changed.
func (h *Hub) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	h.mu.Lock()
	began := time.Now()
	h.board.tidy(began)
	h.pace.began(began)
	unbased := h.board.unbased()
	h.mu.Unlock()
	if unbased && !h.timed {
		now, err := h.source.now(ctx)
		h.stats.Looks.Add(1)
		if err != nil {
			h.failed(ctx, err)
			return
		}
		h.behind, h.timed = time.Until(now), true
	}
	h.mu.Lock()
	ids := h.board.wanted(began)
	q, feeds := h.board.lookFor(began, began.Add(h.behind))
	h.mu.Unlock()
	var seen sight
	if len(ids) > 0 || feeds {
		var err error
		seen, err = h.source.look(ctx, ids, q)
		h.stats.Looks.Add(1)
		if err != nil {
			h.failed(ctx, err)
			return
		}
	}
	h.mu.Lock()
	changed := h.board.told(ids, seen.runs, began)
	if feeds {
		h.behind, h.timed = time.Until(seen.now), true
		h.board.marked(q, seen.feed, began, seen.now)
	}
	dues := h.board.dues()
	h.mu.Unlock()
	for namespace, ids := range dues {
		runs, err := h.source.rows(ctx, namespace, ids)
		h.stats.Looks.Add(1)
		if err != nil {
			h.failed(ctx, err)
			return
		}
		changed = true
		h.mu.Lock()
		h.board.tell(namespace, ids, runs)
		h.mu.Unlock()
	}
	h.mu.Lock()
	h.board.settleAll()
	h.pace.ended(changed)
	h.mu.Unlock()
	if h.failing {
		h.failing = false
		h.cfg.Logger.Info("event streams are told again of what happens")
	}
}

// failed notes a look that came to nothing; the next one makes up for it.
func (h *Hub) failed(ctx context.Context, err error) {
	if errors.Is(ctx.Err(), context.Canceled) { // the Hub ends
		return
	}
	h.stats.Failed.Add(1)
	if !h.failing {
		h.failing = true
		h.cfg.Logger.Warn("event streams cannot be told what happens until the database answers", "error", err)
	}
	h.mu.Lock()
	h.pace.failed()
	h.mu.Unlock()
}
