package wheel_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"axflow/engine/wheel"
)

var start = time.Date(2026, 3, 29, 0, 59, 59, 123_456_789, time.UTC)

// naive is the model: a slice, sorted when asked. Ticks are its own arithmetic, on nanoseconds.
type naive struct {
	now  int64 // milliseconds
	seq  int
	live []naiveTimer
}

type naiveTimer struct {
	tick    int64
	payload int
}

func roundUp(t time.Time) int64   { return -roundDown(time.Unix(0, -t.UnixNano())) }
func roundDown(t time.Time) int64 { n := t.UnixNano(); return (n - (n%1e6+1e6)%1e6) / 1e6 }

func (m *naive) add(due time.Time) int {
	m.seq++
	m.live = append(m.live, naiveTimer{roundUp(due), m.seq})
	return m.seq
}

func (m *naive) sort() {
	slices.SortFunc(m.live, func(a, b naiveTimer) int {
		return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.payload, b.payload))
	})
}

func (m *naive) advance(now time.Time) []naiveTimer {
	m.now = roundDown(now)
	m.sort()
	n := 0
	for n < len(m.live) && m.live[n].tick <= m.now {
		n++
	}
	due := m.live[:n]
	m.live = slices.Clone(m.live[n:])
	return due
}

func (m *naive) cancel(payload int) bool {
	n := len(m.live)
	m.live = slices.DeleteFunc(m.live, func(t naiveTimer) bool { return t.payload == payload })
	return len(m.live) < n
}

// TestAgainstModel drives a wheel and a sorted list with the same random operations.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := start
		w, m := wheel.New[int](now), &naive{now: roundDown(now)}
		handles := []wheel.Handle{{}} // by payload; all of them, so most are stale in the end
		spread := rapid.SampledFrom([]time.Duration{
			5 * time.Microsecond, time.Millisecond, 30 * time.Millisecond, 2 * time.Second,
			time.Minute, wheel.Span, 2 * wheel.Span, 400 * 24 * time.Hour,
		})
		within := func(label string) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(spread.Draw(t, "spread"))).Draw(t, label))
		}
		add := func(due time.Time) {
			p := m.add(due)
			if p != len(handles) {
				t.Fatalf("payload %d, want %d", p, len(handles))
			}
			handles = append(handles, w.Add(due, p))
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					add(now.Add(within("ahead")))
				}
			},
			"addOverdue": func(*rapid.T) { add(now.Add(-within("behind"))) },
			"cancel": func(t *rapid.T) {
				p := rapid.IntRange(0, len(handles)-1).Draw(t, "payload")
				if got, want := w.Cancel(handles[p]), m.cancel(p); got != want {
					t.Fatalf("Cancel of %d: %v, want %v", p, got, want)
				}
			},
			"advance": func(t *rapid.T) {
				now = now.Add(within("by"))
				fired, ok := w.Advance(now, nil)
				if !ok {
					t.Fatalf("Advance to %v from %v refused", now, w.Now())
				}
				same(t, fired, m.advance(now))
			},
			"advanceToNext": func(t *rapid.T) {
				due, ok := w.Next()
				if !ok || due.Before(now) {
					return
				}
				now = due
				fired, _ := w.Advance(now, nil)
				if len(fired) == 0 || !fired[0].Due.Equal(due) {
					t.Fatalf("at Next's %v fired %v", due, fired)
				}
				same(t, fired, m.advance(now))
			},
			"advanceBack": func(t *rapid.T) {
				by := within("back") + time.Millisecond
				if fired, ok := w.Advance(now.Add(-by), nil); ok || len(fired) > 0 {
					t.Fatalf("Advance back by %v: ok %v, fired %v", by, ok, fired)
				}
			},
			"reset": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") > 0 {
					return
				}
				now = now.Add(within("by") - within("back"))
				if got, want := w.Reset(now), len(m.live); got != want {
					t.Fatalf("Reset dropped %d, want %d", got, want)
				}
				m.live, m.now = nil, roundDown(now)
			},
			"": func(t *rapid.T) {
				m.sort()
				if w.Len() != len(m.live) {
					t.Fatalf("Len %d, want %d", w.Len(), len(m.live))
				}
				if w.Now().UnixMilli() != m.now {
					t.Fatalf("Now %d, want %d", w.Now().UnixMilli(), m.now)
				}
				due, ok := w.Next()
				if ok != (len(m.live) > 0) || ok && due.UnixMilli() != m.live[0].tick {
					t.Fatalf("Next %v %v, model %v", due, ok, m.live)
				}
			},
		})
	})
}

