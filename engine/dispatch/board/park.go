package board

// waiters are the lanes and strands that a closed gate keeps out of sight. They are looked at again when it may have opened.
type waiters struct {
	lanes   []*lane
	strands []*strand
}

func (w *waiters) empty() bool { return len(w.lanes)+len(w.strands) == 0 }

// moved puts the lane where its head says. The lane must not be parked.
func (l *lane) moved() {
	head := l.head()
	switch {
	case head == nil:
		if l.pos >= 0 {
			l.queue().remove(l.pos)
		}
	case l.pos < 0:
		l.queue().push(head.at, head.seq, l)
	default:
		l.queue().fix(l.pos, head.at, head.seq)
	}
}

// moved puts the strand where its first span says, and the lane likewise. The strand must not be parked.
func (s *strand) moved() {
	l := s.lane
	if l.byKey != nil {
		switch {
		case s.spans.empty():
			if s.pos >= 0 {
				l.strands.remove(s.pos)
			}
		case s.pos < 0:
			l.strands.push(s.spans.e[0].at, s.spans.e[0].seq, s)
		default:
			l.strands.fix(s.pos, s.spans.e[0].at, s.spans.e[0].seq)
		}
	}
	if l.parked == nil {
		l.moved()
	} else if l.head() == nil {
		l.unpark()
	}
}

// park takes the lane out of sight until its gate opens.
func (b *Board) park(l *lane, gate int) {
	l.queue().remove(l.pos)
	w := l.waitersOf(gate)
	l.parked, l.parkBy, l.parkPos = w, gate, len(w.lanes)
	w.lanes = append(w.lanes, l)
	if gate >= len(l.scopes) {
		b.reopen(l.passes[gate-len(l.scopes)].rate)
	}
}

func (l *lane) waitersOf(gate int) *waiters {
	if gate < len(l.scopes) {
		return &l.scopes[gate].waiters
	}
	return &l.passes[gate-len(l.scopes)].rate.waiters
}

func (l *lane) unpark() {
	w := l.parked
	last := len(w.lanes) - 1
	w.lanes[l.parkPos] = w.lanes[last]
	w.lanes[l.parkPos].parkPos = l.parkPos
	w.lanes[last] = nil
	w.lanes = w.lanes[:last]
	l.parked = nil
}

// parkStrand takes the strand out of sight until its gate opens.
func (b *Board) parkStrand(s *strand, gate int) {
	l := s.lane
	l.strands.remove(s.pos)
	w := &s.key.waiters
	if gate == keyRate {
		w = &s.pass.rate.waiters
	}
	s.parked, s.parkBy, s.parkPos = w, gate, len(w.strands)
	w.strands = append(w.strands, s)
	l.moved()
	if gate == keyRate {
		b.reopen(s.pass.rate)
	}
}

func (s *strand) unpark() {
	w := s.parked
	last := len(w.strands) - 1
	w.strands[s.parkPos] = w.strands[last]
	w.strands[s.parkPos].parkPos = s.parkPos
	w.strands[last] = nil
	w.strands = w.strands[:last]
	s.parked = nil
}

// wake returns to sight what waits for a gate that is open now.
func (b *Board) wake(w *waiters) {
	lanes := w.lanes[:0]
	for _, l := range w.lanes {
		if l.roomIn(l.parkBy) <= 0 {
			l.parkPos = len(lanes)
			lanes = append(lanes, l)
			continue
		}
		l.parked = nil
		l.moved()
		b.activate(l.handler)
	}
	clear(w.lanes[len(lanes):])
	w.lanes = lanes
	strands := w.strands[:0]
	for _, s := range w.strands {
		if s.roomIn(s.parkBy) <= 0 {
			s.parkPos = len(strands)
			strands = append(strands, s)
			continue
		}
		s.parked = nil
		s.moved()
		b.activate(s.lane.handler)
	}
	clear(w.strands[len(strands):])
	w.strands = strands
}

// unblocked parks what is blocked off the top until a head may go on, and returns its lane or nil.
func (b *Board) unblocked(q *heap[*lane]) *lane {
	for !q.empty() {
		l := q.top()
		if gate := l.closed(); gate >= 0 {
			b.park(l, gate)
			continue
		}
		if l.byKey == nil {
			return l
		}
		s := l.strands.top()
		gate := s.closed()
		if gate < 0 {
			return l
		}
		b.parkStrand(s, gate)
	}
	return nil
}

// sweep forgets lanes, strands, scopes, rates and handlers that nothing uses any more, once they are many.
func (b *Board) sweep() {
	if b.idle < 1024 || b.idle < len(b.strands)/2 {
		return
	}
	kept := b.strands[:0]
	for _, s := range b.strands {
		if !s.spans.empty() {
			kept = append(kept, s)
			continue
		}
		l := s.lane
		if s.key != nil {
			s.key.refs--
			delete(l.byKey, s.id)
			if s.pass.rate != nil {
				s.pass.rate.refs--
			}
		}
		if len(l.byKey) == 0 {
			delete(b.lanes, l.key)
			l.handler.refs--
			for _, c := range l.scopes {
				c.refs--
			}
			for i := range l.passes {
				l.passes[i].rate.refs--
			}
		}
	}
	clear(b.strands[len(kept):])
	b.strands, b.idle = kept, 0
	clear(b.terms)
	for _, l := range b.lanes {
		if l.key.terms != nil {
			b.terms[*l.key.terms] = l.key.terms
		}
	}
	for id, s := range b.scopes {
		if s.unused() {
			delete(b.scopes, id)
		}
	}
	for name, r := range b.rates {
		if r.unused() {
			delete(b.rates, name)
		}
	}
	for key, h := range b.handlers {
		if h.refs == 0 && len(h.pools) == 0 && !h.active {
			delete(b.handlers, key)
		}
	}
}
