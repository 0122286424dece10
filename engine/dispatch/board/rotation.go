package board

import (
	"math/bits"

	"axflow/stage"
)

// levels is the number of priority levels, P0..P5.
const levels = stage.Levels

// levelSet is a set of levels, bit l for level l.
type levelSet uint8

func (s levelSet) has(l int) bool { return s>>l&1 == 1 }

// first is the most urgent level of the set, which must not be empty.
func (s levelSet) first() int { return bits.TrailingZeros8(uint8(s)) }

// rotation shares turns among levels by weight: start-time fair queueing, where a level's tag is what it was handed divided
// by its weight, and the least tag goes next. A tag is a mixed number, whole + rest/(weight × resolution), so shares stay exact
// however long it runs, and a level whose weight changes keeps its tag instead of gaining or losing credit.
type rotation struct{ tags [levels]tag }

type tag struct {
	whole, rest int64 // whole in units of 1/resolution; rest < weight
	weight      int64 // that rest counts in
}

// resolution is what a change of weight rounds to: a millionth of an index at weight 1.
const resolution = 1 << 20

// rebase is the tag at which the common part of all tags is taken off.
const rebase = 1 << 60

// maxWeight bounds a level's weight, so that what a tag's rest is multiplied by fits.
const maxWeight = 1 << 15

// under converts the tag to a weight, rounding up: a change never gives credit.
func (t tag) under(weight int64) tag {
	if t.weight == weight {
		return t
	}
	if t.weight > 0 {
		t.rest = (t.rest*weight + t.weight - 1) / t.weight
	}
	t.weight = weight
	return t.carried()
}

func (t tag) carried() tag {
	if t.rest >= t.weight {
		t.whole += t.rest / t.weight
		t.rest %= t.weight
	}
	return t
}

// before tells whether t is less than o; both have weights.
func (t *tag) before(o *tag) bool {
	return t.whole < o.whole || t.whole == o.whole && t.rest*o.weight < o.rest*t.weight
}

// first returns the level whose turn it is among those in the set, which must not be empty. Ties go to the more urgent
// level.
func (r *rotation) first(w *[levels]int64, set levelSet) int {
	best := set.first()
	if set&(set-1) == 0 {
		return best
	}
	r.tags[best] = r.tags[best].under(w[best])
	for l := best + 1; l < levels; l++ {
		if !set.has(l) {
			continue
		}
		r.tags[l] = r.tags[l].under(w[l])
		if r.tags[l].before(&r.tags[best]) {
			best = l
		}
	}
	return best
}

// charge notes that level l, chosen from the set, was handed n. Levels that did not contest this turn and lag behind lose
// that credit: what was not used has flowed on and is not owed later.
func (r *rotation) charge(w *[levels]int64, l int, n int64, set levelSet) {
	now := r.tags[l].under(w[l])
	for x := range levels {
		if set.has(x) {
			continue
		}
		t := &r.tags[x]
		if t.weight == 0 {
			t.weight = w[x]
		}
		if t.before(&now) {
			*t = now.under(t.weight)
		}
	}
	now.rest += n * resolution
	r.tags[l] = now.carried()
	if now.whole > rebase {
		r.lower()
	}
}

// lower takes the least whole off all tags.
func (r *rotation) lower() {
	least := r.tags[0].whole
	for _, t := range r.tags[1:] {
		least = min(least, t.whole)
	}
	for l := range r.tags {
		r.tags[l].whole -= least
	}
}

// refund takes a charge back: the hand-out did not happen.
func (r *rotation) refund(l int, n int64) {
	t := &r.tags[l]
	if t.weight == 0 {
		return
	}
	t.rest -= n * resolution
	if t.rest < 0 {
		whole := (-t.rest + t.weight - 1) / t.weight
		t.whole -= whole
		t.rest += whole * t.weight
	}
	if t.whole < 0 {
		t.whole, t.rest = 0, 0
	}
}
