package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"axflow/bench/measure"
	"axflow/internal/pgtest"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(serveVariable); url != "" {
		os.Exit(serveMain(url))
	}
	os.Exit(m.Run())
}

// The bench runs, a hundred times smaller: its requests find something, the history it makes is kept, and its last line is whole.
func TestBench(t *testing.T) {
	ctx := pgtest.Context(t, 5*time.Minute)
	d := pgtest.New(t, pgtest.Empty())
	db := &server{url: d.URL, close: func() {}}
	s := size{runs: 10_000, results: 100_000, days: 4, large: 500, samples: 5, clients: 10, shards: 1000, lasts: 2 * time.Second}
	if testing.Short() {
		s.runs, s.results = 3_000, 30_000
	}
	var out bytes.Buffer
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(out.String())
		}
		if err := db.exec(context.WithoutCancel(ctx), "DROP DATABASE IF EXISTS "+s.database()+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	if err := bench(ctx, &out, db, s, false); err != nil {
		t.Fatal(err)
	}
	fields, err := measure.LastLine(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"list_p50_ms", "list_p99_ms", "list_worst_p99_ms", "get_p50_ms", "get_p99_ms", "sse_mb", "sse_one_mb", "sse_frames_per_s", "sse_bytes_per_s"} {
		if v, ok := fields[name]; !ok || v <= 0 {
			t.Errorf("%s is %v", name, v)
		}
	}
	for _, name := range []string{"sse_cpu_pct", "sse_one_cpu_pct"} {
		if v, ok := fields[name]; !ok || v < 0 {
			t.Errorf("%s is %v", name, v)
		}
	}
	if f := fields["sse_frames_per_s"]; f > 4.5 {
		t.Errorf("a client got %v frames a second, want 4 at most", f)
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "0/5 ") && !strings.Contains(line, "nothing has") && !strings.Contains(line, "customer") && !strings.Contains(line, "5000") &&
			!strings.Contains(line, "two params") && !strings.Contains(line, "cancelled") {
			t.Errorf("no request found anything: %s", line)
		}
	}
	h, err := db.history(ctx, &out, s, false)
	if err != nil {
		t.Fatal(err)
	}
	h.pool.Close()
	if !strings.Contains(out.String(), "was made before") {
		t.Error("the second time the history was made anew")
	}
}
