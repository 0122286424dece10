package rest

import (
	"context"
	"slices"
	"sync"
	"time"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/sql/db"
)

// overviewFor is how long an overview serves everybody of its namespace.
const overviewFor = 2 * time.Second

// overviewWithin bounds how long an overview may take: those who come meanwhile wait for it.
const overviewWithin = 10 * time.Second

// overviews are the newest overviews, by namespace. The zero value is ready.
type overviews struct {
	mu sync.Mutex
	of map[string]*namespaceOverview
}

// namespaceOverview is a namespace's overview, and what is remembered to make the next.
type namespaceOverview struct {
	mu      sync.Mutex
	at      time.Time
	figures *figures
	series  map[gen.OverviewWindow]*series
	depths  map[string][]depthAt // by queue
}

func (o *overviews) in(namespace string) *namespaceOverview {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = make(map[string]*namespaceOverview)
	}
	n := o.of[namespace]
	if n == nil {
		n = &namespaceOverview{series: make(map[gen.OverviewWindow]*series), depths: make(map[string][]depthAt)}
		o.of[namespace] = n
	}
	return n
}

// GetOverview tells whether the engine is healthy and keeps up, and what needs a person.
func (h *Handlers) GetOverview(ctx context.Context, req gen.GetOverviewRequestObject) (gen.GetOverviewResponseObject, error) {
	p, ok := access.From(ctx)
	if !ok {
		return nil, problem.New(gen.ProblemCodeUnauthenticated, "nobody asks")
	}
	window := gen.OverviewWindowN1h
	if req.Params.Window != nil && *req.Params.Window == gen.GetOverviewParamsWindowN24h {
		window = gen.OverviewWindowN24h
	}
	f, s, err := h.overview(ctx, p.Namespace, window)
	if err != nil {
		return nil, slow(err, "try again")
	}
	out := gen.Overview{At: f.at, Window: window, From: s.from, StepS: int(s.step.Seconds()), Runs: s.runs, Tasks: s.tasks, Attention: []gen.Attention{}}
	fleet := p.Allows(gen.PermissionFleetRead)
	if fleet {
		out.Queues, out.Workers, out.Leader = f.queues, &f.workers, &f.leader
	}
	for _, a := range f.attention {
		if len(out.Attention) < mostAttention && (a.needs == "" || p.Allows(a.needs)) {
			out.Attention = append(out.Attention, a.Attention)
		}
	}
	return gen.GetOverview200JSONResponse(out), nil
}

// overview is the newest overview of a namespace, read now if there is none that is young enough. Several who ask at once make one.
func (h *Handlers) overview(ctx context.Context, namespace string, window gen.OverviewWindow) (*figures, *series, error) {
	n := h.overviews.in(namespace)
	n.mu.Lock()
	defer n.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), overviewWithin)
	defer cancel()
	if n.figures == nil || time.Since(n.at) > overviewFor {
		f, err := h.readFigures(ctx, h.cfg.Client.In(namespace), n)
		if err != nil {
			return nil, nil, err
		}
		n.figures, n.at = f, time.Now()
		clear(n.series)
	}
	if n.series[window] == nil {
		s, err := h.readSeries(ctx, namespace, window, n.figures.at)
		if err != nil {
			return nil, nil, err
		}
		n.series[window] = s
	}
	return n.figures, n.series[window], nil
}

// series are counts by step.
type series struct {
	from        time.Time
	step        time.Duration
	runs, tasks gen.Rates
}

// The steps of the two windows. Both are multiples of what the table holds then: minutes, and after an hour quarters.
var windows = map[gen.OverviewWindow]struct {
	steps int
	step  time.Duration
}{gen.OverviewWindowN1h: {60, time.Minute}, gen.OverviewWindowN24h: {96, 15 * time.Minute}}

// readSeries reads the counts of a window that ends with the step that now is in.
func (h *Handlers) readSeries(ctx context.Context, namespace string, window gen.OverviewWindow, now time.Time) (*series, error) {
	w := windows[window]
	s := &series{step: w.step, from: now.Truncate(w.step).Add(-time.Duration(w.steps-1) * w.step)}
	zero := func() gen.Rates {
		return gen.Rates{Started: make([]int, w.steps), Succeeded: make([]int, w.steps), Failed: make([]int, w.steps)}
	}
	s.runs, s.tasks = zero(), zero()
	rows, err := h.reads().Throughput(ctx, db.ThroughputParams{Since: s.from, StepS: int64(w.step.Seconds()), Namespace: namespace})
	if err != nil {
		return nil, reading("the throughput", err)
	}
	for _, r := range rows {
		to := &s.tasks
		if r.Kind == throughputRuns {
			to = &s.runs
		}
		if i := min(int(r.Step), w.steps-1); i >= 0 { // a minute may have begun since
			to.Started[i] += int(r.Started)
			to.Succeeded[i] += int(r.Succeeded)
			to.Failed[i] += int(r.Failed)
		}
	}
	return s, nil
}

// throughputRuns is the kind of counts of runs; those of tasks are 0.
const throughputRuns = 1

// depthAt is how deep a queue was.
type depthAt struct {
	at    time.Time
	depth int
}

const (
	// depthsFor is how long depths are remembered, to tell whether a queue shrinks, and depthAfter how old one must be to tell.
	depthsFor  = 5 * time.Minute
	depthAfter = 20 * time.Second
)

// shrinks tells whether a queue has become less deep lately, as far as is known, and remembers how deep it is.
func (n *namespaceOverview) shrinks(queue string, now time.Time, depth int) bool {
	known := slices.DeleteFunc(n.depths[queue], func(d depthAt) bool { return now.Sub(d.at) > depthsFor })
	shrinks := len(known) == 0 || now.Sub(known[0].at) < depthAfter || depth < known[0].depth
	if len(known) == 0 || now.Sub(known[len(known)-1].at) >= depthAfter {
		known = append(known, depthAt{now, depth})
	}
	n.depths[queue] = known
	return shrinks
}
