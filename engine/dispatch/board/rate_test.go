package board

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"axflow/shard"
	"axflow/stage"
)

// world is workers that really start things, at times of their own, under leaders that come and go.
type world struct {
	t       *rapid.T
	b       *Board
	now     time.Time
	flights []*wflight
	next    int
	starts  map[string][]time.Time // by rate
	bounds  map[string]Rate
	stored  map[string]RateState
	slots   map[uuid.UUID]int
	newID   func() uuid.UUID
}

// wflight is a flight as it is: its indices start in order, the first `idle` when it comes, the others one for each that ends.
type wflight struct {
	Flight
	span    Span
	size    int
	idle    int
	begun   int
	checked time.Time // when the last report left
}

func (w *world) startsOf(f *wflight, n int, from, to time.Time) {
	for range n {
		at := from.Add(time.Duration(rapid.Int64Range(0, int64(to.Sub(from))).Draw(w.t, "start")))
		for name := range ratesOf(&f.span) {
			w.starts[name] = append(w.starts[name], at)
		}
	}
	f.begun += n
}

func (w *world) board() {
	w.b = newBoard(w.t, Config{NewID: w.newID, MaxPiece: 20})
	for id, n := range w.slots {
		w.b.SetWorker(Worker{ID: id, Handlers: map[string]int{"h": n}, Urgent: 1})
	}
	w.b.Learn("h", 50*time.Millisecond, 10) // so that pieces hold up to 20 a slot
}

func (w *world) add() {
	w.next++
	s := one(w.next, func(s *Span) {
		s.Level = stage.Level(rapid.IntRange(0, 2).Draw(w.t, "level"))
		s.StageKey, s.Flow = "ns/f/s", "f"
		s.Todo = shard.Span(0, rapid.SampledFrom([]int{1, 3, 40}).Draw(w.t, "n"))
		s.Attempt = rapid.IntRange(1, 2).Draw(w.t, "attempt")
		s.Tx = rapid.IntRange(0, 4).Draw(w.t, "tx") == 0
		s.Limit = rapid.SampledFrom([]int{0, 0, 2}).Draw(w.t, "limit")
		s.Delivery = rapid.SampledFrom([]int{0, 0, 3}).Draw(w.t, "delivery")
		s.StageRate, s.RetryWindow = w.bounds["rate/ns/f/s"], w.bounds["retry/ns/f/s"]
		if key := rapid.IntRange(0, 2).Draw(w.t, "key"); key > 0 {
			s.Key = fmt.Sprintf("g/%d", key)
			s.KeyRate = w.bounds["key/ns/g/"+fmt.Sprint(key)]
		}
		s.ReadyAt = w.now
	})
	w.b.AddSpan(w.now, s)
}

func (w *world) round() {
	free := map[uuid.UUID]int{}
	urgent := map[uuid.UUID]int{}
	for id, n := range w.slots {
		free[id], urgent[id] = n, 1
	}
	for _, f := range w.flights {
		if f.Urgent {
			urgent[f.Worker] -= f.Left
		} else {
			free[f.Worker] -= f.Left
		}
	}
	grants := w.b.Round(w.now, rapid.SampledFrom([]int{1, 5, 100}).Draw(w.t, "grants"))
	states := w.b.TakeRates()
	switch rapid.IntRange(0, 9).Draw(w.t, "commit") {
	case 0: // the transaction fails
		for _, g := range grants {
			w.b.Reject(g)
		}
		return
	case 1: // some of the rows were not there
		for len(grants) > 0 && rapid.Bool().Draw(w.t, "refused") {
			w.b.Reject(grants[len(grants)-1])
			grants = grants[:len(grants)-1]
		}
	}
	for _, s := range states {
		w.stored[s.Name] = s
	}
	for _, g := range grants {
		s := g.Head
		f := &wflight{Flight: flightOf(&s, g.Flight, g.Worker, g.Set.Len(), g.Par).Flight, span: s, size: g.Set.Len(), checked: w.now}
		f.Urgent = g.Urgent
		left := &free
		if g.Urgent {
			left = &urgent
		}
		f.idle = max(0, min(f.Par, (*left)[f.Worker]))
		(*left)[f.Worker] -= f.size
		w.flights = append(w.flights, f)
		w.startsOf(f, f.idle, w.now, w.now)
	}
}

