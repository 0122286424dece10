package control

import (
	"context"

	"axflow/sql/versions"
)

// Pinned returns a version by the id that runs and spans carry. A version that this binary cannot read is versions.ErrUnreadable.
func (c *Client) Pinned(ctx context.Context, id int32) (*versions.Version, error) {
	return c.cfg.Versions.Get(ctx, c.q, id)
}

// FailureOf reads an attempt's error as it is stored; none is the zero value.
func FailureOf(stored []byte) Failure { return failureOf(stored) }

// Versions are the flow versions that the process has read.
func (c *Client) Versions() *versions.Cache { return c.cfg.Versions }
