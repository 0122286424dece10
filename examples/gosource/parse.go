package main

import (
	"context"

	"github.com/jackc/pgx/v5"

	"axflow/shard"
	"axflow/stage"
)

// Parsed is the output of one shard of the stage "parse".
type Parsed struct {
	Packages int    `json:"packages"`
	Totals   Counts `json:"totals"`
	Largest  []Size `json:"largest"`
}

// parseGroup is the handler of one shard of the stage "parse". It does the long work first and returns what is left
// to do in the transaction that also finishes the shard: rows and finish are committed together or not at all, so
// that the table is right even when a worker is killed at the worst moment and the shard runs again elsewhere.
func parseGroup(ctx context.Context, _ Params, s shard.Shard) (func(context.Context, pgx.Tx) (Parsed, error), error) {
	group, err := shard.Input[Group](s)
	if err != nil {
		return nil, err
	}
	parsed := Parsed{Packages: len(group.Packages), Totals: Counts{}}
	counted := make(map[string]Counts, len(group.Packages))
	for i, p := range group.Packages {
		stage.Progress(ctx, i, len(group.Packages))
		stage.Detail(ctx, p.Path)
		c, err := countPackage(ctx, group.Root, p)
		if err != nil {
			return nil, err
		}
		counted[p.Path] = c
		parsed.Totals.Add(c)
		parsed.Largest = append(parsed.Largest, Size{Package: p.Path, Lines: c[lines]})
	}
	parsed.Largest = largest(parsed.Largest)
	stage.Log(ctx).Info("parsed", "packages", parsed.Packages, "lines", parsed.Totals[lines])
	return func(ctx context.Context, tx pgx.Tx) (Parsed, error) { return parsed, load(ctx, tx, counted) }, nil
}
