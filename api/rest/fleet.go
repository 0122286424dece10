package rest

import (
	"context"

	"axflow/api/gen"
)

// ListQueues is not made yet.
func (h *Handlers) ListQueues(_ context.Context, _ gen.ListQueuesRequestObject) (gen.ListQueuesResponseObject, error) {
	return nil, errUnmade
}

// GetQueue is not made yet.
func (h *Handlers) GetQueue(_ context.Context, _ gen.GetQueueRequestObject) (gen.GetQueueResponseObject, error) {
	return nil, errUnmade
}

// SetQueue is not made yet.
func (h *Handlers) SetQueue(_ context.Context, _ gen.SetQueueRequestObject) (gen.SetQueueResponseObject, error) {
	return nil, errUnmade
}

// ClearQueue is not made yet.
func (h *Handlers) ClearQueue(_ context.Context, _ gen.ClearQueueRequestObject) (gen.ClearQueueResponseObject, error) {
	return nil, errUnmade
}

// HoldQueue is not made yet.
func (h *Handlers) HoldQueue(_ context.Context, _ gen.HoldQueueRequestObject) (gen.HoldQueueResponseObject, error) {
	return nil, errUnmade
}

// ListHolds is not made yet.
func (h *Handlers) ListHolds(_ context.Context, _ gen.ListHoldsRequestObject) (gen.ListHoldsResponseObject, error) {
	return nil, errUnmade
}

// ListPools is not made yet.
func (h *Handlers) ListPools(_ context.Context, _ gen.ListPoolsRequestObject) (gen.ListPoolsResponseObject, error) {
	return nil, errUnmade
}

// SetPool is not made yet.
func (h *Handlers) SetPool(_ context.Context, _ gen.SetPoolRequestObject) (gen.SetPoolResponseObject, error) {
	return nil, errUnmade
}

// ClearPool is not made yet.
func (h *Handlers) ClearPool(_ context.Context, _ gen.ClearPoolRequestObject) (gen.ClearPoolResponseObject, error) {
	return nil, errUnmade
}

// ListWorkers is not made yet.
func (h *Handlers) ListWorkers(_ context.Context, _ gen.ListWorkersRequestObject) (gen.ListWorkersResponseObject, error) {
	return nil, errUnmade
}

// DrainWorker is not made yet.
func (h *Handlers) DrainWorker(_ context.Context, _ gen.DrainWorkerRequestObject) (gen.DrainWorkerResponseObject, error) {
	return nil, errUnmade
}

// ListCircuits is not made yet.
func (h *Handlers) ListCircuits(_ context.Context, _ gen.ListCircuitsRequestObject) (gen.ListCircuitsResponseObject, error) {
	return nil, errUnmade
}

// MoveCircuit is not made yet.
func (h *Handlers) MoveCircuit(_ context.Context, _ gen.MoveCircuitRequestObject) (gen.MoveCircuitResponseObject, error) {
	return nil, errUnmade
}
