package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"axflow"
)

// once runs the flow once and prints what it found. The flow's last stage has checked that already.
func once(ctx context.Context, cfg axflow.OnceConfig, p Params, out io.Writer) error {
	return axflow.Once(ctx, cfg, reconcile, p, func(ctx context.Context, c *axflow.Client, run uuid.UUID) error {
		v, err := axflow.Output(ctx, c, run, measure) // typed: a Volume
		if err != nil {
			return err
		}
		s, err := axflow.Output(ctx, c, run, summary) // typed: a Summary
		if err != nil {
			return err
		}
		took, err := duration(ctx, c, run)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "\n%s\nreconcile: OK rows=%d orders=%d payments=%d shards=%d differences=%d seconds=%.1f rows/s=%.0f\n",
			s, s.Entries, v.Orders, v.Payments, s.Shards, s.Differences(), took.Seconds(), float64(s.Entries)/took.Seconds())
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
