package pressure

import (
	"fmt"
	"strings"
	"testing"
)

// TestEveryDepth walks through every depth of a queue of 100 from every level, and states each outcome by the thresholds in
// whole numbers: 60, 80, 95, and back below 55, 75, 40.
func TestEveryDepth(t *testing.T) {
	c := Default()
	for now := Normal; now <= Pause; now++ {
		for depth := int64(0); depth <= 120; depth++ {
			want := Normal
			switch {
			case depth >= 95, now == Pause && depth >= 40:
				want = Pause
			case depth >= 80, now >= Refuse && depth >= 75:
				want = Refuse
			case depth >= 60, now >= Alert && depth >= 55:
				want = Alert
			}
			if got := c.Step(now, depth, 100); got != want {
				t.Errorf("from %v at %d %%: %v, want %v", now, depth, got, want)
			}
		}
	}
}

// TestNoFlapping: a depth that wavers by less than the margin, around any threshold, settles on one level.
func TestNoFlapping(t *testing.T) {
	c := Default()
	for start := Normal; start <= Pause; start++ {
		for depth := int64(4); depth <= 110; depth++ {
			level := start
			for i := range 50 {
				next := c.Step(level, depth-4*int64(i%2), 100)
				if i >= 4 && next != level {
					t.Fatalf("from %v around %d %%: %v follows %v", start, depth, next, level)
				}
				level = next
			}
		}
	}
}

func TestWithoutCapacity(t *testing.T) {
	for _, capacity := range []int64{0, -1} {
		if got := Default().Step(Pause, 1000, capacity); got != Normal {
			t.Errorf("capacity %d: %v", capacity, got)
		}
	}
}

func TestCheck(t *testing.T) {
	if faults := Default().Check(); faults != nil {
		t.Error(faults)
	}
	for text, c := range map[string]Config{
		"alert threshold is 0":     {0, 0.8, 0.95, 0.4},
		"pause threshold is 1.2":   {0.6, 0.8, 1.2, 0.4},
		"must not fall":            {0.9, 0.8, 0.95, 0.4},
		"must be below pause 0.95": {0.6, 0.8, 0.95, 0.95},
	} {
		if got := fmt.Sprint(c.Check()); !strings.Contains(got, text) {
			t.Errorf("%+v: %s, want %q", c, got, text)
		}
	}
	if got := fmt.Sprint(Normal, Alert, Refuse, Pause, Level(7)); got != "normal alert refuse pause ?" {
		t.Error(got)
	}
}
