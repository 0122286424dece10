package rest

import (
	"context"

	"axflow/api/gen"
	"axflow/sql/db"
	"axflow/sql/payload"
	"axflow/stage"
)

const (
	recentLook      = 200
	recentBytes     = 64 << 10
	recentByDefault = 10
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
	rows, err := h.reads().NewestParams(ctx, db.NewestParamsParams{Namespace: c.Namespace(), Flow: req.Flow, Look: recentLook, MostBytes: recentBytes})
	if err != nil {
		return nil, slow(reading("the params of flow "+req.Flow, err), "try again")
	}
	most := recentByDefault
	if req.Params.Limit != nil {
		most = *req.Params.Limit
	}
	out := gen.ListRecentParams200JSONResponse{Items: []gen.RecentParams{}}
	seen := make(map[string]int) // places, by the params as they are
	for _, r := range rows {
		params, err := c.OpenPayload(ctx, payload.Place{Kind: payload.Params, Run: r.RunID}, r.Params)
		if err != nil {
			continue // this server lacks their key: others may have it
		}
		if i, ok := seen[string(params)]; ok {
			out.Items[i].Runs++
			continue
		}
		if len(out.Items) == most {
			continue
		}
		v, err := c.Pinned(ctx, r.VersionID)
		if err != nil {
			continue // nobody can tell what of it is secret
		}
		seen[string(params)] = len(out.Items)
		out.Items = append(out.Items, gen.RecentParams{Run: r.RunID, CreatedAt: r.CreatedAt, State: runState(stage.RunState(r.State)), Trigger: r.Trigger, Runs: 1,
			Params: h.redact(ctx, Payload{Kind: "params", Flow: req.Flow, JSON: params, Graph: v.Graph})})
	}
	return out, nil
}
