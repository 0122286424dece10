// Api measures the HTTP API beside a large history: what lists and looks take with a million runs and ten million results in the
// database, and what it costs the server to stream one busy run to 200 clients.
//
// The history is made by SQL, the same in every invocation, and kept for the next one: in a database named by its size, on an embedded
// server in a folder of its own (-dir), or on the server that AX_BENCH_DATABASE_URL names. -fresh makes it anew.
//
// Requests go over loopback, one after the other, to a server that is a process of its own, with a token, and each for something
// else. The run that is streamed is on a database of its own; engine, worker and clients are in this process, so that what the
// server uses is its own. The last line of the output is JSON:
//
//	list_p50_ms list_p99_ms    first pages of lists, over all kinds of questions
//	list_worst_p99_ms          of the kind of question that takes longest, later pages included
//	get_p50_ms get_p99_ms      one run, stage or shard, and pages of shards, over all kinds
//	sse_cpu_pct sse_mb         of the server with all clients: of one CPU, and resident memory at its highest
//	sse_one_cpu_pct sse_one_mb the same with one client
//	sse_frames_per_s           frames that a client got in a second
//	sse_bytes_per_s            bytes that a client got in a second
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"axflow/bench/measure"
)

// size is how much is measured.
type size struct {
	runs, results int           // of the history
	days          int           // that it covers
	large         int           // shards of its largest runs
	samples       int           // requests of each kind
	clients       int           // of the stream
	shards        int           // of the streamed run
	lasts         time.Duration // about how long that run lasts
}

func main() {
	if url := os.Getenv(serveVariable); url != "" {
		os.Exit(serveMain(url))
	}
	s := size{days: 15, large: 20_000}
	flag.IntVar(&s.runs, "runs", 1_000_000, "runs of the history")
	flag.IntVar(&s.results, "results", 10_000_000, "about how many results the history has")
	flag.IntVar(&s.samples, "samples", 200, "requests of each kind")
	flag.IntVar(&s.clients, "clients", 200, "clients of the stream")
	flag.IntVar(&s.shards, "shards", 100_000, "shards of the streamed run")
	flag.DurationVar(&s.lasts, "lasts", 30*time.Second, "about how long the streamed run lasts")
	fresh := flag.Bool("fresh", false, "make the history anew")
	dir := flag.String("dir", "", "folder of the embedded server; empty: one for benches beside the user's data")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, s, *dir, *fresh); err != nil {
		fmt.Fprintf(os.Stderr, "api: %v\n", err)
		os.Exit(1) //nolint:gocritic // the handler of signals ends with the process
	}
}

// run measures everything on one server, and prints as it goes.
func run(ctx context.Context, out io.Writer, s size, dir string, fresh bool) error {
	db, err := openServer(ctx, dir)
	if err != nil {
		return err
	}
	defer db.close()
	return bench(ctx, out, db, s, fresh)
}

// bench measures on a server that runs.
func bench(ctx context.Context, out io.Writer, db *server, s size, fresh bool) error {
	h, err := db.history(ctx, out, s, fresh)
	if err != nil {
		return err
	}
	defer h.pool.Close()
	fields := make(map[string]float64)
	if err := looks(ctx, out, h, s, fields); err != nil {
		return err
	}
	if err := streams(ctx, out, db, s, fields); err != nil {
		return err
	}
	if err := measure.PrintLine(out, fields); err != nil {
		return fmt.Errorf("printing the result: %w", err)
	}
	return nil
}

// say prints; where nobody reads it the last line tells.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
