package shard

import (
	"iter"
	"math"
	"slices"
)

// Range is a half-open range of shard indices, [Lo, Hi).
type Range struct{ Lo, Hi int32 }

// Set is an immutable set of shard indices, kept as disjoint half-open ranges in ascending order that do
// not touch. The zero value is the empty set. Indices lie in [math.MinInt32, math.MaxInt32); what lies
// beyond is left out by every constructor. Sets may be shared and copied freely; they are safe for
// concurrent use. A set of one range needs no memory of its own, and taking from the front, or removing
// what was taken, needs none ever.
type Set struct {
	// A set is the window [lo, hi) on rs: the first range starts at lo and the last one ends at hi, whatever
	// rs says. rs may be shared by many sets; it has at least two ranges, or is nil for at most one range.
	lo, hi int32
	rs     []Range
}

// Span returns the indices [lo, hi); none if lo >= hi.
func Span(lo, hi int) Set { return one(clamp(lo), clamp(hi)) }

// Of returns the set of the given indices, in any order, repeats allowed.
func Of(ix ...int) Set {
	ix = slices.Clone(ix)
	slices.Sort(ix)
	var b builder
	for _, i := range ix {
		if i >= math.MinInt32 && i < math.MaxInt32 {
			b.add(Range{int32(i), int32(i) + 1})
		}
	}
	return b.set()
}

// OfRanges returns the set of the indices in the given ranges, which may overlap and come in any order.
func OfRanges(rs ...Range) Set {
	if len(rs) == 1 {
		return one(rs[0].Lo, rs[0].Hi)
	}
	rs = slices.Clone(rs)
	slices.SortFunc(rs, func(a, b Range) int { return int(int64(a.Lo) - int64(b.Lo)) })
	var b builder
	for _, r := range rs {
		b.add(r)
	}
	return b.set()
}

// Empty tells whether the set has no index.
func (s Set) Empty() bool { return s.lo >= s.hi }

// Len returns how many indices the set has.
func (s Set) Len() int {
	n := 0
	for i := range s.NumRanges() {
		r := s.At(i)
		n += int(r.Hi) - int(r.Lo)
	}
	return n
}

// NumRanges returns how many ranges the set has.
func (s Set) NumRanges() int {
	switch {
	case s.rs != nil:
		return len(s.rs)
	case s.Empty():
		return 0
	default:
		return 1
	}
}

// At returns the i-th range, counted from 0, in ascending order.
func (s Set) At(i int) Range {
	if s.rs == nil {
		return Range{s.lo, s.hi}
	}
	r := s.rs[i]
	if i == 0 {
		r.Lo = s.lo
	}
	if i == len(s.rs)-1 {
		r.Hi = s.hi
	}
	return r
}

// Ranges returns the ranges in ascending order. The slice is the caller's own.
func (s Set) Ranges() []Range {
	rs := make([]Range, s.NumRanges())
	for i := range rs {
		rs[i] = s.At(i)
	}
	return rs
}

// All ranges over the indices in ascending order.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for k := range s.NumRanges() {
			r := s.At(k)
			for i := r.Lo; i < r.Hi; i++ {
				if !yield(int(i)) {
					return
				}
			}
		}
	}
}

// Min returns the lowest index; -1 for the empty set.
func (s Set) Min() int {
	if s.Empty() {
		return -1
	}
	return int(s.lo)
}

// Max returns the highest index; -1 for the empty set.
func (s Set) Max() int {
	if s.Empty() {
		return -1
	}
	return int(s.hi) - 1
}

// Contains tells whether index i is in the set.
func (s Set) Contains(i int) bool {
	if i < int(s.lo) || i >= int(s.hi) {
		return false
	}
	if s.rs == nil {
		return true
	}
	k := s.find(int32(i))
	return k < s.NumRanges() && s.At(k).Lo <= int32(i)
}

// Equal tells whether both sets have the same indices.
func (s Set) Equal(t Set) bool {
	if s.Empty() || t.Empty() {
		return s.Empty() && t.Empty()
	}
	n := s.NumRanges()
	if s.lo != t.lo || s.hi != t.hi || n != t.NumRanges() {
		return false
	}
	for i := range n {
		if s.At(i) != t.At(i) {
			return false
		}
	}
	return true
}

// ContainsSet tells whether every index of t is in s.
func (s Set) ContainsSet(t Set) bool {
	if t.Empty() {
		return true
	}
	if t.lo < s.lo || t.hi > s.hi {
		return false
	}
	return s.rs == nil || s.coversUpTo(t, math.MaxInt32)
}

// find returns the number of the first range that ends after i.
func (s Set) find(i int32) int {
	lo, hi := 0, s.NumRanges()
	for lo < hi {
		mid := (lo + hi) / 2
		if s.At(mid).Hi > i {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// coversUpTo tells whether s has every index of t below end.
func (s Set) coversUpTo(t Set, end int32) bool {
	k := 0
	for i := range t.NumRanges() {
		r := t.At(i)
		if r.Lo >= end {
			return true
		}
		r.Hi = min(r.Hi, end)
		for k < s.NumRanges() && s.At(k).Hi <= r.Lo {
			k++
		}
		if k == s.NumRanges() || s.At(k).Lo > r.Lo || s.At(k).Hi < r.Hi {
			return false
		}
	}
	return true
}

// below returns the part of s below i.
func (s Set) below(i int32) Set {
	if i >= s.hi {
		return s
	}
	if i <= s.lo {
		return Set{}
	}
	if s.rs == nil {
		return Set{lo: s.lo, hi: i}
	}
	k := s.find(i)
	if s.At(k).Lo >= i {
		k--
		return s.slice(0, k+1, s.lo, s.At(k).Hi)
	}
	return s.slice(0, k+1, s.lo, i)
}

// from returns the part of s from i on.
func (s Set) from(i int32) Set {
	if i <= s.lo {
		return s
	}
	if i >= s.hi {
		return Set{}
	}
	if s.rs == nil {
		return Set{lo: i, hi: s.hi}
	}
	k := s.find(i)
	return s.slice(k, len(s.rs), max(i, s.At(k).Lo), s.hi)
}

// slice returns the window [lo, hi) on the ranges i to j, not including j.
func (s Set) slice(i, j int, lo, hi int32) Set {
	if j-i < 2 {
		return Set{lo: lo, hi: hi}
	}
	return Set{lo: lo, hi: hi, rs: s.rs[i:j:j]}
}

func one(lo, hi int32) Set {
	if lo >= hi {
		return Set{}
	}
	return Set{lo: lo, hi: hi}
}

func clamp(i int) int32 { return int32(min(max(i, math.MinInt32), math.MaxInt32)) }

// builder joins ranges that come in ascending order of Lo.
type builder struct {
	last Range // not yet in rs; empty at first
	rs   []Range
}

func (b *builder) add(r Range) {
	switch {
	case r.Lo >= r.Hi:
	case b.last.Lo >= b.last.Hi:
		b.last = r
	case r.Lo <= b.last.Hi:
		b.last.Hi = max(b.last.Hi, r.Hi)
	default:
		b.rs = append(b.rs, b.last)
		b.last = r
	}
}

func (b *builder) set() Set {
	if len(b.rs) == 0 {
		return one(b.last.Lo, b.last.Hi)
	}
	rs := append(b.rs, b.last)
	return Set{lo: rs[0].Lo, hi: b.last.Hi, rs: rs}
}
