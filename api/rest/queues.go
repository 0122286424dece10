package rest

import (
	"context"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine/control"
	"axflow/stage"
)

// ListQueues lists queues.
func (h *Handlers) ListQueues(ctx context.Context, _ gen.ListQueuesRequestObject) (gen.ListQueuesResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	queues, err := c.Queues(ctx)
	if err != nil {
		return nil, err
	}
	out := gen.ListQueues200JSONResponse{Items: make([]gen.Queue, len(queues))}
	for i, q := range queues {
		out.Items[i] = queueOf(q)
	}
	return out, nil
}

// GetQueue is one queue; one that nobody uses has the defaults.
func (h *Handlers) GetQueue(ctx context.Context, req gen.GetQueueRequestObject) (gen.GetQueueResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	q, err := c.Queue(ctx, req.Queue)
	if err != nil {
		return nil, err
	}
	return gen.GetQueue200JSONResponse(queueOf(q)), nil
}

// SetQueue configures a queue.
func (h *Handlers) SetQueue(ctx context.Context, req gen.SetQueueRequestObject) (gen.SetQueueResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	q, err := queueConfig(req.Queue, req.Body)
	if err != nil {
		return nil, err
	}
	w := who(ctx, req.Body.Reason, req.Body.DryRun)
	touched, err := c.SetQueue(ctx, q, w)
	if err != nil {
		return nil, err
	}
	return gen.SetQueue200JSONResponse{ActedJSONResponse: acted(touched, w)}, nil
}

// ClearQueue takes a queue back to the defaults.
func (h *Handlers) ClearQueue(ctx context.Context, req gen.ClearQueueRequestObject) (gen.ClearQueueResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	w := who(ctx, req.Params.Reason, req.Params.DryRun)
	touched, err := c.ClearQueue(ctx, req.Queue, w)
	if err != nil {
		return nil, err
	}
	return gen.ClearQueue200JSONResponse{ActedJSONResponse: acted(touched, w)}, nil
}

// HoldQueue pauses or resumes a queue.
func (h *Handlers) HoldQueue(ctx context.Context, req gen.HoldQueueRequestObject) (gen.HoldQueueResponseObject, error) {
	touched, w, err := h.hold(ctx, string(req.Hold), control.HoldQueue, req.Queue, req.Body)
	if err != nil {
		return nil, err
	}
	return gen.HoldQueue200JSONResponse{ActedJSONResponse: acted(touched, w)}, nil
}

// queueConfig reads a queue's settings. The package control takes 0 for the default of a share; here nobody may believe that
// 0 is one.
func queueConfig(name string, b *gen.QueueConfig) (control.QueueConfig, error) {
	q := control.QueueConfig{Name: name, Capacity: orZero(b.Capacity), Concurrency: orZero(b.Concurrency), Weights: b.Weights, Decay: b.Decay,
		AlertAt: orZero(b.AlertAt), RefuseAt: orZero(b.RefuseAt), PauseAt: orZero(b.PauseAt), ResumeAt: orZero(b.ResumeAt), Version: orZero(b.Version)}
	for _, s := range []struct {
		field string
		share *float64
	}{{"/alert_at", b.AlertAt}, {"/refuse_at", b.RefuseAt}, {"/pause_at", b.PauseAt}, {"/resume_at", b.ResumeAt}} {
		if s.share != nil && *s.share <= 0 {
			return q, problem.Field(s.field, "it is %v: use a share of the capacity above 0 and up to 1, or leave it out for the default", *s.share)
		}
	}
	if b.Version != nil && *b.Version < 1 {
		return q, problem.Field("/version", "it is %d: versions begin at 1; leave it out to change the queue whatever it is", *b.Version)
	}
	for _, l := range []struct {
		field string
		from  *gen.Level
		to    **stage.Level
	}{{"/core_level", b.CoreLevel, &q.CoreLevel}, {"/low_level", b.LowLevel, &q.LowLevel}} {
		if l.from == nil {
			continue
		}
		at, err := levelFrom(l.field, *l.from)
		if err != nil {
			return q, err
		}
		*l.to = &at
	}
	return q, nil
}

var pressures = [...]gen.QueuePressure{gen.QueuePressureNormal, gen.QueuePressureAlert, gen.QueuePressureRefuse, gen.QueuePressurePause}

func queueOf(q control.Queue) gen.Queue {
	out := gen.Queue{Name: q.Name, Configured: q.Configured, Capacity: q.Capacity, Concurrency: q.Concurrency, Weights: q.Weights, Decay: q.Decay,
		AlertAt: q.AlertAt, RefuseAt: q.RefuseAt, PauseAt: q.PauseAt, ResumeAt: q.ResumeAt, CoreLevel: gen.Level(q.CoreLevel.String()), LowLevel: gen.Level(q.LowLevel.String()),
		Version: q.Version, Ready: q.Ready, Running: q.Running, InFlight: q.InFlight, OldestS: q.Oldest.Seconds(), Depth: q.Depth,
		Pressure: pressures[min(max(q.Pressure, 0), len(pressures)-1)], PublishedAt: q.PublishedAt}
	if q.Held != nil {
		hold := holdOf(*q.Held)
		out.Hold = &hold
	}
	return out
}
