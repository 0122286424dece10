package board

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/stage"
)

func one(n int, change func(*Span)) Span {
	s := Span{
		ID: id('s', n), Run: id('r', n), Level: 2, Namespace: "ns", Queue: "q", Handler: "h", Todo: shard.Span(0, 1),
		ReadyAt: epoch,
	}
	if change != nil {
		change(&s)
	}
	return s
}

func wide(n, size int) Span { return one(n, func(s *Span) { s.Todo = shard.Span(0, size) }) }

func aWorker(n, slots int) Worker {
	return Worker{ID: id('w', n), Handlers: map[string]int{"h": slots}}
}

func TestPieceSizes(t *testing.T) {
	const slots = 8
	for _, c := range []struct {
		name     string
		declared time.Duration
		learned  time.Duration
		want     int
	}{
		{"unknown cost: the free slots", 0, 0, 8},
		{"long: the free slots", 0, time.Hour, 8},
		{"a second: the free slots", time.Second, 0, 8},
		{"tiny: a second of all slots", 0, 10 * time.Millisecond, 800},
		{"declared only: the same", 10 * time.Millisecond, 0, 800},
		{"learned beats declared", time.Hour, 10 * time.Millisecond, 800},
		{"tiniest: the largest piece", 0, time.Nanosecond, 4096},
	} {
		b := newBoard(t, Config{})
		b.SetWorker(aWorker(1, slots))
		if c.learned > 0 {
			b.Learn("h", c.learned, 10)
		}
		s := wide(1, 100_000)
		s.Cost = c.declared
		b.AddSpan(epoch, s)
		g := b.Round(epoch, 1)
		if len(g) != 1 || g[0].Set.Len() != c.want || g[0].Par != slots {
			t.Errorf("%s: %d indices at par %d, want %d at par %d", c.name, g[0].Set.Len(), g[0].Par, c.want, slots)
		}
	}
}

func TestPoolRefillsInQuarters(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 8))
	b.Learn("h", 10*time.Millisecond, 10) // holds 800
	b.AddSpan(epoch, wide(1, 100_000))
	first := b.Round(epoch, 10)
	if len(first) != 1 || first[0].Set.Len() != 800 {
		t.Fatalf("first round: %v", first)
	}
	b.Left(first[0].Flight, 601)
	if g := b.Round(epoch, 10); len(g) != 0 {
		t.Errorf("a piece of %d travelled for less than a quarter", g[0].Set.Len())
	}
	b.Left(first[0].Flight, 600)
	if g := b.Round(epoch, 10); len(g) != 1 || g[0].Set.Len() != 200 {
		t.Errorf("a free quarter was not filled: %v", g)
	}
}

func TestSmallStageIsSpread(t *testing.T) {
	b := newBoard(t, Config{})
	for w := range 4 {
		b.SetWorker(aWorker(w, 8))
	}
	b.Learn("h", 100*time.Millisecond, 10)
	b.AddSpan(epoch, wide(1, 100))
	seen := map[uuid.UUID]int{}
	for _, g := range b.Round(epoch, 100) {
		seen[g.Worker] += g.Set.Len()
	}
	for w, n := range seen {
		if n != 25 || len(seen) != 4 {
			t.Errorf("worker %v has %d of 100", w, n)
		}
	}
}

// TestLimitKeepsTenRunning streams a stage with a limit of 10 over workers of 8 slots: ten run all the time, never
// eleven, and pieces stay long.
func TestLimitKeepsTenRunning(t *testing.T) {
	b := newBoard(t, Config{})
	for w := range 3 {
		b.SetWorker(aWorker(w, 8))
	}
	b.Learn("h", 10*time.Millisecond, 10)
	s := wide(1, 20_000)
	s.Limit, s.StageKey = 10, "k"
	b.AddSpan(epoch, s)
	left := map[uuid.UUID]int{}
	var flights []uuid.UUID
	pieces := 0
	for {
		for _, g := range b.Round(epoch, 100) {
			left[g.Flight] = g.Set.Len()
			flights = append(flights, g.Flight)
			pieces++
		}
		if len(flights) == 0 {
			break
		}
		if n := b.Running(OfStage("k")); n > 10 || n < 10 && b.HasSpan(s.ID) {
			t.Fatalf("%d run", n)
		}
		for _, f := range slices.Clone(flights) {
			left[f] -= min(left[f], 50)
			b.Left(f, left[f])
			if left[f] == 0 {
				flights = slices.DeleteFunc(flights, func(x uuid.UUID) bool { return x == f })
			}
		}
	}
	if pieces > 100 {
		t.Errorf("20,000 shards took %d pieces", pieces)
	}
}

