package shard

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"time"

	"axflow/stage"
)

// Shard is one shard of a plan, as its handler gets it. A test may build one from Index and Total alone,
// or with Plan.Shard.
type Shard struct {
	Index int    // 0 to Total-1
	Total int    // how many shards the plan has; frozen
	Key   string // of a plan made by Keys or List; else empty

	input []byte
	cut   *stage.Cut
}

// FromCall returns the shard that c is for. It is for adapters.
func FromCall(c stage.Call) Shard {
	return Shard{Index: c.Index, Total: c.Total, Key: c.Item.Key, input: c.Item.Input, cut: c.Cut}
}

// fromUpstream returns the shard of an upstream whose output is being read.
func fromUpstream(s stage.Shard) Shard {
	return Shard{Index: s.Index, Total: s.Total, Key: s.Item.Key, input: s.Item.Input, cut: s.Cut}
}

// Range returns this shard's part, half-open, of [lo, hi) cut into Total parts. The parts of all shards
// cover the whole once, and their sizes differ by one at most; some are empty if there are fewer numbers
// than shards. Part i starts at lo + floor((hi-lo) × i / Total). An empty whole gives (lo, lo).
func (s Shard) Range(lo, hi int64) (int64, int64) {
	if hi <= lo || s.Total <= 0 {
		return lo, lo
	}
	return s.bound(lo, hi, s.Index), s.bound(lo, hi, s.Index+1)
}

// bound is where part i starts. The width of [lo, hi) fits in 64 bits without a sign, and a product with
// i <= Total, divided by Total, fits again.
func (s Shard) bound(lo, hi int64, i int) int64 {
	width := uint64(hi) - uint64(lo)
	i = min(max(i, 0), s.Total)
	if i == s.Total {
		return hi
	}
	high, low := bits.Mul64(width, uint64(i))
	quotient, _ := bits.Div64(high, low, uint64(s.Total))
	return int64(uint64(lo) + quotient)
}

// Ints returns this shard's part of the integers of a plan made by IntRange, or of the items 0 to volume of
// one made by Count or N, half-open. For other plans it returns (0, 0).
func (s Shard) Ints() (lo, hi int64) {
	if s.cut == nil || s.cut.Kind != stage.CutInts && s.cut.Kind != stage.CutCount {
		return 0, 0
	}
	return s.Range(s.cut.Lo, s.cut.Hi)
}

// Times returns this shard's span of time, half-open, of a plan made by TimeRange, in the plan's zone. For
// other plans it returns two zero times.
func (s Shard) Times() (from, to time.Time) {
	if s.cut == nil || s.cut.Kind != stage.CutTimes {
		return time.Time{}, time.Time{}
	}
	g, err := gridOf(*s.cut)
	if err != nil {
		return time.Time{}, time.Time{}
	}
	return g.bound(s.Index), g.bound(s.Index + 1)
}

// Bucket tells whether key belongs to this shard, when keys are divided among the shards by their hash:
// BucketOf(key, Total) == Index. It suits plans made by Hash, and any other.
func (s Shard) Bucket(key string) bool { return s.Total > 0 && BucketOf(key, s.Total) == s.Index }

// BucketOf returns the bucket, 0 to n-1, of a key: its 64-bit FNV-1a hash modulo n. It is the same on every
// machine and in every version. n must be positive.
func BucketOf(key string, n int) int {
	const offset, prime = 14695981039346656037, 1099511628211 // by Fowler, Noll and Vo
	h := uint64(offset)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * prime
	}
	return int(h % uint64(n))
}

// Input returns the item of a plan made by List that s is for.
func Input[T any](s Shard) (T, error) {
	var t T
	if s.input == nil {
		return t, fmt.Errorf("shard %d of %d has no input: only plans made by List have", s.Index, s.Total)
	}
	if err := json.Unmarshal(s.input, &t); err != nil {
		return t, fmt.Errorf("reading the input of shard %d of %d as a %T: %w", s.Index, s.Total, t, err)
	}
	return t, nil
}
