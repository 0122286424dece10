package watch

import (
	"cmp"
	"fmt"
	"slices"

	"axflow/stage"
)

// The bounds of the columns, in cells.
const (
	minBar, maxBar = 8, 40
	minName        = 8
	wordyFrom      = 64 // below this width numbers are shortened
	minWidth       = 10
	minHeight      = 3
	defaultWidth   = 80
	defaultHeight  = 24
	columnGap      = 1
)

// frame draws a view in at most height lines of at most width cells.
func (s style) frame(v *view, width, height int) []string {
	width, height = max(width, minWidth), max(height, minHeight)
	lines := s.header(v, width)
	if v.trouble != "" {
		l := s.line(width)
		l.add("! "+v.trouble, yellow)
		lines = append(lines, l.String())
	}
	lines = lines[:min(len(lines), height-1)]
	shown := choose(v.rows, height-len(lines))
	hidden := len(v.rows) - len(shown)
	if len(shown) > 0 {
		c := s.columns(shown, width)
		room := height - len(lines) - len(shown) - min(hidden, 1)
		for _, r := range shown {
			lines = append(lines, s.rowLine(r, c, width))
			for _, t := range r.tasks[:min(room, len(r.tasks))] {
				lines = append(lines, s.taskLine(t, width))
				room--
			}
		}
	}
	if hidden > 0 {
		lines = append(lines, s.rest(v.rows, shown, width))
	}
	return lines
}

// header says which run it is and how it stands; it breaks where the terminal is narrow.
func (s style) header(v *view, width int) []string {
	sign, color := s.runGlyph(v.state)
	parts := []part{
		{v.flow, bold},
		{sign + " " + v.state.String(), color},
		{Duration(v.elapsed), plainly},
		{fmt.Sprintf("%s/%s stages", Count(v.decided()), Count(len(v.rows))), plainly},
		{"run " + v.run, dim},
	}
	if v.stuck != "" {
		parts = append(parts, part{"stuck: " + v.stuck, red})
	}
	if v.paused != "" {
		parts = append(parts, part{v.paused, yellow})
	}
	var lines []string
	l := s.line(width)
	for _, p := range parts {
		need := len([]rune(p.text)) + 2
		if l.width > 0 && l.width+need > width {
			lines = append(lines, l.String())
			l = s.line(width)
		}
		if l.width > 0 {
			l.add("  ", plainly)
		}
		l.add(p.text, p.color)
	}
	return append(lines, l.String())
}

// nextShown is how many of the waiting stages come before finished ones when room is short.
const nextShown = 2

// choose picks the rows that fit into so many lines, in their order: what is active, then what failed, then what
// comes next, then what ended last. When not all fit, one line is left for the rest.
func choose(rows []row, room int) []*row {
	if len(rows) <= room {
		room = len(rows)
	} else {
		room = max(0, room-1)
	}
	order := make([]int, len(rows))
	rank := make([]int, len(rows))
	waiting := 0
	for i := range rows {
		order[i], rank[i] = i, rows[i].rank(waiting)
		if rows[i].state == stage.StageWaiting {
			waiting++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(rows[a].ago, rows[b].ago))
	})
	picked := order[:room]
	slices.Sort(picked)
	shown := make([]*row, len(picked))
	for i, at := range picked {
		shown[i] = &rows[at]
	}
	return shown
}

// rank is how much a stage deserves to be seen, 0 the most, given how many waiting stages precede it.
func (r *row) rank(waiting int) int {
	switch {
	case r.active():
		return 0
	case r.broken():
		return 1
	case r.state == stage.StageWaiting && waiting < nextShown:
		return 2
	case r.state.Decided():
		return 3
	default:
		return 4
	}
}

// rest sums up the rows that are not shown.
func (s style) rest(rows []row, shown []*row, width int) string {
	counts := make(map[stage.StageState]int)
	for i := range rows {
		counts[rows[i].state]++
	}
	for _, r := range shown {
		counts[r.state]--
	}
	l := s.line(width)
	l.add("  and "+Count(len(rows)-len(shown))+" more:", dim)
	for _, state := range stage.StageStates() {
		if n := counts[state]; n > 0 {
			sign, color := s.glyph(state)
			l.add(fmt.Sprintf(" %s %s", sign, Count(n)), color)
			if width >= wordyFrom {
				l.add(" "+(&row{state: state}).words(), dim)
			}
		}
	}
	return l.String()
}
