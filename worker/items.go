package worker

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/stage"
)

// itemChunk is how many keys or inputs one row of shard_input holds.
const itemChunk = 256

// items are stored keys and inputs of some shards, by chunk.
type items map[int32]db.ShardInputsRow

// at returns shard i's item.
func (x items) at(i int) stage.Item {
	if x == nil || i < 0 {
		return stage.Item{}
	}
	var it stage.Item
	row := x[int32(i/itemChunk)]
	if n := i % itemChunk; n < len(row.Keys) {
		it.Key = row.Keys[n]
	}
	if n := i % itemChunk; n < len(row.Inputs) {
		it.Input = row.Inputs[n]
	}
	return it
}

// stored tells whether a cut's shards have keys or inputs of their own.
func stored(cut *stage.Cut) bool {
	if cut == nil {
		return false
	}
	switch cut.Kind {
	case stage.CutCount, stage.CutInts, stage.CutHash, stage.CutTimes:
		return false
	default:
		return true
	}
}

// readItems reads the items of a set of shards.
func readItems(ctx context.Context, q *db.Queries, run uuid.UUID, origin int, generation int16, set shard.Set) (items, error) {
	var chunks []int32
	for _, r := range set.Ranges() {
		for c := max(r.Lo, 0) / itemChunk; c <= (r.Hi-1)/itemChunk; c++ {
			chunks = append(chunks, c)
		}
	}
	chunks = slices.Compact(chunks)
	rows, err := q.ShardInputs(ctx, db.ShardInputsParams{RunID: run, Ord: int16(origin), Generation: generation, Chunks: chunks})
	if err != nil {
		return nil, fmt.Errorf("reading the inputs of %d shards: %w", set.Len(), err)
	}
	x := make(items, len(rows))
	for _, row := range rows {
		x[row.Chunk] = row
	}
	return x, nil
}
