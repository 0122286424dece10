package board

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestHeap takes elements out from everywhere and compares with sorting.
func TestHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h heap[*node]
		var all []*node
		for i, at := range rapid.SliceOf(rapid.Int64Range(0, 20)).Draw(t, "at") {
			n := &node{ready: at, seq: uint64(i)}
			h.push(at, n.seq, n)
			all = append(all, n)
		}
		for range len(all) / 3 {
			i := rapid.IntRange(0, len(all)-1).Draw(t, "i")
			if rapid.Bool().Draw(t, "fix") {
				all[i].ready = rapid.Int64Range(0, 20).Draw(t, "new")
				h.fix(all[i].pos, all[i].ready, all[i].seq)
				continue
			}
			h.remove(all[i].pos)
			all = slices.Delete(all, i, i+1)
		}
		slices.SortFunc(all, func(x, y *node) int {
			return int(x.ready-y.ready)*1000 + int(x.seq) - int(y.seq)
		})
		for _, want := range all {
			if got := h.top(); got != want {
				t.Fatalf("top %+v, want %+v", got, want)
			}
			h.remove(0)
		}
	})
}
