package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"axflow/stage"
)

// checkTable is the handler of the stage "check-table": the run fails unless the table adds up to the report.
func checkTable(ctx context.Context, _ Params) (func(context.Context, pgx.Tx) (Counts, error), error) {
	reported, err := report.Output(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx pgx.Tx) (Counts, error) {
		stored, err := sums(ctx, tx)
		if err != nil {
			return nil, err
		}
		if diff := difference(reported.Totals, stored); diff != "" {
			return nil, stage.Permanent(fmt.Errorf("the report and the table differ: %s", diff))
		}
		return stored, nil
	}, nil
}

// difference says in which constructs a and b differ; "" if in none.
func difference(a, b Counts) string {
	both := Counts{}
	both.Add(a)
	both.Add(b)
	var differ []string
	for _, construct := range both.Names() {
		if a[construct] != b[construct] {
			differ = append(differ, fmt.Sprintf("%s: %d and %d", construct, a[construct], b[construct]))
		}
	}
	return strings.Join(differ, ", ")
}
