package rest

import (
	"context"

	"axflow/api/gen"
	"axflow/engine/control"
)

// ListHolds lists what is paused.
func (h *Handlers) ListHolds(ctx context.Context, _ gen.ListHoldsRequestObject) (gen.ListHoldsResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	holds, err := c.Holds(ctx)
	if err != nil {
		return nil, err
	}
	return gen.ListHolds200JSONResponse{Items: holdsOf(holds)}, nil
}

// ListPools lists the workers' slots by handler.
func (h *Handlers) ListPools(ctx context.Context, _ gen.ListPoolsRequestObject) (gen.ListPoolsResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	pools, err := c.Pools(ctx)
	if err != nil {
		return nil, err
	}
	out := gen.ListPools200JSONResponse{Items: make([]gen.Pool, len(pools))}
	for i, p := range pools {
		out.Items[i] = gen.Pool{Flow: p.Flow, Stage: p.Stage, Set: opt(p.Set), SetBy: opt(p.SetBy), Workers: p.Workers, Slots: p.Slots, Busy: p.Busy,
			Share: p.Share, Flagged: p.Flagged}
	}
	return out, nil
}

// SetPool sets how many slots each worker has for a handler.
func (h *Handlers) SetPool(ctx context.Context, req gen.SetPoolRequestObject) (gen.SetPoolResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	w := who(ctx, req.Body.Reason, req.Body.DryRun)
	touched, err := c.SetPool(ctx, req.Flow, req.Stage, req.Body.Slots, w)
	if err != nil {
		return nil, err
	}
	return gen.SetPool200JSONResponse{ActedJSONResponse: acted(touched, w)}, nil
}

// ClearPool leaves the number of slots to the workers.
func (h *Handlers) ClearPool(ctx context.Context, req gen.ClearPoolRequestObject) (gen.ClearPoolResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	w := who(ctx, req.Params.Reason, req.Params.DryRun)
	touched, err := c.ClearPool(ctx, req.Flow, req.Stage, w)
	if err != nil {
		return nil, err
	}
	return gen.ClearPool200JSONResponse{ActedJSONResponse: acted(touched, w)}, nil
}

// ListWorkers lists workers.
func (h *Handlers) ListWorkers(ctx context.Context, _ gen.ListWorkersRequestObject) (gen.ListWorkersResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	workers, err := c.Workers(ctx)
	if err != nil {
		return nil, err
	}
	out := gen.ListWorkers200JSONResponse{Items: make([]gen.Worker, len(workers))}
	for i, w := range workers {
		out.Items[i] = gen.Worker{Id: w.ID, Host: w.Host, Pid: w.PID, State: gen.WorkerState(w.State), StartedAt: w.StartedAt, SeenAt: w.SeenAt, Cpu: w.CPU,
			Memory: w.Memory, Urgent: w.Urgent, Labels: append([]string{}, w.Labels...), Handlers: w.Handlers, Flights: w.Flights, Tasks: w.Tasks}
	}
	return out, nil
}

// DrainWorker has a worker end.
func (h *Handlers) DrainWorker(ctx context.Context, req gen.DrainWorkerRequestObject) (gen.DrainWorkerResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	w := whoOf(ctx, req.Body)
	touched, err := c.DrainWorker(ctx, req.Worker, w)
	if err != nil {
		return nil, err
	}
	return gen.DrainWorker200JSONResponse{ActedJSONResponse: acted(touched, w)}, nil
}

// ListCircuits lists circuit breakers.
func (h *Handlers) ListCircuits(ctx context.Context, _ gen.ListCircuitsRequestObject) (gen.ListCircuitsResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	circuits, err := c.Circuits(ctx)
	if err != nil {
		return nil, err
	}
	out := gen.ListCircuits200JSONResponse{Items: make([]gen.Circuit, len(circuits))}
	for i, x := range circuits {
		out.Items[i] = gen.Circuit{Kind: gen.CircuitKind(x.Kind), Name: x.Name, State: gen.CircuitState(x.State), Manual: x.Manual, Failures: x.Failures,
			OpenedAt: x.OpenedAt, Until: x.Until, LastError: opt(x.LastError), Actor: opt(x.Actor), Reason: opt(x.Reason), UpdatedAt: x.UpdatedAt}
	}
	return out, nil
}

// MoveCircuit opens or closes a circuit breaker by hand.
func (h *Handlers) MoveCircuit(ctx context.Context, req gen.MoveCircuitRequestObject) (gen.MoveCircuitResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	w := who(ctx, req.Body.Reason, req.Body.DryRun)
	kind := control.CircuitKind(req.Body.Kind)
	var touched []control.Touch
	switch req.Move {
	case "open":
		touched, err = c.OpenCircuit(ctx, kind, req.Body.Name, w)
	case "close":
		touched, err = c.CloseCircuit(ctx, kind, req.Body.Name, w)
	default:
		err = noVerb(req.Move)
	}
	if err != nil {
		return nil, err
	}
	return gen.MoveCircuit200JSONResponse{ActedJSONResponse: acted(touched, w)}, nil
}
