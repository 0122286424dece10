package board

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"axflow/shard"
	"axflow/stage"
)

var defaultWeights = [levels]int{40, 25, 15, 10, 6, 4}

// feeder keeps a level's backlog filled.
type feeder struct {
	b    *Board
	next int
}

func (f *feeder) add(now time.Time, level stage.Level, handler string, n int) Span {
	f.next++
	s := Span{
		ID: id('s', f.next), Run: id('r', f.next), Level: level, Namespace: "ns", Queue: "q", Handler: handler,
		Todo: shard.Span(0, n), ReadyAt: now,
	}
	f.b.AddSpan(now, s)
	return s
}

// TestSharesOfAPool: with one slot and a backlog at every level, each hundred tasks divide exactly by weight.
func TestSharesOfAPool(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 1}})
	f := &feeder{b: b}
	for range 50 {
		for l := range stage.Level(levels) {
			f.add(epoch, l, "h", 1)
		}
	}
	var got [levels]int
	for i := 1; i <= 20_000; i++ {
		grants := b.Round(epoch, 10)
		if len(grants) != 1 {
			t.Fatalf("%d grants on one slot", len(grants))
		}
		g := grants[0]
		got[g.Head.Level]++
		b.Left(g.Flight, 0)
		f.add(epoch, g.Head.Level, "h", 1)
		if i%100 == 0 {
			for l, n := range got {
				if n != defaultWeights[l]*i/100 {
					t.Fatalf("after %d tasks the levels have %v", i, got)
				}
			}
		}
	}
}

// TestSharesOfARound: with room for everything, what a short round hands out divides by weight, although every level
// has a handler of its own.
func TestSharesOfARound(t *testing.T) {
	b := newBoard(t, Config{})
	w := Worker{ID: id('w', 1), Handlers: map[string]int{}}
	f := &feeder{b: b}
	for l := range stage.Level(levels) {
		h := fmt.Sprintf("h%d", l)
		w.Handlers[h] = 10_000
		for range 1000 {
			f.add(epoch, l, h, 1)
		}
	}
	b.SetWorker(w)
	for range 20 {
		var got [levels]int
		for _, g := range b.Round(epoch, 100) {
			got[g.Head.Level]++
		}
		if got != defaultWeights {
			t.Fatalf("a round of 100 gave %v", got)
		}
	}
}

// TestSharesInPieces: with pieces of many sizes the levels' shares, in indices over weight, stay within the sum of one piece
// of each (Goyal, Vin, Cheng 1996, theorem 1), whatever the weights.
func TestSharesInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w [levels]int
		for l := range w {
			w[l] = rapid.SampledFrom([]int{1, 3, 7, 40, 1000, maxWeight}).Draw(t, "weight")
		}
		const most = 50
		b := newBoard(t, Config{Weights: w, MaxPiece: most})
		b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 4}})
		b.Learn("h", 10*time.Millisecond, 1)
		f := &feeder{b: b}
		sizes := rapid.SliceOfN(rapid.IntRange(1, 200), 5, 5).Draw(t, "sizes")
		var got [levels]float64
		for i := range 3000 {
			for l := range stage.Level(levels) {
				for b.Depth()[l].Pending.Indices < 2*most {
					f.add(epoch, l, "h", sizes[f.next%len(sizes)])
				}
			}
			for _, g := range b.Round(epoch, 1) {
				got[g.Head.Level] += float64(g.Set.Len())
				b.Left(g.Flight, 0)
			}
			for x := range w {
				for y := range w {
					fx, fy := float64(w[x]), float64(w[y])
					if d := got[x]/fx - got[y]/fy; d > most/fx+most/fy+1 {
						t.Fatalf("step %d: P%d is %f ahead of P%d: %v of %v", i, x, d, y, got, w)
					}
				}
			}
		}
	})
}

// TestNoHoarding: a level that had nothing to do for long gets its share afterwards, not the share it did not use.
func TestNoHoarding(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 1}})
	f := &feeder{b: b}
	run := func(n int, with ...stage.Level) (got [levels]int) {
		for _, l := range with {
			for range 10 {
				f.add(epoch, l, "h", 1)
			}
		}
		for range n {
			g := b.Round(epoch, 1)[0]
			got[g.Head.Level]++
			b.Left(g.Flight, 0)
			f.add(epoch, g.Head.Level, "h", 1)
		}
		return got
	}
	// Without P1 and P4 the rest share 40:15:10:4.
	if got := run(6900, 0, 2, 3, 5); got != [levels]int{4000, 0, 1500, 1000, 0, 400} {
		t.Fatalf("four levels got %v", got)
	}
	// Then all six, at once.
	got := run(1000, 1, 4)
	for l, n := range got {
		if want := 10 * defaultWeights[l]; n < want-1 || n > want+1 {
			t.Fatalf("after two levels came back: %v", got)
		}
	}
}

// TestRejectedShareReturns: when the cuts of a level fail half of the time, its share of those that succeed is the same.
func TestRejectedShareReturns(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 1}})
	f := &feeder{b: b}
	for range 10 {
		f.add(epoch, 1, "h", 1)
		f.add(epoch, 4, "h", 1)
	}
	var got [levels]int
	for i := 0; got[1]+got[4] < 3100; i++ {
		g := b.Round(epoch, 1)[0]
		f.add(epoch, g.Head.Level, "h", 1)
		if g.Head.Level == 1 && i%2 == 0 {
			b.Reject(g)
			continue
		}
		got[g.Head.Level]++
		b.Left(g.Flight, 0)
	}
	if got[1] < 2499 || got[1] > 2501 {
		t.Fatalf("25:6 became %d:%d", got[1], got[4])
	}
}

