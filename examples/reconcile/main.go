// Command reconcile compares orders with payments, a million each, and finds the few that differ. It generates both
// with a known number of differences of four kinds, and checks that it finds exactly these.
//
//	create-tables ─▶ generate (sharded) ─▶ measure ─▶ reconcile (sharded) ─▶ summary ─▶ check
//
// With -once it runs the flow once, with everything it needs in this process:
//
//	go run ./examples/reconcile -once
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
		axflow.Main(reconcile) // does not return
	}
	flag.Bool("once", false, "run the flow once, check the result and end")
	var p Params
	flag.Int64Var(&p.Rows, "rows", defaultRows, "how many orders to generate")
	flag.Uint64Var(&p.Seed, "seed", 1, "decides the amounts and where the differences are")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := once(ctx, axflow.OnceConfig{}, p, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "reconcile:", err)
		os.Exit(1) //nolint:gocritic // the signals end with the process
	}
}
