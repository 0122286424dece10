package rails

import "strings"

// cell is what meets in one cell of a row: lines to its four sides, or a node.
type cell uint8

const (
	above cell = 1 << iota
	below
	left
	right
	dot
	crossed // a line passes below the one that goes down, and has nothing to do with it
)

// row is one line of the drawing.
type row struct {
	node   int // -1: none
	column int // of the node, or of the one that the row's line comes from
	cells  []cell
	gaps   []bool // of the gap behind each cell: a line passes
}

func (r *row) put(column int, c cell) {
	for len(r.cells) <= column {
		r.cells = append(r.cells, 0)
	}
	r.cells[column] |= c
}

// connect draws a branch from a rail to a node; the rail goes on or ends.
func (r *row) connect(from, to int, goesOn bool) {
	r.cells[from] = above
	if goesOn {
		r.put(from, below)
	}
	r.line(from, to)
}

// line draws a line between two columns.
func (r *row) line(from, to int) {
	if from < to {
		r.put(from, right)
		r.put(to, left)
	} else {
		r.put(from, left)
		r.put(to, right)
	}
	for len(r.gaps) < len(r.cells) {
		r.gaps = append(r.gaps, false)
	}
	for c := min(from, to); c < max(from, to); c++ {
		r.gaps[c] = true
		if c != from && c != to {
			r.cells[c] |= crossed
		}
	}
}

// shapes are the signs of lines that meet.
var shapes = map[cell]string{
	0: " ", above: "│", below: "│", above | below: "│",
	above | right: "╰", above | left: "╯", below | right: "╭", below | left: "╮",
	above | below | right: "├", above | below | left: "┤", left | right: "─",
	above | left | right: "┴", below | left | right: "┬", above | below | left | right: "┼",
}

var plainShapes = map[cell]string{
	0: " ", above: "|", below: "|", above | below: "|", left | right: "-",
	above | right: "`", above | left: "'", below | right: ",", below | left: ".",
	above | below | right: "+", above | below | left: "+", above | left | right: "+", below | left | right: "+", above | below | left | right: "+",
}

const sides = above | below | left | right

// sign is how a cell looks: a rail that is only crossed goes on straight.
func (c cell) sign(wide, ascii bool) string {
	if c&dot != 0 {
		switch {
		case ascii && wide:
			return "#"
		case ascii:
			return "*"
		case wide:
			return "◆"
		default:
			return "●"
		}
	}
	all := c & sides
	if c&crossed != 0 && (all == 0 || all&(left|right) != 0) { // nothing goes down here, or what does takes part in the line
		all |= left | right
	}
	if ascii {
		return plainShapes[all]
	}
	return shapes[all]
}

// text writes a row: the rails, and beside a node its name.
func (r *row) text(nodes []Node, room int, s Style) string {
	var b strings.Builder
	dash := "─"
	if s.ASCII {
		dash = "-"
	}
	cells := 0
	for i, c := range r.cells {
		sign := c.sign(r.node >= 0 && nodes[r.node].Wide, s.ASCII)
		if c&dot != 0 {
			sign = paint(sign, "36", s)
		}
		b.WriteString(sign)
		if i < len(r.gaps) && r.gaps[i] {
			b.WriteString(dash)
		} else {
			b.WriteString(" ")
		}
		cells += 2
	}
	if r.node < 0 {
		return strings.TrimRight(b.String(), " ")
	}
	b.WriteString(strings.Repeat(" ", max(0, room-cells)))
	n := nodes[r.node]
	left := Style{ASCII: s.ASCII}
	if s.Width > 0 {
		left.Width = max(1, s.Width-room)
	}
	name := clip(n.Name, left)
	b.WriteString(paint(name, "1", s))
	if n.Mark != "" {
		if left.Width > 0 {
			left.Width -= len([]rune(name)) + 2
		}
		if left.Width >= 0 && (s.Width == 0 || left.Width > 4) {
			b.WriteString("  " + paint(clip("["+n.Mark+"]", left), "2", s))
		}
	}
	return b.String()
}

func paint(text, color string, s Style) string {
	if !s.Color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}
