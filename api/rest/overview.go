package rest

import (
	"context"
	"fmt"
	"time"

	"axflow/api/gen"
	"axflow/engine"
	"axflow/sql/db"
)

// GetOverview tells whether the engine is healthy and keeps up, and what needs a person.
func (h *Handlers) GetOverview(ctx context.Context, req gen.GetOverviewRequestObject) (gen.GetOverviewResponseObject, error) {
	look, err := db.New(h.cfg.Client.Pool()).ServerLook(ctx, engine.LeaseName)
	if err != nil {
		return nil, fmt.Errorf("looking at the lease: %w", err)
	}
	out := gen.Overview{At: look.Now.UTC(), Window: gen.OverviewWindowN1h, StepS: 60, Attention: []gen.Attention{}}
	steps := 60
	if req.Params.Window != nil && *req.Params.Window == gen.GetOverviewParamsWindowN24h {
		out.Window, out.StepS, steps = gen.OverviewWindowN24h, 900, 96
	}
	step := time.Duration(out.StepS) * time.Second
	out.From = out.At.Truncate(step).Add(-time.Duration(steps-1) * step)
	zero := func() gen.Rates {
		return gen.Rates{Started: make([]int, steps), Succeeded: make([]int, steps), Failed: make([]int, steps)}
	}
	out.Runs, out.Tasks = zero(), zero()
	return gen.GetOverview200JSONResponse(out), nil
}
