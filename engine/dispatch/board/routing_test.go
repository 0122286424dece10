package board

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

// place hands out spans one by one and tells who got how many, and which span went where.
func place(b *Board, from, spans int, change func(int, *Span)) (n map[byte]int, of map[int]uuid.UUID) {
	n, of = map[byte]int{}, map[int]uuid.UUID{}
	for i := from; i < from+spans; i++ {
		b.AddSpan(epoch, one(i+1, func(s *Span) { change(i, s) }))
		for _, g := range b.Round(epoch, 1) {
			n[g.Worker[15]]++
			of[i] = g.Worker
		}
	}
	return n, of
}

func withWorkers(t *testing.T, workers, slots int) *Board {
	b := newBoard(t, Config{Rand: rand.New(rand.NewPCG(1, 2))})
	for w := range workers {
		b.SetWorker(aWorker(w, slots))
	}
	return b
}

func TestRouting(t *testing.T) {
	route := func(r stage.Routing) func(int, *Span) { return func(_ int, s *Span) { s.Routing = r } }
	for _, r := range []stage.Routing{"", stage.LeastCost, stage.RoundRobin} {
		if n, _ := place(withWorkers(t, 3, 1000), 0, 300, route(r)); n[0] != 100 || n[1] != 100 || n[2] != 100 {
			t.Errorf("%q of equal tasks: %v", r, n)
		}
	}
	if n, _ := place(withWorkers(t, 3, 1000), 0, 3000, route(stage.Random)); min(n[0], n[1], n[2]) < 900 {
		t.Errorf("random: %v", n)
	}
	x, _ := place(withWorkers(t, 3, 1000), 0, 500, route(stage.Random))
	y, _ := place(withWorkers(t, 3, 1000), 0, 500, route(stage.Random))
	if fmt.Sprint(x) != fmt.Sprint(y) {
		t.Errorf("the same source drew %v and %v", x, y)
	}
}

// TestRoundRobinGoesOn: a worker that is full is passed over and the round goes on behind it.
func TestRoundRobinGoesOn(t *testing.T) {
	b := withWorkers(t, 4, 10)
	b.SetWorker(aWorker(1, 2))
	n, of := place(b, 0, 20, func(_ int, s *Span) { s.Routing = stage.RoundRobin })
	if n[0] != 6 || n[1] != 2 || n[2] != 6 || n[3] != 6 {
		t.Errorf("four workers, one of two slots: %v", n)
	}
	if of[8][15] != 0 || of[9][15] != 2 || of[10][15] != 3 || of[11][15] != 0 {
		t.Errorf("after worker 1 was full: %v", of)
	}
}

// TestKeepersKeep: what has one key, or is of one run, is on one worker; all workers are used; and a worker that leaves or comes
// moves its own share and nothing else.
func TestKeepersKeep(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(int, *Span)
	}{
		{"by run", func(i int, s *Span) { s.Routing, s.Run = stage.ByRun, id('r', i%200) }},
		{"by key", func(i int, s *Span) { s.Routing, s.Key = stage.ByKey, fmt.Sprint("g/", i%200) }},
		{"by key, without one", func(i int, s *Span) { s.Routing, s.Run = stage.ByKey, id('r', i%200) }},
	} {
		home := func(b *Board, from int) map[int]uuid.UUID {
			_, of := place(b, from, 600, c.change)
			homes := map[int]uuid.UUID{}
			for i, w := range of {
				if old, ok := homes[i%200]; ok && old != w {
					t.Fatalf("%s: %d is on two workers", c.name, i%200)
				}
				homes[i%200] = w
			}
			return homes
		}
		b := withWorkers(t, 5, 10_000)
		five := home(b, 0)
		n := map[uuid.UUID]int{}
		for _, w := range five {
			n[w]++
		}
		for w, n := range n {
			if n < 20 || n > 65 { // of 200, 40 are expected
				t.Errorf("%s: worker %d keeps %d of 200", c.name, w[15], n)
			}
		}
		b.RemoveWorker(id('w', 3))
		four := home(b, 600)
		for k, w := range four {
			if five[k] != w && five[k] != id('w', 3) {
				t.Errorf("%s: %d moved from %d to %d when 3 left", c.name, k, five[k][15], w[15])
			}
		}
		b.SetWorker(aWorker(7, 10_000))
		moved := 0
		for k, w := range home(b, 1200) {
			if four[k] != w {
				moved++
				if w != id('w', 7) {
					t.Errorf("%s: %d moved from %d to %d when 7 came", c.name, k, four[k][15], w[15])
				}
			}
		}
		if moved < 20 || moved > 65 {
			t.Errorf("%s: %d of 200 moved to a fifth worker", c.name, moved)
		}
	}
}

