package board

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"axflow/shard"
)

// TestNextRate: nothing goes on before the time that NextRate tells, and then something does, or waits for another rate.
func TestNextRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBoard(t, Config{})
		b.SetWorker(aWorker(1, 1000))
		now := epoch
		if at, ok := b.NextRate(now); ok {
			t.Fatalf("nothing waits, yet something opens at %v", at)
		}
		for i := range 40 {
			key := rapid.IntRange(1, 3).Draw(t, "key")
			b.AddSpan(now, one(i+1, func(s *Span) {
				s.Key, s.StageKey = fmt.Sprint("g/", key), "ns/f/s"
				s.KeyRate = Rate{key, time.Duration(key) * time.Second}
				s.StageRate = Rate{5, 3 * time.Second}
				s.ReadyAt = now
			}))
		}
		for b.Pending().Spans > 0 {
			now = now.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "ms")) * time.Millisecond)
			for _, g := range b.Round(now, 100) {
				b.Left(g.Flight, 0)
			}
			at, ok := b.NextRate(now)
			if b.Pending().Spans == 0 {
				break
			}
			if !ok || !at.After(now) {
				t.Fatalf("%d spans wait; opens at %v (%v), now is %v", b.Pending().Spans, at, ok, now)
			}
			if g := b.Round(at.Add(-1), 100); len(g) != 0 {
				t.Fatalf("granted %d before %v", len(g), at)
			}
			for range rapid.IntRange(0, 2).Draw(t, "asked") {
				if again, ok := b.NextRate(at); !ok || !again.Equal(at) {
					t.Fatalf("asked at %v: %v, %v", at, again, ok)
				}
			}
			g := b.Round(at, 1)
			for turns := 0; len(g) == 0; turns++ { // another rate holds it: that one opens later
				later, ok := b.NextRate(at)
				if !ok || !later.After(at) || turns > 4 {
					t.Fatalf("nothing may go on at %v; next %v, %v", at, later, ok)
				}
				if g := b.Round(later.Add(-1), 100); len(g) != 0 {
					t.Fatalf("granted %d before %v", len(g), later)
				}
				at = later
				g = b.Round(at, 1)
			}
			b.Left(g[0].Flight, 0)
			now = at
		}
	})
}

// TestGenerousRateKeepsPieces: pieces go ahead of idle slots as long as the rate has room for them, and a tight rate hands out
// no more than may start.
func TestGenerousRateKeepsPieces(t *testing.T) {
	for _, c := range []struct{ n, want int }{{1_000_000, 800}, {500, 500}, {8, 8}, {3, 3}} {
		b := newBoard(t, Config{})
		b.SetWorker(aWorker(1, 8))
		b.Learn("h", 10*time.Millisecond, 10) // 800 are a second's work of 8 slots
		s := wide(1, 100_000)
		s.StageKey, s.StageRate = "ns/f/s", Rate{c.n, time.Second}
		b.AddSpan(epoch, s)
		g := b.Round(epoch, 1)
		if len(g) != 1 || g[0].Set.Len() != c.want || g[0].Par != min(8, c.want) {
			t.Errorf("%d a second: %+v, want %d", c.n, g, c.want)
		}
	}
}

// TestRateThroughput: work that never lacks slots starts at no less than 16/17 of its rate in the long run.
func TestRateThroughput(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 8))
	b.Learn("h", 10*time.Millisecond, 10)
	s := wide(1, 1_000_000)
	s.StageKey, s.StageRate = "ns/f/s", Rate{160, 1600 * time.Millisecond}
	b.AddSpan(epoch, s)
	started := 0
	for now := epoch; now.Before(epoch.Add(170 * time.Second)); now = now.Add(10 * time.Millisecond) {
		for _, g := range b.Round(now, 100) {
			started += g.Set.Len()
			b.Left(g.Flight, 0)
		}
	}
	if started < 16_000 || started > 17_000+160 {
		t.Errorf("%d started in 170 s at 100 a second", started)
	}
}

