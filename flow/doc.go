// Package flow puts stages together into flows and decides what happens next in a run of one.
//
// A [Flow] is declared once, at start-up, with [New], which reports everything that is wrong with it at
// once. What is stored of it is its [Graph]: stages by number, upstreams before dependents, with their
// policies, and the JSON Schema of its params. A graph's content version is a hash of all that changes
// behaviour, so that a run can stay pinned to the version that it started with.
//
// [Resolve] is the heart of the engine's dependency resolution: from a graph and the states of its stages
// it computes which waiting stages are released, skipped, or failed with their upstreams. It is pure, as
// the whole package is: no database, no clock, no network.
package flow
