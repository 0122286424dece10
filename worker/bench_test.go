package worker

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/flow"
	"axflow/shard"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/stage"
)

type benchParams struct {
	Day string `json:"day"`
}

// dryWorker is a worker without a database: what it finishes is counted and forgotten.
func dryWorker(b *testing.B, f flow.Definition, slots int) (w *Worker, done *atomic.Int64, stop func()) {
	b.Helper()
	pc, err := pgxpool.ParseConfig("postgres://nobody@127.0.0.1:1/none")
	if err != nil {
		b.Fatal(err)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), pc)
	if err != nil {
		b.Fatal(err)
	}
	bus, err := hint.New(hint.Config{})
	if err != nil {
		b.Fatal(err)
	}
	w, err = New(Config{Pool: pool, ConnConfig: pc.ConnConfig, Bus: bus, Flows: []flow.Definition{f}, Slots: slots, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	done = new(atomic.Int64)
	ctx, cancel := context.WithCancel(context.Background())
	w.hard, w.loadCtx = ctx, ctx
	w.versions.put(1, f.Version(), f.Graph())
	var wg sync.WaitGroup
	for _, c := range w.committers {
		c.dry = true
		c.write = func(_ context.Context, _ span.Conn, _ uuid.UUID, reports []span.Report) (span.Receipt, error) {
			n := 0
			accepted := make([]span.Accepted, len(reports))
			for i := range reports {
				n += len(reports[i].Results)
				accepted[i].Execution = reports[i].Execution
			}
			done.Add(int64(n))
			return span.Receipt{Accepted: accepted}, nil
		}
		wg.Go(func() { c.run(ctx) })
	}
	wg.Go(func() { w.dog.run(ctx) })
	return w, done, func() {
		for _, p := range w.pools {
			p.close()
		}
		cancel()
		for _, c := range w.committers {
			c.close()
		}
		wg.Wait()
		for _, p := range w.pools {
			p.wg.Wait()
		}
		pool.Close()
	}
}

// BenchmarkShards is the worker's own cost of a shard that does nothing: hand-over, start, watch, result, batch,
// everything but the database.
func BenchmarkShards(b *testing.B) {
	for _, bc := range []struct {
		name  string
		piece int
	}{{"piece=256", 256}, {"piece=4096", 4096}, {"piece=1", 1}} {
		b.Run(bc.name, func(b *testing.B) {
			s := shard.New("s", func(context.Context, benchParams) (shard.Plan, error) { return shard.N(1), nil },
				func(context.Context, benchParams, shard.Shard) (struct{}, error) { return struct{}{}, nil })
			w, done, stop := dryWorker(b, flow.New("bench", s), 16)
			defer stop()
			run := uuid.Must(uuid.NewV7())
			w.heads.put(span.StageKey{Run: run}, head{generation: 1, total: math.MaxInt32, cut: &stage.Cut{Kind: stage.CutCount}, items: 1})
			b.ReportAllocs()
			b.ResetTimer()
			for lo := 0; lo < b.N; lo += bc.piece {
				// As the leader does, keep some flights ahead.
				for int64(lo)-done.Load() > 16*int64(bc.piece)+4096 {
					time.Sleep(50 * time.Microsecond)
				}
				w.adopt(span.Assignment{Par: 16, Params: []byte(`{"day":"2026-01-01"}`), Set: shard.Span(lo, min(lo+bc.piece, b.N)),
					Header: span.Header{ID: uuid.New(), Run: run, VersionID: 1, Generation: 1, Attempt: 1, Level: stage.P2}}, 0)
			}
			for done.Load() < int64(b.N) {
				time.Sleep(50 * time.Microsecond)
			}
			b.StopTimer()
		})
	}
}
