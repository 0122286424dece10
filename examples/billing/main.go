// Command billing shows flow control: a shop that throttles, one customer's orders one at a time, orders that may fail, a
// branch, a condition, a sub-flow, and a scratch folder that is taken down whatever happened.
//
//	scratch ─▶ pull ─▶ region ─┬▶ eu ─┬▶ price (sharded) ─▶ invoice (sub-flow) ─▶ clean (teardown of scratch)
//	                           ├▶ us ─┘                        └▶ audit (only if asked for)
//
// With -once it runs the flow once, with everything it needs in this process:
//
//	go run ./examples/billing -once
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
	"axflow/flow"
)

func main() {
	if !slices.Contains(os.Args[1:], "-once") {
		axflow.Main(billing, invoicing) // does not return
	}
	flag.Bool("once", false, "run the flow once, check the result and end")
	p := Params{Region: "eu"}
	flag.IntVar(&p.Orders, "orders", 100, "how many orders the shop has")
	flag.BoolVar(&p.Audit, "audit", false, "audit the result")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := once(ctx, axflow.OnceConfig{Also: []flow.Definition{invoicing}}, p, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "billing:", err)
		os.Exit(1) //nolint:gocritic // the signals end with the process
	}
}
