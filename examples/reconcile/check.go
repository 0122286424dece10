package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"axflow/stage"
)

// checkFound is the handler of the stage "check": the run fails unless exactly the differences that the generator
// put in were found. A reconciliation of real data has no such stage.
func checkFound(ctx context.Context, p Params) (func(context.Context, pgx.Tx) (struct{}, error), error) {
	run, err := runOf(ctx)
	if err != nil {
		return nil, err
	}
	s, err := summary.Output(ctx)
	if err != nil {
		return nil, err
	}
	want := newLedger(p).differences()
	return func(ctx context.Context, tx pgx.Tx) (struct{}, error) {
		if err := mustOwn(ctx, tx, run); err != nil {
			return struct{}{}, err
		}
		got, err := stored(ctx, tx)
		if err != nil {
			return struct{}{}, err
		}
		if err := errors.Join(sameDifferences(want, got), sameSummary(want, s)); err != nil {
			return struct{}{}, stage.Permanent(err)
		}
		return struct{}{}, nil
	}, nil
}

// stored returns the differences that were found, in the order of their ids.
func stored(ctx context.Context, tx pgx.Tx) ([]Difference, error) {
	rows, err := tx.Query(ctx, `SELECT order_id, kind, ordered, paid FROM recon_difference ORDER BY order_id`)
	if err != nil {
		return nil, fmt.Errorf("reading the differences: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Difference])
	if err != nil {
		return nil, fmt.Errorf("reading the differences: %w", err)
	}
	return found, nil
}

// sameDifferences returns an error that names the first order about which the two sorted lists disagree.
func sameDifferences(want, got []Difference) error {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got) || i < len(want) && want[i].Order < got[i].Order:
			return fmt.Errorf("the difference %+v was put in and not found", want[i])
		case i >= len(want) || want[i].Order > got[i].Order:
			return fmt.Errorf("the difference %+v was found and not put in", got[i])
		case want[i] != got[i]:
			return fmt.Errorf("the difference %+v was put in, and %+v was found", want[i], got[i])
		}
	}
	return nil
}

// sameSummary returns an error if the summary has other numbers than the list.
func sameSummary(want []Difference, s Summary) error {
	left := map[Kind]int{}
	for kind, n := range s.Found {
		left[kind] -= n
	}
	for _, d := range want {
		left[d.Kind]++
	}
	for kind, n := range left {
		if n != 0 {
			return fmt.Errorf("the summary says %d differences of kind %s, %d were put in", s.Found[kind], kind, s.Found[kind]+n)
		}
	}
	return nil
}
