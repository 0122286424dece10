package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine/advise"
	"axflow/engine/control"
	"axflow/sql/db"
	"axflow/sql/versions"
	"axflow/stage"
)

// The bounds of counting open runs.
const (
	mostOpen        = 1_000  // of a flow that are told
	mostOpenCounted = 20_000 // of a namespace that are counted
)

// ListFlows lists flows by name.
func (h *Handlers) ListFlows(ctx context.Context, req gen.ListFlowsRequestObject) (gen.ListFlowsResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	part := ""
	if req.Params.Q != nil {
		part = *req.Params.Q
	}
	if err := stored("q", part); err != nil {
		return nil, err
	}
	list := []string{"flows", c.Namespace(), part}
	after, err := place(list, req.Params.Cursor, 0)
	if err != nil {
		return nil, err
	}
	q, most := h.reads(), pageSize(req.Params.Limit)
	rows, err := q.ListFlows(ctx, db.ListFlowsParams{Namespace: c.Namespace(), After: string(after), Part: part, Most: int32(most) + 1})
	if err != nil {
		return nil, slow(fmt.Errorf("listing flows: %w", err), "ask for fewer with limit")
	}
	page := gen.FlowList{Items: make([]gen.FlowSummary, 0, len(rows))}
	if len(rows) > most {
		rows = rows[:most]
		page.NextCursor = pageCursor(list, []byte(rows[most-1].Name))
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Name
	}
	held, err := q.HoldsAmong(ctx, db.HoldsAmongParams{Namespace: c.Namespace(), Flows: names})
	if err != nil {
		return nil, fmt.Errorf("reading what is paused: %w", err)
	}
	counts, err := q.CountOpen(ctx, db.CountOpenParams{Namespace: c.Namespace(), Flows: names, Most: mostOpenCounted})
	if err != nil {
		return nil, slow(fmt.Errorf("counting open runs: %w", err), "try again")
	}
	paused, open := make(map[string]bool), make(map[string]int)
	for _, hold := range held {
		paused[hold.Name] = true
	}
	for _, n := range counts {
		open[n.Flow] = min(int(n.N), mostOpen)
	}
	for _, r := range rows {
		n := open[r.Name]
		f := gen.FlowSummary{Name: r.Name, Owner: opt(r.Owner), Version: r.Hash, UpdatedAt: r.UpdatedAt, Paused: paused[r.Name], OpenRuns: &n}
		if r.LastRun != uuid.Nil {
			f.LastRun = &gen.LastRun{Id: r.LastRun, State: runState(stage.RunState(r.LastState)), CreatedAt: r.LastCreatedAt, FinishedAt: r.LastFinishedAt}
		}
		v, err := c.Pinned(ctx, r.VersionID)
		switch {
		case err == nil:
			f.Stages, f.Description = len(v.Graph.Stages), opt(v.Graph.Description)
		case !errors.Is(err, versions.ErrUnreadable): // of one that this binary cannot read, the rest can still be told
			return nil, err
		}
		page.Items = append(page.Items, f)
	}
	return gen.ListFlows200JSONResponse(page), nil
}

// GetFlow is a flow with the graph of one of its versions.
func (h *Handlers) GetFlow(ctx context.Context, req gen.GetFlowRequestObject) (gen.GetFlowResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	v, newest, err := versionOf(ctx, c, req.Flow, req.Params.Version)
	if err != nil {
		return nil, err
	}
	held, err := h.reads().HoldsAmong(ctx, db.HoldsAmongParams{Namespace: c.Namespace(), Flows: []string{req.Flow}})
	if err != nil {
		return nil, fmt.Errorf("reading what is paused: %w", err)
	}
	g := v.Graph
	out := gen.Flow{Name: v.Flow, Owner: opt(g.Owner), Description: opt(g.Description), Version: v.Hash, Newest: newest, Paused: len(held) > 0,
		LateAfterS: inSeconds(g.Late), Searchable: g.Searchable, Graph: graphOf(g)}
	for _, r := range held {
		hold := holdOf(control.Hold{Kind: control.HoldKind(r.Kind), Name: r.Name, Actor: r.Actor, Reason: r.Reason, HeldAt: r.HeldAt})
		out.Hold = &hold
	}
	if g.ParamsSchema != nil {
		schema := g.ParamsSchema
		out.ParamsSchema = &schema
	}
	return gen.GetFlow200JSONResponse(out), nil
}