// TestBlockedDoesNotBlock: spans behind a closed limit, without a worker, or on hold do not keep others waiting.
func TestBlockedDoesNotBlock(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 4))
	b.Hold(OfQueue("ns", "paused"), "paused", 0, "by alice")
	for i := range 3000 {
		b.AddSpan(epoch, one(i+1, func(s *Span) {
			s.Level = 0
			switch i % 3 {
			case 0:
				s.Limit, s.StageKey = 1, "k"
			case 1:
				s.Requires = []string{"gpu"}
			case 2:
				s.Queue = "paused"
			}
		}))
	}
	b.AddSpan(epoch, one(9999, func(s *Span) { s.Level = 5 }))
	var got []uuid.UUID
	for _, g := range b.Round(epoch, 100) {
		got = append(got, g.Span)
	}
	if !slices.Equal(got, []uuid.UUID{id('s', 1), id('s', 9999)}) {
		t.Errorf("granted %v", got)
	}
	if !b.Release(OfQueue("ns", "paused"), "paused") || b.Release(OfQueue("ns", "paused"), "paused") {
		t.Error("Release tells the wrong thing")
	}
	if g := b.Round(epoch, 100); len(g) != 2 {
		t.Errorf("after the release %d grants on 2 free slots", len(g))
	}
}

func TestAddSpanAnswers(t *testing.T) {
	b := newBoard(t, Config{})
	for want, s := range map[Added]Span{
		Pending: one(1, nil),
		NotDue:  one(1, func(s *Span) { s.NotBefore = epoch.Add(time.Millisecond) }),
		Empty:   one(1, func(s *Span) { s.Todo = shard.Set{} }),
		Invalid: one(1, func(s *Span) { s.Level = 6 }),
	} {
		b.AddSpan(epoch, one(1, nil))
		if got := b.AddSpan(epoch, s); got != want || b.HasSpan(s.ID) != (want == Pending) {
			t.Errorf("%v: got %v, pending %v", want, got, b.HasSpan(s.ID))
		}
	}
	if b.AddSpan(epoch, Span{Todo: shard.Span(0, 1)}) != Invalid {
		t.Error("a span without an id was taken")
	}
}

// TestReplaceKeepsThePlace: the same span again, or at another level, is one span, and keeps its place when it became ready
// at the same time.
func TestReplaceKeepsThePlace(t *testing.T) {
	b := newBoard(t, Config{})
	b.AddSpan(epoch, one(1, nil))
	b.AddSpan(epoch, one(2, nil))
	b.AddSpan(epoch, one(1, nil))
	b.SetWorker(aWorker(1, 1))
	if g := b.Round(epoch, 10); len(g) != 1 || g[0].Span != id('s', 1) {
		t.Fatalf("granted %v", g)
	}
	b.AddSpan(epoch, one(3, nil))
	b.AddSpan(epoch, one(3, func(s *Span) { s.Level = 0 })) // a queue jump
	b.Left(b.Flights(id('w', 1))[0], 0)
	if g := b.Round(epoch, 10); len(g) != 1 || g[0].Span != id('s', 3) {
		t.Fatalf("granted %v", g)
	}
	if p := b.Pending(); p != (Count{1, 1}) {
		t.Errorf("pending %+v", p)
	}
}

func TestReserve(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 2))
	if g, ok := b.Reserve(epoch, one(1, nil)); !ok || g.Worker != id('w', 1) || b.HasSpan(id('s', 1)) || !b.HasFlight(g.Flight) {
		t.Fatalf("idle slots were refused: %+v", g)
	}
	if _, ok := b.Reserve(epoch, wide(2, 2)); ok {
		t.Error("a span of 2 went whole into one slot")
	}
	b.AddSpan(epoch, one(3, nil))
	if _, ok := b.Reserve(epoch, one(4, nil)); ok {
		t.Error("it passed a span of its level that came first")
	}
	if _, ok := b.Reserve(epoch, one(5, func(s *Span) { s.Level = 0 })); !ok {
		t.Error("P0 was refused although nothing of P0 waits")
	}
	if _, ok := b.Reserve(epoch, one(6, func(s *Span) { s.Level = 0 })); ok {
		t.Error("granted on full pools")
	}
	if p := b.Pending(); p != (Count{1, 1}) {
		t.Errorf("refusals left something behind: %+v", p)
	}
}

// TestReserveKeepsShares: a stream of reservations cannot starve a lower level that waits.
func TestReserveKeepsShares(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 1))
	f := &feeder{b: b}
	for range 100 {
		f.add(epoch, 4, "h", 1)
	}
	var got [levels]int
	for i := range 460 {
		g, ok := b.Reserve(epoch, one(100_000+i, func(s *Span) { s.Level = 0 }))
		if !ok {
			g = b.Round(epoch, 1)[0]
		}
		got[g.Head.Level]++
		b.Left(g.Flight, 0)
	}
	if got[0] != 400 || got[4] != 60 {
		t.Errorf("40:6 became %d:%d", got[0], got[4])
	}
}

