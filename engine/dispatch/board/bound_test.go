package board

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"axflow/stage"
)

// gapBound is the package comment's bound: how many indices level x is handed at most between two grants in turns of a
// dispatchable level l, the first of n indices, with pieces of up to m.
func gapBound(w *[levels]int64, l, x int, n, m int64) int64 {
	if x < l {
		return n*w[x]/w[l] + m
	}
	return (n*w[x]+w[l]-1)/w[l] - 1 + m
}

// TestEveryRotation lets an adversary choose, at every turn, which other levels contest it and how large the piece is, in all
// possible ways, and checks the bound in every state that can be reached. For pieces of one index it is also reached: the
// bound is exact. With weights that are powers of two the states are finitely many.
func TestEveryRotation(t *testing.T) {
	type state struct {
		r     rotation
		since [3]int64 // handed to each level since l's last grant
		n     int64    // that grant's size, 0 before the first
	}
	at := [3]int{1, 3, 4} // three levels that take part
	for _, weights := range [][3]int64{{1, 1, 1}, {4, 2, 1}, {1, 2, 4}, {4, 1, 2}, {2, 4, 1}, {1, 8, 2}} {
		for m := int64(1); m <= 3; m++ {
			for mine := range at {
				w := [levels]int64{1, 1, 1, 1, 1, 1}
				for i, l := range at {
					w[l] = weights[i]
				}
				var reached [3]int64 // for n = 1
				seen := map[state]bool{}
				todo := []state{{}}
				for len(todo) > 0 && len(seen) < 200_000 {
					s := todo[len(todo)-1]
					todo = todo[:len(todo)-1]
					for others := range 4 {
						set := levelSet(1 << at[mine])
						for i, j := 0, 0; i < 3; i++ {
							if i != mine {
								if others>>j&1 == 1 {
									set |= 1 << at[i]
								}
								j++
							}
						}
						for n := int64(1); n <= m; n++ {
							next := s
							l := next.r.first(&w, set)
							next.r.charge(&w, l, n, set)
							next.r.lower()
							if l == at[mine] {
								next.since, next.n = [3]int64{}, n
							} else {
								for i := range at {
									if at[i] == l {
										next.since[i] += n
									}
								}
							}
							for i, got := range next.since {
								if i == mine || next.n == 0 {
									continue
								}
								if bound := gapBound(&w, at[mine], at[i], next.n, m); got > bound {
									t.Fatalf("weights %v, pieces up to %d: level %d got %d between grants of %d, the first of %d; the bound is %d",
										weights, m, at[i], got, at[mine], next.n, bound)
								}
								if next.n == 1 {
									reached[i] = max(reached[i], got)
								}
							}
							if next.n == 0 { // before the first grant: M stands in for it
								for i, got := range next.since {
									if i != mine && got > gapBound(&w, at[mine], at[i], m, m) {
										t.Fatalf("weights %v: level %d got %d before the first grant of %d", weights, at[i], got, at[mine])
									}
								}
							}
							if !seen[next] {
								seen[next] = true
								todo = append(todo, next)
							}
						}
					}
				}
				if len(todo) > 0 {
					t.Fatalf("weights %v: not every state was seen", weights)
				}
				for i := range at {
					if bound := gapBound(&w, at[mine], at[i], 1, 1); m == 1 && i != mine && reached[i] != bound {
						t.Errorf("weights %v: level %d got at most %d between grants of %d, the bound %d is not exact", weights, at[i], reached[i], at[mine], bound)
					}
				}
			}
		}
	}
}

// TestGapBetweenGrants asserts the bound on the Board while random backlogs come and go at every level but one, which always has
// work: at the head of its lane nothing waits longer.
func TestGapBetweenGrants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w [levels]int
		var w64 [levels]int64
		for l := range w {
			w[l] = rapid.SampledFrom([]int{1, 2, 7, 40}).Draw(t, "weight")
			w64[l] = int64(w[l])
		}
		m := rapid.SampledFrom([]int{1, 5, 30}).Draw(t, "piece")
		mine := rapid.IntRange(0, 5).Draw(t, "level")
		b := newBoard(t, Config{Weights: w, MaxPiece: m, Decay: -1})
		b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 2}})
		b.Learn("h", 1, 1)
		f := &feeder{b: b}
		var since [levels]int64
		first := int64(m)
		for range rapid.IntRange(20, 300).Draw(t, "grants") {
			for b.Depth()[mine].Pending.Spans == 0 {
				f.add(epoch, stage.Level(mine), "h", rapid.IntRange(1, 40).Draw(t, "mine"))
			}
			if l := rapid.IntRange(-6, 5).Draw(t, "other"); l >= 0 {
				f.add(epoch, stage.Level(l), "h", rapid.IntRange(1, 60).Draw(t, "size"))
			}
			g := b.Round(epoch, 1)[0]
			n := int64(g.Set.Len())
			if rapid.IntRange(0, 9).Draw(t, "refused") == 0 {
				b.Reject(g)
				continue
			}
			b.Left(g.Flight, 0)
			if int(g.Turn) == mine {
				since, first = [levels]int64{}, n
				continue
			}
			since[g.Turn] += n
			for x, got := range since {
				if bound := gapBound(&w64, mine, x, first, int64(m)); x != mine && got > bound {
					t.Fatalf("P%d got %d between grants of P%d, the first of %d; the bound is %d with %v", x, got, mine, first, bound, fmt.Sprint(w))
				}
			}
		}
	})
}
