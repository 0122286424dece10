package rest

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/sql/db"
	"axflow/sql/payload"
	"axflow/stage"
)

// The bounds of a run's result.
const (
	maxResultBytes  = 16 << 20 // of its outputs together
	resultFailures  = 10
	withheldFailure = "withheld: see the server's log"
)

// GetRunParams is what a run was started with.
func (h *Handlers) GetRunParams(ctx context.Context, req gen.GetRunParamsRequestObject) (gen.GetRunParamsResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	run, err := c.Run(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	// Run leaves what it cannot open as it is; OpenPayload says why.
	params, err := c.OpenPayload(ctx, payload.Place{Kind: payload.Params, Run: req.Run}, run.Params)
	if err != nil {
		return nil, err
	}
	v, err := c.Pinned(ctx, run.VersionID)
	if err != nil {
		return nil, err
	}
	return rawJSON(h.redact(ctx, Payload{Kind: "params", Flow: run.Flow, JSON: params, Graph: v.Graph})), nil
}

// GetRunResult is how a run ended, or stands once the time to wait is over.
func (h *Handlers) GetRunResult(ctx context.Context, req gen.GetRunResultRequestObject) (gen.GetRunResultResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	run, err := c.Run(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	if wait := waitFor(req.Params.WaitS); wait > 0 && !stage.RunState(run.State).Ended() {
		if err := waitForEnd(ctx, c, req.Run, wait); err != nil {
			return nil, err
		}
		if run, err = c.Run(ctx, req.Run); err != nil {
			return nil, err
		}
	}
	v, err := c.Pinned(ctx, run.VersionID)
	if err != nil {
		return nil, err
	}
	state := stage.RunState(run.State)
	result := gen.RunResult{Run: req.Run, Flow: run.Flow, State: runState(state), Ended: state.Ended(), FinishedAt: run.FinishedAt}
	if result.Outputs, err = h.lastOutputs(ctx, c, v.Graph, req.Run); err != nil {
		return nil, err
	}
	if result.Failures, _, err = h.failures(ctx, v.Graph, req.Run, all(v.Graph), newest(), resultFailures); err != nil {
		return nil, err
	}
	return gen.GetRunResult200JSONResponse(result), nil
}

// waitForEnd waits for a run's end, for a time at most.
func waitForEnd(ctx context.Context, c *control.Client, id uuid.UUID, most time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	_, err := c.Wait(waiting, id)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		return nil // the time to wait is over, the request's is not
	}
	return err
}

// lastOutputs are the outputs of the unsharded stages that nothing comes after, teardowns not counted.
func (h *Handlers) lastOutputs(ctx context.Context, c *control.Client, g *flow.Graph, id uuid.UUID) (map[string]gen.Json, error) {
	outputs := make(map[string]gen.Json)
	var ords []int16
	for ord := range g.Stages {
		if last(g, ord) && g.Stages[ord].Kind == stage.Single {
			ords = append(ords, int16(ord))
		}
	}
	if len(ords) == 0 {
		return outputs, nil
	}
	rows, err := h.reads().LastOutputs(ctx, db.LastOutputsParams{RunID: id, Ords: ords, MostBytes: maxResultBytes})
	if err != nil {
		return nil, slow(fmt.Errorf("reading the outputs of run %s: %w", id, err), "read the stages' outputs one by one")
	}
	for _, r := range rows {
		if r.TooLarge {
			return nil, problem.New(gen.ProblemCodeTooLarge, "the outputs of the run's last stages are more than %d bytes together: read them one by one", maxResultBytes)
		}
		out, err := c.OpenPayload(ctx, payload.Place{Kind: payload.Output, Run: id, Ord: int(r.Ord)}, r.Output)
		if err != nil {
			return nil, err
		}
		if len(out) == 0 {
			out = []byte("null")
		}
		name := g.Stages[r.Ord].Name
		outputs[name] = h.redact(ctx, Payload{Kind: "output", Flow: g.Flow, Stage: name, JSON: out})
	}
	return outputs, nil
}

// last tells whether nothing comes after a stage. Teardowns come after all that use what they take down, and are no end.
func last(g *flow.Graph, ord int) bool {
	if g.Stages[ord].TeardownOf != nil {
		return false
	}
	for _, d := range g.Dependents(ord) {
		if g.Stages[d].TeardownOf == nil {
			return false
		}
	}
	return true
}

// errNoStage is the refusal of a stage that a run does not have.
func errNoStage(run db.RunRow, name string) error {
	return problem.New(gen.ProblemCodeNotFound, "run %s has no stage %q: its flow is %s", run.RunID, name, run.Flow)
}

// stageOf is a run of the namespace, its graph, and the number of one of its stages.
func (h *Handlers) stageOf(ctx context.Context, id uuid.UUID, name string) (c *control.Client, run db.RunRow, g *flow.Graph, ord int, err error) {
	if c, err = h.client(ctx); err != nil {
		return c, run, nil, 0, err
	}
	if run, err = c.Run(ctx, id); err != nil {
		return c, run, nil, 0, err
	}
	v, err := c.Pinned(ctx, run.VersionID)
	if err != nil {
		return c, run, nil, 0, err
	}
	ord, ok := v.Graph.Ord(name)
	if !ok {
		return c, run, nil, 0, errNoStage(run, name)
	}
	return c, run, v.Graph, ord, nil
}
