// Package advise suggests time-outs and capacity from what was observed: Execution time-outs from the P99 of a stage's
// attempts, and slots and workers from arrivals, waits and run times by Little's law. It reads a bounded number of rows
// and changes nothing.
package advise

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/engine/control"
	"axflow/sql/db"
	"axflow/sql/versions"
)

// Source is where the figures come from. It is safe for concurrent use.
type Source struct {
	Pool *pgxpool.Pool
	// Versions may be shared with other parts of the process. Default: a cache for this call.
	Versions  *versions.Cache
	Namespace string
}

// Ask says what advice is asked for.
type Ask struct {
	// Flow is a flow's name; "" is all, at most 100 of them for time-outs.
	Flow string
	// Window is how far back arrivals are counted. Default 10 min.
	Window time.Duration
}

// Advice is what was observed and what follows from it.
type Advice struct {
	// At is the database's time.
	At time.Time `json:"at"`
	// Window is the time that the live figures are of: what was asked for, or less where less is known.
	Window time.Duration `json:"-"`
	// Partial says that there was more than was looked at, so that arrivals are higher than they are given.
	Partial  bool      `json:"partial"`
	Timeouts []Timeout `json:"timeouts"`
	Handlers []Handler `json:"handlers"`
	Queues   []Queue   `json:"queues"`
}

// The bounds of what is read.
const (
	defaultWindow = 10 * time.Minute
	maxFlows      = 100
	maxRuns       = 200     // of a flow
	maxPairs      = 5_000   // of runs and stages of a flow
	maxDurations  = 100_000 // results of a flow
	maxLoad       = 200_000 // results, and rows of what is pending
	startedWithin = 24 * time.Hour
)

// Give reads the figures and gives advice. A flow that is not registered is a *control.Error with CodeNotFound.
func Give(ctx context.Context, from Source, ask Ask) (*Advice, error) {
	if from.Versions == nil {
		from.Versions = versions.New()
	}
	if ask.Window <= 0 {
		ask.Window = defaultWindow
	}
	var a *Advice
	err := pgx.BeginTxFunc(ctx, from.Pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
		r := &reader{from: from, ask: ask, q: db.New(tx)}
		a, err = r.read(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("gathering figures for advice: %w", err)
	}
	return a, nil
}

type reader struct {
	from   Source
	ask    Ask
	q      *db.Queries
	advice Advice
}

func (r *reader) read(ctx context.Context) (*Advice, error) {
	now, err := r.q.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking the database for its time: %w", err)
	}
	r.advice = Advice{At: now, Timeouts: []Timeout{}, Handlers: []Handler{}, Queues: []Queue{}}
	flows, err := r.q.AdviseFlows(ctx, db.AdviseFlowsParams{Namespace: r.from.Namespace, Flow: r.ask.Flow, Most: maxFlows})
	if err != nil {
		return nil, fmt.Errorf("listing flows: %w", err)
	}
	if r.ask.Flow != "" && len(flows) == 0 {
		return nil, &control.Error{Code: control.CodeNotFound, Text: fmt.Sprintf("no flow %q is registered in namespace %q", r.ask.Flow, r.from.Namespace)}
	}
	for _, f := range flows {
		if err := r.timeouts(ctx, f); err != nil {
			return nil, err
		}
	}
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	return &r.advice, nil
}

