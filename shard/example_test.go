package shard_test

import (
	"context"
	"fmt"
	"time"

	"axflow/shard"
	"axflow/stage"
)

type Params struct {
	Date string `json:"date"`
}

type Diff struct {
	Rows int64 `json:"rows"`
}

const maxID = 10_000_000 // a real plan asks the database

var reconcile = shard.New("reconcile", planReconcile, reconcileShard, stage.Limit(50))

var report = stage.New("report", writeReport).After(reconcile)

// A plan says how the work is divided: here one shard for each 50,000 ids, but at most 512 shards.
func planReconcile(context.Context, Params) (shard.Plan, error) {
	return shard.Count(maxID).Base(50_000).Between(1, 512), nil
}

// A shard does its part.
func reconcileShard(_ context.Context, _ Params, s shard.Shard) (Diff, error) {
	lo, hi := s.Range(0, maxID)
	return Diff{Rows: hi - lo}, nil
}

// A summary waits for all shards and reads their outputs as a stream.
func writeReport(ctx context.Context, _ Params) (string, error) {
	var rows int64
	for _, diff := range reconcile.Outputs(ctx) {
		rows += diff.Rows
	}
	return fmt.Sprintf("%d rows differ", rows), nil
}

func Example() {
	plan, _ := planReconcile(context.Background(), Params{})
	s, _ := plan.Shard(1)
	diff, _ := reconcileShard(context.Background(), Params{}, s)
	fmt.Println(s.Index, s.Total, diff.Rows)

	// A test gives the summary its shards' outputs through an Env of its own.
	ctx := stage.WithEnv(context.Background(), &memory{shards: map[*stage.Def][]stage.Shard{
		reconcile.Def(): {{Index: 0, Total: 2, Output: []byte(`{"rows":3}`)}, {Index: 1, Total: 2, Output: []byte(`{"rows":4}`)}},
	}})
	fmt.Println(writeReport(ctx, Params{}))
	fmt.Println(report.Def().Upstreams[0].Name)
	// Output:
	// 1 200 50000
	// 7 rows differ <nil>
	// reconcile
}

func ExampleAligned() {
	type Part struct{ Bytes int }
	export := shard.New("export",
		func(context.Context, Params) (shard.Plan, error) { return shard.Keys([]string{"de", "fr", "it"}), nil },
		func(_ context.Context, _ Params, s shard.Shard) (Part, error) { return Part{Bytes: 100}, nil })
	// upload's shard i runs as soon as export's shard i is done.
	upload := shard.Aligned("upload", export,
		func(ctx context.Context, _ Params, s shard.Shard) (string, error) {
			part, err := export.Output(ctx) // of the same index
			return fmt.Sprintf("%s: %d bytes", s.Key, part.Bytes), err
		})
	fmt.Println(upload.Def().Kind, "to", upload.Def().AlignedTo.Name)
	// Output: aligned to export
}

func ExampleTimeRange() {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		fmt.Println(err)
		return
	}
	// Three days, on the second of which clocks go forward.
	from := time.Date(2026, 3, 28, 0, 0, 0, 0, berlin)
	plan := shard.TimeRange(from, from.AddDate(0, 0, 3), shard.Days(1))
	for i := range 3 {
		s, _ := plan.Shard(i)
		a, b := s.Times()
		fmt.Println(a.Format(time.RFC3339), b.Sub(a))
	}
	// Output:
	// 2026-03-28T00:00:00+01:00 24h0m0s
	// 2026-03-29T00:00:00+01:00 23h0m0s
	// 2026-03-30T00:00:00+02:00 24h0m0s
}

func ExampleSet() {
	todo := shard.Span(0, 10)
	piece, rest := todo.Take(4, 100)
	done := shard.Of(0, 2)
	fmt.Println(piece, rest, piece.Minus(done))
	// Output: {[0,4)} {[4,10)} {[1,2),[3,4)}
}