// TestRateIsWrittenDown: what TakeRates returns is what a leader needs, and only what grants changed.
func TestRateIsWrittenDown(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 2))
	b.Learn("h", 100*time.Millisecond, 10)
	s := wide(1, 5)
	s.StageKey, s.StageRate, s.Key, s.KeyRate = "ns/f/s", Rate{10, 16 * time.Second}, "g/7", Rate{20, 32 * time.Second}
	s.Attempt, s.RetryWindow = 2, Rate{7, 16 * time.Second}
	b.AddSpan(epoch, s)
	if got := b.TakeRates(); got != nil {
		t.Errorf("nothing was granted, yet %+v", got)
	}
	if g := b.Round(epoch, 10); len(g) != 1 || g[0].Set.Len() != 5 {
		t.Fatalf("granted %+v", g)
	}
	want := []RateState{
		{Name: "key/ns/g/7", WidthMs: 2000, Slot: epoch.Unix() / 2, Counts: []int32{2}, Unstarted: 3},
		{Name: "rate/ns/f/s", WidthMs: 1000, Slot: epoch.Unix(), Counts: []int32{2}, Unstarted: 3},
		{Name: "retry/ns/f/s", WidthMs: 1000, Slot: epoch.Unix(), Counts: []int32{2}, Unstarted: 3},
	}
	if got := b.TakeRates(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := b.TakeRates(); got != nil {
		t.Errorf("taken twice: %+v", got)
	}
}

// TestWindowsOfOneName: stages that share a key's group but look at windows of different lengths count each other's starts.
func TestWindowsOfOneName(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 100))
	add := func(n int, r Rate) { b.AddSpan(epoch, one(n, func(s *Span) { s.Key, s.KeyRate = "g/1", r })) }
	for i := range 20 {
		add(i+1, Rate{3, time.Second})
		add(i+101, Rate{10, time.Minute})
	}
	count := func(now time.Time) (short, long int) {
		for _, g := range b.Round(now, 100) {
			if g.Head.KeyRate.N == 3 {
				short++
			} else {
				long++
			}
			b.Left(g.Flight, 0)
		}
		return short, long
	}
	if short, long := count(epoch); short+long != 10 || short > 3 {
		t.Fatalf("at once %d and %d", short, long)
	}
	if short, long := count(epoch.Add(2 * time.Second)); short != 3 || long != 0 {
		t.Fatalf("after two seconds %d and %d", short, long)
	}
	// The wider one is written down; a leader that restores it holds the narrow one back no longer than its own window.
	states := b.TakeRates()
	if len(states) != 1 || states[0].WidthMs != 3750 {
		t.Fatalf("written down: %+v", states)
	}
	b = newBoard(t, Config{})
	b.SetWorker(aWorker(1, 100))
	b.SetRate(states[0])
	now := epoch.Add(2*time.Second + time.Millisecond)
	b.AddSpan(now, one(1, func(s *Span) { s.Key, s.KeyRate = "g/1", Rate{3, time.Second} }))
	if g := b.Round(now, 10); len(g) != 0 {
		t.Fatalf("granted %d at once after a take-over", len(g))
	}
	if g := b.Round(now.Add(1100*time.Millisecond), 10); len(g) != 1 {
		t.Fatalf("granted %d a window later", len(g))
	}
}

// TestRateWhenTheClockStepsBack: by less than a window it is waited out, by more nothing waits longer than a window, and no
// window of real time holds too many either way.
func TestRateWhenTheClockStepsBack(t *testing.T) {
	for _, step := range []time.Duration{500 * time.Millisecond, time.Hour} {
		b := newBoard(t, Config{})
		b.SetWorker(aWorker(1, 100))
		truth, offset := epoch, time.Duration(0)
		var starts []time.Time
		for i := range 200 {
			b.AddSpan(epoch, one(i+1, func(s *Span) { s.StageKey, s.StageRate = "ns/f/s", Rate{5, time.Second} }))
		}
		for i := range 1000 {
			if i == 333 {
				offset = -step
			}
			for _, g := range b.Round(truth.Add(offset), 100) {
				starts = append(starts, truth)
				b.Left(g.Flight, 0)
			}
			truth = truth.Add(10 * time.Millisecond)
		}
		if len(starts) < 5*8 {
			t.Errorf("after a step of %s: %d starts in 10 s", step, len(starts))
		}
		for i := range len(starts) - 5 {
			if d := starts[i+5].Sub(starts[i]); d < time.Second {
				t.Errorf("after a step of %s: 6 starts within %s", step, d)
			}
		}
	}
}

// TestRateWrittenBeforeTheClockWentBack: what the last leader counted an hour ahead of this one's clock keeps a window shut for a
// window's length, not for the hour.
func TestRateWrittenBeforeTheClockWentBack(t *testing.T) {
	for _, savedLate := range []time.Duration{0, time.Hour} { // the row's slot is ahead, or its time alone
		b := newBoard(t, Config{})
		b.SetWorker(aWorker(1, 100))
		ahead := time.Hour - savedLate
		b.SetRate(RateState{Name: "rate/ns/f/s", WidthMs: 63, Slot: epoch.Add(ahead).UnixMilli() / 63, Counts: []int32{5}, SavedAt: epoch.Add(time.Hour)})
		b.AddSpan(epoch, one(1, func(s *Span) { s.StageKey, s.StageRate = "ns/f/s", Rate{5, time.Second} }))
		if g := b.Round(epoch, 10); len(g) != 0 {
			t.Fatalf("saved %s late: granted %d at once", savedLate, len(g))
		}
		if g := b.Round(epoch.Add(1100*time.Millisecond), 10); len(g) != 1 {
			t.Errorf("saved %s late: granted %d a window later", savedLate, len(g))
		}
	}
}