// timeouts judges the stages of a flow's newest version by the results of its newest runs.
func (r *reader) timeouts(ctx context.Context, f db.AdviseFlowsRow) error {
	newest, err := r.version(ctx, f.VersionID)
	if newest == nil || err != nil {
		return err
	}
	stages := len(newest.Graph.Stages)
	runs, err := r.q.AdviseRuns(ctx, db.AdviseRunsParams{Namespace: r.from.Namespace, Flow: f.Name, Most: int32(min(maxRuns, max(5, maxPairs/max(1, stages))))})
	if err != nil {
		return fmt.Errorf("listing runs of flow %s: %w", f.Name, err)
	}
	var p db.AdviseDurationsParams
	for _, run := range runs {
		v, err := r.version(ctx, run.VersionID)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		for ord := range v.Graph.Stages {
			p.RunIds, p.VersionIds, p.Ords = append(p.RunIds, run.RunID), append(p.VersionIds, run.VersionID), append(p.Ords, int16(ord))
		}
	}
	seen := make(map[string]Timeout)
	if len(p.RunIds) > 0 {
		p.Most = int32(max(20, maxDurations/len(p.RunIds)))
		rows, err := r.q.AdviseDurations(ctx, p)
		if err != nil {
			return fmt.Errorf("reading durations of flow %s: %w", f.Name, err)
		}
		for _, row := range rows {
			v, err := r.version(ctx, row.VersionID)
			if err != nil {
				return err
			}
			name := v.Graph.Stages[row.Ord].Name
			t := seen[name]
			t.add(row)
			seen[name] = t
		}
	}
	for _, spec := range newest.Graph.Stages {
		t := seen[spec.Name]
		t.Flow, t.Stage, t.Current = f.Name, spec.Name, spec.Timeout.Execution
		t.judge()
		r.advice.Timeouts = append(r.advice.Timeouts, t)
	}
	return nil
}

