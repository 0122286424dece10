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
	// The hand-out takes its time, and is counted from when it happened: by this leader, or by the next if this one dies over it.
	took := time.Duration(rapid.SampledFrom([]int{0, 0, 1, 20, 90, 400, 9000}).Draw(w.t, "took ms")) * time.Millisecond
	w.now = w.now.Add(took)
	for _, s := range states {
		s.SavedAt = w.now
		w.stored[s.Name] = s
	}
	dies := rapid.IntRange(0, 9).Draw(w.t, "dies") == 0
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
		handed := w.now.Add(-time.Duration(rapid.Int64Range(0, int64(took)).Draw(w.t, "before")))
		w.startsOf(f, f.idle, handed, handed)
		if !dies {
			w.b.Handed(f.ID, handed)
		}
	}
	if dies {
		w.takeOver()
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
