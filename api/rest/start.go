package rest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/sql/versions"
)

// StartRun starts a run. Nobody needs to be there who can run it: explain says what it waits for.
func (h *Handlers) StartRun(ctx context.Context, req gen.StartRunRequestObject) (gen.StartRunResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	body := req.Body
	version := ""
	if body.Version != nil {
		version = *body.Version
	}
	v, err := c.Version(ctx, body.Flow, version)
	if err != nil {
		return nil, err
	}
	start, err := startOf(body, v)
	if err != nil {
		return nil, err
	}
	batch, err := batchOf(body)
	if err != nil {
		return nil, err
	}
	w := who(ctx, nil, body.DryRun)
	batch.Who = &w
	started, err := c.Start(ctx, batch, []control.Start{start})
	if err != nil {
		return nil, err
	}
	out := gen.StartedRun{Existing: started[0].Existing, DryRun: w.DryRun}
	if !w.DryRun {
		out.Run = &started[0].Run
		if !out.Existing {
			return gen.StartRun201JSONResponse(out), nil
		}
	}
	return gen.StartRun200JSONResponse(out), nil
}

// startOf reads what is the run's own, and checks its params against the version that it is pinned to.
func startOf(body *gen.NewRun, v *versions.Version) (control.Start, error) {
	s := control.Start{Version: v, Tags: body.Tags}
	if body.Params != nil {
		s.Params = *body.Params
	}
	if len(s.Params) > control.MaxParams { // before they are looked into
		return s, problem.New(gen.ProblemCodeTooLarge, "the params are %d bytes; the limit is %d: pass a reference to the data instead", len(s.Params), control.MaxParams)
	}
	if body.Key != nil {
		if *body.Key == "" {
			return s, problem.Field("/key", "it is empty: give it 1 to %d bytes, or leave it out", control.MaxKey)
		}
		s.Key = *body.Key
	}
	if body.Queue != nil {
		if *body.Queue == "" {
			return s, problem.Field("/queue", "it is empty: name a queue, or leave it out for \"default\"")
		}
		s.Queue = *body.Queue
	}
	if body.Level != nil {
		l, err := levelFrom("/level", *body.Level)
		if err != nil {
			return s, err
		}
		s.Level = &l
	}
	return s, checkParams(v.Graph, s.Params)
}

// checkParams refuses params that do not hold to the flow's schema, field by field.
func checkParams(g *flow.Graph, params []byte) error {
	err := g.CheckParams(params)
	if err == nil {
		return nil
	}
	var bad *flow.ParamsError
	if !errors.As(err, &bad) {
		return problem.Field("/params", "%v", err)
	}
	p := &problem.Error{Code: gen.ProblemCodeInvalid, Status: http.StatusUnprocessableEntity, Detail: err.Error()}
	for _, f := range bad.Faults {
		p.Fields = append(p.Fields, gen.FieldError{Field: "/params" + f.Pointer, Detail: f.Text})
	}
	return p
}

// batchOf reads when the run may begin, and how long its key binds.
func batchOf(body *gen.NewRun) (control.Batch, error) {
	b := control.Batch{Trigger: string(gen.NewRunTriggerApi)}
	if body.Trigger != nil {
		b.Trigger = string(*body.Trigger)
	}
	switch {
	case body.DelayS != nil && body.StartAt != nil:
		return b, problem.Field("/start_at", "it does not go with delay_s: give one of the two")
	case body.KeyTtlS != nil && body.Key == nil:
		return b, problem.Field("/key_ttl_s", "there is no key whose time it could be: give a key too, or leave it out")
	}
	var err error
	if body.DelayS != nil {
		if b.Delay, err = secondsFrom("/delay_s", *body.DelayS, 0); err != nil {
			return b, err
		}
	}
	if body.KeyTtlS != nil {
		if b.KeyTTL, err = secondsFrom("/key_ttl_s", *body.KeyTtlS, 1); err != nil {
			return b, err
		}
	}
	if body.StartAt != nil {
		b.At = *body.StartAt
	}
	return b, nil
}

// maxSeconds is the longest time that a start may name: a year.
const maxSeconds = 365 * 24 * 60 * 60

// secondsFrom reads a duration in seconds.
func secondsFrom(field string, s, least float64) (time.Duration, error) {
	if !(s >= least && s <= maxSeconds) {
		return 0, problem.Field(field, "it is %v seconds: use %v to %d", s, least, maxSeconds)
	}
	return time.Duration(s * float64(time.Second)), nil
}