// TestNextBestKeeper: a full keeper's work goes to the worker that would keep it if the keeper were gone, and returns. While
// the keeper takes work ahead of its slots, it stays, although others are idle.
func TestNextBestKeeper(t *testing.T) {
	change := func(_ int, s *Span) { s.Routing, s.Run = stage.ByRun, id('r', 1) }
	b := withWorkers(t, 4, 2)
	_, of := place(b, 0, 4, change)
	if of[0] != of[1] || of[2] != of[3] || of[0] == of[2] {
		t.Fatalf("two and two were expected: %v", of)
	}
	without := withWorkers(t, 4, 2)
	without.RemoveWorker(of[0])
	if _, heirs := place(without, 0, 1, change); heirs[0] != of[2] {
		t.Errorf("the heir is %v, the next best was %v", heirs[0], of[2])
	}
	b.Left(b.Flights(of[0])[0], 0)
	if _, again := place(b, 10, 1, change); again[10] != of[0] {
		t.Errorf("it did not return: %v", again[10])
	}
	b = withWorkers(t, 4, 2)
	b.Learn("h", 10*time.Millisecond, 10) // 200 may be outstanding
	if n, _ := place(b, 0, 100, change); len(n) != 1 {
		t.Errorf("100 short tasks of one run are on %v", n)
	}
}

// TestPrefers: workers with more of the preferred labels come first while they have room; others take the rest.
func TestPrefers(t *testing.T) {
	b := newBoard(t, Config{})
	for w, labels := range [][]string{nil, {"ssd"}, {"ssd", "big"}, {"big"}} {
		b.SetWorker(Worker{ID: id('w', w), Labels: labels, Handlers: map[string]int{"h": 10}})
	}
	prefer := func(_ int, s *Span) { s.Prefers = []string{"big", "ssd"} }
	if n, _ := place(b, 0, 10, prefer); n[2] != 10 {
		t.Errorf("the first ten went to %v", n)
	}
	if n, _ := place(b, 10, 20, prefer); n[1] != 10 || n[3] != 10 {
		t.Errorf("the next twenty went to %v", n)
	}
	if n, _ := place(b, 30, 10, prefer); n[0] != 10 {
		t.Errorf("the last ten went to %v", n)
	}
}

// TestHugeTaskIsNotIdle: a worker with one huge task is not the idle one, although it has the fewest tasks, whether the task was
// declared huge or turned out to be.
func TestHugeTaskIsNotIdle(t *testing.T) {
	both := map[string]int{"huge": 1, "short": 100}
	for _, declared := range []bool{true, false} {
		b := newBoard(t, Config{})
		b.SetWorker(Worker{ID: id('w', 1), Handlers: both})
		b.Learn("short", time.Second, 10)
		now := epoch
		b.AddSpan(now, one(1, func(s *Span) {
			if s.Handler = "huge"; declared {
				s.Cost = time.Minute
			}
		}))
		if !declared {
			b.Learn("huge", time.Second, 10)
		}
		if len(b.Round(now, 1)) != 1 {
			t.Fatal("not handed out")
		}
		b.SetWorker(Worker{ID: id('w', 2), Handlers: both})
		if !declared {
			now = now.Add(time.Minute) // it should have ended long ago
		}
		for i := range 50 {
			b.AddSpan(now, one(10+i, func(s *Span) { s.Handler = "short" }))
			if g := b.Round(now, 1)[0]; g.Worker != id('w', 2) {
				t.Fatalf("declared=%v: short task %d went to the worker with the huge one", declared, i)
			}
		}
		loads := b.Workers()
		if loads[1].Cost != 50*time.Second || loads[1].Outstanding != 50 {
			t.Errorf("loads %+v", loads)
		}
		// There is work enough for both: in time the other one gets its share.
		for i := range 40 {
			b.AddSpan(now, one(100+i, func(s *Span) { s.Handler = "short" }))
		}
		n := 0
		for _, g := range b.Round(now, 100) {
			if g.Worker == id('w', 1) {
				n++
			}
		}
		if n == 0 || n > 20 {
			t.Errorf("declared=%v: %d of 40 more went to the worker with the huge one", declared, n)
		}
	}
}
