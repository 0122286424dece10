package axflow_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/stage"
	"axflow/worker"
)

type order struct {
	Lines int  `json:"lines"`
	Bad   bool `json:"bad,omitempty"`
	Hang  bool `json:"hang,omitempty"`
}

// shop is what the handlers are methods of; it gets its pool before the run starts.
type shop struct {
	pool  *pgxpool.Pool
	total *stage.Stage[order, int]
	flow  *flow.Flow[order]
	began chan struct{}
}

func newShop() *shop {
	s := &shop{began: make(chan struct{}, 1)}
	price := shard.New("price", func(_ context.Context, o order) (shard.Plan, error) { return shard.N(o.Lines), nil }, s.price,
		stage.Retry{MaxAttempts: 1})
	s.total = stage.New("total", func(ctx context.Context, _ order) (int, error) {
		sum := 0
		for _, cents := range price.Outputs(ctx) {
			sum += cents
		}
		return sum, nil
	}).After(price)
	s.flow = flow.New("order", price, s.total)
	return s
}

func (s *shop) price(ctx context.Context, o order, line shard.Shard) (int, error) {
	if o.Hang {
		select {
		case s.began <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return 0, ctx.Err()
	}
	if o.Bad && line.Index == 3 {
		return 0, errors.New("no price for it")
	}
	var cents int
	err := s.pool.QueryRow(ctx, "SELECT cents FROM price WHERE line = $1", line.Index).Scan(&cents)
	return cents, err
}

// prepare prices line i at i+1 cents.
func (s *shop) prepare(ctx context.Context, pool *pgxpool.Pool) error {
	s.pool = pool
	_, err := pool.Exec(ctx, "CREATE TABLE price AS SELECT i AS line, i + 1 AS cents FROM generate_series(0, 99) AS i")
	return err
}

// once runs an order to its end; what it showed on the way and the total are returned.
func (s *shop) once(ctx context.Context, cfg axflow.OnceConfig, o order) (shown string, total int, err error) {
	var progress bytes.Buffer
	cfg.Prepare, cfg.Progress = s.prepare, &progress
	err = axflow.Once(ctx, cfg, s.flow, o, func(ctx context.Context, c *axflow.Client, run uuid.UUID) (err error) {
		total, err = axflow.Output(ctx, c, run, s.total)
		return err
	})
	return progress.String(), total, err
}

func TestOnce(t *testing.T) {
	tuned := false
	shown, total, err := newShop().once(t.Context(), axflow.OnceConfig{DatabaseURL: pgtest.New(t, pgtest.Empty()).URL,
		TuneWorker: func(*worker.Config) { tuned = true }}, order{Lines: 100})
	if err != nil || total != 5050 || !tuned { // 1 + 2 + ... + 100
		t.Errorf("total %d, error %v, tuned %t; want 5050, none, true", total, err, tuned)
	}
	if !strings.Contains(shown, "succeeded after") {
		t.Errorf("the end is not shown:\n%s", shown)
	}
}

func TestOnceWithADatabaseOfItsOwn(t *testing.T) {
	t.Setenv("AX_DATABASE_URL", "")
	t.Setenv("TMPDIR", shortTempDir(t))
	_, total, err := newShop().once(t.Context(), axflow.OnceConfig{}, order{Lines: 10})
	if err != nil || total != 55 {
		t.Errorf("total %d, error %v; want 55 and none", total, err)
	}
}

// shortTempDir has room for a socket's path below it, and lets the server's user in.
func shortTempDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/tmp", "ax")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, _ := os.ReadDir(dir)
		for _, f := range left {
			if strings.HasPrefix(f.Name(), "ax-pg-") {
				t.Errorf("%s is left", f.Name())
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestOnceSaysWhyTheRunFailed(t *testing.T) {
	_, _, err := newShop().once(t.Context(), axflow.OnceConfig{DatabaseURL: pgtest.New(t, pgtest.Empty()).URL}, order{Lines: 10, Bad: true})
	var ended *axflow.RunError
	if !errors.As(err, &ended) || ended.State != stage.RunFailed {
		t.Fatalf("error %v, want a RunError of a failed run", err)
	}
	if !strings.Contains(err.Error(), "stage price, shard 3, attempt 1: no price for it") {
		t.Errorf("the error does not say what failed: %v", err)
	}
}

func TestOnceEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := newShop()
	go func() {
		<-s.began
		cancel()
	}()
	shown, _, err := s.once(ctx, axflow.OnceConfig{DatabaseURL: pgtest.New(t, pgtest.Empty()).URL,
		TuneWorker: func(c *worker.Config) { c.Grace = 100 * time.Millisecond }}, order{Lines: 1, Hang: true})
	if !errors.Is(err, context.Canceled) || !strings.Contains(shown, "stopping before the end of run") {
		t.Errorf("error %v, shown:\n%s", err, shown)
	}
}

func TestOnceFailsWhenPreparingFails(t *testing.T) {
	broken := errors.New("no disk")
	err := axflow.Once(t.Context(), axflow.OnceConfig{DatabaseURL: pgtest.New(t, pgtest.Empty()).URL, Progress: &bytes.Buffer{},
		Prepare: func(context.Context, *pgxpool.Pool) error { return broken }}, newShop().flow, order{Lines: 1}, nil)
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}
