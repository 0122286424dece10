package rails

import "slices"

// rail is a line that leads down. One that goes out of a node has branches to what comes after it; one that leads into a node takes up
// what comes before it.
type rail struct {
	from int   // the node that it goes out of; -1: it leads into one
	to   []int // the nodes that it has still to reach
}

// drawing is a graph being drawn: what leads where, the rails as they are below the last row, and the rows.
type drawing struct {
	nodes []Node
	up    [][]int
	down  [][]int
	into  []bool // of a node: what comes before it by itself joins on a rail that leads into it
	rails []*rail
	width int // of the widest row, in rails
	rows  []row
}

func newDrawing(nodes []Node) *drawing {
	d := &drawing{nodes: nodes, up: make([][]int, len(nodes)), down: make([][]int, len(nodes)), into: make([]bool, len(nodes))}
	at := make(map[string]int, len(nodes))
	for i, n := range nodes {
		for _, name := range n.After {
			if u, ok := at[name]; ok && !slices.Contains(d.up[i], u) {
				d.up[i] = append(d.up[i], u)
				d.down[u] = append(d.down[u], i)
			}
		}
		at[n.Name] = i
	}
	return d
}

// joins tells whether the line from u to v is part of a rail that leads into v; else it is a branch of the rail that goes out of u. It is
// whichever has more lines to spare the drawing.
func (d *drawing) joins(u, v int) bool { return len(d.up[v]) > 1 && len(d.up[v]) >= len(d.down[u]) }

// order is the nodes as they are drawn: each after what it comes after, and if it can be right below one of those, so that few rails are
// open at once.
func (d *drawing) order() []int {
	left := make([]int, len(d.nodes))
	var open []int // on top what comes next
	for i := len(d.nodes) - 1; i >= 0; i-- {
		if left[i] = len(d.up[i]); left[i] == 0 {
			open = append(open, i)
		}
	}
	order := make([]int, 0, len(d.nodes))
	for len(open) > 0 {
		v := open[len(open)-1]
		open = open[:len(open)-1]
		order = append(order, v)
		for _, w := range slices.Backward(d.down[v]) {
			if left[w]--; left[w] == 0 {
				open = append(open, w)
			}
		}
	}
	return order
}

func (d *drawing) draw() {
	for _, v := range d.order() {
		column := d.arrive(v)
		d.leave(v, column)
	}
}

// arrive draws the row of a node, with the branches that lead into it, and returns its column.
func (d *drawing) arrive(v int) int {
	column := -1
	var branches []int // columns of rails that have one into it
	for c, r := range d.rails {
		switch {
		case r == nil:
		case r.from < 0 && r.to[0] == v:
			column = c
		case r.from >= 0 && slices.Contains(r.to, v):
			branches = append(branches, c)
		}
	}
	// The rail that ends here has the node on it. Of several the first.
	if column < 0 {
		for _, c := range branches {
			if len(d.rails[c].to) == 1 {
				column = c
				break
			}
		}
	}
	if column < 0 {
		column = d.free(branches)
	}
	if d.rails[column] == nil && d.ends(column) { // what stands above has nothing to do with it
		d.add(row{node: -1, column: column, cells: d.cells()})
	}
	n := row{node: v, column: column, cells: d.cells()}
	n.put(column, dot)
	for _, c := range branches {
		r := d.rails[c]
		r.to = slices.DeleteFunc(r.to, func(x int) bool { return x == v })
		if c != column {
			n.connect(c, column, len(r.to) > 0)
		}
		if len(r.to) == 0 {
			d.rails[c] = nil
		}
	}
	d.rails[column] = nil
	d.add(n)
	return column
}

// ends tells whether the last row has something in a column that would look as if it led on.
func (d *drawing) ends(column int) bool {
	if len(d.rows) == 0 {
		return false
	}
	last := d.rows[len(d.rows)-1]
	return column < len(last.cells) && last.cells[column]&(dot|below) != 0
}

// leave opens the rails that go out of a node, and joins those that lead into others.
func (d *drawing) leave(v, column int) {
	var own, others []int
	for _, w := range d.down[v] {
		if d.joins(v, w) {
			others = append(others, w)
		} else {
			own = append(own, w)
		}
	}
	if len(own) > 0 {
		d.rails[column] = &rail{from: v, to: own}
	}
	if len(others) == 0 {
		return
	}
	// One rail that nothing else has begun goes on right here.
	if len(own) == 0 && len(others) == 1 && d.leading(others[0]) < 0 {
		d.rails[column] = &rail{from: -1, to: others}
		return
	}
	n := row{node: -1, column: column}
	before := d.cells()
	joined := make([]int, 0, len(others)) // columns
	begun := make(map[int]bool)
	// The first of those that nothing has begun takes the node's own column, if no rail of its own does.
	for _, w := range others {
		c := d.leading(w)
		if c < 0 {
			if d.rails[column] == nil {
				d.rails[column] = &rail{from: -1, to: []int{w}}
				continue
			}
			c = d.free([]int{column})
			begun[c] = true
			d.rails[c] = &rail{from: -1, to: []int{w}}
		}
		joined = append(joined, c)
	}
	if len(joined) == 0 {
		return
	}
	n.cells = before
	for len(n.cells) < len(d.rails) {
		n.cells = append(n.cells, 0)
	}
	n.put(column, above)
	if d.rails[column] != nil {
		n.put(column, below)
	}
	for _, c := range joined {
		n.put(c, below)
		if !begun[c] {
			n.put(c, above)
		}
		n.line(column, c)
	}
	d.add(n)
}

// leading is the column of the rail that leads into a node; -1: there is none yet.
func (d *drawing) leading(w int) int {
	return slices.IndexFunc(d.rails, func(r *rail) bool { return r != nil && r.from < 0 && r.to[0] == w })
}

// free is a column without a rail, to the right of the first of some columns.
func (d *drawing) free(beside []int) int {
	from := 0
	if len(beside) > 0 {
		from = beside[0]
	}
	for c := from; c < len(d.rails); c++ {
		if d.rails[c] == nil {
			return c
		}
	}
	d.rails = append(d.rails, nil)
	return len(d.rails) - 1
}

// cells is a row in which all rails go straight on.
func (d *drawing) cells() []cell {
	cells := make([]cell, len(d.rails))
	for c, r := range d.rails {
		if r != nil {
			cells[c] = above | below
		}
	}
	return cells
}

func (d *drawing) add(n row) {
	d.rows = append(d.rows, n)
	for c, x := range n.cells {
		if x != 0 {
			d.width = max(d.width, c+1)
		}
	}
	for len(d.rails) > 0 && d.rails[len(d.rails)-1] == nil && len(d.rails)-1 != n.column {
		d.rails = d.rails[:len(d.rails)-1]
	}
}
