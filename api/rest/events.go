package rest

import (
	"context"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/live"
	"axflow/api/problem"
)

// StreamEvents streams what happens.
func (h *Handlers) StreamEvents(ctx context.Context, r gen.StreamEventsRequestObject) (gen.StreamEventsResponseObject, error) {
	p, ok := access.From(ctx)
	if !ok {
		return nil, problem.New(gen.ProblemCodeUnauthenticated, "nobody asks")
	}
	if h.cfg.Live == nil {
		return nil, problem.New(gen.ProblemCodeUnavailable, "this server streams no events; read the runs again instead")
	}
	w := live.Watch{Runs: r.Params.Run, Flows: r.Params.Flow}
	if r.Params.LastEventID != nil {
		w.LastEventID = *r.Params.LastEventID
	}
	s, err := h.cfg.Live.Subscribe(ctx, p, w)
	if err != nil {
		return nil, err
	}
	return s, nil
}
