package rest

import (
	"context"

	"axflow/api/gen"
)

// GetStage is not made yet.
func (h *Handlers) GetStage(_ context.Context, _ gen.GetStageRequestObject) (gen.GetStageResponseObject, error) {
	return nil, errUnmade
}

// GetOutput is not made yet.
func (h *Handlers) GetOutput(_ context.Context, _ gen.GetOutputRequestObject) (gen.GetOutputResponseObject, error) {
	return nil, errUnmade
}

// ListShards is not made yet.
func (h *Handlers) ListShards(_ context.Context, _ gen.ListShardsRequestObject) (gen.ListShardsResponseObject, error) {
	return nil, errUnmade
}

// PackShards is not made yet.
func (h *Handlers) PackShards(_ context.Context, _ gen.PackShardsRequestObject) (gen.PackShardsResponseObject, error) {
	return nil, errUnmade
}

// GetShard is not made yet.
func (h *Handlers) GetShard(_ context.Context, _ gen.GetShardRequestObject) (gen.GetShardResponseObject, error) {
	return nil, errUnmade
}
