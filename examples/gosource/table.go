package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/stage"
)

// createTable is the handler of the stage "create-table". The rows of earlier runs stay, for comparison.
func createTable(context.Context, Params) (func(context.Context, pgx.Tx) (struct{}, error), error) {
	return func(ctx context.Context, tx pgx.Tx) (struct{}, error) {
		_, err := tx.Exec(ctx, `
			CREATE TABLE IF NOT EXISTS gosource_stats (
				run       uuid   NOT NULL,
				package   text   NOT NULL,
				construct text   NOT NULL,
				n         bigint NOT NULL,
				PRIMARY KEY (run, package, construct)
			)`)
		if err != nil {
			return struct{}{}, fmt.Errorf("creating the table: %w", err)
		}
		return struct{}{}, nil
	}, nil
}

// load writes the counts of some packages.
func load(ctx context.Context, tx pgx.Tx, counted map[string]Counts) error {
	run, err := runOf(ctx)
	if err != nil {
		return err
	}
	// Nothing is there, unless somebody reruns a shard that has succeeded.
	packages := slices.Collect(maps.Keys(counted))
	if _, err := tx.Exec(ctx, `DELETE FROM gosource_stats WHERE run = $1 AND package = ANY($2)`, run, packages); err != nil {
		return fmt.Errorf("deleting the counts of %d packages: %w", len(packages), err)
	}
	var rows [][]any
	for p, counts := range counted {
		for construct, n := range counts {
			rows = append(rows, []any{run, p, construct, n})
		}
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"gosource_stats"}, []string{"run", "package", "construct", "n"}, pgx.CopyFromRows(rows))
	if err != nil {
		return fmt.Errorf("loading the counts of %d packages: %w", len(packages), err)
	}
	return nil
}

// sums returns what the table holds of this run, added up.
func sums(ctx context.Context, tx pgx.Tx) (Counts, error) {
	run, err := runOf(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `SELECT construct, sum(n)::bigint FROM gosource_stats WHERE run = $1 GROUP BY construct`, run)
	if err != nil {
		return nil, fmt.Errorf("adding the table up: %w", err)
	}
	total := Counts{}
	var construct string
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&construct, &n}, func() error { total[construct] = n; return nil }); err != nil {
		return nil, fmt.Errorf("adding the table up: %w", err)
	}
	return total, nil
}

// runOf returns the run that a handler's context belongs to.
func runOf(ctx context.Context) (uuid.UUID, error) {
	info, ok := stage.InfoFrom(ctx)
	if !ok {
		return uuid.Nil, errors.New("this context is not a stage handler's")
	}
	return info.Run, nil
}
