package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"axflow/api/gen"
	"axflow/engine"
	"axflow/engine/control"
	axsql "axflow/sql"
	"axflow/sql/db"
)

// The bounds of what an overview reads.
const (
	mostBacklogRows   = 10_000 // of a queue and level
	mostBacklogLevels = 500
	mostBacklogQueues = 100 // shown
	mostAttentionRuns = 1_000
	mostDeadRows      = 1_000
	silentAfter       = 6 * time.Second
	rateOver          = 5 * time.Minute
)

// figures are what an overview says beside its series.
type figures struct {
	at        time.Time
	leader    gen.LeaderFigures
	workers   gen.WorkerFigures
	queues    []gen.QueueBacklog
	attention []attention

	waiting int // tasks
}

// reading says what could not be read.
func reading(what string, err error) error { return fmt.Errorf("reading %s: %w", what, err) }

// readFigures reads what an overview says, and ranks what needs a person.
func (h *Handlers) readFigures(ctx context.Context, c *control.Client, n *namespaceOverview) (*figures, error) {
	q := h.reads()
	lease, err := q.ServerLook(ctx, engine.LeaseName)
	if err != nil {
		return nil, reading("the lease", err)
	}
	f := &figures{at: lease.Now.UTC()}
	f.leader = gen.LeaderFigures{Epoch: lease.Epoch, Holder: lease.Holder}
	if lease.RenewedAt != nil && lease.ExpiresAt != nil && lease.Epoch > 0 {
		f.leader.Leading, f.leader.BeatAgeS = lease.ExpiresAt.After(lease.Now), max(0, lease.Now.Sub(*lease.RenewedAt).Seconds())
	}
	workers, err := q.WorkerLook(ctx, c.Namespace())
	if err != nil {
		return nil, reading("the workers", err)
	}
	flights, err := q.InFlight(ctx, c.Namespace())
	if err != nil {
		return nil, reading("what is in flight", err)
	}
	if f.workers, err = workerFigures(workers, h.busy(ctx, c, flights)); err != nil {
		return nil, err
	}
	configs, err := q.QueueLook(ctx, c.Namespace())
	if err != nil {
		return nil, reading("the queues", err)
	}
	holds, err := q.HoldLook(ctx, db.HoldLookParams{Namespace: c.Namespace(), Most: mostAttentionRuns})
	if err != nil {
		return nil, reading("what is paused", err)
	}
	if err := h.backlog(ctx, q, c.Namespace(), n, f, flights, configs, holds); err != nil {
		return nil, err
	}
	f.attention = slices.Concat(f.withoutEngine(lease), f.ofWorkers(workers), f.ofQueues(configs, holds))
	for _, more := range []func(context.Context, *db.Queries, *control.Client, time.Time) ([]attention, error){h.switchesOff, h.openCircuits, h.runsInNeed, h.deadLetters, h.endedReplays, h.silentWebhooks} {
		found, err := more(ctx, q, c, f.at)
		if err != nil {
			return nil, err
		}
		f.attention = append(f.attention, found...)
	}
	rank(f.attention)
	return f, nil
}

// busy is how many tasks run, at most, of each handler: flow/stage.
func (h *Handlers) busy(ctx context.Context, c *control.Client, flights []db.InFlightRow) map[string]int {
	busy := make(map[string]int)
	for _, f := range flights {
		name := "" // of a version that this binary cannot read
		if v, err := c.Pinned(ctx, f.VersionID); err == nil && int(f.Ord) < len(v.Graph.Stages) {
			name = v.Flow + "/" + v.Graph.Stages[f.Ord].Name
		}
		busy[name] += int(f.Running)
	}
	return busy
}

// workerFigures sums workers up. Pools are a handler's own, so that the busiest one says whether more workers would help.
func workerFigures(workers []db.WorkerLookRow, busy map[string]int) (gen.WorkerFigures, error) {
	w := gen.WorkerFigures{Count: len(workers)}
	pools := make(map[string]int)
	for _, r := range workers {
		w.OldestBeatS = max(w.OldestBeatS, r.SilentS)
		if r.SilentS > silentAfter.Seconds() {
			w.Silent++
		}
		if r.State != 0 {
			w.Draining++
			continue
		}
		var slots map[string]int
		if err := json.Unmarshal(r.Handlers, &slots); err != nil {
			return w, reading("the handlers of worker "+r.ID.String(), err)
		}
		for key, s := range slots {
			name, _, _ := strings.Cut(key, "@")
			pools[name] += s
			w.Slots += s
		}
	}
	for _, name := range slices.Sorted(maps.Keys(busy)) {
		w.Busy += busy[name]
		if share := float64(busy[name]) / float64(max(1, pools[name])); pools[name] > 0 && share > w.Saturation {
			w.Saturation, w.Busiest = min(1, share), opt(name)
		}
	}
	return w, nil
}

