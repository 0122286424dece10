package board

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/stage"
)

func benchWorkers(b *Board, workers, slots, handlers int) {
	for w := range workers {
		hs := map[string]int{}
		for h := range handlers {
			hs[fmt.Sprintf("flow/stage-%d@0123456789abcdef", h)] = slots
		}
		b.SetWorker(Worker{ID: id('w', w), Handlers: hs, Urgent: 2})
	}
}

func benchSpan(i, handlers int) Span {
	return Span{
		ID: id('s', i), Run: id('r', i), Level: stage.Level(i % levels), Namespace: "default", Queue: "default",
		Handler: fmt.Sprintf("flow/stage-%d@0123456789abcdef", i%handlers), StageKey: fmt.Sprintf("default/flow/stage-%d", i%handlers),
		Todo: shard.Span(0, 1), ReadyAt: epoch,
	}
}

// BenchmarkOneStageRun is the whole way of a run of one stage: AddSpan, Round, Left.
func BenchmarkOneStageRun(b *testing.B) {
	for _, workers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			board := newBoard(b, Config{})
			benchWorkers(board, workers, 8, 1)
			s := benchSpan(2, 1)
			b.ReportAllocs()
			for i := range b.N {
				s.ID, s.Run = id('s', i), id('r', i)
				board.AddSpan(epoch, s)
				for _, g := range board.Round(epoch, 100) {
					board.Left(g.Flight, 0)
				}
			}
		})
	}
}

// BenchmarkReserve is the resolver's short cut.
func BenchmarkReserve(b *testing.B) {
	board := newBoard(b, Config{})
	benchWorkers(board, 8, 8, 1)
	s := benchSpan(2, 1)
	b.ReportAllocs()
	for i := range b.N {
		s.ID, s.Run = id('s', i), id('r', i)
		g, ok := board.Reserve(epoch, s)
		if !ok {
			b.Fatal("refused")
		}
		board.Left(g.Flight, 0)
	}
}

// BenchmarkRound hands out and finishes with a standing backlog; an operation is one grant.
func BenchmarkRound(b *testing.B) {
	for _, c := range []struct{ spans, handlers, workers int }{{5000, 1, 64}, {5000, 20, 64}, {100_000, 1, 64}, {100_000, 170, 8}} {
		b.Run(fmt.Sprintf("spans=%d/handlers=%d/workers=%d", c.spans, c.handlers, c.workers), func(b *testing.B) {
			board := newBoard(b, Config{})
			benchWorkers(board, c.workers, 8, c.handlers)
			next := 0
			add := func() {
				board.AddSpan(epoch, benchSpan(next, c.handlers))
				next++
			}
			for range c.spans {
				add()
			}
			var out []uuid.UUID
			for _, g := range board.Round(epoch, 1<<20) {
				out = append(out, g.Flight)
			}
			spans := make([]Span, b.N+len(out))
			for i := range spans {
				spans[i] = benchSpan(next+i, c.handlers)
				spans[i].ReadyAt = epoch.Add(time.Duration(next + i))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; i < b.N; {
				// A tenth of what is out comes back, as much new work comes in, and a round refills.
				done := max(1, len(out)/10)
				for _, f := range out[:done] {
					board.Left(f, 0)
				}
				out = append(out[:0], out[done:]...)
				for range done {
					board.AddSpan(epoch, spans[i])
					i++
				}
				for _, g := range board.Round(epoch, 1<<20) {
					out = append(out, g.Flight)
				}
			}
		})
	}
}

// BenchmarkBlockedRound is a round among 100,000 spans in 1,000 lanes of which all but one are at their limits.
func BenchmarkBlockedRound(b *testing.B) {
	board := newBoard(b, Config{})
	benchWorkers(board, 64, 1000, 1)
	add := func(i, key int) {
		s := benchSpan(i, 1)
		s.StageKey, s.Limit = fmt.Sprintf("key-%d", key), 1
		board.AddSpan(epoch, s)
	}
	for i := range 100_000 {
		add(i, i%1000)
	}
	out := board.Round(epoch, 1<<20)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		// One key of a thousand frees, one span goes, and one comes.
		k := i % len(out)
		board.Left(out[k].Flight, 0)
		g := board.Round(epoch, 1<<20)
		if len(g) != 1 {
			b.Fatal(len(g))
		}
		out[k] = g[0]
		var key int
		if _, err := fmt.Sscanf(g[0].Head.StageKey, "key-%d", &key); err != nil {
			b.Fatal(err)
		}
		add(100_000+i, key)
	}
}

