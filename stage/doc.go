// Package stage defines the nodes of a flow: what a stage runs, what it waits for, and the policies it
// runs under (retry, timeouts, level, trigger rule). It also holds the state table of runs, stages and
// tasks (state.go), which every statement that moves a state goes by.
//
// The package is pure: it imports no database, no clock and no network. Package shard builds sharded
// stages on it, package flow puts stages together, and package worker runs them.
package stage
