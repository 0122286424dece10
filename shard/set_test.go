package shard_test

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"axflow/shard"
)

// model is a set as a map, the plain way.
type model map[int]bool

func (m model) indices() []int { return slices.Sorted(maps.Keys(m)) }

// both draws a set of indices of a small range, so that ranges touch and overlap, and its model. It comes by
// one of several ways, because the ways give different memory layouts.
func both(t *rapid.T, name string) (shard.Set, model) {
	m := model{}
	var rs []shard.Range
	for range rapid.IntRange(0, 6).Draw(t, name+" ranges") {
		lo := rapid.IntRange(-5, 40).Draw(t, name+" lo")
		hi := lo + rapid.IntRange(0, 12).Draw(t, name+" size")
		rs = append(rs, shard.Range{Lo: int32(lo), Hi: int32(hi)})
		for i := lo; i < hi; i++ {
			m[i] = true
		}
	}
	s := shard.OfRanges(rs...)
	switch rapid.SampledFrom([]string{"ranges", "indices", "taken", "text"}).Draw(t, name+" way") {
	case "indices":
		s = shard.Of(m.indices()...)
	case "taken": // a window on shared memory
		n := rapid.IntRange(0, len(m)).Draw(t, name+" taken")
		for _, i := range m.indices()[:n] {
			delete(m, i)
		}
		_, s = s.Take(n, math.MaxInt)
		cut := rapid.IntRange(0, len(m)).Draw(t, name+" kept")
		for _, i := range m.indices()[cut:] {
			delete(m, i)
		}
		s, _ = s.Take(cut, math.MaxInt)
	case "text":
		var err error
		if s, err = shard.ParseSet(s.String()); err != nil {
			t.Fatal(err)
		}
	}
	return s, m
}

// agree fails unless s has the indices of m and is well-formed.
func agree(t *rapid.T, what string, s shard.Set, m model) {
	if got, want := slices.Collect(s.All()), m.indices(); !slices.Equal(got, want) {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
	if s.Len() != len(m) || s.Empty() != (len(m) == 0) {
		t.Fatalf("%s: length %d, empty %v, want %d indices", what, s.Len(), s.Empty(), len(m))
	}
	lowest, highest := -1, -1
	if len(m) > 0 {
		lowest, highest = m.indices()[0], m.indices()[len(m)-1]
	}
	if s.Min() != lowest || s.Max() != highest {
		t.Fatalf("%s goes from %d to %d, want %d to %d", what, s.Min(), s.Max(), lowest, highest)
	}
	rs := s.Ranges()
	if len(rs) != s.NumRanges() {
		t.Fatalf("%s has %d ranges, gives %v", what, s.NumRanges(), rs)
	}
	for i, r := range rs {
		if r.Lo >= r.Hi || i > 0 && r.Lo <= rs[i-1].Hi || r != s.At(i) {
			t.Fatalf("%s has the ranges %v, not disjoint, ascending and apart", what, rs)
		}
	}
	for i := -7; i < 60; i++ {
		if s.Contains(i) != m[i] {
			t.Fatalf("%s contains %d: %v", what, i, s.Contains(i))
		}
	}
	if fresh := shard.Of(m.indices()...); !s.Equal(fresh) || !fresh.Equal(s) {
		t.Fatalf("%s does not equal the same set built otherwise", what)
	}
	back, err := shard.ParseSet(s.String())
	if err != nil || !back.Equal(s) {
		t.Fatalf("%s is written %s and read %s, %v", what, s, back, err)
	}
}

func TestSetAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, ma := both(t, "a")
		b, mb := both(t, "b")
		before := a.String() + b.String()
		agree(t, "a", a, ma)
		agree(t, "b", b, mb)

		union, minus, common := maps.Clone(ma), model{}, model{}
		for i := range mb {
			union[i] = true
		}
		for i := range ma {
			if mb[i] {
				common[i] = true
			} else {
				minus[i] = true
			}
		}
		agree(t, "the union", a.Union(b), union)
		agree(t, "the difference", a.Minus(b), minus)
		agree(t, "the intersection", a.Intersect(b), common)
		if got, want := a.ContainsSet(b), len(common) == len(mb); got != want {
			t.Fatalf("%v contains %v: %v", a, b, got)
		}
		if got, want := a.Equal(b), maps.Equal(ma, mb); got != want {
			t.Fatalf("%v equals %v: %v", a, b, got)
		}
		if after := a.String() + b.String(); after != before {
			t.Fatalf("operations changed their sets from %s to %s", before, after)
		}
	})
}

func TestTakeAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, m := both(t, "s")
		n := rapid.IntRange(-1, 60).Draw(t, "n")
		most := rapid.IntRange(-1, 4).Draw(t, "ranges")
		piece, rest := s.Take(n, most)

		taken := model{}
		for k, r := range s.Ranges() {
			for i := r.Lo; i < r.Hi && k < most && len(taken) < n; i++ {
				taken[int(i)] = true
			}
		}
		left := maps.Clone(m)
		for i := range taken {
			delete(left, i)
		}
		agree(t, "the piece", piece, taken)
		agree(t, "the rest", rest, left)
		agree(t, "the set less its piece", s.Minus(piece), left)
		agree(t, "the piece and the rest", piece.Union(rest), m)
	})
}

// Pieces are taken, and finished shards removed from them bit by bit, as in the life of a span.
func TestSetOverALife(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, m := both(t, "s")
		for !s.Empty() {
			var piece shard.Set
			piece, s = s.Take(rapid.IntRange(1, 9).Draw(t, "piece"), rapid.IntRange(1, 3).Draw(t, "ranges"))
			for !piece.Empty() {
				n := rapid.IntRange(1, piece.Len()).Draw(t, "done")
				some := slices.Collect(piece.All())
				if rapid.Bool().Draw(t, "out of order") {
					slices.Reverse(some)
				}
				piece = piece.Minus(shard.Of(some[:n]...))
				for _, i := range some[:n] {
					if !m[i] {
						t.Fatalf("index %d came twice", i)
					}
					delete(m, i)
				}
			}
		}
		if len(m) != 0 {
			t.Fatalf("the indices %v were lost", m.indices())
		}
	})
}

func TestSetBasics(t *testing.T) {
	var zero shard.Set
	if !zero.Empty() || zero.Len() != 0 || zero.String() != "{}" || !zero.Equal(shard.Span(3, 3)) || zero.Contains(0) {
		t.Errorf("the zero set is %v", zero)
	}
	if s := shard.Span(5, 2); !s.Empty() {
		t.Errorf("a span that ends before it starts is %v", s)
	}
	s := shard.Span(0, 1_000_000)
	if s.Len() != 1_000_000 || !s.Contains(999_999) || s.Contains(1_000_000) || s.String() != "{[0,1000000)}" {
		t.Errorf("a million indices are %v", s)
	}
	for i := range s.All() {
		if i == 3 {
			break // an iteration may stop early
		}
	}
	if got := shard.Of(7, 3, 4, 7, 5).String(); got != "{[3,6),[7,8)}" {
		t.Errorf("3, 4, 5 and 7 are %s", got)
	}
}

func TestSetAtTheEndsOfInt32(t *testing.T) {
	all := shard.Span(math.MinInt, math.MaxInt)
	if got := all.String(); got != "{[-2147483648,2147483647)}" {
		t.Errorf("everything is %s", got)
	}
	if got := all.Len(); got != 1<<32-1 {
		t.Errorf("everything has %d indices", got)
	}
	edge := shard.Of(math.MinInt, math.MinInt32, math.MaxInt32-1, math.MaxInt32, math.MaxInt)
	if got := edge.String(); got != "{[-2147483648,-2147483647),[2147483646,2147483647)}" {
		t.Errorf("the edges are %s", got)
	}
	if edge.Contains(math.MinInt) || edge.Contains(math.MaxInt) || !edge.Contains(math.MaxInt32-1) {
		t.Error("an index beyond the edges is taken for one within")
	}
	if got := all.Minus(edge).String(); got != "{[-2147483647,2147483646)}" {
		t.Errorf("everything less its edges is %s", got)
	}
	piece, rest := all.Take(math.MaxInt, 1)
	if !piece.Equal(all) || !rest.Empty() {
		t.Errorf("taking everything gives %v and leaves %v", piece, rest)
	}
}

func TestParseSet(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                        "{}",
		"{[0,5),[7,9)}":             "{[0,5),[7,9)}",
		" { [ 0 , 5 ) , [7,9) } ":   "{[0,5),[7,9)}",
		"{[7,9),[0,5)}":             "{[0,5),[7,9)}",
		"{[0,5),[5,9)}":             "{[0,9)}",
		"{[0,4],(6,8]}":             "{[0,5),[7,9)}",
		"{(3,4)}":                   "{}",
		"{(3,3)}":                   "{}",
		"{empty,[1,2)}":             "{[1,2)}",
		"{[-1,0)}":                  "{[-1,0)}",
		"{[-2147483648,2147483647)": "",
		"":                          "",
		"[0,5)":                     "",
		"{0,5}":                     "",
		"{[0,5)[7,9)}":              "",
		"{,[0,5)}":                  "",
		"{[0,5),}":                  "",
		"{[0,5),,[7,9)}":            "",
		"{[0)}":                     "",
		"{[,5)}":                    "",
		"{[5,)}":                    "",
		"{[a,5)}":                   "",
		"{[9,5)}":                   "",
		"{[0,2147483647]}":          "",
		"{[0,99999999999)}":         "",
		"{[0,5":                     "",
		"{[0,5)} x":                 "",
		"{)}":                       "",
		"{]":                        "",
	} {
		got, err := shard.ParseSet(text)
		if want == "" {
			if err == nil || !strings.HasPrefix(err.Error(), "set of indices ") {
				t.Errorf("%q is read as %v, %v; want an error", text, got, err)
			}
			continue
		}
		if err != nil || got.String() != want {
			t.Errorf("%q is read as %v, %v; want %s", text, got, err, want)
		}
	}
	_, err := shard.ParseSet("{[0,5),[7,)}")
	if want := `set of indices "{[0,5),[7,)}": a range has no bound: a set of indices is finite`; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

