package board

import (
	"strings"
	"testing"
	"time"

	"axflow/shard"
	"axflow/stage"
)

// saturate hands out n indices on one slot while every level of every queue has work, and counts them by queue and level.
func saturate(b *Board, n int, queues ...string) map[string][levels]int {
	got := map[string][levels]int{}
	next := 0
	add := func(q string, l stage.Level) {
		next++
		b.AddSpan(epoch, one(next, func(s *Span) {
			s.Queue, s.Level = q, l
			s.ReadyAt = epoch.Add(time.Duration(next) * time.Microsecond)
		}))
	}
	for range 3 {
		for _, q := range queues {
			for l := range stage.Level(levels) {
				add(q, l)
			}
		}
	}
	for range n {
		g := b.Round(epoch, 1)[0]
		count := got[g.Head.Queue]
		count[g.Head.Level]++
		got[g.Head.Queue] = count
		b.Left(g.Flight, 0)
		add(g.Head.Queue, g.Head.Level)
	}
	return got
}

// TestWeightsOfAQueue: a queue's own weights hold in its handlers, from the next turn on, and go away again.
func TestWeightsOfAQueue(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 1))
	own := [levels]int{10, 10, 10, 10, 10, 50}
	if err := b.SetQueuePolicy("ns", "etl", &own, nil); err != nil {
		t.Fatal(err)
	}
	if got := saturate(b, 1000, "etl")["etl"]; got != [levels]int{100, 100, 100, 100, 100, 500} {
		t.Errorf("its own: %v", got)
	}
	if got := saturate(b, 1000, "mail")["mail"]; got[0] < 390 || got[5] > 45 {
		t.Errorf("another queue: %v", got)
	}
	if err := b.SetQueuePolicy("ns", "etl", nil, nil); err != nil {
		t.Fatal(err)
	}
	b.RemoveRun(id('r', 1))
	got := saturate(b, 1000, "etl")["etl"]
	for l, n := range got {
		if want := 10 * defaultWeights[l]; n < want-2 || n > want+2 {
			t.Errorf("the engine's again: %v", got)
			break
		}
	}
	bad := [levels]int{1, 1, 1, 1, 0, 1}
	if err := b.SetQueuePolicy("ns", "etl", &bad, nil); err == nil || !strings.Contains(err.Error(), "queue ns/etl: board: the weight of P4 is 0") {
		t.Errorf("a weight of 0: %v", err)
	}
}

// TestWeightsOfTwoQueuesInOneHandler: neither starves, whatever their weights.
func TestWeightsOfTwoQueuesInOneHandler(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 1))
	x, y := [levels]int{maxWeight, 1, 1, 1, 1, 1}, [levels]int{1, 1, 1, 1, 1, maxWeight}
	_ = b.SetQueuePolicy("ns", "x", &x, nil)
	_ = b.SetQueuePolicy("ns", "y", &y, nil)
	got := saturate(b, 2000, "x", "y")
	// Both queues' spans of a level take its turns alternately: what the weights say of P0 and P5 is then an average of the
	// tags' paces, half of them 1 and half 1/32768.
	for _, q := range []string{"x", "y"} {
		for l, n := range got[q] {
			if n < 100 {
				t.Errorf("queue %s, P%d: %d of 2000", q, l, n)
			}
		}
	}
}

// TestChangedWeightsGiveNoCredit: whoever had a small weight for long does not catch up when it grows.
func TestChangedWeightsGiveNoCredit(t *testing.T) {
	b := newBoard(t, Config{Weights: [levels]int{1, 1, 1, 1, 1, 100}})
	b.SetWorker(aWorker(1, 1))
	saturate(b, 10_500, "q")
	if err := b.SetWeights([levels]int{100, 1, 1, 1, 1, 1}); err != nil {
		t.Fatal(err)
	}
	if got := saturate(b, 105, "q")["q"]; got[0] < 98 || got[0] > 100 || got[5] > 3 {
		t.Errorf("the first 105 after the change: %v", got)
	}
}

