package rest

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/sql/db"
	"axflow/stage"
)

// The bounds of a timeline.
const (
	timelineRows     = 200_000 // attempts of sharded stages
	timelineAttempts = 20_000  // of unsharded ones and plans
	stageAttempts    = 50      // shown of each
	timelineSteps    = 200     // StageDensity has the number too
	timelineFor      = 3 * time.Second
	timelineEndedFor = 10 * time.Minute
)

// runAt names a run as it was at one version of it.
type runAt struct {
	run     uuid.UUID
	version int32
}

// GetTimeline tells when each stage of a run waited, ran and backed off.
func (h *Handlers) GetTimeline(ctx context.Context, req gen.GetTimelineRequestObject) (gen.GetTimelineResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	run, err := c.Run(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	// A run that is opened again has another version.
	t, err := h.timelines.get(ctx, runAt{req.Run, run.Version}, func(ctx context.Context) (*gen.Timeline, time.Duration, error) {
		p, err := c.Progress(ctx, req.Run)
		if err != nil {
			return nil, 0, err
		}
		t, err := h.readTimeline(ctx, p)
		if err != nil {
			return nil, 0, slow(reading("the timeline of run "+req.Run.String(), err), "look at its stages one by one")
		}
		if p.State.Ended() {
			return t, timelineEndedFor, nil
		}
		return t, timelineFor, nil
	})
	if err != nil {
		return nil, err
	}
	return gen.GetTimeline200JSONResponse(*t), nil
}

func (h *Handlers) readTimeline(ctx context.Context, p control.Progress) (*gen.Timeline, error) {
	q := h.reads()
	id := p.Run.RunID
	t := &gen.Timeline{Run: id, At: p.At, From: p.Run.CreatedAt, FinishedAt: p.Run.FinishedAt, Stages: make([]gen.StageTimeline, len(p.Stages))}
	at := make(map[int16]*gen.StageTimeline, len(p.Stages))
	var ords, singles []int16
	for i, s := range p.Stages {
		t.Stages[i] = gen.StageTimeline{Name: s.Name, State: stageState(s.State), Generation: s.Generation, WaitingFrom: p.Run.CreatedAt,
			ReadyAt: s.ReadyAt, FinishedAt: s.FinishedAt}
		at[int16(s.Ord)] = &t.Stages[i]
		ords = append(ords, int16(s.Ord))
		if s.Kind == stage.Single {
			singles = append(singles, int16(s.Ord))
		}
	}
	since, err := q.StageSince(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, r := range since {
		at[r.Ord].WaitingFrom = r.Since
	}
	if err := attemptsOf(ctx, q, id, ords, singles, at); err != nil {
		return nil, err
	}
	left := int32(timelineRows)
	for _, s := range p.Stages {
		if s.Kind == stage.Single || s.ReadyAt == nil {
			continue
		}
		rows, err := q.StageDensity(ctx, db.StageDensityParams{RunID: id, Ord: int16(s.Ord), Generation: int16(s.Generation), Most: left + 1})
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			continue
		}
		x := at[int16(s.Ord)]
		x.Density = densityOf(rows)
		if began := rows[0].Begun; x.StartedAt == nil || began.Before(*x.StartedAt) {
			x.StartedAt = &began
		}
		if rows[0].Seen > left {
			x.Partial = opt(true)
		}
		left = max(0, left-rows[0].Seen)
	}
	return t, nil
}

// attemptsOf reads the attempts of unsharded stages, the one that runs and the pauses between them too, and the plans of the others.
func attemptsOf(ctx context.Context, q *db.Queries, run uuid.UUID, ords, singles []int16, at map[int16]*gen.StageTimeline) error {
	rows, err := q.TimelineAttempts(ctx, db.TimelineAttemptsParams{RunID: run, Ords: ords, Singles: singles, Most: timelineAttempts})
	if err != nil {
		return err
	}
	all := make(map[int16][]gen.AttemptSpan)
	for _, r := range rows {
		if len(all[r.Ord]) < stageAttempts {
			o, end := outcome(stage.Outcome(r.Outcome)), r.FinishedAt
			all[r.Ord] = append(all[r.Ord], gen.AttemptSpan{Attempt: int(r.Attempt), Delivery: int(r.Delivery), ReadyAt: r.ReadyAt, StartedAt: r.StartedAt,
				FinishedAt: &end, Outcome: &o})
		}
	}
	for _, spans := range all {
		slices.Reverse(spans)
	}
	flights, err := q.TimelineFlights(ctx, db.TimelineFlightsParams{RunID: run, Singles: singles, Most: timelineAttempts})
	if err != nil {
		return err
	}
	for _, r := range flights {
		all[r.Ord] = append(all[r.Ord], gen.AttemptSpan{Attempt: int(r.Attempt), Delivery: int(r.Delivery), ReadyAt: r.ReadyAt, StartedAt: r.DispatchedAt})
	}
	for ord, spans := range all {
		x := at[ord]
		if !slices.Contains(singles, ord) {
			x.Plan = &spans[len(spans)-1]
			x.StartedAt = &spans[0].StartedAt
			continue
		}
		x.Attempts, x.StartedAt = spans, &spans[0].StartedAt
		for i, s := range spans[1:] {
			if before := spans[i]; s.Attempt > before.Attempt && before.FinishedAt != nil && before.FinishedAt.Before(s.StartedAt) {
				x.BackingOff = append(x.BackingOff, gen.Interval{From: *before.FinishedAt, Until: s.StartedAt})
			}
		}
	}
	backing, err := q.TimelineBacking(ctx, db.TimelineBackingParams{RunID: run, Singles: singles})
	if err != nil {
		return err
	}
	for _, r := range backing {
		from := r.ReadyAt
		if spans := all[r.Ord]; len(spans) > 0 && spans[len(spans)-1].FinishedAt != nil {
			from = *spans[len(spans)-1].FinishedAt
		}
		at[r.Ord].BackingOff = append(at[r.Ord].BackingOff, gen.Interval{From: from, Until: r.NotBefore})
	}
	return nil
}

// densityOf makes steps of counts; there is at least one row.
func densityOf(rows []db.StageDensityRow) *gen.Density {
	d := &gen.Density{From: rows[0].Begun, StepS: rows[0].StepS, Running: make([]int, timelineSteps), Finished: make([]int, timelineSteps), Failed: make([]int, timelineSteps)}
	for _, r := range rows {
		if r.What == 0 {
			d.Running[r.Step] += int(r.N)
			continue
		}
		d.Finished[r.Step] += int(r.N)
		if r.What == 2 {
			d.Failed[r.Step] += int(r.N)
		}
	}
	running := 0
	for i := range d.Running {
		running += d.Running[i] - d.Finished[i]
		d.Running[i] = running
	}
	return d
}