// TestNoStarvation asserts the bound of the package comment while every better level has an endless backlog.
func TestNoStarvation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		level := stage.Level(rapid.IntRange(0, 5).Draw(t, "level"))
		ahead := rapid.IntRange(0, 60).Draw(t, "ahead")
		size := rapid.IntRange(1, 60).Draw(t, "size")
		piece := rapid.SampledFrom([]int{1, 7, 30}).Draw(t, "piece")
		aging := rapid.Bool().Draw(t, "aging")
		c := Config{MaxPiece: piece, Decay: 1.0 / 60}
		if !aging {
			c.Decay = -1
		}
		b := newBoard(t, c)
		b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 1}})
		b.Learn("h", 10*time.Millisecond, 1)
		f := &feeder{b: b}
		now := epoch
		for range ahead {
			f.add(now, level, "h", 1)
		}
		mine := f.add(now, level, "h", size)
		bound := (ahead+size+piece)*100/defaultWeights[level] + levels*piece
		for used := 0; b.HasSpan(mine.ID); {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			for l := range stage.Level(levels) {
				for b.Depth()[l].Pending.Indices < 2*piece {
					f.add(now, l, "h", piece)
				}
			}
			for _, g := range b.Round(now, 1) {
				used += g.Set.Len()
				b.Left(g.Flight, 0)
			}
			if used > bound {
				t.Fatalf("P%d with %d ahead waits after %d indices, the bound is %d", level, ahead, used, bound)
			}
		}
	})
}

// TestAging: with one level a minute, a P4 span competes as P3 after one and as P1 after three or more, there by age.
func TestAging(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 1}})
	f := &feeder{b: b}
	old := f.add(epoch, 4, "h", 1)
	for _, c := range []struct {
		after time.Duration
		want  stage.Level
	}{{0, 4}, {59 * time.Second, 4}, {time.Minute, 3}, {2 * time.Minute, 2}, {3 * time.Minute, 1}, {time.Hour, 1}} {
		if got, _ := b.Effective(old.ID, epoch.Add(c.after)); got != c.want {
			t.Errorf("after %s it is at P%d, want P%d", c.after, got, c.want)
		}
	}
	// Ready at the same time as P1 less three minutes, it is just behind a P1 span that came a second earlier and just before
	// one that came a second later.
	now := epoch.Add(10 * time.Minute)
	early := f.add(epoch.Add(3*time.Minute-time.Second), 1, "h", 1)
	late := f.add(epoch.Add(3*time.Minute+time.Second), 1, "h", 1)
	var got []uuid.UUID
	for range 3 {
		g := b.Round(now, 1)[0]
		if g.Turn != 1 && g.Span != old.ID {
			t.Errorf("a P1 span used a turn of %v", g.Turn)
		}
		got = append(got, g.Span)
		b.Left(g.Flight, 0)
	}
	// The middle turn is P1's or, the tags being equal, P4's own; both give it to the old one.
	if got[0] != early.ID || got[1] != old.ID || got[2] != late.ID {
		t.Errorf("order %v", got)
	}
	// Switched off, levels are what they say.
	still := f.add(epoch, 4, "h", 1)
	b.SetDecay(0)
	if got, _ := b.Effective(still.ID, now); got != 4 {
		t.Errorf("without aging it is at P%d", got)
	}
}

// TestUrgentPassesTheBacklog: a P0 span does not wait behind a million pending shards.
func TestUrgentPassesTheBacklog(t *testing.T) {
	for _, urgent := range []int{0, 1} {
		b := newBoard(t, Config{})
		b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 8}, Urgent: urgent})
		f := &feeder{b: b}
		now := epoch.Add(time.Hour) // the batch has aged for an hour
		f.add(epoch, 4, "h", 1_000_000)
		batch := b.Round(now, 1000)
		if b.HandedOut().Indices != 8 {
			t.Fatalf("%+v handed out on 8 slots", b.HandedOut())
		}
		p0 := f.add(now, 0, "h", 1)
		if urgent == 0 {
			if g := b.Round(now, 10); len(g) != 0 {
				t.Fatalf("granted %v on full pools", g)
			}
			b.Left(batch[0].Flight, 7) // one shard ends
		}
		g := b.Round(now, 10)
		if len(g) == 0 || g[0].Span != p0.ID || g[0].Urgent != (urgent == 1) {
			t.Fatalf("with %d urgent slots the next grant is %+v", urgent, g)
		}
	}
}

// TestOneStageRunAllocatesOnce: the way of a run of one stage costs the returned slice and nothing else.
func TestOneStageRunAllocatesOnce(t *testing.T) {
	b := newBoard(t, Config{})
	b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 8}})
	f := &feeder{b: b}
	if n := testing.AllocsPerRun(1000, func() {
		f.add(epoch, 2, "h", 1)
		for _, g := range b.Round(epoch, 100) {
			b.Left(g.Flight, 0)
		}
	}); n > 1 {
		t.Errorf("%f allocations a run", n)
	}
}
