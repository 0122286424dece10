package board

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestRingRemembersAWindow: what a ring holds at any nanosecond is no less than the starts of a window's length, and no more than
// those of a sixteenth of it longer.
func TestRingRemembersAWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const per, width = 16 * int64(time.Millisecond), int64(time.Millisecond)
		r := newRing(widthOf(time.Duration(per)))
		now := epoch.UnixNano()
		var all []int64
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now += rapid.SampledFrom([]int64{0, 1, width - 1, width, 3 * width, per - width, per - 1, per, per + 1, 40 * width}).Draw(t, "ns")
			if n := rapid.IntRange(0, 2).Draw(t, "starts"); n > 0 {
				r.add(now, n)
				for range n {
					all = append(all, now)
				}
			}
			least, most := 0, 0
			for _, at := range all {
				if at > now-per {
					least++
				}
				if at > now-per-width {
					most++
				}
			}
			got := r.started(now)
			if got < least || got > most {
				t.Fatalf("%d in the ring; %d within the window, %d within a sixteenth more", got, least, most)
			}
			for want := range got {
				at := r.frees(now, want)
				if r.started(at) > want || r.started(at-1) <= want {
					t.Fatalf("no more than %d at %d: then %d, before %d", want, at, r.started(at), r.started(at-1))
				}
			}
		}
	})
}

// TestDoubtLastsAsLongAsItsFlights: what was handed out behind a busy slot counts as not started after a take-over too, in
// whatever order the leader restores its books, until the flight has ended.
func TestDoubtLastsAsLongAsItsFlights(t *testing.T) {
	for _, first := range []bool{true, false} {
		old := newBoard(t, Config{})
		old.SetWorker(aWorker(1, 1))
		old.Learn("h", 50*time.Millisecond, 10)
		old.AddSpan(epoch, one(1, nil)) // takes the slot
		s := wide(2, 3)
		s.StageKey, s.StageRate = "ns/f/s", Rate{4, time.Second}
		old.AddSpan(epoch, s)
		g := old.Round(epoch, 10)
		if len(g) != 2 || g[1].Set.Len() != 3 || g[1].Par != 1 {
			t.Fatalf("granted %+v", g)
		}
		states := old.TakeRates()
		if len(states) != 1 || states[0].Unstarted != 3 {
			t.Fatalf("written down %+v", states)
		}

		b := newBoard(t, Config{})
		b.SetWorker(aWorker(2, 100))
		f := flightOf(&s, g[1].Flight, id('w', 1), 3, 1).Flight
		if first {
			b.SetRate(states[0])
			b.AddFlight(f)
		} else {
			b.AddFlight(f)
			b.SetRate(states[0])
		}
		s.ID, s.Todo = id('s', 3), wide(3, 10).Todo
		now := epoch.Add(time.Hour)
		b.AddSpan(now, s)
		got := b.Round(now, 10)
		if len(got) != 1 || got[0].Set.Len() != 1 {
			t.Fatalf("beside 3 that have not started, %+v was granted of a rate of 4", got)
		}
		b.Left(got[0].Flight, 0)
		now = now.Add(time.Hour)
		if got = b.Round(now, 10); len(got) != 1 || got[0].Set.Len() != 1 {
			t.Fatalf("an hour later %+v", got)
		}
		b.Left(got[0].Flight, 0)
		b.Left(f.ID, 0)
		if b.Round(now, 10); b.Pending().Indices != 8 {
			t.Fatalf("what ended now counts from now; %d wait", b.Pending().Indices)
		}
		if at, ok := b.NextRate(now); !ok || at.Sub(now) > 1100*time.Millisecond {
			t.Fatalf("next at %v", at)
		}
	}
}