// versionOf is a version of a flow by its hash, the newest if none is named, and whether it is the newest.
func versionOf(ctx context.Context, c *control.Client, name string, hash *string) (*versions.Version, bool, error) {
	if err := stored("flow", name); err != nil {
		return nil, false, err
	}
	newest, err := c.Newest(ctx, name)
	if err != nil || hash == nil || *hash == "" {
		return newest, true, err
	}
	v, err := c.Version(ctx, name, *hash)
	if err != nil {
		return nil, false, err
	}
	return v, v.ID == newest.ID, nil
}

// GetParamsSchema is the JSON Schema of a flow's params.
func (h *Handlers) GetParamsSchema(ctx context.Context, req gen.GetParamsSchemaRequestObject) (gen.GetParamsSchemaResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	v, _, err := versionOf(ctx, c, req.Flow, req.Params.Version)
	if err != nil {
		return nil, err
	}
	if v.Graph.ParamsSchema == nil {
		return rawJSON("{}"), nil
	}
	return rawJSON(v.Graph.ParamsSchema), nil
}

// ListFlowVersions lists a flow's versions, the newest first.
func (h *Handlers) ListFlowVersions(ctx context.Context, req gen.ListFlowVersionsRequestObject) (gen.ListFlowVersionsResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	if _, _, err := versionOf(ctx, c, req.Flow, nil); err != nil {
		return nil, err
	}
	list := []string{"versions", c.Namespace(), req.Flow}
	b, err := place(list, req.Params.Cursor, 0)
	if err != nil {
		return nil, err
	}
	before := int32(math.MaxInt32)
	if b != nil {
		id, err := strconv.ParseInt(string(b), 10, 32)
		if err != nil {
			return nil, problem.Field("cursor", "this is no cursor of this list")
		}
		before = int32(id)
	}
	most := pageSize(req.Params.Limit)
	rows, err := h.reads().FlowVersions(ctx, db.FlowVersionsParams{Namespace: c.Namespace(), Flow: req.Flow, Before: before, Most: int32(most) + 1})
	if err != nil {
		return nil, fmt.Errorf("listing the versions of flow %s: %w", req.Flow, err)
	}
	page := gen.FlowVersionList{Items: make([]gen.FlowVersion, 0, len(rows))}
	if len(rows) > most {
		rows = rows[:most]
		page.NextCursor = pageCursor(list, strconv.AppendInt(nil, int64(rows[most-1].ID), 10))
	}
	for _, r := range rows {
		page.Items = append(page.Items, gen.FlowVersion{Version: r.Hash, CreatedAt: r.CreatedAt, Newest: r.Newest})
	}
	return gen.ListFlowVersions200JSONResponse(page), nil
}

// GetAdvice is what time-outs and capacity the figures suggest.
func (h *Handlers) GetAdvice(ctx context.Context, req gen.GetAdviceRequestObject) (gen.GetAdviceResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	var ask advise.Ask
	if req.Params.Flow != nil {
		ask.Flow = *req.Params.Flow
	}
	if err := stored("flow", ask.Flow); err != nil {
		return nil, err
	}
	if req.Params.WindowS != nil {
		ask.Window = time.Duration(*req.Params.WindowS * float64(time.Second))
	}
	// Its statements are bounded and read the hot tables: they go by the hot sessions' settings.
	a, err := advise.Give(ctx, advise.Source{Pool: c.Pool(), Versions: c.Versions(), Namespace: c.Namespace()}, ask)
	if err != nil {
		return nil, slow(err, "ask for one flow, or a shorter window_s")
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encoding advice: %w", err)
	}
	return rawJSON(text), nil
}
