package rest

import (
	"context"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine/control"
	"axflow/sql/span"
)

// ListDeadLetters lists what has failed for good.
func (h *Handlers) ListDeadLetters(ctx context.Context, req gen.ListDeadLettersRequestObject) (gen.ListDeadLettersResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	p := req.Params
	f := deadFilter(gen.DeadFilter{Flow: p.Flow, Stage: p.Stage, Fingerprint: p.Fingerprint, Run: p.Run, Code: p.Code, Since: p.Since, Until: p.Until})
	f.Most = pageSize(p.Limit)
	list := []string{"dead", f.Flow, f.Stage, f.Fingerprint, f.Run.String(), f.Code, timeText(f.Since), timeText(f.Until)}
	before, err := placeID(list, p.Cursor)
	if err != nil {
		return nil, err
	}
	letters, err := c.DeadList(ctx, f, before)
	if err != nil {
		return nil, err
	}
	out := gen.ListDeadLetters200JSONResponse{Items: make([]gen.DeadLetter, len(letters))}
	for i, l := range letters {
		out.Items[i] = gen.DeadLetter{Id: l.ID, Run: l.Run, Flow: l.Flow, Stage: l.Stage, Generation: l.Generation, Shards: setText(l.Indices, 0), Attempt: l.Attempt,
			Reason: deadReason(l.Reason), Fingerprint: opt(l.Fingerprint), DiedAt: l.DiedAt, Failure: orZero(failureOf(l.Failure))}
	}
	if len(letters) == f.Most {
		last := letters[len(letters)-1].ID
		out.NextCursor = pageCursor(list, last[:])
	}
	return out, nil
}

func deadReason(r span.ParkReason) gen.DeadLetterReason {
	switch r {
	case span.Poison:
		return gen.DeadLetterReasonPoison
	case span.Expired:
		return gen.DeadLetterReasonExpired
	default:
		return gen.DeadLetterReasonDead
	}
}

// GroupDeadLetters groups what has failed for good by what its errors have in common.
func (h *Handlers) GroupDeadLetters(ctx context.Context, req gen.GroupDeadLettersRequestObject) (gen.GroupDeadLettersResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	p := req.Params
	f := deadFilter(gen.DeadFilter{Flow: p.Flow, Stage: p.Stage, Fingerprint: p.Fingerprint, Run: p.Run, Code: p.Code, Since: p.Since, Until: p.Until})
	f.Most = pageSize(p.Limit)
	groups, err := c.DeadLetters(ctx, f)
	if err != nil {
		return nil, err
	}
	out := gen.GroupDeadLetters200JSONResponse{Items: make([]gen.DeadGroup, len(groups))}
	for i, g := range groups {
		out.Items[i] = gen.DeadGroup{Flow: g.Flow, Stage: g.Stage, Fingerprint: g.Fingerprint, Count: g.Count, Runs: g.Runs, Example: orZero(failureOf(g.Example)),
			ExampleRun: g.ExampleRun, ExampleShard: g.ExampleIndex, First: g.First, Last: g.Last}
	}
	return out, nil
}

// deadFilter reads a filter of dead letters.
func deadFilter(f gen.DeadFilter) control.DeadFilter {
	return control.DeadFilter{Flow: orZero(f.Flow), Stage: orZero(f.Stage), Fingerprint: orZero(f.Fingerprint), Run: orZero(f.Run), Code: orZero(f.Code),
		Since: orZero(f.Since), Until: orZero(f.Until)}
}

// restricted refuses a filter of dead letters that picks all of them.
func restricted(f control.DeadFilter) error {
	if f == (control.DeadFilter{}) {
		return problem.Field("/filter", "it restricts nothing and would pick every dead letter: name a flow, stage, run, fingerprint, code or a time")
	}
	return nil
}

