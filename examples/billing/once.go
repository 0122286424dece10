package main

import (
	"context"
	"fmt"
	"io"

	"github.com/google/uuid"

	"axflow"
)

// once runs the flow once and prints the invoice.
func once(ctx context.Context, cfg axflow.OnceConfig, p Params, out io.Writer) error {
	return axflow.Once(ctx, cfg, billing, p, func(ctx context.Context, c *axflow.Client, run uuid.UUID) error {
		cents, err := axflow.Output(ctx, c, run, invoice)
		if err != nil {
			return err
		}
		text := ""
		if p.Audit {
			counts, err := axflow.Output(ctx, c, run, audit)
			if err != nil {
				return err
			}
			text = fmt.Sprintf(" orders=%d broken=%d", counts.Total, counts.Failed)
		}
		_, err = fmt.Fprintf(out, "billing: OK region=%s cents=%d%s\n", p.Region, cents, text)
		return err
	})
}
