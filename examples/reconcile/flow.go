package main

import (
	"axflow/flow"
	"axflow/stage"
	"axflow/worker"
)

// Params are what a run may be given. The form and the checks of a run's start are made from this type.
type Params struct {
	// Rows is how many orders are generated, and about how many payments.
	Rows int64 `json:"rows,omitempty" jsonschema:"title=Orders,minimum=100,maximum=100000000,default=1000000"`
	// Seed decides the amounts and where the differences are: the same seed makes the same data.
	Seed uint64 `json:"seed,omitempty" jsonschema:"title=Seed"`
}

const defaultRows = 1_000_000

func (p Params) rows() int64 {
	if p.Rows == 0 {
		return defaultRows
	}
	return p.Rows
}

// The stages. A stage's handler is a plain function; After says what it waits for. The plans divide the data at
// run time, once its volume is known.
var (
	create   = worker.InTx("create-tables", createTables)
	generate = worker.InTxShards("generate", planGenerate, generateShard).After(create)
	measure  = worker.InTx("measure", measureTables).After(generate)
	recon    = worker.InTxShards("reconcile", planReconcile, reconcileShard).After(measure)
	summary  = stage.New("summary", summarise).After(recon)
	check    = worker.InTx("check", checkFound).After(summary)

	reconcile = flow.New("reconcile", create, generate, measure, recon, summary, check).
			With(flow.Describe("Finds the differences between orders and payments."))
)
