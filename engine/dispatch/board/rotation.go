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

// rotation shares turns among levels by weight: start-time fair queueing, where a level's tag is what it
// was handed divided by its weight, and the least tag goes next. Tags are compared as used × weight crosswise,
// in whole numbers, so shares stay exact however long it runs.
type rotation struct{ used [levels]int64 }

// rebase is the tag at which the common part of all tags is taken off, to keep the products small.
const rebase = 1 << 30

// maxWeight bounds a level's weight: used stays below rebase × maxWeight plus the largest charge, and its product with a
// weight below 2^63.
const maxWeight = 1 << 15

// first returns the level whose turn it is among those in the set, which must not be empty. Ties go to the
// more urgent level.
func (r *rotation) first(w *[levels]int64, set levelSet) int {
	best := bits.TrailingZeros8(uint8(set))
	for l := best + 1; l < levels; l++ {
		if set.has(l) && r.used[l]*w[best] < r.used[best]*w[l] {
			best = l
		}
	}
	return best
}

// charge notes that level l, chosen from the set, was handed n. Levels that did not contest this turn and lag behind lose
// that credit: what was not used has flowed on and is not owed later.
func (r *rotation) charge(w *[levels]int64, l int, n int64, set levelSet) {
	for x := range levels {
		if !set.has(x) && r.used[x]*w[l] < r.used[l]*w[x] {
			r.used[x] = r.used[l] * w[x] / w[l]
		}
	}
	if tag := r.used[l] / w[l]; tag > rebase {
		for x := range levels {
			r.used[x] = max(0, r.used[x]-tag*w[x])
		}
	}
	r.used[l] += n
}

// refund takes a charge back: the hand-out did not happen.
func (r *rotation) refund(l int, n int64) { r.used[l] = max(0, r.used[l]-n) }
