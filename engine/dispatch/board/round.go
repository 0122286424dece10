package board

import "time"

// proposal is what a handler would hand out next.
type proposal struct {
	lane *lane
	turn int      // the level whose turn it is
	set  levelSet // the levels that contested the turn
	at   int64    // order among handlers of the same turn
	seq  uint64
	made uint64 // Board.stamp when it was made
}

// rank is a span's static order over levels: where it became ready, put back by the time that its level has to wait to be
// equal to P0. Effective priority is (rank − now) × decay, so the least rank has the least effective priority.
func (b *Board) rank(level int, ready int64) int64 { return ready + int64(level)*b.rise }

// risen is the level that a span of a level has aged to. P0 is not reached by aging.
func (b *Board) risen(level int, ready, now int64) int {
	if level <= 1 || b.rise == 0 || now <= ready {
		return level
	}
	return max(1, level-int(min((now-ready)/b.rise, levels)))
}

// propose finds what the handler would hand out next and puts it into h.next. Lanes and routes that turn out blocked on
// the way leave sight until the event that may open them.
func (b *Board) propose(h *handler, now int64) bool {
	for {
		var best [levels]*lane
		var set levelSet
		for _, r := range h.routes {
			for n := range levels {
				q := &r.lanes[n]
				if q.empty() || r.full[class(n)] == h.epoch {
					continue
				}
				l := q.top()
				if _, closed := l.room(); closed >= 0 {
					if l = unblocked(q); l == nil {
						continue
					}
				}
				b.contest(&best, &set, n, l)
				if up := b.risen(n, q.e[0].at, now); up < n {
					b.contest(&best, &set, up, l)
				}
			}
		}
		if set == 0 {
			return false
		}
		turn := h.turns.first(&b.weights, set)
		l := best[turn]
		if !b.seated(l) {
			l.route.full[class(int(l.key.level))] = h.epoch
			continue
		}
		head := l.spans.e[0]
		h.next = proposal{l, turn, set, b.rank(int(l.key.level), head.at), head.seq, b.stamp}
		return true
	}
}

// unblocked parks lanes off the top until one may go on, and returns that one or nil.
func unblocked(q *heap[*lane]) *lane {
	for !q.empty() {
		l := q.top()
		_, closed := l.room()
		if closed < 0 {
			return l
		}
		l.park(closed)
	}
	return nil
}

// contest enters a lane for a level's turn, against the best lane so far.
func (b *Board) contest(best *[levels]*lane, set *levelSet, turn int, l *lane) {
	if o := best[turn]; o != nil {
		x, y := &l.spans.e[0], &o.spans.e[0]
		xr, yr := b.rank(int(l.key.level), x.at), b.rank(int(o.key.level), y.at)
		if xr > yr || xr == yr && x.seq > y.seq {
			return
		}
	}
	best[turn] = l
	*set |= 1 << turn
}

// seated tells whether any pool would take the lane's next span.
func (b *Board) seated(l *lane) bool {
	urgent := l.key.level == 0
	for _, p := range l.route.pools {
		if takes, _ := p.free(l.key.solo); takes || urgent && p.worker.urgentFree() > 0 {
			return true
		}
	}
	return false
}

// Round hands out what can be handed out now, at most maxGrants grants, in the order in which they should be made. The books
// count every grant as done: Reject takes one back. When it returns fewer than maxGrants, nothing more can be handed out before
// the next event.
func (b *Board) Round(now time.Time, maxGrants int) []Grant {
	if maxGrants <= 0 || len(b.active) == 0 {
		return nil
	}
	at := now.UnixNano()
	var waiting levelSet
	still := b.active[:0]
	for _, h := range b.active {
		if h.active = b.propose(h, at); h.active {
			still = append(still, h)
			b.heads[h.next.turn].push(h.next.at, h.next.seq, h)
			waiting |= 1 << h.next.turn
		}
	}
	clear(b.active[len(still):])
	b.active = still
	var grants []Grant
	if len(still) > 0 {
		grants = make([]Grant, 0, min(maxGrants, len(b.spans), 1+b.last+b.last/4))
	}
	for len(grants) < maxGrants && waiting != 0 {
		turn := b.turns.first(&b.weights, waiting)
		q := &b.heads[turn]
		h := q.top()
		if h.next.made == b.stamp {
			grants = append(grants, b.grant(h, at))
			if !grants[len(grants)-1].Urgent {
				b.turns.charge(&b.weights, turn, 1, waiting)
			}
		}
		// Its proposal is used up, or was made before the last grant: make it anew.
		if !b.propose(h, at) {
			q.remove(0)
			h.active = false
		} else if h.next.turn == turn {
			q.fix(0, h.next.at, h.next.seq)
		} else {
			q.remove(0)
			b.heads[h.next.turn].push(h.next.at, h.next.seq, h)
			waiting |= 1 << h.next.turn
		}
		if q.empty() {
			waiting &^= 1 << turn
		}
	}
	for turn := range b.heads {
		b.heads[turn].clear()
	}
	still = b.active[:0]
	for _, h := range b.active {
		if h.active {
			still = append(still, h)
		}
	}
	clear(b.active[len(still):])
	b.active = still
	b.last = len(grants)
	return grants
}
