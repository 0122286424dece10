package dispatch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"axflow/sql/span"
)

// skipping is what of a lane the window passes over because it is blocked and there is too much of it: whole keys, and
// retries behind a retry window. A part of it stays in memory, so that it goes on when it may; when that runs low, the
// window looks at it again.
type skipping struct {
	keys      map[string]*skipped
	late      *skipped // attempts after the first
	judged    time.Time
	reloading bool
}

// skipped is a group that is passed over.
type skipped struct{ left, low int } // in memory; when to look again

const (
	// judgeRest is the least time between two looks at a crowded lane.
	judgeRest = 200 * time.Millisecond
	// mostSkipped bounds the keys that a lane passes over, and so what its query has to carry.
	mostSkipped = 20_000
)

// late tells whether a retry window would hold the span.
func late(r *span.Ready) bool { return r.Attempt > 1 && r.Kind != span.Plan }

// skips tells whether the window passes over the span.
func (s *skipping) skips(r *span.Ready) bool {
	return s.late != nil && late(r) || s.keys != nil && s.keys[r.Key] != nil
}

func (s *skipping) count(r *span.Ready) {
	if g := s.keys[r.Key]; g != nil {
		g.left++
	}
	if s.late != nil && late(r) {
		s.late.left++
	}
}

// uncount takes a span out and tells whether a group ran low: it is passed over no longer.
func (s *skipping) uncount(p *place) (low bool) {
	if g := s.keys[p.key]; g != nil {
		if g.left--; g.left <= g.low {
			delete(s.keys, p.key)
			low = true
		}
	}
	if s.late != nil && p.late {
		if s.late.left--; s.late.left <= s.late.low {
			s.late, low = nil, true
		}
	}
	return low
}

// skipped is how many spans in memory are of groups that are passed over.
func (s *skipping) skipped() int {
	n := 0
	for _, g := range s.keys {
		n += g.left
	}
	if s.late != nil {
		n += s.late.left
	}
	return n
}

func (s *skipping) fullKeys() []string {
	keys := make([]string, 0, len(s.keys))
	for k := range s.keys {
		keys = append(keys, k)
	}
	return keys
}

// appendSkipped appends the ids of a lane's spans that its load will not name.
func (l *Loop) appendSkipped(ids []uuid.UUID, ln *lane) []uuid.UUID {
	if len(ln.keys) == 0 && ln.late == nil {
		return ids
	}
	for id := range ln.ids {
		p := l.known[id]
		if ln.late != nil && p.late || ln.keys[p.key] != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// judge looks at the lanes of which the database holds more than memory, after a round that left nothing to hand out:
// what is blocked there must not keep the rest out.
func (l *Loop) judge() {
	if len(l.crowded) == 0 {
		return
	}
	now := time.Now()
	for ln := range l.crowded {
		if now.Sub(ln.judged) >= judgeRest {
			ln.judged = now
			l.judgeLane(ln)
		}
	}
}

// group is blocked spans of one key, or the retries.
type group struct {
	key  string
	late bool
	ids  []uuid.UUID
}

func (l *Loop) judgeLane(ln *lane) {
	groups := make(map[groupKey]*group)
	blocked := 0
	for id := range ln.ids {
		p := l.known[id]
		if ln.keys[p.key] != nil || ln.late != nil && p.late {
			continue
		}
		gate, closed := l.board.Blocked(id)
		if !closed {
			continue
		}
		of, ok := groupOf(gate, &p)
		if !ok {
			continue
		}
		g := groups[of]
		if g == nil {
			g = &group{key: of.key, late: of.late}
			groups[of] = g
		}
		g.ids = append(g.ids, id)
		blocked++
	}
	if blocked == 0 {
		return
	}
	list := make([]*group, 0, len(groups))
	for _, g := range groups {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *group) int { return cmp.Or(len(b.ids)-len(a.ids), cmp.Compare(a.key, b.key)) })
	passed := false
	for _, g := range list {
		// A group that holds an eighth of the lane is passed over; smaller ones too while they fill half of it together.
		if len(g.ids) < l.perLane/8 && blocked < l.perLane/2 || len(ln.keys) >= mostSkipped {
			break
		}
		blocked -= len(g.ids)
		l.passOver(ln, g)
		passed = true
	}
	if passed {
		l.stale[ln] = struct{}{}
	}
}

type groupKey struct {
	key  string
	late bool
}

// groupOf says, by the Board's names of scopes and rates, to which group a blocked span belongs; gates that hold all of a lane make none.
func groupOf(gate string, p *place) (groupKey, bool) {
	switch {
	case p.late && strings.HasPrefix(gate, "retry/"):
		return groupKey{late: true}, true
	case p.key != "" && (strings.HasPrefix(gate, "key ") || strings.HasPrefix(gate, "key/")):
		return groupKey{key: p.key}, true
	}
	return groupKey{}, false
}

// passOver has the window pass over a group, and keeps its oldest spans: the fewer, the more groups there are.
func (l *Loop) passOver(ln *lane, g *group) {
	keep := max(64, l.perLane/(2*(len(ln.keys)+2)))
	if len(g.ids) > keep {
		slices.SortFunc(g.ids, l.older)
		for _, id := range g.ids[keep:] {
			l.drop(id)
		}
		g.ids = g.ids[:keep]
	}
	s := &skipped{left: len(g.ids), low: len(g.ids) / 4}
	if g.late {
		ln.late = s
		return
	}
	if ln.keys == nil {
		ln.keys = make(map[string]*skipped)
	}
	ln.keys[g.key] = s
}

// older orders pending spans by when they became ready.
func (l *Loop) older(a, b uuid.UUID) int {
	x, _ := l.board.Span(a)
	y, _ := l.board.Span(b)
	return cmp.Or(x.NotBefore.Compare(y.NotBefore), compareIDs(a, b))
}
