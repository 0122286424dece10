package rest

import (
	"context"
	"fmt"

	"axflow/api/gen"
	"axflow/sql/db"
)

// ListJournal lists what was done to a run, the oldest first.
func (h *Handlers) ListJournal(ctx context.Context, req gen.ListJournalRequestObject) (gen.ListJournalResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	run, err := c.Run(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	v, err := c.Pinned(ctx, run.VersionID)
	if err != nil {
		return nil, err
	}
	list := []string{"journal", req.Run.String()}
	after, err := placeID(list, req.Params.Cursor)
	if err != nil {
		return nil, err
	}
	most := pageSize(req.Params.Limit)
	rows, err := h.reads().JournalLines(ctx, db.JournalLinesParams{RunID: req.Run, After: after, Most: int32(most) + 1})
	if err != nil {
		return nil, fmt.Errorf("reading the journal of run %s: %w", req.Run, err)
	}
	page := gen.JournalList{Items: make([]gen.JournalLine, 0, len(rows))}
	if len(rows) > most {
		rows = rows[:most]
		page.NextCursor = pageCursor(list, rows[most-1].ID[:])
	}
	for _, r := range rows {
		line := gen.JournalLine{Id: r.ID, At: r.At, Kind: r.Kind, Actor: r.Actor, Generation: opt(int(r.Generation))}
		if r.Ord >= 0 && int(r.Ord) < len(v.Graph.Stages) {
			line.Stage = &v.Graph.Stages[r.Ord].Name
		}
		if len(r.Detail) > 0 {
			detail := gen.Json(r.Detail)
			line.Detail = &detail
		}
		page.Items = append(page.Items, line)
	}
	return gen.ListJournal200JSONResponse(page), nil
}
