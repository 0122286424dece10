package board

import "time"

// proposal is what a handler would hand out next.
type proposal struct {
	lane    *lane
	turn    int      // the level whose turn it is
	set     levelSet // the levels that contested the turn
	weights *[levels]int64
	at      int64 // order among handlers of the same turn
	seq     uint64
	made    uint64 // Board.stamp when it was made
}

// entered is when the lane's span that became ready then came to a level, by itself or by aging: the order in the level's turns.
func (l *lane) entered(turn int, ready int64) int64 {
	return ready + int64(l.turn()-turn)*l.route.policy.rise
}

// risen is the level that the lane's span that became ready then has aged to. P0 is not reached by aging.
func (l *lane) risen(ready, now int64) int {
	level, rise := l.turn(), l.route.policy.rise
	if level <= 1 || rise == 0 || now <= ready || l.rank == demoted {
		return level
	}
	return max(1, level-int(min((now-ready)/rise, levels)))
}

// propose finds what the handler would hand out next and puts it into h.next. Lanes and routes that turn out blocked on
// the way leave sight until the event that may open them.
func (b *Board) propose(h *handler, now int64) bool {
	for {
		var best [levels]*lane
		var set levelSet
		for _, r := range h.routes {
			for rank := range r.lanes {
				q := &r.lanes[rank]
				if q.empty() || r.full[class(rank)] == h.epoch {
					continue
				}
				l := b.unblocked(q)
				if l == nil {
					continue
				}
				turn := l.turn()
				contest(&best, &set, turn, l)
				if up := l.risen(q.e[0].at, now); up < turn {
					contest(&best, &set, up, l)
				}
			}
		}
		if set == 0 {
			return false
		}
		weights := &b.policy.weights
		if len(b.policies) > 0 {
			weights = &h.weights
			for l := range levels {
				if weights[l] = b.policy.weights[l]; set.has(l) {
					weights[l] = best[l].route.policy.weights[l]
				}
			}
		}
		turn := b.turnOf(&h.turns, weights, set)
		l := best[turn]
		if !b.seated(l) {
			l.route.full[class(int(l.rank))] = h.epoch
			continue
		}
		head := l.head()
		h.next = proposal{l, turn, set, weights, l.entered(turn, head.at), head.seq, b.stamp}
		return true
	}
}

// contest enters a lane for a level's turn, against the best lane so far.
func contest(best *[levels]*lane, set *levelSet, turn int, l *lane) {
	if o := best[turn]; o != nil {
		x, y := l.head(), o.head()
		xe, ye := l.entered(turn, x.at), o.entered(turn, y.at)
		if xe > ye || xe == ye && x.seq > y.seq {
			return
		}
	}
	best[turn] = l
	*set |= 1 << turn
}

// seated tells whether any pool would take the lane's next span.
func (b *Board) seated(l *lane) bool {
	urgent := l.rank == 0
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
	at := now.UnixNano()
	b.tell(at)
	b.running, b.woken = true, false
	if maxGrants <= 0 || len(b.active) == 0 {
		return nil
	}
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
		turn := b.turnOf(&b.turns, &b.policy.weights, waiting)
		q := &b.heads[turn]
		h := q.top()
		if h.next.made == b.stamp {
			grants = append(grants, b.grant(h, at))
			if !grants[len(grants)-1].Urgent && !b.strict {
				b.turns.charge(&b.policy.weights, turn, 1, waiting)
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
