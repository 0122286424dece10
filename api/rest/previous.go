package rest

import (
	"context"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/sql/db"
)

// previousLook is how many runs of a flow are looked at for one that succeeded.
const previousLook = 1_000

// GetPreviousRun is the newest run of a run's flow before it that succeeded.
func (h *Handlers) GetPreviousRun(ctx context.Context, req gen.GetPreviousRunRequestObject) (gen.GetPreviousRunResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	run, err := c.Run(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	found, err := h.reads().SucceededRuns(ctx, db.SucceededRunsParams{Namespace: c.Namespace(), Flow: run.Flow, Before: req.Run, Look: previousLook, Most: 1})
	if err != nil {
		return nil, slow(reading("the runs before "+req.Run.String(), err), "try again")
	}
	var runs []gen.Run
	if len(found) > 0 {
		if runs, err = h.ReadRuns(ctx, c.Namespace(), []uuid.UUID{found[0].RunID}); err != nil {
			return nil, err
		}
	}
	if len(runs) == 0 {
		return nil, problem.New(gen.ProblemCodeNotFound, "no run of flow %s before this one has succeeded, of the newest %d", run.Flow, previousLook)
	}
	return gen.GetPreviousRun200JSONResponse(runs[0]), nil
}