func same(t *rapid.T, fired []wheel.Fired[int], want []naiveTimer) {
	t.Helper()
	if len(fired) != len(want) {
		t.Fatalf("fired %d timers, want %d: %v, want %v", len(fired), len(want), fired, want)
	}
	for i, f := range fired {
		if f.Payload != want[i].payload || f.Due.UnixMilli() != want[i].tick {
			t.Fatalf("fired[%d] = %v, want %v", i, f, want[i])
		}
	}
}

// TestYear runs a year of virtual time: 2,000 timers that add themselves again at mixed distances, a
// third of them cancelled on the way. Every one that is not cancelled fires once, in order, at the first
// wake-up not before its due time.
func TestYear(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 11))
	distance := func() time.Duration {
		limit := [...]time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour, 60 * 24 * time.Hour}
		return time.Duration(rnd.Int64N(int64(limit[rnd.IntN(len(limit))])))
	}
	type timer struct {
		due    time.Time
		handle wheel.Handle
		done   bool
	}
	var timers []timer
	w := wheel.New[int](start)
	add := func(due time.Time) {
		timers = append(timers, timer{due: due, handle: w.Add(due, len(timers))})
	}
	now, end := start, start.AddDate(1, 0, 0)
	for range 2000 {
		add(now.Add(distance()))
	}
	var fired []wheel.Fired[int]
	cancelled, total := 0, 0
	for {
		next, ok := w.Next()
		if !ok || next.After(end) {
			break
		}
		before := now
		now = next.Add(time.Duration(rnd.Int64N(int64(3 * time.Second)))) // wakes up late
		fired, ok = w.Advance(now, fired[:0])
		if !ok || len(fired) == 0 {
			t.Fatalf("Advance to %v: ok %v, %d fired", now, ok, len(fired))
		}
		last := time.Time{}
		for _, f := range fired {
			it := &timers[f.Payload]
			switch {
			case it.done:
				t.Fatalf("timer %d fired twice or after it was cancelled", f.Payload)
			case f.Due.Before(last):
				t.Fatalf("timer %d due %v fired after one due %v", f.Payload, f.Due, last)
			case f.Due.Sub(it.due) < 0 || f.Due.Sub(it.due) >= time.Millisecond:
				t.Fatalf("timer %d due %v reported as %v", f.Payload, it.due, f.Due)
			case f.Due.After(now) || it.due.Before(before.Add(-time.Millisecond)):
				t.Fatalf("timer %d due %v fired between %v and %v", f.Payload, it.due, before, now)
			}
			it.done, last = true, f.Due
			add(now.Add(distance()))
		}
		total += len(fired)
		for range len(fired) / 2 {
			v := len(timers) - 1 - rnd.IntN(min(len(timers), 3000))
			if w.Cancel(timers[v].handle) == timers[v].done {
				t.Fatalf("Cancel of timer %d disagrees: done %v", v, timers[v].done)
			}
			if !timers[v].done {
				timers[v].done = true
				cancelled++
				add(now.Add(distance()))
			}
		}
	}
	pending := 0
	for _, it := range timers {
		if !it.done {
			pending++
		}
	}
	if pending != w.Len() || pending != 2000 {
		t.Fatalf("%d pending by count, %d by the wheel, want 2000", pending, w.Len())
	}
	if total < 100_000 || cancelled < 500 {
		t.Fatalf("only %d fired, %d cancelled: the test has lost its point", total, cancelled)
	}
}