// TestRetryWindowIsForRetries: first attempts and plans pass.
func TestRetryWindowIsForRetries(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 100))
	for i := range 30 {
		b.AddSpan(epoch, one(i+1, func(s *Span) {
			s.StageKey, s.RetryWindow = "ns/f/s", Rate{2, time.Minute}
			s.Attempt = 1 + i%3
			s.Plan = i%3 == 2
		}))
	}
	var got [4]int
	for _, g := range b.Round(epoch, 100) {
		got[g.Head.Attempt]++
	}
	if got != [4]int{0, 10, 2, 10} {
		t.Errorf("by attempt: %v", got)
	}
	x := closed(b.Explain(id('s', 29), epoch))
	if r := x[GateRetryWindow].Reason; r != "2 of 2 retries started in the last 1m0s, next in 1m3.75s" || len(x) != 1 {
		t.Errorf("%+v", x)
	}
	if name, ok := b.Blocked(id('s', 29)); !ok || name != "retry/ns/f/s" {
		t.Errorf("blocked by %q", name)
	}
}

// TestReserveLeavesRatesAlone: what has a rate takes the long way, which writes it down.
func TestReserveLeavesRatesAlone(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 100))
	for i, change := range []func(*Span){
		func(s *Span) { s.StageRate = Rate{100, time.Second} },
		func(s *Span) { s.Key, s.KeyRate = "g/1", Rate{100, time.Second} },
		func(s *Span) { s.Attempt, s.RetryWindow = 2, Rate{100, time.Second} },
	} {
		if _, ok := b.Reserve(epoch, one(i+1, change)); ok {
			t.Errorf("span %d was reserved", i+1)
		}
	}
	if g, ok := b.Reserve(epoch, one(9, func(s *Span) { s.RetryWindow, s.Key = Rate{100, time.Second}, "g/1" })); !ok || g.Par != 1 {
		t.Error("a first attempt was refused for its retry window")
	}
	if len(b.TakeRates()) != 0 || b.Running(OfKey("ns", "g/1")) != 1 {
		t.Error("a refusal changed a rate")
	}
}

// TestRateIsExplained: a closed rate says how many have started, how many wait, and when the next may.
func TestRateIsExplained(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 2))
	b.Learn("h", 100*time.Millisecond, 10)
	b.AddSpan(epoch, one(1, func(s *Span) {
		s.Key, s.KeyRate, s.Todo = "g/1", Rate{10, 16 * time.Second}, shard.Span(0, 11)
	}))
	g := b.Round(epoch, 10)
	if len(g) != 1 || g[0].Set.Len() != 10 {
		t.Fatalf("granted %+v", g)
	}
	say := func(now time.Time, want string) {
		t.Helper()
		x := closed(b.Explain(id('s', 1), now))[GateRate]
		if x.Reason != want || x.Scope != OfKey("ns", "g/1") || x.Used != 10 || x.Limit != 10 {
			t.Errorf("%+v, want %q", x, want)
		}
	}
	say(epoch, "2 of 10 started in the last 16s, 8 handed out and not started, next in 17s")
	if name, ok := b.Blocked(id('s', 1)); !ok || name != "key/ns/g/1" {
		t.Errorf("blocked by %q", name)
	}
	b.Left(g[0].Flight, 0)
	say(epoch.Add(500*time.Millisecond), "10 of 10 started in the last 16s, next in 16.5s")
	b.SetRate(RateState{Name: "key/ns/g/1", WidthMs: 1000, Slot: epoch.Unix(), Unstarted: 10, Counts: []int32{3}})
	b.AddFlight(Flight{ID: id('x', 1), Handler: "h", Namespace: "ns", Queue: "q", Key: "g/1", KeyRate: Rate{10, 16 * time.Second}, Left: 5, Par: 1})
	if x := closed(b.Explain(id('s', 1), epoch))[GateRate]; x.Open || !x.Next.IsZero() && x.Used < 10 {
		t.Errorf("%+v", x)
	}
}