// BenchmarkQueueLimit is the worst case of waking: 1,000 lanes wait for one limit of a queue.
func BenchmarkQueueLimit(b *testing.B) {
	board := newBoard(b, Config{})
	benchWorkers(board, 64, 1000, 1)
	board.SetLimit(OfQueue("default", "default"), 50)
	add := func(i int) {
		s := benchSpan(i, 1)
		s.StageKey = fmt.Sprintf("key-%d", i%1000)
		board.AddSpan(epoch, s)
	}
	for i := range 100_000 {
		add(i)
	}
	out := board.Round(epoch, 1<<20)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		board.Left(out[i%len(out)].Flight, 0)
		g := board.Round(epoch, 1<<20)
		if len(g) != 1 {
			b.Fatal(len(g))
		}
		out[i%len(out)] = g[0]
		add(100_000 + i)
	}
}

// BenchmarkPieces streams a stage of a million tiny shards through; an operation is one piece.
func BenchmarkPieces(b *testing.B) {
	board := newBoard(b, Config{})
	benchWorkers(board, 8, 8, 1)
	s := benchSpan(2, 1)
	board.Learn(s.Handler, 100*time.Microsecond, 256)
	b.ReportAllocs()
	for i := 0; i < b.N; {
		s.ID, s.Todo = id('s', i), shard.Span(0, 1_000_000)
		board.AddSpan(epoch, s)
		for {
			grants := board.Round(epoch, 1000)
			if len(grants) == 0 {
				break
			}
			i += len(grants)
			for _, g := range grants {
				board.Left(g.Flight, 0)
			}
		}
	}
}

// BenchmarkQueueLimitOfHandlers is the same with a handler a lane.
func BenchmarkQueueLimitOfHandlers(b *testing.B) {
	board := newBoard(b, Config{})
	benchWorkers(board, 8, 8, 1000)
	board.SetLimit(OfQueue("default", "default"), 50)
	for i := range 100_000 {
		board.AddSpan(epoch, benchSpan(i, 1000))
	}
	out := board.Round(epoch, 1<<20)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		board.Left(out[i%len(out)].Flight, 0)
		g := board.Round(epoch, 1<<20)
		if len(g) != 1 {
			b.Fatal(len(g))
		}
		out[i%len(out)] = g[0]
		board.AddSpan(epoch, benchSpan(100_000+i, 1000))
	}
}

// BenchmarkKeys is the way of a keyed run among 10,000 keys that wait in one lane behind a limit of the queue, with a
// thousand keys at their own limits; an operation is one grant.
func BenchmarkKeys(b *testing.B) {
	for _, c := range []struct {
		name   string
		change func(*Span)
	}{
		{"none", func(*Span) {}},
		{"limit", func(s *Span) { s.KeyLimit = 1 }},
		{"rate", func(s *Span) { s.KeyRate = Rate{1_000_000, time.Second} }},
		{"stage rate", func(s *Span) { s.StageRate = Rate{1_000_000, time.Second} }},
		{"circuit", func(s *Span) { s.Breaker, s.Downstreams = true, []string{"warehouse"} }},
		{"by key", func(s *Span) { s.Routing = stage.ByKey }},
	} {
		b.Run(c.name, func(b *testing.B) {
			board := newBoard(b, Config{})
			benchWorkers(board, 8, 1000, 1)
			board.SetLimit(OfQueue("default", "default"), 1000)
			spans := make([]Span, 20_000+b.N)
			for i := range spans {
				s := benchSpan(i, 1)
				s.Level, s.ReadyAt = 2, epoch.Add(time.Duration(i))
				s.StageKey, s.Key = "default/flow/stage-0", fmt.Sprint("g/", i%10_000)
				c.change(&s)
				spans[i] = s
			}
			next := 0
			for ; next < 20_000; next++ {
				board.AddSpan(epoch, spans[next])
			}
			out := board.Round(epoch, 1<<20)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				board.Left(out[i%len(out)].Flight, 0)
				board.AddSpan(epoch, spans[next])
				next++
				g := board.Round(epoch.Add(time.Duration(i)*time.Millisecond), 10)
				if len(g) != 1 {
					b.Fatal(len(g))
				}
				out[i%len(out)] = g[0]
				board.TakeRates()
			}
		})
	}
}
