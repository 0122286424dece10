package board

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestRotationStaysExact compares the rotation, whose numbers are kept small, with one that computes in whole numbers of any
// size, over charges that force it to rebase.
func TestRotationStaysExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w [levels]int64
		var used [levels]*big.Int
		for l := range w {
			w[l] = rapid.Int64Range(1, maxWeight).Draw(t, "weight")
			used[l] = new(big.Int)
		}
		// cross is used[x]·w[y].
		cross := func(x, y int) *big.Int { return new(big.Int).Mul(used[x], big.NewInt(w[y])) }
		var r rotation
		for range rapid.IntRange(1, 200).Draw(t, "turns") {
			set := levelSet(rapid.IntRange(1, 1<<levels-1).Draw(t, "set"))
			// A weight may change at any time; the tag stays, rounded up to a millionth of an index at weight 1.
			if l := rapid.IntRange(0, 4*levels).Draw(t, "reweigh"); l < levels {
				next := rapid.Int64Range(1, maxWeight).Draw(t, "weight")
				if set.has(l) {
					used[l] = ceil(new(big.Int).Mul(used[l], big.NewInt(next)), w[l])
					w[l] = next
				}
			}
			want := -1
			for l := range levels {
				if set.has(l) && (want < 0 || cross(l, want).Cmp(cross(want, l)) < 0) {
					want = l
				}
			}
			if got := r.first(&w, set); got != want {
				t.Fatalf("P%d goes, want P%d", got, want)
			}
			n := rapid.Int64Range(1, 1<<32).Draw(t, "charge")
			r.charge(&w, want, n, set)
			for x := range levels {
				if !set.has(x) && cross(x, want).Cmp(cross(want, x)) < 0 {
					used[x] = ceil(cross(want, x), w[want])
				}
			}
			used[want].Add(used[want], new(big.Int).Mul(big.NewInt(n), big.NewInt(resolution)))
		}
	})
}

func ceil(x *big.Int, by int64) *big.Int {
	d := big.NewInt(by)
	x.Add(x, d).Sub(x, big.NewInt(1))
	return x.Div(x, d)
}
