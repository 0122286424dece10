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

func drawSpan(t *rapid.T, now time.Time) Span {
	lo := rapid.IntRange(0, 30).Draw(t, "lo")
	todo := shard.Span(lo, lo+rapid.SampledFrom([]int{1, 1, 1, 2, 5, 30}).Draw(t, "n"))
	if rapid.IntRange(0, 4).Draw(t, "holes") == 0 {
		todo = todo.Union(shard.Of(50, 52, 54, 56, 58))
	}
	age := time.Duration(rapid.IntRange(0, 400).Draw(t, "age")) * time.Second
	s := Span{
		ID: id('s', rapid.IntRange(1, 40).Draw(t, "span")), Run: id('r', rapid.IntRange(1, 5).Draw(t, "run")),
		Level:     stage.Level(rapid.IntRange(0, 5).Draw(t, "level")),
		Namespace: "ns", Queue: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "queue"),
		Handler: rapid.SampledFrom([]string{"h1", "h1", "h2", "h3"}).Draw(t, "handler"),
		Todo:    todo, ReadyAt: now.Add(-age),
		Delivery: rapid.SampledFrom([]int{0, 0, 0, 2, 3}).Draw(t, "delivery"),
		Tx:       rapid.IntRange(0, 5).Draw(t, "tx") == 0,
		Plan:     rapid.IntRange(0, 8).Draw(t, "plan") == 0,
	}
	if s.Plan {
		s.Todo = shard.Of(0)
	}
	s.Flow = rapid.SampledFrom([]string{"f", "g"}).Draw(t, "flow")
	s.StageKey = "ns/" + s.Flow + "/" + s.Handler
	s.Limit = max(0, rapid.IntRange(-8, 6).Draw(t, "limit"))
	s.Attempt = rapid.IntRange(1, 2).Draw(t, "attempt")
	if rapid.IntRange(0, 2).Draw(t, "keyed") == 0 {
		s.Key = rapid.SampledFrom([]string{"g/1", "g/2", "g/3"}).Draw(t, "key")
		s.KeyLimit = rapid.IntRange(0, 3).Draw(t, "key limit")
		s.KeyRate = drawRate(t, 16*time.Second)
	}
	s.StageRate, s.RetryWindow = drawRate(t, 16*time.Minute), drawRate(t, 8*time.Minute)
	s.Breaker = rapid.IntRange(0, 3).Draw(t, "breaker") == 0
	s.Downstreams = rapid.SampledFrom([][]string{nil, nil, {"d1"}, {"d2", "d1"}}).Draw(t, "downstreams")
	s.Routing = rapid.SampledFrom(append(stage.Routings(), "", "", "", "")).Draw(t, "routing")
	s.Prefers = rapid.SampledFrom([][]string{nil, nil, nil, {"gpu"}, {"eu", "gpu"}}).Draw(t, "prefers")
	s.Requires = rapid.SampledFrom([][]string{nil, nil, nil, {"gpu"}, {"gpu", "eu"}, {"eu", "gpu"}}).Draw(t, "requires")
	if rapid.IntRange(0, 9).Draw(t, "later") == 0 {
		s.NotBefore = now.Add(time.Duration(rapid.IntRange(-5, 5).Draw(t, "due")) * time.Second)
	}
	return s
}

// drawRate draws no bound, a tight or a generous one. A name's window is always the same.
func drawRate(t *rapid.T, per time.Duration) Rate {
	if n := rapid.SampledFrom([]int{0, 0, 0, 0, 1, 4, 40}).Draw(t, "starts"); n > 0 {
		return Rate{n, per}
	}
	return Rate{}
}

func drawWorker(t *rapid.T) Worker {
	w := Worker{
		ID: id('w', rapid.IntRange(1, 4).Draw(t, "worker")), Handlers: map[string]int{},
		Labels:   rapid.SampledFrom([][]string{nil, {"gpu"}, {"eu", "gpu"}}).Draw(t, "labels"),
		Urgent:   rapid.IntRange(0, 2).Draw(t, "urgent"),
		Draining: rapid.IntRange(0, 7).Draw(t, "draining") == 0, Overloaded: rapid.IntRange(0, 7).Draw(t, "overloaded") == 0,
	}
	for _, h := range []string{"h1", "h2", "h3"} {
		w.Handlers[h] = rapid.IntRange(0, 4).Draw(t, h)
	}
	return w
}

func drawScope(t *rapid.T) Scope {
	return rapid.SampledFrom([]Scope{
		OfStage("ns/f/h1"), OfStage("ns/g/h2"), OfKey("ns", "g/1"), OfQueue("ns", "a"), OfQueue("ns", "b"), OfFlow("ns", "f"),
		OfHandler("ns/f/h1"), OfHandler("ns/g/h1"), OfDownstream("ns", "d1"), OfDownstream("ns", "d2"),
	}).Draw(t, "scope")
}

