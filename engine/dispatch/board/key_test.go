package board

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"axflow/shard"
	"axflow/stage"
)

func keyed(n, key, limit int) Span {
	return one(n, func(s *Span) { s.Key, s.KeyLimit, s.StageKey = fmt.Sprint("g/", key), limit, "ns/f/s" })
}

// TestKeysStandAsideAlone: of 10,000 keys one is full and has a long queue in front of all others, which do not wait behind it; each
// key runs what its limit allows, in the order of its coming.
func TestKeysStandAsideAlone(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 16384))
	busy := keyed(0, 1, 2)
	for i := range 2 {
		b.AddFlight(flightOf(&busy, id('x', i+1), id('w', 1), 1, 1).Flight)
	}
	n := 1
	add := func(key int) { b.AddSpan(epoch, keyed(n, key, 2)); n++ }
	for range 3000 {
		add(1)
	}
	for range 3 {
		for key := 2; key <= 10_000; key++ {
			add(key)
		}
	}
	grants := b.Round(epoch, 1<<20)
	if len(grants) != 2*9999 && len(grants) != 16384-2 {
		t.Fatalf("%d grants", len(grants))
	}
	for i, g := range grants {
		if want := fmt.Sprint("g/", 2+i%9999); g.Head.Key != want {
			t.Fatalf("grant %d is of %s, want %s", i, g.Head.Key, want)
		}
	}
	if name, ok := b.Blocked(id('s', 1)); !ok || name != "key ns/g/1" {
		t.Errorf("the full key is blocked by %q", name)
	}
	gates := closed(b.Explain(id('s', 1), epoch.Add(time.Second)))
	if r := gates[GateLimit].Reason; !strings.HasPrefix(r, "key ns/g/1 2/2, oldest holder run ") || gates[GateLimit].Holder != busy.Run {
		t.Errorf("it says %q", r)
	}
	// One of its tasks ends: the oldest of its queue goes.
	b.Left(id('x', 1), 0)
	for _, g := range b.Round(epoch, 1<<20) {
		if g.Head.Key == "g/1" && g.Span != id('s', 1) {
			t.Errorf("%v went first", g.Span)
		}
	}
	if b.Running(OfKey("ns", "g/1")) != 2 {
		t.Errorf("%d of the full key run", b.Running(OfKey("ns", "g/1")))
	}
}

// TestGroupsCountTogether: stages that name one group share its keys' limits, whichever handler they are of.
func TestGroupsCountTogether(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 10, "i": 10}})
	for i := range 10 {
		s := keyed(i+1, 7, 3)
		if i%2 == 1 {
			s.Handler, s.StageKey = "i", "ns/f/other"
		}
		b.AddSpan(epoch, s)
	}
	seen := map[string]int{}
	for waiting := 10; waiting > 0; waiting = b.Pending().Spans {
		grants := b.Round(epoch, 100)
		if b.Running(OfKey("ns", "g/7")) != min(3, waiting) {
			t.Fatalf("%d run", b.Running(OfKey("ns", "g/7")))
		}
		for _, g := range grants {
			seen[g.Head.Handler]++
			b.Left(g.Flight, 0)
		}
	}
	if seen["h"] != 5 || seen["i"] != 5 {
		t.Errorf("%v ran", seen)
	}
}

// TestEveryScopeHolds: a hold and a limit of each scope that covers a span keep it back, and are named; a plan is no part of its
// stage's and its key's.
func TestEveryScopeHolds(t *testing.T) {
	full := func(s *Span) {
		s.StageKey, s.Flow, s.Key, s.Breaker, s.Downstreams = "ns/f/s", "f", "g/1", true, []string{"mail", "warehouse"}
	}
	for _, c := range []struct {
		scope  Scope
		name   string
		counts bool // plans
	}{
		{OfQueue("ns", "q"), "queue ns/q", true},
		{OfFlow("ns", "f"), "flow ns/f", true},
		{OfStage("ns/f/s"), "stage ns/f/s", false},
		{OfKey("ns", "g/1"), "key ns/g/1", false},
		{OfHandler("ns/f/s"), "handler ns/f/s", true},
		{OfDownstream("ns", "mail"), "downstream ns/mail", true},
		{OfDownstream("ns", "warehouse"), "downstream ns/warehouse", true},
	} {
		for _, plan := range []bool{false, true} {
			b := newBoard(t, Config{})
			b.SetWorker(aWorker(1, 10))
			b.AddSpan(epoch, one(1, func(s *Span) { full(s); s.Plan = plan }))
			held := !plan || c.counts
			b.Hold(c.scope, GatePaused, 0, "by alice")
			name, blocked := b.Blocked(id('s', 1))
			gates := closed(b.Explain(id('s', 1), epoch))
			if blocked != held || held && (name != c.name || gates[GatePaused].Scope != c.scope || len(gates) != 1) {
				t.Errorf("%s on hold, plan=%v: blocked=%v by %q, %+v", c.name, plan, blocked, name, gates)
			}
			if n := len(b.Round(epoch, 10)); (n == 0) != held {
				t.Errorf("%s on hold, plan=%v: %d grants", c.name, plan, n)
			}
			b.Release(c.scope, GatePaused)
			b.Round(epoch, 10)
			if got := b.Running(c.scope); (got == 1) != held {
				t.Errorf("%s, plan=%v: %d run", c.name, plan, got)
			}
			b.SetLimit(c.scope, 1)
			b.AddSpan(epoch, one(2, func(s *Span) { full(s); s.Plan = plan }))
			if n := len(b.Round(epoch, 10)); (n == 0) != held {
				t.Errorf("%s limited, plan=%v: %d grants", c.name, plan, n)
			}
		}
	}
}

