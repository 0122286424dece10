package rest

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/sql/db"
	"axflow/stage"
)

// The bounds of what is read to say what is usual.
const (
	usualRuns   = 50     // that succeeded
	usualLook   = 500    // runs of one flow looked at for them
	usualStages = 10_000 // stages read
	usualFor    = 30 * time.Second
)

// flowOf names a flow of a namespace.
type flowOf struct{ namespace, flow string }

// usual is what runs of a flow usually take.
type usual struct {
	samples  int
	p50, p95 float64
	stages   map[string]stageUsual
}

type stageUsual struct {
	samples int
	p50     float64
}

// ListUsual tells how long the runs of each flow usually take.
func (h *Handlers) ListUsual(ctx context.Context, _ gen.ListUsualRequestObject) (gen.ListUsualResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	items, err := h.usuals.get(ctx, c.Namespace(), func(ctx context.Context) ([]gen.FlowUsual, time.Duration, error) {
		rows, err := h.reads().UsualOfFlows(ctx, db.UsualOfFlowsParams{Namespace: c.Namespace(), Look: usualLook, Most: usualRuns})
		if err != nil {
			return nil, 0, slow(reading("what runs usually take", err), "ask for one run's")
		}
		items := make([]gen.FlowUsual, len(rows))
		for i, r := range rows {
			items[i] = gen.FlowUsual{Flow: r.Name, Samples: int(r.Samples), P50S: r.P50S, P95S: r.P95S}
		}
		return items, usualFor, nil
	})
	if err != nil {
		return nil, err
	}
	return gen.ListUsual200JSONResponse{Items: items}, nil
}

// GetRunUsual tells what runs of a run's flow usually take, and when this one may end.
func (h *Handlers) GetRunUsual(ctx context.Context, req gen.GetRunUsualRequestObject) (gen.GetRunUsualResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	p, err := c.Progress(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	u, err := h.usualOf(ctx, c.Namespace(), p.Run.Flow)
	if err != nil {
		return nil, err
	}
	out := gen.RunUsual{Flow: p.Run.Flow, At: p.At, Samples: u.samples, Stages: []gen.StageUsual{}, ElapsedS: p.At.Sub(p.Run.CreatedAt).Seconds()}
	if p.Run.FinishedAt != nil {
		out.ElapsedS = p.Run.FinishedAt.Sub(p.Run.CreatedAt).Seconds()
	}
	if u.samples > 0 {
		out.P50S, out.P95S = &u.p50, &u.p95
	}
	for _, s := range p.Stages {
		if known, ok := u.stages[s.Name]; ok {
			out.Stages = append(out.Stages, gen.StageUsual{Stage: s.Name, Samples: known.samples, P50S: known.p50})
		}
	}
	if p.State == stage.RunRunning && len(p.Held) == 0 {
		out.Eta = etaOf(p, u)
	}
	return gen.GetRunUsual200JSONResponse(out), nil
}

// usualOf is what runs of a flow usually take.
func (h *Handlers) usualOf(ctx context.Context, namespace, flow string) (*usual, error) {
	return h.usual.get(ctx, flowOf{namespace, flow}, func(ctx context.Context) (*usual, time.Duration, error) {
		u, err := h.readUsual(ctx, namespace, flow)
		return u, usualFor, err
	})
}

func (h *Handlers) readUsual(ctx context.Context, namespace, flow string) (*usual, error) {
	q := h.reads()
	runs, err := q.SucceededRuns(ctx, db.SucceededRunsParams{Namespace: namespace, Flow: flow, Before: uuid.Max, Look: usualLook, Most: usualRuns})
	if err != nil {
		return nil, slow(reading("the runs of flow "+flow, err), "try again")
	}
	u := &usual{samples: len(runs), stages: make(map[string]stageUsual)}
	if len(runs) == 0 {
		return u, nil
	}
	took := make([]float64, len(runs))
	names := make(map[uuid.UUID][]string, len(runs))
	var ids []uuid.UUID
	read := 0
	for i, r := range runs {
		took[i] = r.TookS
		v, err := h.cfg.Client.In(namespace).Pinned(ctx, r.VersionID)
		if err != nil || read > usualStages {
			continue // a version that this binary cannot read has no names for its stages
		}
		read += len(v.Graph.Stages)
		for _, s := range v.Graph.Stages {
			names[r.RunID] = append(names[r.RunID], s.Name)
		}
		ids = append(ids, r.RunID)
	}
	u.p50, u.p95 = quantile(took, 0.5), quantile(took, 0.95)
	rows, err := q.StageTimes(ctx, ids)
	if err != nil {
		return nil, slow(reading("the stages of flow "+flow, err), "try again")
	}
	times := make(map[string][]float64)
	for _, r := range rows {
		if of := names[r.RunID]; int(r.Ord) < len(of) {
			times[of[r.Ord]] = append(times[of[r.Ord]], r.TookS)
		}
	}
	for name, t := range times {
		u.stages[name] = stageUsual{samples: len(t), p50: quantile(t, 0.5)}
	}
	return u, nil
}

// quantile is the q-quantile of values, which it sorts, between its neighbours linearly, as percentile_cont does.
func quantile(values []float64, q float64) float64 {
	slices.Sort(values)
	at := q * float64(len(values)-1)
	i := int(at)
	if i+1 >= len(values) {
		return values[len(values)-1]
	}
	return values[i] + (at-float64(i))*(values[i+1]-values[i])
}