// backlog reads what waits in the queues, and reckons how long that takes.
func (h *Handlers) backlog(ctx context.Context, q *db.Queries, namespace string, n *namespaceOverview, f *figures, flights []db.InFlightRow, configs []db.QueueLookRow, holds []db.HoldLookRow) error {
	ready, err := q.Backlog(ctx, db.BacklogParams{Namespace: namespace, MostLevels: mostBacklogLevels, Most: mostBacklogRows + 1})
	if err != nil {
		return reading("the backlog", err)
	}
	since := f.at.Truncate(time.Minute).Add(-rateOver)
	ended, err := q.QueueThroughput(ctx, db.QueueThroughputParams{Namespace: namespace, Since: since})
	if err != nil {
		return reading("the queues' throughput", err)
	}
	type key struct {
		queue string
		level int16
	}
	levels := make(map[key]*gen.LevelBacklog)
	queues := make(map[string]*gen.QueueBacklog)
	queue := func(name string) *gen.QueueBacklog {
		if queues[name] == nil {
			queues[name] = &gen.QueueBacklog{Queue: name, Levels: []gen.LevelBacklog{}}
		}
		return queues[name]
	}
	at := func(name string, l int16) *gen.LevelBacklog {
		k := key{name, l}
		if levels[k] == nil {
			queue(name)
			levels[k] = &gen.LevelBacklog{Level: level(l)}
		}
		return levels[k]
	}
	for _, r := range ready {
		l := at(r.Queue, r.Level)
		l.Depth, l.OldestS, l.AtLeast = int(r.Tasks), r.OldestS, opt(r.Seen > mostBacklogRows)
	}
	for _, r := range flights {
		at(r.Queue, r.Level).InFlight += int(r.Tasks)
	}
	for _, r := range ended {
		if b := queues[r.Queue]; b != nil {
			b.RatePerS = float64(r.Ended) / max(10*time.Second, f.at.Sub(r.First)).Seconds()
		}
	}
	for _, hold := range holds {
		if hold.Kind == "queue" {
			queue(hold.Name).Paused = opt(true)
		}
	}
	for _, c := range configs {
		if b := queues[c.Name]; b != nil && c.Capacity != nil {
			pressure := gen.QueueBacklogPressure(pressures[min(max(int(c.Pressure), 0), len(pressures)-1)])
			b.Pressure = &pressure
		}
	}
	for k, l := range levels {
		b := queues[k.queue]
		b.Depth += l.Depth
		b.InFlight += l.InFlight
		b.OldestS = max(b.OldestS, l.OldestS)
		if l.AtLeast != nil {
			b.AtLeast = l.AtLeast
		}
		b.Levels = append(b.Levels, *l)
		f.waiting += l.Depth
	}
	for name, b := range queues {
		slices.SortFunc(b.Levels, func(a, z gen.LevelBacklog) int { return cmp.Compare(a.Level, z.Level) })
		shrinks := n.shrinks(name, f.at, b.Depth)
		if b.Depth > 0 && b.RatePerS > 0 && b.AtLeast == nil && b.Paused == nil && shrinks {
			b.DrainS = opt(float64(b.Depth) / b.RatePerS)
		}
		f.queues = append(f.queues, *b)
	}
	for name := range n.depths {
		if queues[name] == nil {
			delete(n.depths, name)
		}
	}
	slices.SortFunc(f.queues, func(a, z gen.QueueBacklog) int {
		return cmp.Or(cmp.Compare(z.Depth+z.InFlight, a.Depth+a.InFlight), cmp.Compare(a.Queue, z.Queue))
	})
	f.queues = f.queues[:min(len(f.queues), mostBacklogQueues)]
	return nil
}

// idsFrom is the smallest id that is minted at a time.
var idsFrom = axsql.DayBound