// TestHalfOpenProbesOneIndex: a half-open circuit lets one index at a time through, of whatever stage, until its limit is lifted.
func TestHalfOpenProbesOneIndex(t *testing.T) {
	for _, scope := range []Scope{OfDownstream("ns", "warehouse"), OfHandler("ns/f/s")} {
		b := newBoard(t, Config{})
		b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 8, "i": 8}})
		b.Learn("h", time.Millisecond, 10)
		b.Hold(scope, GateBreaker, 0, "until 12:00:30Z, 5 failures in a row")
		add := func(n int, handler, stageKey string) {
			b.AddSpan(epoch, one(n, func(s *Span) {
				s.Handler, s.StageKey, s.Breaker, s.Downstreams = handler, stageKey, true, []string{"warehouse"}
				s.Todo = shard.Span(0, 10_000)
			}))
		}
		add(1, "h", "ns/f/s")
		if scope.Kind == DownstreamScope {
			add(2, "i", "ns/f/t")
		}
		if g := b.Round(epoch, 10); len(g) != 0 {
			t.Fatalf("%v is open, yet %+v", scope, g)
		}
		x := closed(b.Explain(id('s', 1), epoch))[GateBreaker]
		if want := "circuit " + scope.Name + " open: until 12:00:30Z, 5 failures in a row"; x.Reason != want {
			t.Errorf("it says %q, want %q", x.Reason, want)
		}
		b.SetLimit(scope, 1)
		b.Release(scope, GateBreaker)
		for range 3 {
			g := b.Round(epoch, 10)
			if len(g) != 1 || g[0].Set.Len() != 1 || g[0].Par != 1 {
				t.Fatalf("%v is half-open: %+v", scope, g)
			}
			x := closed(b.Explain(id('s', 1), epoch))[GateBreaker]
			if want := "circuit " + scope.Name + " half-open: 1 of 1 probes out, oldest holder run "; !strings.HasPrefix(x.Reason, want) {
				t.Errorf("it says %q, want %q", x.Reason, want)
			}
			b.Left(g[0].Flight, 0)
		}
		b.SetLimit(scope, -1)
		if g := b.Round(epoch, 1); len(g) != 1 || g[0].Set.Len() < 100 {
			t.Errorf("%v is closed: %+v", scope, g)
		}
	}
}

// TestRunsOfAKeyComeBackInOrder: a key's spans keep their order over levels and refusals.
func TestRunsOfAKeyComeBackInOrder(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 10))
	for i := range 4 {
		s := keyed(i+1, 1, 1)
		s.ReadyAt = epoch.Add(-time.Duration(i) * time.Second) // the last is the oldest
		b.AddSpan(epoch, s)
	}
	first := b.Round(epoch, 10)
	if len(first) != 1 || first[0].Span != id('s', 4) {
		t.Fatalf("granted %+v", first)
	}
	b.Reject(first[0])
	if b.Running(OfKey("ns", "g/1")) != 0 {
		t.Error("a refused grant holds the key")
	}
	b.AddSpan(epoch, first[0].Head)
	for _, want := range []int{4, 3, 2, 1} {
		g := b.Round(epoch, 10)
		if len(g) != 1 || g[0].Span != id('s', want) {
			t.Fatalf("granted %+v, want %d", g, want)
		}
		b.Left(g[0].Flight, 0)
	}
	// A level change takes effect in the next round, key or not.
	b.AddSpan(epoch, keyed(10, 1, 1))
	b.AddSpan(epoch, keyed(11, 1, 1))
	jump := keyed(11, 1, 1)
	jump.Level = stage.P0
	b.AddSpan(epoch, jump)
	if g := b.Round(epoch, 10); len(g) != 1 || g[0].Span != id('s', 11) {
		t.Fatalf("granted %+v", g)
	}
}

// TestManyKeysGoAway: keys that nothing uses are forgotten with their limits and rates.
func TestManyKeysGoAway(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 1))
	now := epoch
	for i := range 10_000 {
		s := keyed(i+1, i, 1)
		s.KeyRate = Rate{1, time.Second}
		b.AddSpan(now, s)
		for _, g := range b.Round(now, 1) {
			b.Left(g.Flight, 0)
		}
		b.TakeRates()
		now = now.Add(10 * time.Millisecond)
	}
	if len(b.strands) > 2500 || len(b.scopes) > 2500 || len(b.rates) > 2500 || len(b.lanes) != 1 || len(b.terms) != 1 {
		t.Errorf("%d strands, %d scopes, %d rates, %d lanes, %d terms", len(b.strands), len(b.scopes), len(b.rates), len(b.lanes), len(b.terms))
	}
}
