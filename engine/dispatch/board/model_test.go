package board

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"axflow/shard"
	"axflow/stage"
)

var epoch = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// id makes a readable id.
func id(kind byte, n int) uuid.UUID {
	var u uuid.UUID
	u[0] = kind
	binary.BigEndian.PutUint64(u[8:], uint64(n))
	return u
}

func counter() func() uuid.UUID {
	n := 0
	return func() uuid.UUID { n++; return id('f', n) }
}

func newBoard(t interface{ Fatal(...any) }, c Config) *Board {
	if c.NewID == nil {
		c.NewID = counter()
	}
	b, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// model is the books kept in the most obvious way: lists, and every question answered by walking them.
type model struct {
	t       *rapid.T
	b       *Board
	now     time.Time
	spans   []*mspan
	flights []*mflight
	workers []Worker
	limits  map[Scope]int
	holds   map[Scope]stage.Level
	order   int
}

type mspan struct {
	Span
	order int
}

type mflight struct {
	Flight
	solo bool
}

const (
	testPiece, testRanges, testOutstanding = 8, 3, 20
	testHorizon                            = time.Second
	testRise                               = time.Minute
)

func (m *model) readyAt(s *mspan) time.Time {
	if s.NotBefore.After(s.ReadyAt) {
		return s.NotBefore
	}
	return s.ReadyAt
}

func (m *model) most(w Worker, handler string) (slots, most int) {
	slots = w.Handlers[handler]
	most = slots
	if c := m.b.Cost(handler); c > 0 {
		most = max(slots, int(time.Duration(slots)*testHorizon/c))
	}
	most = min(most, testOutstanding)
	return min(slots, most), most
}

func (m *model) out(w uuid.UUID, handler string) (out, solo int) {
	for _, f := range m.flights {
		if f.Worker == w && f.Handler == handler && !f.Urgent {
			out += f.Left
			if f.solo {
				solo++
			}
		}
	}
	return out, solo
}

func (m *model) urgentOut(w uuid.UUID) (out int) {
	for _, f := range m.flights {
		if f.Worker == w && f.Urgent {
			out += f.Left
		}
	}
	return out
}

func (m *model) running(s Scope) (n int) {
	for _, f := range m.flights {
		in := f.StageKey != "" && s == OfStage(f.StageKey) || s == OfQueue(f.Namespace, f.Queue) || s == OfHandler(f.Handler)
		if in {
			n += min(f.Left, f.Par)
		}
	}
	return n
}

func scopesOf(s *Span) []Scope {
	all := []Scope{OfQueue(s.Namespace, s.Queue), OfHandler(s.Handler)}
	if s.StageKey != "" {
		all = append(all, OfStage(s.StageKey))
	}
	return all
}

// limit is the span's limit in a scope, -1 for none.
func (m *model) limit(s *Span, in Scope) int {
	limit := -1
	if l, ok := m.limits[in]; ok {
		limit = l
	}
	if in.Kind == StageScope && s.Limit > 0 && (limit < 0 || s.Limit < limit) {
		limit = s.Limit
	}
	return limit
}

func (m *model) gated(s *Span) bool {
	for _, in := range scopesOf(s) {
		if from, ok := m.holds[in]; ok && s.Level >= from {
			return true
		}
		if limit := m.limit(s, in); limit >= 0 && m.running(in) >= limit {
			return true
		}
	}
	return false
}

func (m *model) capable(w Worker, s *Span) bool {
	for _, l := range s.Requires {
		if !slices.Contains(w.Labels, l) {
			return false
		}
	}
	return w.Handlers[s.Handler] > 0 && !w.Draining && !w.Overloaded
}

func solo(s *Span) bool { return s.Plan || s.Delivery >= 3 }

// normal tells whether a worker's pool takes the span.
func (m *model) normal(w Worker, s *Span) (takes, idle bool) {
	slots, most := m.most(w, s.Handler)
	out, soloOut := m.out(w.ID, s.Handler)
	if solo(s) && soloOut >= slots {
		return false, false
	}
	room := most - out
	return room > 0 && (out < slots || 4*room >= most), out < slots
}

func (m *model) dispatchable(s *Span) bool {
	if m.gated(s) {
		return false
	}
	for _, w := range m.workers {
		if !m.capable(w, s) {
			continue
		}
		if takes, _ := m.normal(w, s); takes {
			return true
		}
		if s.Level == 0 && m.urgentOut(w.ID) < w.Urgent {
			return true
		}
	}
	return false
}

func (m *model) risen(s *mspan) stage.Level {
	if s.Level <= 1 {
		return s.Level
	}
	up := max(0, int(m.now.Sub(m.readyAt(s))/testRise))
	return stage.Level(max(1, int(s.Level)-up))
}

// before tells whether x has less effective priority than y, or the same and came first.
func (m *model) before(x, y *mspan) bool {
	rx := m.readyAt(x).Add(time.Duration(x.Level) * testRise)
	ry := m.readyAt(y).Add(time.Duration(y.Level) * testRise)
	return rx.Before(ry) || rx.Equal(ry) && x.order < y.order
}

func (m *model) firstOfLevel(s *mspan) bool {
	return !slices.ContainsFunc(m.spans, func(o *mspan) bool {
		return o.Handler == s.Handler && o.Level == s.Level && m.before(o, s) && m.dispatchable(&o.Span)
	})
}

func (m *model) find(id uuid.UUID) *mspan {
	for _, s := range m.spans {
		if s.ID == id {
			return s
		}
	}
	return nil
}

func (m *model) add(s Span) {
	order := m.order
	m.order++
	n := &mspan{Span: s, order: order}
	if old := m.find(s.ID); old != nil {
		if m.readyAt(old).Equal(m.readyAt(n)) {
			n.order = old.order
		}
		m.remove(s.ID)
	}
	m.spans = append(m.spans, n)
}

func (m *model) remove(id uuid.UUID) {
	m.spans = slices.DeleteFunc(m.spans, func(s *mspan) bool { return s.ID == id })
}

// granted checks one grant against the books as they are before it, then books it.
func (m *model) granted(g Grant) {
	t := m.t
	s := m.find(g.Span)
	if s == nil {
		t.Fatalf("grant of a span that is not pending: %v", g.Span)
	}
	if !s.Todo.ContainsSet(g.Set) || g.Set.Empty() {
		t.Fatalf("granted %v of %v", g.Set, s.Todo)
	}
	if !g.Head.Todo.Equal(s.Todo) {
		t.Fatalf("head shows %v, pending is %v", g.Head.Todo, s.Todo)
	}
	n := g.Set.Len()
	if n > testPiece || g.Set.NumRanges() > testRanges || (s.Tx || solo(&s.Span)) && n != 1 {
		t.Fatalf("piece %v of %+v", g.Set, s.Span)
	}
	if m.gated(&s.Span) {
		t.Fatalf("granted through a closed gate")
	}
	i := slices.IndexFunc(m.workers, func(w Worker) bool { return w.ID == g.Worker })
	if i < 0 || !m.capable(m.workers[i], &s.Span) {
		t.Fatalf("worker %v cannot run it", g.Worker)
	}
	w := m.workers[i]
	slots, most := m.most(w, s.Handler)
	out, _ := m.out(w.ID, s.Handler)
	takes, idle := m.normal(w, &s.Span)
	for _, other := range m.workers {
		_, otherIdle := m.normal(other, &s.Span)
		if !idle && otherIdle && m.capable(other, &s.Span) {
			t.Fatalf("granted to a busy worker while another has an idle slot")
		}
	}
	if g.Urgent {
		if s.Level != 0 || idle || m.urgentOut(w.ID)+n > w.Urgent {
			t.Fatalf("urgent grant at P%d, idle=%v, %d+%d of %d", s.Level, idle, m.urgentOut(w.ID), n, w.Urgent)
		}
		slots = w.Urgent
	} else if !takes || out+n > most {
		t.Fatalf("room exceeded: takes=%v, %d+%d of %d", takes, out, n, most)
	}
	if g.Par < 1 || g.Par > n || g.Par > slots {
		t.Fatalf("par %d of %d on %d slots", g.Par, n, slots)
	}
	// Nobody who takes part in this turn had more right to it: the spans of its level, and of each lower level the first
	// if it has risen to it.
	if g.Turn != s.Level && g.Turn != m.risen(s) {
		t.Fatalf("P%d risen to P%d took a turn of P%d", s.Level, m.risen(s), g.Turn)
	}
	for _, o := range m.spans {
		if o.Handler == s.Handler && m.before(o, s) && m.dispatchable(&o.Span) &&
			(o.Level == g.Turn || m.risen(o) == g.Turn && m.firstOfLevel(o)) {
			t.Fatalf("span %v should have gone before %v at P%d", o.ID, s.ID, g.Turn)
		}
	}
	m.flights = append(m.flights, &mflight{Flight{
		ID: g.Flight, Run: s.Run, Worker: g.Worker, Handler: s.Handler, Namespace: s.Namespace, Queue: s.Queue,
		Level: s.Level, StageKey: s.StageKey, Left: n, Par: g.Par, Urgent: g.Urgent,
	}, solo(&s.Span)})
	for _, in := range scopesOf(&s.Span) {
		if limit := m.limit(&s.Span, in); limit >= 0 && m.running(in) > limit {
			t.Fatalf("limit of %v exceeded: %d/%d", in, m.running(in), limit)
		}
	}
	s.Todo = s.Todo.Minus(g.Set)
	if s.Todo.Empty() {
		m.remove(s.ID)
	}
}

// round runs a round and checks everything about it.
func (m *model) round(maxGrants int) {
	t := m.t
	next := map[string]uuid.UUID{} // by handler
	for _, s := range m.spans {
		gates := m.b.Explain(s.ID, m.now)
		if !slices.ContainsFunc(gates, func(g Gate) bool { return !g.Open }) {
			if next[s.Handler] != (uuid.UUID{}) {
				t.Fatalf("two spans of one handler have all gates open")
			}
			next[s.Handler] = s.ID
		}
		blocked := slices.ContainsFunc(gates, func(g Gate) bool { return !g.Open && g.Name != GateTurn })
		if blocked == m.dispatchable(&s.Span) {
			t.Fatalf("explain says blocked=%v, the model says dispatchable=%v: %+v", blocked, m.dispatchable(&s.Span), gates)
		}
	}
	grants := m.b.Round(m.now, maxGrants)
	if len(grants) > maxGrants {
		t.Fatalf("%d grants of %d", len(grants), maxGrants)
	}
	seen := map[string]bool{}
	for i, g := range grants {
		if h := g.Head.Handler; !seen[h] {
			seen[h] = true
			// Later, another handler's grant may have closed a gate that they share.
			if next[h] == uuid.Nil || i == 0 && next[h] != g.Span {
				t.Fatalf("the first grant of %s is %v; explain called %v next", h, g.Span, next[h])
			}
		}
		m.granted(g)
	}
	if len(grants) == maxGrants {
		return
	}
	for _, s := range m.spans {
		if m.dispatchable(&s.Span) {
			t.Fatalf("span %+v could have been handed out", s.Span)
		}
		gates := m.b.Explain(s.ID, m.now)
		if !slices.ContainsFunc(gates, func(g Gate) bool { return !g.Open }) {
			t.Fatalf("no gate is closed, yet it waits: %+v", gates)
		}
	}
}

// books compares every count.
func (m *model) books() {
	t, b := m.t, m.b
	var want [levels]Load
	for _, s := range m.spans {
		want[s.Level].Pending.add(1, s.Todo.Len())
		got, ok := b.Span(s.ID)
		if !ok || !got.Todo.Equal(s.Todo) {
			t.Fatalf("span %v: board has %v, model %v", s.ID, got.Todo, s.Todo)
		}
	}
	for _, f := range m.flights {
		want[f.Level].HandedOut.add(1, f.Left)
	}
	if got := b.Depth(); got != want {
		t.Fatalf("depth %+v, want %+v", got, want)
	}
	var queues Load
	for _, q := range b.Queues() {
		queues.Pending.add(q.Pending.Spans, q.Pending.Indices)
		queues.HandedOut.add(q.HandedOut.Spans, q.HandedOut.Indices)
		if r := m.running(OfQueue(q.Namespace, q.Queue)); q.Running != r {
			t.Fatalf("queue %s runs %d, want %d", q.Queue, q.Running, r)
		}
	}
	if (queues != Load{b.Pending(), b.HandedOut()}) {
		t.Fatalf("queues %+v, total %+v %+v", queues, b.Pending(), b.HandedOut())
	}
	for _, l := range b.Workers() {
		out := 0
		for _, f := range m.flights {
			if f.Worker == l.Worker {
				out += f.Left
			}
		}
		if l.Outstanding != out || l.Urgent != m.urgentOut(l.Worker) {
			t.Fatalf("worker %v holds %d, want %d", l.Worker, l.Outstanding, out)
		}
		if out == 0 && l.Cost != 0 {
			t.Fatalf("idle worker with cost %v", l.Cost)
		}
	}
}

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
	if rapid.Bool().Draw(t, "limited") {
		s.StageKey = rapid.SampledFrom([]string{"k1", "k2"}).Draw(t, "key")
		s.Limit = rapid.IntRange(0, 6).Draw(t, "limit")
	}
	s.Requires = rapid.SampledFrom([][]string{nil, nil, nil, {"gpu"}, {"gpu", "eu"}, {"eu", "gpu"}}).Draw(t, "requires")
	if rapid.IntRange(0, 9).Draw(t, "later") == 0 {
		s.NotBefore = now.Add(time.Duration(rapid.IntRange(-5, 5).Draw(t, "due")) * time.Second)
	}
	return s
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
	return rapid.SampledFrom([]Scope{OfStage("k1"), OfStage("k2"), OfQueue("ns", "a"), OfQueue("ns", "b"), OfHandler("h1"), OfHandler("h2")}).Draw(t, "scope")
}

