package rest

import (
	"context"
	"time"

	"axflow/api/gen"
	"axflow/engine/control"
)

// ListAudit lists who did what.
func (h *Handlers) ListAudit(ctx context.Context, req gen.ListAuditRequestObject) (gen.ListAuditResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	p := req.Params
	f := control.AuditFilter{Actor: orZero(p.Actor), Verb: orZero(p.Verb), Target: orZero(p.Target), Since: orZero(p.Since), Until: orZero(p.Until), Most: pageSize(p.Limit)}
	list := []string{"audit", f.Actor, f.Verb, f.Target, timeText(f.Since), timeText(f.Until)}
	if f.Before, err = placeID(list, p.Cursor); err != nil {
		return nil, err
	}
	lines, err := c.Audit(ctx, f)
	if err != nil {
		return nil, err
	}
	out := gen.ListAudit200JSONResponse{Items: make([]gen.AuditLine, len(lines))}
	for i, l := range lines {
		out.Items[i] = gen.AuditLine{Id: l.ID, At: l.At, Actor: l.Actor, Verb: l.Verb, Target: l.Target, Reason: opt(l.Reason)}
		if l.Detail != nil {
			out.Items[i].Detail = (*gen.Json)(&l.Detail)
		}
	}
	if len(lines) == f.Most {
		last := lines[len(lines)-1].ID
		out.NextCursor = pageCursor(list, last[:])
	}
	return out, nil
}

// orZero is what p points to; the zero value for nil.
func orZero[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// timeText is a time as a part of what a list was asked with.
func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
