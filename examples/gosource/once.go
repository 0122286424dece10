package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"axflow"
)

// once runs the flow once, prints its report and checks it against a count of its own.
func once(ctx context.Context, cfg axflow.OnceConfig, p Params, out io.Writer) error {
	return axflow.Once(ctx, cfg, gosource, p, func(ctx context.Context, c *axflow.Client, run uuid.UUID) error {
		listing, err := axflow.Output(ctx, c, run, list) // typed: a Listing
		if err != nil {
			return err
		}
		r, err := axflow.Output(ctx, c, run, report) // typed: a Report
		if err != nil {
			return err
		}
		took, err := duration(ctx, c, run)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "\n%s\n", r); err != nil {
			return err
		}
		counted, err := recount(ctx, listing.Root)
		if err != nil {
			return err
		}
		if diff := difference(r.Totals, counted); diff != "" {
			return fmt.Errorf("the report and an independent count of %s differ: %s", listing.Root, diff)
		}
		_, err = fmt.Fprintf(out, "gosource: OK files=%d packages=%d shards=%d lines=%d functions=%d methods=%d types=%d seconds=%.1f files/s=%.0f\n",
			r.Totals[files], r.Packages, r.Shards, r.Totals[lines], r.Totals[functions], r.Totals[methods], r.Totals[types],
			took.Seconds(), float64(r.Totals[files])/took.Seconds())
		return err
	})
}

// duration is how long a run that has ended took, by the database's clock.
func duration(ctx context.Context, c *axflow.Client, run uuid.UUID) (time.Duration, error) {
	r, err := c.Run(ctx, run)
	if err != nil {
		return 0, err
	}
	if r.FinishedAt == nil {
		return 0, fmt.Errorf("run %s has not ended", run)
	}
	return r.FinishedAt.Sub(r.CreatedAt), nil
}