// TestDecayOfAQueue: queues age at their own pace, and in the turns of a level it counts who has been at it for longer.
func TestDecayOfAQueue(t *testing.T) {
	b := newBoard(t, Config{})
	fast, off := 1.0, 0.0
	_ = b.SetQueuePolicy("ns", "fast", nil, &fast)
	_ = b.SetQueuePolicy("ns", "off", nil, &off)
	for i, q := range []string{"fast", "off", "q"} {
		b.AddSpan(epoch, one(i+1, func(s *Span) { s.Queue, s.Level = q, 4 }))
	}
	level := func(n int, after time.Duration) stage.Level {
		l, _ := b.Effective(id('s', n), epoch.Add(after))
		return l
	}
	for after, want := range map[time.Duration][3]stage.Level{
		999 * time.Millisecond: {4, 4, 4}, time.Second: {3, 4, 4}, 3 * time.Second: {1, 4, 4}, time.Minute: {1, 4, 3}, time.Hour: {1, 4, 1},
	} {
		if got := [3]stage.Level{level(1, after), level(2, after), level(3, after)}; got != want {
			t.Errorf("after %s: %v, want %v", after, got, want)
		}
	}
	b.SetDecay(0) // the switch is for all
	if got := level(1, time.Hour); got != 4 {
		t.Errorf("with aging switched off: P%d", got)
	}
	b.SetDecay(1.0 / 60)
	if got := level(1, 2*time.Second); got != 2 {
		t.Errorf("switched on again: P%d", got)
	}
	// At P1: the fast one since 3 s, a native one since 2 s, the slow one since 180 s.
	b.AddSpan(epoch, one(4, func(s *Span) { s.Level, s.ReadyAt = 1, epoch.Add(2*time.Second) }))
	b.AddSpan(epoch, one(5, func(s *Span) { s.Level, s.ReadyAt = 1, epoch.Add(4*time.Second) }))
	b.RemoveSpan(id('s', 2))
	b.SetWorker(aWorker(1, 4))
	b.SetStrict(true)
	var got []byte
	for _, g := range b.Round(epoch.Add(time.Hour), 10) {
		got = append(got, g.Span[15])
	}
	if string(got) != "\x04\x01\x05\x03" {
		t.Errorf("in P1's turns: %v", got)
	}
}

// TestStrict: levels go strictly in order, and when sharing comes back nobody has saved up credit.
func TestStrict(t *testing.T) {
	b := newBoard(t, Config{Decay: -1})
	b.SetWorker(aWorker(1, 1))
	b.SetStrict(true)
	if got := saturate(b, 500, "q")["q"]; got[0] != 500 {
		t.Errorf("strictly: %v", got)
	}
	b.RemoveSpan(id('s', 1))
	b.SetStrict(false)
	got := saturate(b, 200, "q")["q"]
	for l, n := range got {
		if want := 2 * defaultWeights[l]; n < want-1 || n > want+1 {
			t.Errorf("shared again: %v", got)
			break
		}
	}
}

// TestStrictAgesToP1: with aging, a span waits in strict order for what was at P1 before it, and for nothing that comes there later.
func TestStrictAgesToP1(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetStrict(true)
	b.SetWorker(aWorker(1, 1))
	b.AddSpan(epoch, one(1, func(s *Span) { s.Level = 5 })) // at P1 four minutes later
	now, n := epoch, 10
	for b.HasSpan(id('s', 1)) {
		for range 2 {
			n++
			b.AddSpan(now, one(n, func(s *Span) { s.Level, s.ReadyAt = 1, now }))
		}
		for _, g := range b.Round(now, 1) {
			b.Left(g.Flight, 0)
		}
		now = now.Add(time.Second)
		// One a second goes and two come: the 482 that came by the fourth minute take as many seconds.
		if now.Sub(epoch) > 483*time.Second {
			t.Fatal("it starves")
		}
	}
	if now.Sub(epoch) < 480*time.Second {
		t.Errorf("it went after %s", now.Sub(epoch))
	}
}

// TestDemote: demoted levels take P5's turns, first come first served, without aging and without urgent slots, until undone;
// better levels of the queue and other queues stay what they are.
func TestDemote(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(aWorker(1, 1))
	b.Demote("ns", "etl", 3)
	late := epoch.Add(time.Hour)
	add := func(n int, q string, l stage.Level, at time.Time) {
		b.AddSpan(late, one(n, func(s *Span) { s.Queue, s.Level, s.ReadyAt = q, l, at }))
	}
	add(1, "etl", 3, epoch)
	add(2, "etl", 2, epoch)
	add(3, "mail", 3, epoch)
	for n, want := range map[int]stage.Level{1: 5, 2: 1, 3: 1} {
		if got, _ := b.Effective(id('s', n), late); got != want {
			t.Errorf("span %d is at P%d, want P%d", n, got, want)
		}
	}
	b.Demote("ns", "etl", 6)
	if got, _ := b.Effective(id('s', 1), late); got != 1 {
		t.Errorf("undone, it is at P%d", got)
	}
	for n := range 3 {
		b.RemoveSpan(id('s', n+1))
	}

	b.Demote("ns", "etl", 1)
	got := saturate(b, 1000, "etl", "mail")
	low := 0
	for l := 1; l < levels; l++ {
		low += got["etl"][l]
	}
	// P5's 4 % go to the five demoted levels and to the other queue's P5.
	if low < 30 || low > 40 || low+got["mail"][5] < 38 || low+got["mail"][5] > 42 || got["mail"][1] < 245 {
		t.Errorf("demoted from P1 on: %v", got)
	}

	b = newBoard(t, Config{})
	b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 1}, Urgent: 5})
	b.Demote("ns", "q", 0)
	for n := range 3 {
		b.AddSpan(epoch, one(n+1, func(s *Span) { s.Level, s.Todo = 0, shard.Span(0, 1) }))
	}
	if g := b.Round(epoch, 10); len(g) != 1 || g[0].Turn != 5 {
		t.Errorf("a demoted P0 got %+v", g)
	}
	b.Demote("ns", "q", 6)
	if g := b.Round(epoch, 10); len(g) != 2 || !g[0].Urgent {
		t.Errorf("undone, it got %+v", g)
	}
}