// TestBooks drives the Board and the model with the same random events.
func TestBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{t: t, now: epoch, limits: map[Scope]int{}, holds: map[Scope]stage.Level{}, rates: map[string]*mrate{},
			demoted: map[string]stage.Level{}, rise: map[string]time.Duration{}, aging: true}
		m.b = newBoard(t, Config{MaxPiece: testPiece, MaxRanges: testRanges, MaxOutstanding: testOutstanding})
		b := m.b
		foreign := 0
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { m.t = t; m.books() },
			"span": func(t *rapid.T) {
				for range rapid.IntRange(1, 6).Draw(t, "spans") {
					s := drawSpan(t, m.now)
					want := Pending
					if s.NotBefore.After(m.now) {
						want = NotDue
					}
					if got := b.AddSpan(m.now, s); got != want {
						t.Fatalf("AddSpan says %v, want %v", got, want)
					}
					if want == Pending {
						m.add(s)
					} else {
						m.remove(s.ID)
					}
				}
			},
			"worker": func(t *rapid.T) {
				w := drawWorker(t)
				b.SetWorker(w)
				if i := slices.IndexFunc(m.workers, func(x Worker) bool { return x.ID == w.ID }); i >= 0 {
					m.workers[i] = w
				} else {
					m.workers = append(m.workers, w)
				}
			},
			"round":     func(t *rapid.T) { m.t = t; m.round(1000) },
			"one grant": func(t *rapid.T) { m.t = t; m.round(1) },
			"few":       func(t *rapid.T) { m.t = t; m.round(3) },
			"left": func(t *rapid.T) {
				for range rapid.IntRange(1, 4).Draw(t, "reports") {
					if len(m.flights) == 0 {
						return
					}
					i := rapid.IntRange(0, len(m.flights)-1).Draw(t, "flight")
					f := m.flights[i]
					left := rapid.SampledFrom([]int{0, 0, 1, f.Left / 2, f.Left + 1}).Draw(t, "left")
					if !b.Left(f.ID, left) {
						t.Fatalf("flight %v is unknown", f.ID)
					}
					if m.left(f, min(f.Left, left)); f.Left == 0 {
						if b.Left(f.ID, 0) || b.HasFlight(f.ID) {
							t.Fatalf("flight %v is still known", f.ID)
						}
					}
				}
			},
			"reserve": func(t *rapid.T) {
				m.t = t
				s := drawSpan(t, m.now)
				known := m.find(s.ID) != nil
				m.tell()
				g, ok := b.Reserve(m.now, s)
				if !ok {
					return
				}
				if known || !g.Set.Equal(s.Todo) || s.NotBefore.After(m.now) || len(ratesOf(&s)) > 0 {
					t.Fatalf("reserved %v of %+v", g.Set, s)
				}
				m.add(s)
				m.granted(g)
			},
			"reject": func(t *rapid.T) {
				m.t = t
				m.tell()
				m.begun = true
				for _, g := range b.Round(m.now, 1) {
					m.granted(g)
					b.Reject(g)
					m.remove(g.Span)
					f := m.flights[len(m.flights)-1]
					m.flights = m.flights[:len(m.flights)-1]
					for name, r := range ratesOf(&f.of) {
						m.rate(name, r).refund(m.now, f.idle)
					}
				}
			},
			"remove span": func(t *rapid.T) {
				u := id('s', rapid.IntRange(1, 40).Draw(t, "span"))
				if b.RemoveSpan(u) != (m.find(u) != nil) {
					t.Fatalf("RemoveSpan is wrong about %v", u)
				}
				m.remove(u)
			},
			"remove run": func(t *rapid.T) {
				r := id('r', rapid.IntRange(1, 5).Draw(t, "run"))
				before := len(m.spans)
				m.spans = slices.DeleteFunc(m.spans, func(s *mspan) bool { return s.Run == r })
				if got := b.RemoveRun(r); got != before-len(m.spans) {
					t.Fatalf("RemoveRun removed %d, want %d", got, before-len(m.spans))
				}
			},
			"remove worker": func(t *rapid.T) {
				w := id('w', rapid.IntRange(1, 4).Draw(t, "worker"))
				var want []uuid.UUID
				for _, f := range slices.Clone(m.flights) {
					if f.Worker == w {
						want = append(want, f.ID)
						m.left(f, 0)
					}
				}
				if held := b.Flights(w); !slices.Equal(held, want) {
					t.Fatalf("Flights %v, want %v", held, want)
				}
				if got := b.RemoveWorker(w); !slices.Equal(got, want) {
					t.Fatalf("RemoveWorker returned %v, want %v", got, want)
				}
				m.workers = slices.DeleteFunc(m.workers, func(x Worker) bool { return x.ID == w })
			},
			"foreign flight": func(t *rapid.T) {
				s := drawSpan(t, m.now)
				foreign++
				f := flightOf(&s, id('x', foreign), id('w', rapid.IntRange(1, 4).Draw(t, "worker")),
					rapid.IntRange(1, 5).Draw(t, "left"), rapid.IntRange(1, 3).Draw(t, "par"))
				f.Since = m.now
				b.AddFlight(f.Flight)
				b.AddFlight(f.Flight)
				m.flights = append(m.flights, f)
				if m.begun {
					for name, r := range ratesOf(&f.of) {
						m.rate(name, r).fresh += f.idle
					}
				}
			},
			"demote": func(t *rapid.T) {
				q, from := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "queue"), stage.Level(rapid.IntRange(0, 6).Draw(t, "from"))
				b.Demote("ns", q, from)
				m.demoted[q] = from
			},
			"queue policy": func(t *rapid.T) {
				q := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "queue")
				rise := rapid.SampledFrom([]time.Duration{-1, 0, 10 * time.Second, time.Minute}).Draw(t, "rise")
				var weights *[levels]int
				if rapid.Bool().Draw(t, "weights") {
					weights = &[levels]int{1, 2, 3, 40, 5, 6}
				}
				var decay *float64
				if delete(m.rise, q); rise >= 0 {
					decay = new(float64)
					if m.rise[q] = rise; rise > 0 {
						*decay = 1 / rise.Seconds()
					}
				}
				if err := b.SetQueuePolicy("ns", q, weights, decay); err != nil {
					t.Fatal(err)
				}
			},
			"switch": func(t *rapid.T) {
				m.strict, m.aging = rapid.Bool().Draw(t, "strict"), rapid.Bool().Draw(t, "aging")
				b.SetStrict(m.strict)
				if b.SetDecay(0); m.aging {
					b.SetDecay(1.0 / 60)
				}
			},
			"limit": func(t *rapid.T) {
				s, n := drawScope(t), rapid.IntRange(-1, 5).Draw(t, "n")
				b.SetLimit(s, n)
				if n < 0 {
					delete(m.limits, s)
				} else {
					m.limits[s] = n
				}
			},
			"hold": func(t *rapid.T) {
				s := drawScope(t)
				if _, held := m.holds[s]; held {
					b.Release(s, "paused")
					delete(m.holds, s)
					return
				}
				from := stage.Level(rapid.IntRange(0, 5).Draw(t, "from"))
				b.Hold(s, "paused", from, "test")
				m.holds[s] = from
			},
			"learn": func(t *rapid.T) {
				mean := time.Duration(rapid.SampledFrom([]int{1, 100, 300, 5000}).Draw(t, "ms")) * time.Millisecond
				b.Learn(rapid.SampledFrom([]string{"h1", "h2"}).Draw(t, "handler"), mean, 10)
			},
			"time": func(t *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.SampledFrom([]int{-3600, -1, 0, 1, 2, 15, 60, 90, 1000}).Draw(t, "s")) * time.Second)
			},
			"sweep": func(t *rapid.T) {
				b.idle += 1 << 20 // as if very many lanes were idle
				b.sweep()
			},
		})
	})
}

