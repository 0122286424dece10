package span

import (
	"testing"
	"time"

	"axflow/stage"
)

// The table of Destination, written out by hand from the design: what is started or ready of a live stage goes
// back to ready, a cancelling stage parks it, nothing of another generation is placed, dead stays dead, and what is not
// needed is skipped.
func TestDestination(t *testing.T) {
	reasons := []Reason{Retry, Exhausted, GivenBack, Interrupted, Seized, Released, Awaiting, NotNeeded}
	for _, state := range stage.StageStates() {
		for _, why := range reasons {
			for _, same := range []bool{true, false} {
				for losses := range int16(PoisonCap + 2) {
					place, reason := Destination(why, state, same, losses)
					right, rightReason := Nowhere, ParkReason(0)
					live := state == stage.StagePlanning || state == stage.StageRunning
					switch {
					case !same:
					case live && why == Exhausted, state == stage.StageCancelling && why == Exhausted:
						right, rightReason = ToParked, Dead
					case live && why == Seized && losses >= 3:
						right, rightReason = ToParked, Poison
					case live && why == Awaiting:
						right, rightReason = ToParked, Child
					case (live || state == stage.StageCancelling) && why == NotNeeded:
						right, rightReason = ToParked, Skipped
					case live:
						right = ToReady
					case state == stage.StageCancelling:
						right, rightReason = ToParked, Cancelled
					}
					if place != right || reason != rightReason {
						t.Errorf("%s, %s, same generation %t, %d losses: %d for %d, want %d for %d", why, state, same, losses, place, reason, right, rightReason)
					}
				}
			}
		}
	}
}

func TestQuantum(t *testing.T) {
	for _, c := range []struct{ delay, right time.Duration }{
		{0, 100 * time.Millisecond}, {time.Second, 100 * time.Millisecond}, {2 * time.Second, 100 * time.Millisecond},
		{3200 * time.Millisecond, 200 * time.Millisecond}, {30 * time.Second, 1600 * time.Millisecond},
	} {
		if q := quantum(c.delay); q != c.right {
			t.Errorf("quantum(%s) = %s, want %s", c.delay, q, c.right)
		}
	}
}