// TestBooks drives the Board and the model with the same random events.
func TestBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{t: t, now: epoch, limits: map[Scope]int{}, holds: map[Scope]stage.Level{}}
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
					if f.Left = min(f.Left, left); f.Left == 0 {
						m.flights = slices.Delete(m.flights, i, i+1)
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
				g, ok := b.Reserve(m.now, s)
				if !ok {
					return
				}
				if known || !g.Set.Equal(s.Todo) || s.NotBefore.After(m.now) {
					t.Fatalf("reserved %v of %+v", g.Set, s)
				}
				m.add(s)
				m.granted(g)
			},
			"reject": func(t *rapid.T) {
				m.t = t
				for _, g := range b.Round(m.now, 1) {
					m.granted(g)
					b.Reject(g)
					m.remove(g.Span)
					m.flights = m.flights[:len(m.flights)-1]
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
				m.flights = slices.DeleteFunc(m.flights, func(f *mflight) bool {
					if f.Worker == w {
						want = append(want, f.ID)
					}
					return f.Worker == w
				})
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
				f := Flight{
					ID: id('x', foreign), Run: s.Run, Worker: id('w', rapid.IntRange(1, 4).Draw(t, "worker")), Handler: s.Handler,
					Namespace: s.Namespace, Queue: s.Queue, Level: s.Level, StageKey: s.StageKey, Plan: s.Plan, Delivery: s.Delivery,
					Left: rapid.IntRange(1, 5).Draw(t, "left"), Par: rapid.IntRange(1, 3).Draw(t, "par"), Since: m.now,
				}
				b.AddFlight(f)
				b.AddFlight(f)
				m.flights = append(m.flights, &mflight{f, solo(&s)})
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
				m.now = m.now.Add(time.Duration(rapid.IntRange(-1, 90).Draw(t, "s")) * time.Second)
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
