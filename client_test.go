package axflow_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/sql/history"
	"axflow/stage"
)

type series struct {
	Rows int  `json:"rows"`
	Fail bool `json:"fail"`
}

var (
	squares = shard.New("squares",
		func(_ context.Context, p series) (shard.Plan, error) { return shard.Count(int64(p.Rows)).Base(10), nil },
		func(_ context.Context, p series, s shard.Shard) (sum int, err error) {
			for lo, hi := s.Range(0, int64(p.Rows)); lo < hi; lo++ {
				sum += int(lo * lo)
			}
			return sum, nil
		})
	total = stage.New("total", func(ctx context.Context, p series) (int, error) {
		if p.Fail {
			return 0, stage.Permanent(errors.New("asked to fail"))
		}
		sum := 0
		for _, n := range squares.Outputs(ctx) {
			sum += n
		}
		return sum, nil
	}).After(squares)
	text = stage.New("text", func(ctx context.Context, _ series) (string, error) {
		n, err := total.Output(ctx)
		return fmt.Sprint("sum ", n), err
	}).After(total)
	sums = flow.New("sums", squares, total, text)
)

// process is everything in one process on a database of its own.
func process(t *testing.T) (context.Context, *axflow.Process) {
	t.Helper()
	ctx := pgtest.Context(t, 60*time.Second)
	d := pgtest.New(t)
	p, err := axflow.Open(ctx, axflow.Config{DatabaseURL: d.URL, Flows: []flow.Definition{sums}, Engine: true,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	run, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- p.Run(run) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("running: %v", err)
		}
		found, err := history.Check(context.Background(), p.Pool(), history.Options{Ended: true})
		if err != nil || len(found) > 0 {
			t.Errorf("history: %v %v", found, err)
		}
		p.Close()
	})
	return ctx, p
}

func TestTypedResults(t *testing.T) {
	ctx, p := process(t)
	id, err := axflow.Start(ctx, p.Client(), sums, series{Rows: 100})
	if err != nil {
		t.Fatal(err)
	}
	if err := axflow.Wait(ctx, p.Client(), id); err != nil {
		t.Fatal(err)
	}
	// 0² + 1² + … + 99² = 99·100·199/6 = 328,350; shard 0 of 10 is 0² + … + 9² = 285.
	if n, err := axflow.Output(ctx, p.Client(), id, total); err != nil || n != 328_350 {
		t.Errorf("total: %d, %v, want 328350", n, err)
	}
	if s, err := axflow.Output(ctx, p.Client(), id, text); err != nil || s != "sum 328350" {
		t.Errorf("text: %q, %v", s, err)
	}
	if n, err := axflow.ShardOutput(ctx, p.Client(), id, squares, 0); err != nil || n != 285 {
		t.Errorf("shard 0: %d, %v, want 285", n, err)
	}
	if _, err := axflow.ShardOutput(ctx, p.Client(), id, squares, 10); err == nil {
		t.Error("the output of a shard that does not exist: no error")
	}
}

func TestFailedRun(t *testing.T) {
	ctx, p := process(t)
	ids, err := axflow.StartMany(ctx, p.Client(), sums, []series{{Rows: 1, Fail: true}, {Rows: 1}, {}}, axflow.At(stage.P1), axflow.Tags(map[string]string{"team": "a"}))
	if err != nil {
		t.Fatal(err)
	}
	var failed *axflow.RunError
	if err := axflow.Wait(ctx, p.Client(), ids[0]); !errors.As(err, &failed) || failed.State != stage.RunFailed {
		t.Errorf("waiting for a failing run: %v, want a RunError", err)
	}
	for _, id := range ids[1:] { // the last has no rows, and so no shards
		if err := axflow.Wait(ctx, p.Client(), id); err != nil {
			t.Error(err)
		}
	}
	if _, err := axflow.Output(ctx, p.Client(), ids[0], text); err == nil {
		t.Error("the output of a stage that never ran: no error")
	}
	if err := axflow.Wait(ctx, p.Client(), uuid.New()); err == nil {
		t.Error("waiting for a run that does not exist: no error")
	}
}

func TestStartInCallersTransaction(t *testing.T) {
	ctx, p := process(t)
	var lost, kept []uuid.UUID
	gone := errors.New("changed my mind")
	err := pgx.BeginFunc(ctx, p.Pool(), func(tx pgx.Tx) (err error) {
		if lost, err = axflow.StartTx(ctx, tx, p.Client(), sums, []series{{Rows: 1}}, axflow.Key("k")); err != nil {
			return err
		}
		return gone
	})
	if !errors.Is(err, gone) {
		t.Fatal(err)
	}
	err = pgx.BeginFunc(ctx, p.Pool(), func(tx pgx.Tx) (err error) {
		kept, err = axflow.StartTx(ctx, tx, p.Client(), sums, []series{{Rows: 1}, {Rows: 2}}, axflow.Key("k"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range kept {
		if err := axflow.Wait(ctx, p.Client(), id); err != nil {
			t.Error(err)
		}
	}
	if _, err := p.Client().Run(ctx, lost[0]); err == nil {
		t.Error("a run of a transaction that was rolled back exists")
	}
	again, err := axflow.StartMany(ctx, p.Client(), sums, []series{{Rows: 1}, {Rows: 2}}, axflow.Key("k"))
	if err != nil || again[0] != kept[0] || again[1] != kept[1] {
		t.Errorf("the same keys again: %v, %v, want %v", again, err, kept)
	}
}

func TestBadStarts(t *testing.T) {
	ctx, p := process(t)
	big := flow.New("big", stage.New("a", func(context.Context, struct {
		Text string `json:"text"`
	}) (struct{}, error) {
		return struct{}{}, nil
	}))
	_, err := axflow.Start(ctx, p.Client(), big, struct {
		Text string `json:"text"`
	}{string(make([]byte, 300<<10))})
	if err == nil {
		t.Error("params of 300 KiB: no error")
	}
	if ids, err := axflow.StartMany(ctx, p.Client(), sums, nil); err != nil || len(ids) != 0 {
		t.Errorf("no params at all: %v, %v, want no run and no error", ids, err)
	}
	if _, err := axflow.StartMany(ctx, p.Client(), sums, make([]series, 10_001)); err == nil {
		t.Error("10,001 runs in one call: no error")
	}
}
