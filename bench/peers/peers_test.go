package main

import (
	"bytes"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"axflow/bench/measure"
)

func TestRatios(t *testing.T) {
	got := withRatios(map[string]float64{"river_jobs_per_s": 20_000, "ax_tasks_per_s": 130_000, "ax_runs_per_s": 12_000})
	if got["ratio"] != 6.5 || got["singles_ratio"] != 0.6 {
		t.Errorf("130,000 tasks and 12,000 runs against 20,000 jobs gave %v", got)
	}
	if got := withRatios(map[string]float64{"river_jobs_per_s": 20_000}); len(got) != 1 {
		t.Errorf("River alone has ratios: %v", got)
	}
}

func TestProductRoot(t *testing.T) {
	root := t.TempDir()
	below := filepath.Join(root, "bench", "peers")
	if err := os.MkdirAll(below, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := productRoot(below); err == nil {
		t.Error("found a product where there is none")
	}
	for dir, module := range map[string]string{root: "axflow", below: "axflow/bench/peers"} {
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+module+"\n\ngo 1.26.0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := productRoot(below); err != nil || got != root {
		t.Errorf("productRoot(%s) = %s, %v, want %s", below, got, err, root)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"-workers", "10001"}, {"-rounds", "0"}, {"-jobs", "0"}, {"-clients", "3", "-connections", "11"},
		{"-cooldown", "5ms", "-poll", "4ms"},
	} {
		if _, err := parse(args); err == nil {
			t.Errorf("parse took %v", args)
		}
	}
}

// script is a bench program that prints a result line.
func script(t *testing.T, name, line string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	text := "#!/bin/sh\n[ -n \"$" + measure.URLVariable + "\" ] || exit 1\necho progress\necho '" + line + "'\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return path
}

// TestAgainstRiver lets a real River, on a real server, meet a stand-in for bench/shards.
func TestAgainstRiver(t *testing.T) {
	t.Setenv(measure.URLVariable, "")
	log := slog.New(slog.DiscardHandler)
	server, err := measure.Open(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	o, err := parse([]string{"-jobs", "6000"}) // more than one batch of insertions
	if err != nil {
		t.Fatal(err)
	}
	line, err := o.river.work(t.Context(), server, log)
	if err != nil {
		t.Fatal(err)
	}
	// A job is updated twice: at least two new row versions of 100 bytes and more. 6,000 jobs take a few fetches
	// and completions, some maintenance and no more.
	if line["jobs_per_s"] <= 0 || line["wal_bytes_per_job"] < 200 || line["commits_per_job"] <= 0 || line["commits_per_job"] > 0.1 {
		t.Errorf("River's line is %v", line)
	}
	shards := turn{program: script(t, "shards", `{"tasks_per_s": 90000.5, "note": "x"}`), rename: map[string]string{"tasks_per_s": "ax_tasks_per_s"}}
	river := turn{program: script(t, "river", `{"jobs_per_s": 15000}`), rename: map[string]string{"jobs_per_s": "river_jobs_per_s"}}
	var progress bytes.Buffer
	got, err := contest(t.Context(), server, []turn{river, shards}, 2, &progress)
	want := map[string]float64{"ratio": 90000.5 / 15000, "ax_tasks_per_s": 90000.5, "river_jobs_per_s": 15000}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("contest = %v, %v, want %v", got, err, want)
	}
	if lines := bytes.Count(progress.Bytes(), []byte("\n")); lines != 4 {
		t.Errorf("2 rounds of 2 turns gave %d lines of progress", lines)
	}
	shards.rename = map[string]string{"absent": "x"}
	if _, err := contest(t.Context(), server, []turn{shards}, 1, &progress); err == nil {
		t.Error("a result line without the field passed")
	}
}

func TestTurns(t *testing.T) {
	o, err := parse([]string{"-only", "river,singles"})
	if err != nil {
		t.Fatal(err)
	}
	turns, programs, err := o.turns("/self", "/dir")
	if err != nil || len(turns) != 2 || turns[0].program != "/self" || turns[1].program != "/dir/singles" || !slices.Equal(programs, []string{"singles"}) {
		t.Errorf("turns = %+v, %v, %v", turns, programs, err)
	}
	o.only = "river,temporal"
	if _, _, err := o.turns("/self", "/dir"); err == nil {
		t.Error("an unknown turn passed")
	}
}
