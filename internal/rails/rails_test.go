package rails

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	got := strings.Join(lines, "\n") + "\n"
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s\nwant:\n%s", path, got, want)
	}
}

func node(name string, after ...string) Node { return Node{Name: name, After: after} }

var (
	chain   = []Node{node("pull"), {Name: "clean", After: []string{"pull"}, Wide: true, Mark: "sharded"}, node("report", "clean")}
	diamond = []Node{node("pull"), node("left", "pull"), node("right", "pull"), node("join", "left", "right")}
	lattice = []Node{node("a"), node("b"), node("c"), node("x", "a", "b"), node("y", "b", "c"), node("z", "a", "c"), node("end", "x", "y", "z", "a")}
)

// many is a stage, n after it, and one after all of those; two more follow.
func many(n int) []Node {
	nodes := []Node{node("extract")}
	var loads []string
	for i := range n {
		loads = append(loads, fmt.Sprintf("load-%03d", i))
		nodes = append(nodes, Node{Name: loads[i], After: []string{"extract"}, Wide: i%2 == 0})
	}
	return append(nodes, node("join", loads...), node("publish", "join"), node("notify", "join"))
}

// layers is so many layers of so many nodes, each after two of the layer before.
func layers(deep, wide int) []Node {
	var nodes []Node
	for l := range deep {
		for i := range wide {
			n := node(fmt.Sprintf("l%d-%d", l, i))
			if l > 0 {
				n.After = []string{fmt.Sprintf("l%d-%d", l-1, i), fmt.Sprintf("l%d-%d", l-1, (i+1)%wide)}
			}
			nodes = append(nodes, n)
		}
	}
	return nodes
}

func TestDrawings(t *testing.T) {
	for name, nodes := range map[string][]Node{"chain": chain, "diamond": diamond, "lattice": lattice, "thirty": many(26), "layers": layers(4, 4),
		"apart": {node("a"), node("b", "a"), node("c"), node("d", "c"), node("alone")}} {
		golden(t, name, Draw(nodes, Style{}))
	}
	golden(t, "lattice-ascii", Draw(lattice, Style{ASCII: true}))
	golden(t, "chain-color", []string{strings.ReplaceAll(strings.Join(Draw(chain, Style{Color: true}), "\n"), "\x1b", "ESC")})
	golden(t, "chain-narrow", Draw(chain, Style{Width: 12}))
	golden(t, "layers-narrow", Draw(layers(4, 12), Style{Width: 40}))
}

func TestFiveHundredStagesTakeFewRails(t *testing.T) {
	lines := Draw(many(497), Style{})
	if len(lines) > 1002 {
		t.Errorf("%d lines for 501 nodes", len(lines))
	}
	for _, l := range lines {
		if at := strings.Index(l, "load-"); at >= 0 && utf8.RuneCountInString(l[:at]) > 6 {
			t.Fatalf("the rails take %d cells: %q", utf8.RuneCountInString(l[:at]), l)
		}
	}
	if chained := Draw(layers(500, 1), Style{Width: 30}); len(chained) != 500 {
		t.Errorf("%d lines for a chain of 500, want one each", len(chained))
	}
}

func TestNothingToDraw(t *testing.T) {
	if lines := Draw(nil, Style{Width: 80}); len(lines) != 0 {
		t.Errorf("nothing is drawn as %q", lines)
	}
	if lines := Draw([]Node{node("a", "elsewhere")}, Style{}); len(lines) != 1 || lines[0] != "● a" {
		t.Errorf("a node after one that is none is drawn as %q", lines)
	}
}

// Whoever follows the lines with a finger finds the graph, no more and no less.
func TestLinesLeadWhereTheGraphSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := randomGraph(t)
		lines := Draw(nodes, Style{})
		got := traced(lines)
		want := map[string]bool{}
		for _, n := range nodes {
			for _, up := range n.After {
				want[up+" "+n.Name] = true
			}
		}
		for e := range want {
			if !got[e] {
				t.Fatalf("no line leads %s:\n%s", e, strings.Join(lines, "\n"))
			}
		}
		for e := range got {
			if !want[e] {
				t.Fatalf("a line leads %s, which is none:\n%s", e, strings.Join(lines, "\n"))
			}
		}
	})
}

func TestDrawingsKeepToTheWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := randomGraph(t)
		for i := range nodes {
			nodes[i].Mark = strings.Repeat("m", rapid.IntRange(0, 30).Draw(t, "mark"))
		}
		s := Style{Width: rapid.IntRange(8, 120).Draw(t, "width"), ASCII: rapid.Bool().Draw(t, "ascii")}
		text := strings.Join(Draw(nodes, s), "\n")
		for _, l := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(l); n > s.Width {
				t.Fatalf("a line of %d cells where there are %d: %q", n, s.Width, l)
			}
		}
		if s.ASCII && strings.IndexFunc(text, func(r rune) bool { return r > 0x7e }) >= 0 {
			t.Fatalf("not ASCII:\n%s", text)
		}
	})
}

func randomGraph(t *rapid.T) []Node {
	n := rapid.IntRange(1, 14).Draw(t, "nodes")
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{Name: fmt.Sprintf("n%d", i), Wide: rapid.Bool().Draw(t, "wide")}
		for u := range i {
			if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				nodes[i].After = append(nodes[i].After, nodes[u].Name)
			}
		}
	}
	return nodes
}

// traced follows the lines of a drawing down from every node and returns what they lead to, as "from to".
func traced(lines []string) map[string]bool {
	sidesOf := map[rune]cell{'●': dot, '◆': dot}
	for c, sign := range shapes {
		r, _ := utf8.DecodeRuneInString(sign)
		sidesOf[r] |= c
	}
	sidesOf['│'] = above | below
	grid := make([][]rune, len(lines))
	dots := make([]int, len(lines)) // column of the node of each line, or -1
	names := make([]string, len(lines))
	for i, l := range lines {
		grid[i] = []rune(l)
		dots[i] = slices.IndexFunc(grid[i], func(r rune) bool { return r == '●' || r == '◆' })
		if dots[i] >= 0 {
			fields := strings.Fields(l)
			names[i] = fields[len(fields)-1]
		}
	}
	at := func(y, x int) cell {
		if y >= len(grid) || x < 0 || x >= len(grid[y]) {
			return 0
		}
		return sidesOf[grid[y][x]]
	}
	found := map[string]bool{}
	for y, x := range dots {
		if x < 0 {
			continue
		}
		type place struct{ y, x int }
		todo := []place{{y + 1, x}} // entered from above
		for len(todo) > 0 {
			p := todo[0]
			todo = todo[1:]
			c := at(p.y, p.x)
			switch {
			case c&above == 0 && c&dot == 0:
				continue
			case c&dot != 0:
				found[names[y]+" "+names[p.y]] = true
				continue
			}
			if c&below != 0 {
				todo = append(todo, place{p.y + 1, p.x})
			}
			switch {
			case c&(left|right) == 0:
			case dots[p.y] >= 0: // of a node's line all that is level leads to the node
				found[names[y]+" "+names[p.y]] = true
			case p.y == y+1 && p.x == x: // below a node all that is level leads away from it
				for _, step := range []int{-1, 1} {
					for q := p.x + step; at(p.y, q) != 0; q += step {
						if s := at(p.y, q); s&below != 0 && s&(left|right) != 0 {
							todo = append(todo, place{p.y + 1, q})
						}
					}
				}
			}
		}
	}
	return found
}
