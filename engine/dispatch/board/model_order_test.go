package board

import (
	"slices"
	"time"

	"axflow/stage"
)

func (m *model) isDemoted(s *Span) bool {
	from, ok := m.demoted[s.Queue]
	return ok && s.Level >= from
}

func (m *model) dispatchable(s *Span) bool {
	if m.gated(s) {
		return false
	}
	for _, w := range m.workers {
		if !m.capable(w, s) {
			continue
		}
		if takes, _ := m.normal(w, s); takes {
			return true
		}
		if s.Level == 0 && !m.isDemoted(s) && m.urgentOut(w.ID) < w.Urgent {
			return true
		}
	}
	return false
}

// native is the level whose turns a span takes without aging.
func (m *model) native(s *mspan) stage.Level {
	if m.isDemoted(&s.Span) {
		return 5
	}
	return s.Level
}

func (m *model) riseOf(s *mspan) time.Duration {
	if !m.aging {
		return 0
	}
	if r, ok := m.rise[s.Queue]; ok {
		return r
	}
	return testRise
}

func (m *model) risen(s *mspan) stage.Level {
	l, rise := m.native(s), m.riseOf(s)
	if l <= 1 || rise == 0 || m.isDemoted(&s.Span) {
		return l
	}
	up := max(0, int(m.now.Sub(m.readyAt(s))/rise))
	return stage.Level(max(1, int(l)-up))
}

// before tells whether x came to the level before y did.
func (m *model) before(x, y *mspan, turn stage.Level) bool {
	xe := m.readyAt(x).Add(time.Duration(int(m.native(x))-int(turn)) * m.riseOf(x))
	ye := m.readyAt(y).Add(time.Duration(int(m.native(y))-int(turn)) * m.riseOf(y))
	return xe.Before(ye) || xe.Equal(ye) && x.order < y.order
}

// contests tells whether a span may take a turn of a level: all of its own, and of a better one only the first of those that
// rise from the same level at the same pace.
func (m *model) contests(s *mspan, turn stage.Level) bool {
	if !m.dispatchable(&s.Span) {
		return false
	}
	l := m.native(s)
	if l == turn {
		return true
	}
	return m.risen(s) == turn && !slices.ContainsFunc(m.spans, func(o *mspan) bool {
		return o.Handler == s.Handler && m.native(o) == l && m.isDemoted(&o.Span) == m.isDemoted(&s.Span) &&
			m.riseOf(o) == m.riseOf(s) && m.before(o, s, l) && m.dispatchable(&o.Span)
	})
}