// TestRebuild: the books made from the table of flights close the same gates.
func TestRebuild(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 4))
	flight := Flight{
		ID: id('f', 100), Run: id('r', 7), Worker: id('w', 1), Handler: "h", Namespace: "ns", Queue: "q", Level: 2,
		StageKey: "k", Left: 1000, Par: 3, Since: epoch,
	}
	b.AddFlight(flight)
	lost := flight
	lost.ID, lost.Worker, lost.Left = id('f', 101), id('w', 9), 1 // its worker has not reported yet
	b.AddFlight(lost)
	if n := b.Running(OfStage("k")); n != 4 {
		t.Errorf("%d run, want 3 + 1", n)
	}
	limited := one(1, func(s *Span) { s.Limit, s.StageKey = 4, "k" })
	b.AddSpan(epoch, limited)
	if g := b.Round(epoch, 10); len(g) != 0 {
		t.Errorf("granted %v", g)
	}
	if gone := b.RemoveWorker(id('w', 9)); !slices.Equal(gone, []uuid.UUID{lost.ID}) {
		t.Errorf("gone %v", gone)
	}
	b.Left(flight.ID, 2)
	if g := b.Round(epoch, 10); len(g) != 1 {
		t.Errorf("granted %v after room came", g)
	}
}

func TestLearn(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 1))
	b.Learn("h", 100*time.Millisecond, 128)
	b.Learn("h", 300*time.Millisecond, 128)
	if got := b.Cost("h"); got != 200*time.Millisecond {
		t.Errorf("mean of halves: %s", got)
	}
	b.Learn("h", 600*time.Millisecond, 64) // a quarter of the memory
	if got := b.Cost("h"); got != 300*time.Millisecond {
		t.Errorf("after a new quarter: %s", got)
	}
	b.Learn("h", time.Second, 100_000) // outweighs all memory
	if got := b.Cost("h"); got != time.Second {
		t.Errorf("after very many samples: %s", got)
	}
	b.Learn("h", time.Second, 0)
	b.Learn("h", -1, 5)
	if got := b.Cost("h"); got != time.Second || b.Cost("unknown") != 0 {
		t.Errorf("nothing changed, yet %s", got)
	}
}

func TestConfigFaults(t *testing.T) {
	_, err := New(Config{MaxPiece: -1, MaxRanges: -2, MaxOutstanding: -3, Horizon: -1, Weights: [levels]int{1, 1, 1, 1, 1, 0}})
	for _, want := range []string{"NewID is nil", "MaxPiece is -1", "MaxRanges is -2", "MaxOutstanding is -3", "Horizon is -1ns", "weight of P5 is 0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// TestManyLanesGoAway: lanes, limits and handlers that nothing uses are forgotten, those in use are not.
func TestManyLanesGoAway(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 1))
	b.Hold(OfHandler("ns/f/held"), "breaker", 0, "10 failures in a row")
	for i := range 10_000 {
		s := one(i, func(s *Span) {
			s.StageKey, s.Limit, s.Level = id('k', i).String(), 1, stage.Level(i%levels)
			if i%2 == 0 {
				s.Handler = id('h', i).String()
			}
		})
		b.AddSpan(epoch, s)
		b.RemoveSpan(s.ID)
		b.Round(epoch, 1)
	}
	if len(b.lanes) > 2100 || len(b.scopes) > 2100 || len(b.handlers) > 2100 || len(b.strands) != len(b.lanes) {
		t.Errorf("%d lanes, %d scopes, %d handlers are kept", len(b.lanes), len(b.scopes), len(b.handlers))
	}
	b.AddSpan(epoch, one(1, func(s *Span) { s.StageKey, s.Breaker = "ns/f/held", true }))
	if got := closed(b.Explain(id('s', 1), epoch)); got["breaker"].Reason != "circuit ns/f/held open: 10 failures in a row" {
		t.Errorf("the hold was forgotten: %+v", got)
	}
}

func TestPoolActivity(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 8))
	b.Learn("h", 10*time.Millisecond, 1)
	b.AddSpan(epoch, wide(1, 1000))
	b.Round(epoch, 10)
	want := []PoolLoad{{Handler: "h", Workers: 1, Slots: 8, Busy: 8, Ahead: 792, Pending: 1, Cost: 10 * time.Millisecond}}
	if got := b.Pools(); !slices.Equal(got, want) {
		t.Errorf("activity %+v", got)
	}
	if !b.HasWorker(id('w', 1)) || b.HasWorker(id('w', 2)) {
		t.Error("HasWorker is wrong")
	}
}
