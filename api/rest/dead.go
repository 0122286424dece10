package rest

import (
	"context"

	"axflow/api/gen"
)

// ListDeadLetters is not made yet.
func (h *Handlers) ListDeadLetters(_ context.Context, _ gen.ListDeadLettersRequestObject) (gen.ListDeadLettersResponseObject, error) {
	return nil, errUnmade
}

// GroupDeadLetters is not made yet.
func (h *Handlers) GroupDeadLetters(_ context.Context, _ gen.GroupDeadLettersRequestObject) (gen.GroupDeadLettersResponseObject, error) {
	return nil, errUnmade
}

// ReplayDeadLetters is not made yet.
func (h *Handlers) ReplayDeadLetters(_ context.Context, _ gen.ReplayDeadLettersRequestObject) (gen.ReplayDeadLettersResponseObject, error) {
	return nil, errUnmade
}

// DiscardDeadLetters is not made yet.
func (h *Handlers) DiscardDeadLetters(_ context.Context, _ gen.DiscardDeadLettersRequestObject) (gen.DiscardDeadLettersResponseObject, error) {
	return nil, errUnmade
}

// ListReplays is not made yet.
func (h *Handlers) ListReplays(_ context.Context, _ gen.ListReplaysRequestObject) (gen.ListReplaysResponseObject, error) {
	return nil, errUnmade
}

// GetReplay is not made yet.
func (h *Handlers) GetReplay(_ context.Context, _ gen.GetReplayRequestObject) (gen.GetReplayResponseObject, error) {
	return nil, errUnmade
}

// CancelReplay is not made yet.
func (h *Handlers) CancelReplay(_ context.Context, _ gen.CancelReplayRequestObject) (gen.CancelReplayResponseObject, error) {
	return nil, errUnmade
}
