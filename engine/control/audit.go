package control

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/sql/db"
)

// Audit lists who did what, newest first.
func (c *Client) Audit(ctx context.Context, f AuditFilter) ([]AuditLine, error) {
	most, err := pageSize(f.Most, 1_000)
	if err != nil {
		return nil, err
	}
	if err := storable(named{"/filter/actor", "the actor", f.Actor}, named{"/filter/verb", "the verb", f.Verb}, named{"/filter/target", "the target", f.Target}); err != nil {
		return nil, err
	}
	p := db.AuditLinesParams{Namespace: c.cfg.Namespace, Before: f.Before, Actor: f.Actor, Verb: f.Verb, Target: f.Target, Most: int32(most)}
	if f.Before == uuid.Nil {
		p.Before = uuid.Max
	}
	if !f.Since.IsZero() {
		p.Since = &f.Since
	}
	if !f.Until.IsZero() {
		p.Until = &f.Until
	}
	rows, err := c.q.AuditLines(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("reading the audit: %w", err)
	}
	lines := make([]AuditLine, len(rows))
	for i, r := range rows {
		lines[i] = AuditLine{ID: r.ID, At: r.At, Actor: r.Actor, Verb: r.Verb, Target: r.Target, Reason: r.Reason, Detail: r.Detail}
	}
	return lines, nil
}

// Journal lists what happened to a run that its columns cannot say, oldest first.
func (c *Client) Journal(ctx context.Context, id uuid.UUID) ([]JournalLine, error) {
	run, err := c.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	v, err := c.cfg.Versions.Get(ctx, c.q, run.VersionID)
	if err != nil {
		return nil, err
	}
	rows, err := c.q.JournalOf(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("reading the journal of run %s: %w", id, err)
	}
	lines := make([]JournalLine, len(rows))
	for i, r := range rows {
		lines[i] = JournalLine{ID: r.ID, At: r.At, Generation: int(r.Generation), Kind: r.Kind, Actor: r.Actor, Detail: r.Detail}
		if r.Ord >= 0 && int(r.Ord) < len(v.Graph.Stages) {
			lines[i].Stage = v.Graph.Stages[r.Ord].Name
		}
	}
	return lines, nil
}

// pageSize is how many rows a list returns: 100 unless the caller says otherwise.
func pageSize(most, limit int) (int, error) {
	switch {
	case most == 0:
		return 100, nil
	case most < 0 || most > limit:
		return 0, &Error{Code: CodeInvalid, Text: fmt.Sprintf("%d rows were asked for: ask for 1 to %d", most, limit)}
	default:
		return most, nil
	}
}
