// Package shard divides a stage's work into shards.
//
// A sharded stage first runs its plan, which looks at the volume or the list of the data and returns a
// [Plan]; then its handler runs once for each [Shard] of the plan, with an index, the frozen total, and
// what the cut says: a range, a bucket, a span of time, a key or an input. An aligned stage takes the plan
// of the stage it is aligned to, and its shard i follows that stage's shard i.
//
// The package also has [Set], a set of shard indices kept as intervals, which is how the engine holds
// pending work. Like package stage it is pure: no database, no clock, no network.
package shard
