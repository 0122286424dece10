package board

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

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
	told    time.Time // the Board's last
	spans   []*mspan
	flights []*mflight
	workers []Worker
	limits  map[Scope]int
	holds   map[Scope]stage.Level
	rates   map[string]*mrate
	demoted map[string]stage.Level   // by queue
	rise    map[string]time.Duration // by queue, of those with their own
	aging   bool
	strict  bool
	begun   bool // a round has been
	order   int
}

type mspan struct {
	Span
	order int
}

type mflight struct {
	Flight
	of   Span
	solo bool
	size int // indices it held
	idle int // indices that could start at once
}

// started is how many of a flight's indices have, as far as is known.
func (f *mflight) started() int { return min(f.size, f.size-f.Left+f.idle) }

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
		if slices.Contains(scopesOf(&f.of), s) {
			n += min(f.Left, f.Par)
		}
	}
	return n
}

func scopesOf(s *Span) []Scope {
	all := []Scope{OfQueue(s.Namespace, s.Queue), OfFlow(s.Namespace, s.Flow)}
	if !s.Plan {
		all = append(all, OfStage(s.StageKey))
		if s.Key != "" {
			all = append(all, OfKey(s.Namespace, s.Key))
		}
	}
	if s.Breaker {
		all = append(all, OfHandler(s.StageKey))
	}
	for _, d := range s.Downstreams {
		all = append(all, OfDownstream(s.Namespace, d))
	}
	return all
}

// limit is the span's limit in a scope, -1 for none.
func (m *model) limit(s *Span, in Scope) int {
	limit := -1
	if l, ok := m.limits[in]; ok {
		limit = l
	}
	for kind, own := range map[ScopeKind]int{StageScope: s.Limit, KeyScope: s.KeyLimit} {
		if in.Kind == kind && own > 0 && (limit < 0 || own < limit) {
			limit = own
		}
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
	return m.starts(s) <= 0
}

// probing tells whether a half-open circuit lets one index at a time through.
func (m *model) probing(s *Span) bool {
	return slices.ContainsFunc(scopesOf(s), func(in Scope) bool {
		_, limited := m.limits[in]
		return limited && (in.Kind == HandlerScope || in.Kind == DownstreamScope)
	})
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
	if n > testPiece || g.Set.NumRanges() > testRanges || (s.Tx || solo(&s.Span) || m.probing(&s.Span)) && n != 1 {
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
	affine := s.Routing == stage.ByKey || s.Routing == stage.ByRun
	for _, other := range m.workers {
		otherTakes, otherIdle := m.normal(other, &s.Span)
		if !m.capable(other, &s.Span) || !otherTakes {
			continue
		}
		mine, its := prefers(w, &s.Span), prefers(other, &s.Span)
		if !idle && otherIdle && (g.Urgent || s.Level == 0 && !m.isDemoted(&s.Span) || !affine && mine == its) {
			t.Fatalf("granted to a busy worker while another has an idle slot")
		}
		if !g.Urgent && mine < its && (s.Level > 0 || otherIdle) {
			t.Fatalf("granted to a worker with %d preferred labels while another with %d has room", mine, its)
		}
	}
	if g.Urgent {
		if s.Level != 0 || m.isDemoted(&s.Span) || idle || m.urgentOut(w.ID)+n > w.Urgent {
			t.Fatalf("urgent grant at P%d, idle=%v, %d+%d of %d", s.Level, idle, m.urgentOut(w.ID), n, w.Urgent)
		}
		slots = w.Urgent
	} else if !takes || out+n > most {
		t.Fatalf("room exceeded: takes=%v, %d+%d of %d", takes, out, n, most)
	}
	if g.Par < 1 || g.Par > n || g.Par > slots {
		t.Fatalf("par %d of %d on %d slots", g.Par, n, slots)
	}
	// Nobody who takes part in this turn had more right to it.
	if g.Turn != m.native(s) && g.Turn != m.risen(s) {
		t.Fatalf("P%d risen to P%d took a turn of P%d", s.Level, m.risen(s), g.Turn)
	}
	for _, o := range m.spans {
		if o.Handler != s.Handler {
			continue
		}
		if m.before(o, s, g.Turn) && m.contests(o, g.Turn) {
			t.Fatalf("span %v should have gone before %v at P%d", o.ID, s.ID, g.Turn)
		}
		if m.strict && (m.native(o) < g.Turn || m.risen(o) < g.Turn) && m.dispatchable(&o.Span) {
			t.Fatalf("span %v of P%d, risen to P%d, should have gone before a turn of P%d", o.ID, m.native(o), m.risen(o), g.Turn)
		}
	}
	if m.starts(&s.Span) < n {
		t.Fatalf("%d granted where %d may start", n, m.starts(&s.Span))
	}
	f := flightOf(&s.Span, g.Flight, g.Worker, n, g.Par)
	f.Urgent = g.Urgent
	f.idle = max(0, min(g.Par, slots-out))
	if g.Urgent {
		f.idle = g.Par
	}
	for name, r := range ratesOf(&s.Span) {
		m.rate(name, r).add(m.now, f.idle)
	}
	m.flights = append(m.flights, f)
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
	m.tell()
	m.begun = true
	next := map[string]uuid.UUID{} // by handler
	for _, s := range m.spans {
		gates := m.b.Explain(s.ID, m.now)
		if !slices.ContainsFunc(gates, func(g Gate) bool { return !g.Open }) {
			if next[s.Handler] != (uuid.UUID{}) {
				t.Fatalf("two spans of one handler have all gates open")
			}
			next[s.Handler] = s.ID
		}
		name, shut := m.b.Blocked(s.ID)
		if shut != m.gated(&s.Span) || shut == (name == "") {
			t.Fatalf("Blocked says %q, %v; the model says %v", name, shut, m.gated(&s.Span))
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

func prefers(w Worker, s *Span) (n int) {
	for _, l := range s.Prefers {
		if slices.Contains(w.Labels, l) {
			n++
		}
	}
	return n
}

func flightOf(s *Span, id, worker uuid.UUID, left, par int) *mflight {
	return &mflight{Flight: Flight{
		ID: id, Run: s.Run, Worker: worker, Handler: s.Handler, Namespace: s.Namespace, Queue: s.Queue, Level: s.Level,
		StageKey: s.StageKey, Flow: s.Flow, Key: s.Key, KeyRate: s.KeyRate, StageRate: s.StageRate, RetryWindow: s.RetryWindow,
		Breaker: s.Breaker, Downstreams: s.Downstreams, Plan: s.Plan, Attempt: s.Attempt, Delivery: s.Delivery, Left: left, Par: par,
	}, of: *s, solo: solo(s), size: left, idle: min(left, par)}
}
