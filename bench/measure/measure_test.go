package measure_test

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"axflow/bench/measure"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 10, 2}, 3},
	} {
		if got := measure.Median(c.in); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
	if got := measure.Median(nil); !math.IsNaN(got) {
		t.Errorf("Median(nil) = %v, want NaN", got)
	}
}

func TestPercentile(t *testing.T) {
	// The worked example of nearest rank: 15, 20, 35, 40, 50.
	d := []time.Duration{50, 15, 40, 20, 35}
	for p, want := range map[float64]time.Duration{0: 15, 5: 15, 20: 15, 30: 20, 40: 20, 50: 35, 80: 40, 99: 50, 100: 50} {
		if got := measure.Percentile(d, p); got != want {
			t.Errorf("Percentile(%v, %v) = %v, want %v", d, p, got, want)
		}
	}
	if got := measure.Percentile(nil, 50); got != 0 {
		t.Errorf("Percentile(nil, 50) = %v, want 0", got)
	}
}

// TestPercentileIsASample compares with the definition: the smallest sample that p percent do not exceed.
func TestPercentileIsASample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(0, 20).Draw(t, "d"))
		}), 1, 40).Draw(t, "durations")
		p := rapid.IntRange(0, 100).Draw(t, "p")
		enough := func(v time.Duration) bool {
			n := 0
			for _, x := range d {
				if x <= v {
					n++
				}
			}
			return n*100 >= p*len(d)
		}
		want := time.Duration(-1)
		for _, v := range d {
			if enough(v) && (want < 0 || v < want) {
				want = v
			}
		}
		if got := measure.Percentile(d, float64(p)); got != want {
			t.Fatalf("Percentile(%v, %d) = %d, want %d", d, p, got, want)
		}
	})
}

func TestRoundsGivesMediansOfEveryName(t *testing.T) {
	rounds := []map[string]float64{{"a": 3}, {"a": 1, "b": 8}, {"a": 2, "b": 4}}
	got, err := measure.Rounds(3, func(i int) (map[string]float64, error) { return rounds[i], nil })
	if err != nil || len(got) != 2 || got["a"] != 2 || got["b"] != 6 {
		t.Fatalf("Rounds = %v, %v, want a=2, b=6", got, err)
	}
}

func TestResultLine(t *testing.T) {
	var out bytes.Buffer
	out.WriteString("progress\n")
	if err := measure.PrintLine(&out, map[string]float64{"b": 2.00049, "a": 12345.6789, "none": math.NaN()}); err != nil {
		t.Fatal(err)
	}
	const want = "progress\n" + `{"a":12345.679,"b":2,"none":null}` + "\n"
	if out.String() != want {
		t.Fatalf("printed %q, want %q", out.String(), want)
	}
	got, err := measure.LastLine(out.Bytes())
	if err != nil || len(got) != 2 || got["a"] != 12345.679 || got["b"] != 2 {
		t.Fatalf("LastLine = %v, %v", got, err)
	}
	if _, err := measure.LastLine([]byte("no JSON")); err == nil {
		t.Fatal("LastLine took a line that is no JSON")
	}
}

// open gives a server with a fresh database.
func open(t *testing.T) (*measure.Server, string) {
	t.Helper()
	t.Setenv(measure.URLVariable, "")
	server, err := measure.Open(t.Context(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	url, drop, err := server.Fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server, url
}

func TestOnPostgreSQL(t *testing.T) {
	server, url := open(t)
	t.Run("settings", func(t *testing.T) {
		conn := connect(t, url)
		for _, s := range measure.Settings() {
			var have string
			if err := conn.QueryRow(t.Context(), "SELECT current_setting($1)", s.Name).Scan(&have); err != nil {
				t.Fatal(err)
			}
			if have != s.Value {
				t.Errorf("%s is %s, want %s", s.Name, have, s.Value)
			}
		}
		_ = conn.Close(t.Context())
	})
	t.Run("meter", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		meter, err := server.Watch(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = meter.Close() }()
		conn := connect(t, url)
		// 20 transactions that write and 5 that read; generate_series burns CPU on the server.
		for _, q := range []string{"CREATE TABLE t (a text)", "SELECT count(*) FROM generate_series(1, 2000000)"} {
			if _, err := conn.Exec(ctx, q); err != nil {
				t.Fatal(err)
			}
		}
		for range 19 {
			if _, err := conn.Exec(ctx, "INSERT INTO t VALUES (repeat('x', 1000))"); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 {
			if _, err := conn.Exec(ctx, "SELECT 1"); err != nil {
				t.Fatal(err)
			}
		}
		cost, err := meter.Mark(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if cost.WAL < 19*1000 || cost.WAL > 1<<20 {
			t.Errorf("19 rows of 1,000 bytes and a table made %d bytes of WAL", cost.WAL)
		}
		if cost.Writes < 20 {
			t.Errorf("%d writing transactions, want at least 20", cost.Writes)
		}
		if cost.ServerCPU <= 0 {
			t.Error("counting to 2,000,000 took the server no CPU time")
		}
		_ = conn.Close(ctx)
		// A new session may commit once more for itself, and an autovacuum worker may look in.
		if commits, err := meter.Commits(ctx); err != nil || commits < 25 || commits > 35 {
			t.Errorf("Commits = %d, %v, want 25", commits, err)
		}
	})
	t.Run("floor", func(t *testing.T) {
		rate, wal, err := measure.Floor(t.Context(), url, 1050, 100)
		if err != nil {
			t.Fatal(err)
		}
		// A row's values take 140 bytes and its key another 40.
		if rate <= 0 || wal < 180 || wal > 1500 {
			t.Errorf("Floor = %v rows/s, %v WAL bytes a row", rate, wal)
		}
		conn := connect(t, url)
		defer func() { _ = conn.Close(t.Context()) }()
		var runs, rows, succeeded int
		const q = `SELECT count(DISTINCT run_id), count(*), count(*) FILTER (WHERE outcome = 10 AND output IS NULL AND error IS NULL)
			FROM ax.result WHERE shard BETWEEN 0 AND 1049`
		if err := conn.QueryRow(t.Context(), q).Scan(&runs, &rows, &succeeded); err != nil {
			t.Fatal(err)
		}
		if runs != 3 || rows != 3*1050 || succeeded != rows {
			t.Errorf("the floor left %d runs, %d rows, %d of them successes, want 3, 3150 and 3150", runs, rows, succeeded)
		}
		if _, _, err := measure.Floor(t.Context(), url, 0, 100); err == nil {
			t.Error("Floor took 0 rows")
		}
	})
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
