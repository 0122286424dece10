package watch

import "strings"

// eighths fill a cell from the left by 1/8 to 7/8.
var eighths = []rune("▏▎▍▌▋▊▉")

// part is text in one colour.
type part struct{ text, color string }

// bar draws how much of the total is done, failed and in flight, in width cells. Only what is complete fills the
// bar; one failure is a cell at least, and so is one index in flight.
func (s style) bar(r *row, width int) []part {
	if width <= 0 || r.total <= 0 {
		return nil
	}
	fill, fail, flight, rest := "█", "×", "▒", "░"
	if s.ascii {
		fill, fail, flight, rest = "#", "x", "-", "."
	}
	failed := min(cells(r.failed, r.total, width), width)
	full, eighth := s.doneCells(r, width-failed)
	partial := ""
	if eighth > 0 {
		partial = string(eighths[eighth-1])
	}
	used := full + len([]rune(partial)) + failed
	flying := min(cells(r.inFlight, r.total, width), width-used)
	color := cyan
	if r.state.Decided() {
		color = green
	}
	return []part{
		{strings.Repeat(fill, full) + partial, color},
		{strings.Repeat(fail, failed), red},
		{strings.Repeat(flight, flying), color},
		{strings.Repeat(rest, width-used-flying), dim},
	}
}

// doneCells is how many whole cells are done, and how many eighths of the next one.
func (s style) doneCells(r *row, width int) (full, eighth int) {
	switch {
	case width <= 0:
		return 0, 0
	case r.done+r.failed >= r.total:
		return width, 0
	}
	parts := max(0, int(int64(r.done)*int64(width)*8/int64(r.total)))
	full, eighth = parts/8, parts%8
	if s.ascii {
		eighth = 0
	}
	if full >= width { // not all of it: leave a gap
		return width - 1, 0
	}
	return full, eighth
}

// cells rounds up.
func cells(n, total, width int) int {
	return int((int64(max(0, n))*int64(width) + int64(total) - 1) / int64(total))
}
