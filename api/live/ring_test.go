package live

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// A ring answers like a list of everything that was ever added, or says that it cannot; it keeps its bounds.
func TestRingIsTheEndOfAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := ring{maxFrames: 8, maxBytes: 40, horizon: 3}
		type told struct {
			seq  uint64
			text string
		}
		var all []told
		seq, begin := uint64(3), uint64(3)
		for i := range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				seq++
				r.reset(seq)
				all, begin = nil, seq
			case 1, 2, 3:
				seq++
				fallthrough
			default:
				if seq == begin { // nothing is told in the tick of a reset
					seq++
				}
				text := fmt.Sprintf("%0*d", rapid.IntRange(1, 12).Draw(t, "size"), i)
				r.add(seq, frame(text))
				all = append(all, told{seq, text})
			}
			if len(r.entries) > r.maxFrames || r.size > r.maxBytes {
				t.Fatalf("%d frames of %d bytes, want at most %d of %d", len(r.entries), r.size, r.maxFrames, r.maxBytes)
			}
			for at := begin - 1; at <= seq; at++ {
				got, ok := r.since(at)
				if !ok {
					if at >= r.horizon {
						t.Fatalf("refuses %d above its horizon %d", at, r.horizon)
					}
					continue
				}
				if at < begin {
					t.Fatalf("answers %d, before its beginning %d", at, begin)
				}
				var want []told
				for _, x := range all {
					if x.seq > at {
						want = append(want, x)
					}
				}
				if len(got) != len(want) {
					t.Fatalf("since %d: %d frames, want %d", at, len(got), len(want))
				}
				for i := range want {
					if got[i].seq != want[i].seq || string(got[i].frame) != want[i].text {
						t.Fatalf("since %d: frame %d is %d %q, want %d %q", at, i, got[i].seq, got[i].frame, want[i].seq, want[i].text)
					}
				}
			}
			if seq > r.horizon+uint64(r.maxFrames) && len(r.entries) < 1 {
				t.Fatalf("a ring of %d frames holds none", r.maxFrames)
			}
		}
	})
}

func TestIDs(t *testing.T) {
	if seq, ok := parseID("a1", formatID("a1", 77)); !ok || seq != 77 {
		t.Errorf("read %d, %v back, want 77", seq, ok)
	}
	for _, id := range []string{"", "77", "b2-77", "a1-", "a1-x", "a1--7", "a1-99999999999999999999", "a1-7 "} {
		if seq, ok := parseID("a1", id); ok {
			t.Errorf("%q was read as %d", id, seq)
		}
	}
}
