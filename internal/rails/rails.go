// Package rails draws a directed acyclic graph as text, one node a line, with lines beside them that say what comes after what.
//
// Lines lead down. A node stands on a rail, which goes on below it to what comes after it: each of those has a branch of it. Where
// several rails lead to one node and each comes from a node of its own, they join on the way. A graph that needs more rails than there is room for
// is drawn as a list, in layers, with the names of what each node comes after.
package rails

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Node is one node. After names nodes that stand before it in the list.
type Node struct {
	Name  string
	After []string
	// Mark is said behind the name.
	Mark string
	// Wide nodes have a sign of their own.
	Wide bool
}

// Style says how it is drawn.
type Style struct {
	// Width is the room in cells; 0: as much as it takes.
	Width int
	ASCII bool
	Color bool
}

// minText is the room that names have at least beside the rails, in cells.
const minText = 24

// Draw returns the lines. The nodes' names must differ; what After names that is no node counts for nothing.
func Draw(nodes []Node, s Style) []string {
	d := newDrawing(nodes)
	d.draw()
	room := 2 * d.width
	if s.Width > 0 && room > max(s.Width-minText, s.Width/2) {
		return list(nodes, s)
	}
	lines := make([]string, 0, len(d.rows))
	for i := range d.rows {
		lines = append(lines, d.rows[i].text(nodes, room, s))
	}
	return lines
}

// list writes the nodes in layers: the first those that come after nothing, each further one those that come after it at the earliest.
func list(nodes []Node, s Style) []string {
	layer := make(map[string]int, len(nodes))
	var layers [][]int
	for i, n := range nodes {
		at := 0
		for _, up := range n.After {
			if l, ok := layer[up]; ok {
				at = max(at, l+1)
			}
		}
		layer[n.Name] = at
		for len(layers) <= at {
			layers = append(layers, nil)
		}
		layers[at] = append(layers[at], i)
	}
	arrow := "←"
	if s.ASCII {
		arrow = "<-"
	}
	var lines []string
	for at, of := range layers {
		lines = append(lines, clip(fmt.Sprintf("layer %d", at+1), s))
		for _, i := range of {
			n := nodes[i]
			text := "  " + n.Name
			if len(n.After) > 0 {
				text += " " + arrow + " " + strings.Join(n.After, ", ")
			}
			if n.Mark != "" {
				text += "  [" + n.Mark + "]"
			}
			lines = append(lines, clip(text, s))
		}
	}
	return lines
}

// clip cuts text at the width, saying so.
func clip(text string, s Style) string {
	if s.Width <= 0 || utf8.RuneCountInString(text) <= s.Width {
		return text
	}
	more := "…"
	if s.ASCII {
		more = "~"
	}
	return string([]rune(text)[:max(0, s.Width-1)]) + more
}