// TestSameEventsSameGrants runs one random history twice.
func TestSameEventsSameGrants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type event struct {
			span   Span
			worker Worker
			kind   int
		}
		events := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event {
			e := event{kind: rapid.IntRange(0, 5).Draw(t, "kind")}
			if e.kind < 3 {
				e.span = drawSpan(t, epoch)
			} else if e.kind == 3 {
				e.worker = drawWorker(t)
			}
			return e
		}), 1, 60).Draw(t, "events")
		history := func() (log []string) {
			b := newBoard(t, Config{MaxPiece: testPiece, MaxRanges: testRanges})
			var out []uuid.UUID
			for i, e := range events {
				now := epoch.Add(time.Duration(i) * time.Second)
				switch e.kind {
				case 0, 1, 2:
					b.AddSpan(now, e.span)
				case 3:
					b.SetWorker(e.worker)
				case 4:
					for _, g := range b.Round(now, 100) {
						log = append(log, fmt.Sprint(g.Span, g.Flight, g.Worker, g.Set, g.Par, g.Urgent, g.Turn))
						out = append(out, g.Flight)
					}
				case 5:
					for j, f := range out {
						if (i+j)%2 == 0 {
							b.Left(f, 0)
						}
					}
				}
			}
			return log
		}
		if x, y := history(), history(); !slices.Equal(x, y) {
			t.Fatalf("two histories:\n%v\n%v", x, y)
		}
	})
}
