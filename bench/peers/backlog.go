package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// insertBatch is what `river bench` inserts at once.
const insertBatch = 5000

// noop is a job without arguments.
type noop struct{}

// Kind is the job's name in River.
func (noop) Kind() string { return "noop" }

type noopWorker struct{ river.WorkerDefaults[noop] }

// Work does nothing.
func (noopWorker) Work(context.Context, *river.Job[noop]) error { return nil }

func insertBacklog(ctx context.Context, c *river.Client[pgx.Tx], jobs int) error {
	params := make([]river.InsertManyParams, min(jobs, insertBatch))
	for i := range params {
		params[i] = river.InsertManyParams{Args: noop{}}
	}
	for left := jobs; left > 0; left -= insertBatch {
		if _, err := c.InsertManyFast(ctx, params[:min(left, insertBatch)]); err != nil {
			return fmt.Errorf("inserting River's backlog, %d of %d jobs left: %w", left, jobs, err)
		}
	}
	return nil
}