func FuzzParseSet(f *testing.F) {
	f.Add("{[0,5),[7,9)}")
	f.Add("{(0,5],empty}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := shard.ParseSet(text)
		if err != nil {
			return
		}
		back, err := shard.ParseSet(s.String())
		if err != nil || !back.Equal(s) {
			t.Errorf("%q is read as %v and that as %v, %v", text, s, back, err)
		}
	})
}

func TestSetJSON(t *testing.T) {
	s := shard.Of(1, 2, 9)
	b, err := json.Marshal(s)
	if err != nil || string(b) != `"{[1,3),[9,10)}"` {
		t.Errorf("the JSON is %s, %v", b, err)
	}
	var back shard.Set
	if err := json.Unmarshal(b, &back); err != nil || !back.Equal(s) {
		t.Errorf("it is read as %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`"{"`), &back); err == nil || !back.Equal(s) {
		t.Errorf("a bad text gives %v and %v", back, err)
	}
	if b, err := s.AppendText([]byte("x")); err != nil || string(b) != "x{[1,3),[9,10)}" {
		t.Errorf("appended it is %s, %v", b, err)
	}
}

// holes returns n ranges of nine indices with a hole of one after each.
func holes(n int) shard.Set {
	rs := make([]shard.Range, n)
	for i := range rs {
		rs[i] = shard.Range{Lo: int32(10 * i), Hi: int32(10*i + 9)}
	}
	return shard.OfRanges(rs...)
}

var sink shard.Set // keeps the compiler from dropping what is measured

func TestHotPathAllocatesNothing(t *testing.T) {
	whole, ragged := shard.Span(0, 1_000_000), holes(200)
	piece, _ := ragged.Take(450, 100)
	prefix := shard.Span(0, 77)
	one := shard.Span(0, 1)
	for name, f := range map[string]func(){
		"Span":                  func() { sink = shard.Span(0, 1) },
		"Take of one range":     func() { _, sink = whole.Take(1000, 100) },
		"Take of many":          func() { _, sink = ragged.Take(455, 100) },
		"Minus of a piece":      func() { sink = ragged.Minus(piece) },
		"Minus of a prefix":     func() { sink = ragged.Minus(prefix) },
		"Minus of a suffix":     func() { sink = ragged.Minus(shard.Span(995, 5000)) },
		"Minus of all":          func() { sink = ragged.Minus(whole) },
		"Minus of nothing":      func() { sink = ragged.Minus(shard.Span(5000, 6000)) },
		"Minus of the only one": func() { sink = one.Minus(one) },
		"Intersect with a span": func() { sink = ragged.Intersect(shard.Span(15, 1777)) },
		"Union with a part":     func() { sink = whole.Union(ragged) },
		"Contains":              func() { _ = ragged.Contains(1234) },
		"ContainsSet":           func() { _ = ragged.ContainsSet(piece) },
		"Equal":                 func() { _ = ragged.Equal(piece) },
		"Len":                   func() { _ = ragged.Len() },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
	// Neighbours join into one range with at most one allocation.
	if n := testing.AllocsPerRun(100, func() { sink = shard.Span(0, 5).Union(shard.Span(5, 9)) }); n > 1 {
		t.Errorf("Union of neighbours allocates %v times", n)
	}
}

func BenchmarkSet(b *testing.B) {
	whole, ragged := shard.Span(0, 1_000_000), holes(200)
	piece, _ := ragged.Take(450, 100)
	middle := shard.Of(455, 901, 1302)
	for name, f := range map[string]func(){
		"take/one":     func() { _, sink = whole.Take(1000, 100) },
		"take/ragged":  func() { _, sink = ragged.Take(455, 100) },
		"minus/piece":  func() { sink = ragged.Minus(piece) },
		"minus/middle": func() { sink = ragged.Minus(middle) },
		"union":        func() { sink = ragged.Union(middle) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}