// add joins the figures of a version's stage. Quantiles cannot be joined exactly: the greater P99 is the safe one.
func (t *Timeout) add(row db.AdviseDurationsRow) {
	if int(row.Samples) > t.Samples {
		t.P50 = seconds(row.P50S)
	}
	t.P99, t.Max = max(t.P99, seconds(row.P99S)), max(t.Max, seconds(row.MaxS))
	t.Samples += int(row.Samples)
	t.TimedOut += int(row.TimedOut)
	t.Failed += int(row.Failed)
	t.Saved += int(row.Saved)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// version is nil for one that this binary cannot read.
func (r *reader) version(ctx context.Context, id int32) (*versions.Version, error) {
	v, err := r.from.Versions.Get(ctx, r.q, id)
	if err != nil && r.from.Versions.Unreadable(err) {
		return nil, nil
	}
	return v, err
}

// bucket is the load of one stage in one queue.
type bucket struct{ flow, stage, queue string }

// load judges handlers and queues by what came and went in the window.
func (r *reader) load(ctx context.Context) error {
	since := r.advice.At.Add(-r.ask.Window)
	finished, err := r.q.AdviseLoad(ctx, db.AdviseLoadParams{Since: since, Floor: floor(r.advice.At.Add(-startedWithin)), Most: maxLoad, Namespace: r.from.Namespace})
	if err != nil {
		return fmt.Errorf("reading what has finished: %w", err)
	}
	pending, err := r.q.AdvisePending(ctx, db.AdvisePendingParams{Since: since, Namespace: r.from.Namespace, Most: maxLoad})
	if err != nil {
		return fmt.Errorf("reading what is pending: %w", err)
	}
	loads := make(map[bucket]*Load)
	arrived := make(map[bucket]int)
	at := func(k bucket) *Load {
		if loads[k] == nil {
			loads[k] = &Load{}
		}
		return loads[k]
	}
	first, total := r.advice.At, 0
	for _, row := range finished {
		k, delay, ok, err := r.bucket(ctx, row.VersionID, row.Ord, row.Queue, false)
		if err != nil {
			return err
		}
		total += int(row.Finished)
		if !ok {
			continue
		}
		first = earlier(first, row.FirstReady)
		at(k).add(Load{Samples: int(row.Finished), Wait: max(0, seconds(row.WaitS)-delay), Exec: seconds(row.ExecS)})
		arrived[k] += int(row.Arrived)
	}
	r.advice.Partial = total >= maxLoad
	for _, row := range pending {
		k, _, ok, err := r.bucket(ctx, row.VersionID, row.Ord, row.Queue, true)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		first = earlier(first, row.FirstReady)
		at(k).add(Load{Waiting: int(row.Waiting), Running: int(row.Running)})
		arrived[k] += int(row.Arrived)
	}
	r.advice.Window = max(time.Second, min(r.ask.Window, r.advice.At.Sub(first)))
	for k, n := range arrived {
		loads[k].PerSecond = float64(n) / r.advice.Window.Seconds()
	}
	return r.judge(ctx, loads)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// bucket says where a row counts. The queue of a ready row or flight is its own; a result's is its stage's or its run's.
func (r *reader) bucket(ctx context.Context, version int32, ord int16, queue string, own bool) (bucket, time.Duration, bool, error) {
	v, err := r.version(ctx, version)
	if v == nil || err != nil || int(ord) >= len(v.Graph.Stages) || r.ask.Flow != "" && v.Flow != r.ask.Flow {
		return bucket{}, 0, false, err
	}
	spec := &v.Graph.Stages[ord]
	if !own && spec.Queue != "" {
		queue = spec.Queue
	}
	return bucket{v.Flow, spec.Name, queue}, spec.Delay, true, nil
}

// judge makes handlers and queues of the loads.
func (r *reader) judge(ctx context.Context, loads map[bucket]*Load) error {
	pools, err := r.pools(ctx)
	if err != nil {
		return err
	}
	limits, err := r.q.AdviseQueues(ctx, r.from.Namespace)
	if err != nil {
		return fmt.Errorf("reading the queues: %w", err)
	}
	handlers, queues := make(map[string]*Handler), make(map[string]*Queue)
	for k, l := range loads {
		name := k.flow + "/" + k.stage
		if handlers[name] == nil {
			p := pools[name]
			handlers[name] = &Handler{Flow: k.flow, Stage: k.stage, Slots: p.slots, Workers: p.workers}
		}
		handlers[name].add(*l)
		if queues[k.queue] == nil {
			queues[k.queue] = &Queue{Name: k.queue}
		}
		queues[k.queue].add(*l)
	}
	for _, q := range limits {
		if of := queues[q.Name]; of != nil {
			of.Limit, of.Capacity = integer(q.Concurrency), integer(q.Capacity)
		}
	}
	for _, h := range handlers {
		h.judge()
		r.advice.Handlers = append(r.advice.Handlers, *h)
	}
	for _, q := range queues {
		q.judge()
		r.advice.Queues = append(r.advice.Queues, *q)
	}
	slices.SortFunc(r.advice.Handlers, func(a, b Handler) int {
		return strings.Compare(a.Flow+"/"+a.Stage, b.Flow+"/"+b.Stage)
	})
	slices.SortFunc(r.advice.Queues, func(a, b Queue) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func integer(n *int32) *int {
	if n == nil {
		return nil
	}
	v := int(*n)
	return &v
}

type pool struct{ slots, workers int }

// pools are the live workers' slots by flow/stage, whatever the contract.
func (r *reader) pools(ctx context.Context) (map[string]pool, error) {
	rows, err := r.q.AdviseWorkers(ctx, r.from.Namespace)
	if err != nil {
		return nil, fmt.Errorf("reading the workers: %w", err)
	}
	pools := make(map[string]pool)
	for _, row := range rows {
		var handlers map[string]int
		if json.Unmarshal(row.Handlers, &handlers) != nil {
			continue // it cannot be counted; the engine's log says so
		}
		for key, slots := range handlers {
			name, _, _ := strings.Cut(key, "@")
			p := pools[name]
			p.slots += slots
			p.workers++
			pools[name] = p
		}
	}
	return pools, nil
}

// floor is the least UUIDv7 of a time.
func floor(t time.Time) uuid.UUID {
	var id uuid.UUID
	ms := uint64(max(0, t.UnixMilli()))
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6], id[8] = 0x70, 0x80
	return id
}
