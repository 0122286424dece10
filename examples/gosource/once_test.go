package main

import (
	"bytes"
	"io"
	"regexp"
	"testing"
	"time"

	"axflow"
	"axflow/internal/pgtest"
)

// Twice on one database: the second run must not see the rows of the first.
func TestOnce(t *testing.T) {
	d := pgtest.New(t)
	ctx := pgtest.Context(t, 2*time.Minute)
	root := tree(t, map[string]string{"a.go": sample, "b/b.go": sample, "b/b_test.go": sample, "c/d/d.go": sample})
	want := regexp.MustCompile(`(?m)^gosource: OK files=4 packages=3 shards=2 lines=120 functions=8 methods=4 types=12 seconds=\S+ files/s=\S+$`)
	for range 2 {
		var out bytes.Buffer
		cfg := axflow.OnceConfig{DatabaseURL: d.URL, Progress: io.Discard}
		if err := once(ctx, cfg, Params{Root: root, FilesPerShard: 2}, &out); err != nil {
			t.Fatal(err)
		}
		if !want.Match(out.Bytes()) {
			t.Errorf("got\n%swant a line like %s", &out, want)
		}
	}
	rows, err := d.Pool.Query(ctx, `SELECT count(*), sum(n) FILTER (WHERE package = 'b' AND construct = 'closures') FROM gosource_stats GROUP BY run`)
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for rows.Next() {
		runs++
		var n, closures int64
		if err := rows.Scan(&n, &closures); err != nil {
			t.Fatal(err)
		}
		// 13 constructs occur in each of three packages; package b has two files with a closure each.
		if n != 39 || closures != 2 {
			t.Errorf("the table has %d rows of a run and %d closures of package b, want 39 and 2", n, closures)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if runs != 2 {
		t.Errorf("the table has rows of %d runs, want 2", runs)
	}
}

func TestOnceFailsOnABrokenFile(t *testing.T) {
	d := pgtest.New(t)
	root := tree(t, map[string]string{"a.go": "package a\nfunc {"})
	err := once(pgtest.Context(t, 2*time.Minute), axflow.OnceConfig{DatabaseURL: d.URL, Progress: io.Discard}, Params{Root: root}, io.Discard)
	if err == nil || !regexp.MustCompile(`a\.go:2:`).MatchString(err.Error()) {
		t.Errorf("got %v, want an error that names a.go and line 2", err)
	}
}
