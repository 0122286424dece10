// Command gosource is an ETL flow over the source tree of the Go toolchain itself: it lists the packages, parses
// every file in shards, loads statistics into the PostgreSQL table gosource_stats and reports.
//
//	list ─────────┐
//	              ├─▶ parse (sharded) ─▶ report ─▶ check-table
//	create-table ─┘
//
// With -once it runs the flow once, with everything it needs in this process, and checks the result:
//
//	go run ./examples/gosource -once
//
// Without it has the commands of every AX program, such as dev, worker and run. To read it, begin with flow.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"axflow"
)

func main() {
	if !slices.Contains(os.Args[1:], "-once") {
		axflow.Main(gosource) // does not return
	}
	flag.Bool("once", false, "run the flow once, check the result and end")
	root := flag.String("root", "", "the `folder` to read (default: the Go toolchain's source)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := once(ctx, axflow.OnceConfig{}, Params{Root: *root}, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gosource:", err)
		os.Exit(1) //nolint:gocritic // the signals end with the process
	}
}