func TestTiesAreFIFOThroughEveryLevel(t *testing.T) {
	base := time.Unix(0, 0).UTC()
	due := base.Add(3 * wheel.Span)
	w := wheel.New[string](base)
	w.Add(due, "from the heap")
	w.Advance(due.Add(-wheel.Span), nil)
	w.Add(due, "from the far end of the coarse ring")
	w.Advance(due.Add(-wheel.Span/2), nil)
	w.Add(due, "from the coarse ring")
	w.Advance(due.Add(-time.Millisecond), nil)
	w.Add(due, "from the fine ring")
	w.Add(due.Add(-999*time.Microsecond), "same tick, rounded up")
	fired, _ := w.Advance(due, nil)
	var got []string
	for _, f := range fired {
		got = append(got, f.Payload)
	}
	want := []string{
		"from the heap", "from the far end of the coarse ring", "from the coarse ring", "from the fine ring",
		"same tick, rounded up",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("fired %q, want %q", got, want)
	}
}

func TestNeverEarlyNeverLateByMoreThanATick(t *testing.T) {
	base := time.Unix(1000, 0)
	w := wheel.New[int](base)
	w.Add(base.Add(10*time.Millisecond+time.Nanosecond), 1)
	if fired, _ := w.Advance(base.Add(11*time.Millisecond-time.Nanosecond), nil); len(fired) > 0 {
		t.Fatalf("fired before the tick: %v", fired)
	}
	if fired, _ := w.Advance(base.Add(11*time.Millisecond), nil); len(fired) != 1 {
		t.Fatalf("fired %v at the tick, want one", fired)
	}
}

func TestStaleHandles(t *testing.T) {
	now := start.Truncate(time.Millisecond)
	w := wheel.New[string](now)
	cancelled := w.Add(now, "a")
	if !w.Cancel(cancelled) || w.Cancel(cancelled) {
		t.Fatal("a timer can be cancelled once")
	}
	reset := w.Add(now, "b") // takes a's place in memory
	if w.Cancel(cancelled) {
		t.Fatal("a stale handle cancelled another timer")
	}
	if w.Reset(now.Add(-time.Hour)) != 1 {
		t.Fatal("Reset should have dropped one")
	}
	w.Add(now, "c")
	fired := w.Add(now.Add(-2*time.Hour), "d")
	if w.Cancel(reset) || w.Cancel(wheel.Handle{}) {
		t.Fatal("a stale or zero handle cancelled something")
	}
	if got, _ := w.Advance(now, nil); len(got) != 2 || got[0].Payload != "d" || got[1].Payload != "c" {
		t.Fatalf("fired %v, want d then c", got)
	}
	if w.Cancel(fired) {
		t.Fatal("a fired timer was cancelled")
	}
	other := wheel.New[string](now)
	if other.Cancel(fired) {
		t.Fatal("a handle of a bigger wheel cancelled something")
	}
}

// TestSteadyStateDoesNotAllocate holds 100,000 timers and lets 1,000 a second fire, be cancelled and be
// added anew.
func TestSteadyStateDoesNotAllocate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	now := start
	w := wheel.New[int](now)
	handles := make([]wheel.Handle, 100_000)
	due := func() time.Time { return now.Add(time.Duration(rnd.Int64N(int64(time.Minute)))) }
	for i := range handles {
		handles[i] = w.Add(due(), i)
	}
	fired := make([]wheel.Fired[int], 0, len(handles))
	allocs := testing.AllocsPerRun(50, func() {
		now = now.Add(time.Second)
		fired, _ = w.Advance(now, fired[:0])
		for _, f := range fired {
			handles[f.Payload] = w.Add(due(), f.Payload)
		}
		for range 1000 {
			i := rnd.IntN(len(handles))
			w.Cancel(handles[i])
			handles[i] = w.Add(due(), i)
		}
		w.Next()
	})
	if allocs > 0 || w.Len() != len(handles) {
		t.Fatalf("%v allocations a second of work, %d timers", allocs, w.Len())
	}
}