// report has a flight end some of its indices.
func (w *world) report(f *wflight) {
	f.Left = rapid.IntRange(0, f.Left).Draw(w.t, "left")
	begun := min(f.size, f.size-f.Left+f.idle)
	w.startsOf(f, begun-f.begun, f.checked, w.now)
	f.checked = w.now
	w.b.Left(f.ID, f.Left)
	if f.Left == 0 {
		w.flights = slices.DeleteFunc(w.flights, func(x *wflight) bool { return x == f })
	}
}

func (w *world) takeOver() {
	w.board()
	stored := make([]string, 0, len(w.stored))
	for name := range w.stored {
		stored = append(stored, name)
	}
	slices.Sort(stored)
	restore := func() {
		for _, name := range stored {
			w.b.SetRate(w.stored[name])
		}
	}
	first := rapid.Bool().Draw(w.t, "rates first")
	if first {
		restore()
	}
	for _, f := range w.flights {
		f.Flight.Since = w.now
		w.b.AddFlight(f.Flight)
	}
	if !first {
		restore()
	}
}

// check asserts every bound in every window.
func (w *world) check() {
	for name, r := range w.bounds {
		all := w.starts[name]
		slices.SortFunc(all, time.Time.Compare)
		for i := range all {
			if j := i + r.N; r.N > 0 && j < len(all) && all[j].Sub(all[i]) < r.Per {
				w.t.Fatalf("%s: %d starts within %s, where %d in %s are allowed", name, r.N+1, all[j].Sub(all[i]), r.N, r.Per)
			}
		}
	}
}

// TestRatesHoldInEveryWindow: over random grants, reports, refusals, lost workers and take-overs, no window of a rate's length,
// wherever it begins, holds more than its starts, by when the workers really started.
func TestRatesHoldInEveryWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := func(name string) Rate {
			return Rate{rapid.SampledFrom([]int{0, 1, 3, 10, 60}).Draw(t, name), rapid.SampledFrom([]time.Duration{100 * time.Millisecond, time.Second, 7 * time.Second}).Draw(t, name+" per")}
		}
		w := &world{t: t, now: epoch, starts: map[string][]time.Time{}, stored: map[string]RateState{}, newID: counter(),
			slots: map[uuid.UUID]int{id('w', 1): 2, id('w', 2): 4}, bounds: map[string]Rate{}}
		for _, name := range []string{"rate/ns/f/s", "retry/ns/f/s", "key/ns/g/1", "key/ns/g/2"} {
			if r := rate(name); r.N > 0 {
				w.bounds[name] = r
			}
		}
		w.board()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1:
				w.add()
			case 2, 3:
				w.round()
			case 4, 5, 6:
				if len(w.flights) > 0 {
					w.report(w.flights[rapid.IntRange(0, len(w.flights)-1).Draw(t, "flight")])
				}
			case 7, 8:
				w.now = w.now.Add(time.Duration(rapid.SampledFrom([]int{1, 6, 10, 50, 300, 1000, 8000}).Draw(t, "ms")) * time.Millisecond)
				w.round()
			case 9:
				if rapid.IntRange(0, 2).Draw(t, "what") == 0 {
					gone := id('w', rapid.IntRange(1, 2).Draw(t, "worker"))
					w.b.RemoveWorker(gone)
					w.flights = slices.DeleteFunc(w.flights, func(f *wflight) bool {
						if f.Worker == gone {
							w.startsOf(f, rapid.IntRange(0, f.size-f.begun).Draw(t, "unseen"), f.checked, w.now)
						}
						return f.Worker == gone
					})
					w.b.SetWorker(Worker{ID: gone, Handlers: map[string]int{"h": w.slots[gone]}, Urgent: 1})
				} else {
					w.takeOver()
				}
			}
		}
		w.check()
		// Nothing is held back for ever: when all has ended, a window later one more starts.
		for len(w.flights) > 0 {
			w.flights[0].Left = 0
			w.b.Left(w.flights[0].ID, 0)
			w.flights = w.flights[1:]
		}
		w.b.Round(w.now, 0)
		w.now = w.now.Add(8 * time.Second)
		w.add()
		if len(w.b.Round(w.now, 1)) != 1 {
			t.Fatal("nothing starts although every window is empty")
		}
	})
}

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
		{"key/ns/g/7", 2000, epoch.Unix() / 2, []int32{2}, 3},
		{"rate/ns/f/s", 1000, epoch.Unix(), []int32{2}, 3},
		{"retry/ns/f/s", 1000, epoch.Unix(), []int32{2}, 3},
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
