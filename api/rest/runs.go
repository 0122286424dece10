package rest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/api/query"
	"axflow/engine/control"
	"axflow/engine/explain"
	"axflow/internal/uuid7"
	"axflow/sql/db"
)

// ListRuns finds runs.
func (h *Handlers) ListRuns(ctx context.Context, req gen.ListRunsRequestObject) (gen.ListRunsResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	text := ""
	if req.Params.Q != nil {
		text = *req.Params.Q
	}
	ask, err := query.Parse(text)
	if err != nil {
		return nil, problem.Field("q", "%v", err)
	}
	list := []string{"runs", c.Namespace(), ask.String()}
	before, err := placeID(list, req.Params.Cursor)
	if err != nil {
		return nil, err
	}
	if before == uuid.Nil {
		before = uuid.Max
	}
	q := h.reads()
	if err := h.searchable(ctx, q, c, ask); err != nil {
		return nil, err
	}
	now, err := q.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking the database for its time: %w", err)
	}
	s, err := newSearch(ctx, q, c.Namespace(), ask, before, now)
	if err != nil {
		return nil, err
	}
	ids, goOn, err := s.page(ctx, pageSize(req.Params.Limit))
	if err != nil {
		return nil, slow(err, "narrow it by since: or flow:")
	}
	var page gen.RunList
	if page.Items, err = h.ReadRuns(ctx, c.Namespace(), ids); err != nil {
		return nil, slow(err, "ask for fewer with limit")
	}
	if goOn != uuid.Nil {
		page.NextCursor = pageCursor(list, goOn[:])
		to := uuid7.Time(goOn)
		page.SearchedTo = &to
	}
	return gen.ListRuns200JSONResponse(page), nil
}

// searchable refuses params that no flow, or not the flow that is asked for, declares searchable.
func (h *Handlers) searchable(ctx context.Context, q *db.Queries, c *control.Client, ask *query.Query) error {
	if len(ask.Params) == 0 {
		return nil
	}
	flows, err := q.NewestVersions(ctx, db.NewestVersionsParams{Namespace: c.Namespace(), Names: ask.Flows})
	if err != nil {
		return fmt.Errorf("looking for flows: %w", err)
	}
	declared := make(map[string][]string) // params by flow
	of := make(map[string]bool)
	var all []string
	for _, f := range flows {
		v, err := c.Pinned(ctx, f.VersionID)
		if err != nil {
			continue // one that this binary cannot read declares nothing here
		}
		declared[f.Name] = v.Graph.Searchable
		for _, name := range v.Graph.Searchable {
			if !of[name] {
				of[name], all = true, append(all, name)
			}
		}
	}
	for _, p := range ask.Params {
		for _, name := range ask.Flows {
			if !slices.Contains(declared[name], p.Name) {
				return problem.Field("q", "param.%s: flow %q does not declare it searchable; %s", p.Name, name, searchables(declared[name]))
			}
		}
		if !of[p.Name] {
			return problem.Field("q", "param.%s: no flow declares it searchable; %s", p.Name, searchables(all))
		}
	}
	return nil
}

func searchables(names []string) string {
	if len(names) == 0 {
		return "nothing is: declare it with flow.Searchable"
	}
	slices.Sort(names)
	return "these are: param." + strings.Join(names, ", param.")
}

// slow makes a statement that took too long a time-out that says how to ask for less.
func slow(err error, how string) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "57014" { // query_canceled
		p := problem.New(gen.ProblemCodeTimeout, "the database took too long: %s", how)
		p.Cause = err
		return p
	}
	return err
}

// GetRun is one run with its stages.
func (h *Handlers) GetRun(ctx context.Context, req gen.GetRunRequestObject) (gen.GetRunResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	p, err := c.Progress(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	runs, err := h.ReadRuns(ctx, c.Namespace(), []uuid.UUID{req.Run})
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, problem.New(gen.ProblemCodeNotFound, "there is no run %s here", req.Run)
	}
	detail := gen.RunDetail{Run: runs[0], At: p.At, Holds: holdsOf(p.Held), Stages: make([]gen.StageStatus, len(p.Stages))}
	for i, s := range p.Stages {
		detail.Stages[i] = stageStatus(s)
	}
	return gen.GetRun200JSONResponse(detail), nil
}

// ExplainRun says why something is not running.
func (h *Handlers) ExplainRun(ctx context.Context, req gen.ExplainRunRequestObject) (gen.ExplainRunResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	target := explain.Target{Run: req.Run, Shard: req.Params.Shard}
	if req.Params.Stage != nil {
		target.Stage = *req.Params.Stage
	}
	if target.Shard != nil && target.Stage == "" {
		return nil, problem.Field("shard", "it is an index of a stage: name the stage, too")
	}
	if _, err := c.Run(ctx, req.Run); err != nil {
		return nil, err
	}
	r, err := explain.Explain(ctx, explain.Source{Pool: h.cfg.Reads, Versions: c.Versions(), Namespace: c.Namespace()}, target)
	if err != nil {
		return nil, err
	}
	return gen.ExplainRun200JSONResponse(*r), nil
}
