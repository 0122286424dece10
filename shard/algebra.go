package shard

import "math"

// Union returns the indices that are in s or in t.
func (s Set) Union(t Set) Set {
	switch {
	case s.Empty():
		return t
	case t.Empty():
		return s
	case s.rs == nil && s.lo <= t.lo && s.hi >= t.hi:
		return s
	case t.rs == nil && t.lo <= s.lo && t.hi >= s.hi:
		return t
	}
	b := builder{rs: makeRanges(s, t)}
	i, j := 0, 0
	for n, m := s.NumRanges(), t.NumRanges(); i < n || j < m; {
		if j == m || i < n && s.At(i).Lo <= t.At(j).Lo {
			b.add(s.At(i))
			i++
		} else {
			b.add(t.At(j))
			j++
		}
	}
	return b.set()
}

// Intersect returns the indices that are in both s and t.
func (s Set) Intersect(t Set) Set {
	switch {
	case s.Empty() || t.Empty() || s.hi <= t.lo || t.hi <= s.lo:
		return Set{}
	case t.rs == nil:
		return s.from(t.lo).below(t.hi)
	case s.rs == nil:
		return t.from(s.lo).below(s.hi)
	}
	var b builder
	i, j := 0, 0
	for i < s.NumRanges() && j < t.NumRanges() {
		x, y := s.At(i), t.At(j)
		b.add(Range{max(x.Lo, y.Lo), min(x.Hi, y.Hi)})
		if x.Hi <= y.Hi {
			i++
		} else {
			j++
		}
	}
	return b.set()
}

// Minus returns the indices of s that are not in t. When t takes away the lowest indices of s, or the
// highest in one range, no memory is allocated.
func (s Set) Minus(t Set) Set {
	switch {
	case s.Empty() || t.Empty() || s.hi <= t.lo || t.hi <= s.lo:
		return s
	case t.lo <= s.lo && t.coversUpTo(s, t.hi):
		return s.from(t.hi)
	case t.rs == nil && t.hi >= s.hi:
		return s.below(t.lo)
	}
	b := builder{rs: makeRanges(s, t)}
	j := 0
	for i := range s.NumRanges() {
		r := s.At(i)
		for j < t.NumRanges() && t.At(j).Hi <= r.Lo {
			j++
		}
		for k := j; k < t.NumRanges() && t.At(k).Lo < r.Hi; k++ {
			b.add(Range{r.Lo, t.At(k).Lo})
			r.Lo = t.At(k).Hi
		}
		b.add(r)
	}
	return b.set()
}

// Take splits the set: piece is its lowest indices, at most n of them in at most maxRanges ranges, and
// rest is the others. No memory is allocated.
func (s Set) Take(n, maxRanges int) (piece, rest Set) {
	if n <= 0 || maxRanges <= 0 {
		return Set{}, s
	}
	end := int32(math.MinInt32)
	for i := range min(s.NumRanges(), maxRanges) {
		r := s.At(i)
		size := int(r.Hi) - int(r.Lo)
		if size >= n {
			end = int32(int(r.Lo) + n)
			break
		}
		end = r.Hi
		n -= size
	}
	return s.below(end), s.from(end)
}

// makeRanges returns room for the result of an operation on s and t, so that it grows no further.
func makeRanges(s, t Set) []Range { return make([]Range, 0, s.NumRanges()+t.NumRanges()) }