// ReplayDeadLetters has dead letters replayed.
func (h *Handlers) ReplayDeadLetters(ctx context.Context, req gen.ReplayDeadLettersRequestObject) (gen.ReplayDeadLettersResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	f := deadFilter(req.Body.Filter)
	if err := restricted(f); err != nil {
		return nil, err
	}
	w := who(ctx, req.Body.Reason, req.Body.DryRun)
	job, err := c.ReplayWhere(ctx, f, control.ReplayOptions{PerSecond: orZero(req.Body.PerSecond), Canary: orZero(req.Body.Canary)}, w)
	if err != nil {
		return nil, err
	}
	if w.DryRun {
		return gen.ReplayDeadLetters200JSONResponse(replayOf(job)), nil
	}
	return gen.ReplayDeadLetters201JSONResponse(replayOf(job)), nil
}

// DiscardDeadLetters gives dead letters up.
func (h *Handlers) DiscardDeadLetters(ctx context.Context, req gen.DiscardDeadLettersRequestObject) (gen.DiscardDeadLettersResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	f := deadFilter(req.Body.Filter)
	if err := restricted(f); err != nil {
		return nil, err
	}
	f.Within = within(ctx)
	w := who(ctx, req.Body.Reason, req.Body.DryRun)
	s, err := c.DiscardWhere(ctx, f, w)
	if err := h.partly(&s, "discard", err); err != nil {
		return nil, err
	}
	return gen.DiscardDeadLetters200JSONResponse(swept(s, w)), nil
}

// ListReplays lists replays.
func (h *Handlers) ListReplays(ctx context.Context, req gen.ListReplaysRequestObject) (gen.ListReplaysResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	list := []string{"replays"}
	before, err := placeID(list, req.Params.Cursor)
	if err != nil {
		return nil, err
	}
	most := pageSize(req.Params.Limit)
	jobs, err := c.Replays(ctx, before, most)
	if err != nil {
		return nil, err
	}
	out := gen.ListReplays200JSONResponse{Items: make([]gen.Replay, len(jobs))}
	for i, j := range jobs {
		out.Items[i] = replayOf(j)
	}
	if len(jobs) == most {
		last := jobs[len(jobs)-1].ID
		out.NextCursor = pageCursor(list, last[:])
	}
	return out, nil
}

// GetReplay is one replay.
func (h *Handlers) GetReplay(ctx context.Context, req gen.GetReplayRequestObject) (gen.GetReplayResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	job, err := c.ReplayJob(ctx, req.Replay)
	if err != nil {
		return nil, err
	}
	return gen.GetReplay200JSONResponse(replayOf(job)), nil
}

// CancelReplay ends a replay.
func (h *Handlers) CancelReplay(ctx context.Context, req gen.CancelReplayRequestObject) (gen.CancelReplayResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	w := whoOf(ctx, req.Body)
	touched, err := c.CancelReplay(ctx, req.Replay, w)
	if err != nil {
		return nil, err
	}
	return gen.CancelReplay200JSONResponse{ActedJSONResponse: acted(touched, w)}, nil
}

func replayOf(j control.ReplayJob) gen.Replay {
	f := j.Filter
	out := gen.Replay{State: gen.ReplayState(j.State), PerSecond: opt(j.Options.PerSecond), Canary: opt(j.Options.Canary), Total: j.Total, Moved: j.Moved, Failed: j.Failed,
		Filter: gen.DeadFilter{Flow: opt(f.Flow), Stage: opt(f.Stage), Fingerprint: opt(f.Fingerprint), Code: opt(f.Code), Since: unlessZero(f.Since), Until: unlessZero(f.Until)},
		Note:   opt(j.Note), Actor: opt(j.Actor), Reason: opt(j.Reason), CreatedAt: unlessZero(j.CreatedAt), UpdatedAt: unlessZero(j.UpdatedAt), FinishedAt: j.FinishedAt}
	if f.Run != uuid.Nil {
		out.Filter.Run = &f.Run
	}
	if j.ID != uuid.Nil {
		out.Id = &j.ID
	}
	return out
}

// unlessZero is an optional time of an answer.
func unlessZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
