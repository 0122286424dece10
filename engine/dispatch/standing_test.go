package dispatch

import (
	"slices"
	"testing"
	"time"

	"axflow/engine/dispatch/board"
)

// A pool is flagged when it has been above 80 % for 10 s at a stretch, and told of once.
func TestBusyPools(t *testing.T) {
	b := newBusy()
	begin := time.Unix(1_000_000, 0)
	for _, test := range []struct {
		at    time.Duration
		busy  int // of 10
		flag  bool
		fresh bool
	}{
		{0, 9, false, false},
		{5 * time.Second, 9, false, false},
		{6 * time.Second, 8, false, false}, // 80 % is not above
		{7 * time.Second, 9, false, false},
		{16 * time.Second, 10, false, false},
		{17 * time.Second, 9, true, true},
		{19 * time.Second, 9, true, false},
		{20 * time.Second, 0, false, false},
		{21 * time.Second, 10, false, false},
		{31 * time.Second, 10, true, true},
	} {
		flagged, fresh := b.see(begin.Add(test.at), []board.PoolLoad{{Handler: "h", Slots: 10, Busy: test.busy}, {Handler: "none"}})
		if (len(flagged) == 1) != test.flag || slices.Contains(fresh, "h") != test.fresh {
			t.Errorf("after %v: %v flagged, %v fresh, want %v and %v", test.at, flagged, fresh, test.flag, test.fresh)
		}
	}
}
