package main

import (
	"axflow/flow"
	"axflow/stage"
	"axflow/worker"
)

// Params are what a run may be given. The form and the checks of a run's start are made from this type.
type Params struct {
	// Root is the tree to read.
	Root string `json:"root,omitempty" jsonschema:"title=Source tree,description=Empty means the Go toolchain's own"`
	// FilesPerShard is the size of a shard.
	FilesPerShard int `json:"files_per_shard,omitempty" jsonschema:"title=Files per shard,minimum=1,default=150"`
}

func (p Params) filesPerShard() int {
	if p.FilesPerShard < 1 {
		return 150
	}
	return p.FilesPerShard
}

// The stages. A stage's handler is a plain function; After says what it waits for.
var (
	list   = stage.New("list", listTree)
	create = worker.InTx("create-table", createTable)
	parse  = worker.InTxShards("parse", planParse, parseGroup).After(list, create)
	report = stage.New("report", writeReport).After(parse)
	check  = worker.InTx("check-table", checkTable).After(report)

	gosource = flow.New("gosource", list, create, parse, report, check).
			With(flow.Describe("Counts what the Go toolchain's source is made of."))
)
