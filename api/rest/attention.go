package rest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/sql/db"
)

// mostAttention is how many things an overview names.
const mostAttention = 20

const (
	drainsLong = 10 * time.Minute
	heldLong   = time.Hour
	lately     = 24 * time.Hour
)

// attention is something that needs a person.
type attention struct {
	gen.Attention
	needs gen.Permission // of who may know of it; "": whoever sees the overview
}

// ranks are how urgent each kind is; 0 is what stops work everywhere. The document says the same.
var ranks = map[gen.AttentionKind]int{
	gen.AttentionKindNoLeader: 0, gen.AttentionKindNoWorkers: 0,
	gen.AttentionKindSwitchOff: 1,
	gen.AttentionKindRunStuck:  2, gen.AttentionKindWorkerSilent: 2,
	gen.AttentionKindCircuitOpen: 3, gen.AttentionKindQueuePaused: 3,
	gen.AttentionKindQueuePressure: 4, gen.AttentionKindRunLate: 4,
	gen.AttentionKindDeadLetters: 5, gen.AttentionKindReplayStopped: 5,
	gen.AttentionKindRunsFailed:      6,
	gen.AttentionKindHoldOld:         7,
	gen.AttentionKindWorkerDraining:  8,
	gen.AttentionKindDeliveryFailing: 9,
}

// needed is who may know of a kind, beside those who see the overview.
var needed = map[gen.AttentionKind]gen.Permission{
	gen.AttentionKindNoWorkers: gen.PermissionFleetRead, gen.AttentionKindSwitchOff: gen.PermissionFleetRead, gen.AttentionKindWorkerSilent: gen.PermissionFleetRead,
	gen.AttentionKindCircuitOpen: gen.PermissionFleetRead, gen.AttentionKindQueuePaused: gen.PermissionFleetRead, gen.AttentionKindQueuePressure: gen.PermissionFleetRead,
	gen.AttentionKindHoldOld: gen.PermissionFleetRead, gen.AttentionKindWorkerDraining: gen.PermissionFleetRead,
	gen.AttentionKindDeliveryFailing: gen.PermissionWebhooksAdmin,
}

// note makes something that needs a person. about fills in what it is about.
func note(kind gen.AttentionKind, count int, since time.Time, about func(*gen.Attention), text string, args ...any) attention {
	a := attention{Attention: gen.Attention{Kind: kind, Rank: ranks[kind], Count: count, Since: since.UTC(), Text: fmt.Sprintf(text, args...)}, needs: needed[kind]}
	if about != nil {
		about(&a.Attention)
	}
	return a
}

// rank sorts: the most urgent first, of these what concerns more, then what is older.
func rank(all []attention) {
	slices.SortStableFunc(all, func(a, b attention) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(b.Count, a.Count), a.Since.Compare(b.Since), cmp.Compare(a.Text, b.Text))
	})
}

// because adds a reason to a sentence, if there is one.
func because(text, reason string) string {
	reason = strings.Join(strings.Fields(reason), " ")
	if reason == "" {
		return text
	}
	const most = 160
	if r := []rune(reason); len(r) > most {
		reason = string(r[:most-1]) + "…"
	}
	return text + ": " + reason
}

// plural is a number of things.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (f *figures) withoutEngine(lease db.ServerLookRow) []attention {
	var all []attention
	if !f.leader.Leading {
		since, text := f.at, "no engine has ever led: start one with `ax server` or `ax dev`"
		if lease.ExpiresAt != nil && lease.Epoch > 0 {
			since, text = *lease.ExpiresAt, "no engine leads: nothing is handed out and no run ends"
		}
		all = append(all, note(gen.AttentionKindNoLeader, 1, since, nil, "%s", text))
	}
	if active := f.workers.Count - f.workers.Draining; active == 0 && f.waiting > 0 {
		since := f.at
		for _, q := range f.queues {
			if at := f.at.Add(-time.Duration(q.OldestS * float64(time.Second))); at.Before(since) {
				since = at
			}
		}
		all = append(all, note(gen.AttentionKindNoWorkers, f.waiting, since, nil, "no worker is there for %s", plural(f.waiting, "task that waits", "tasks that wait")))
	}
	return all
}

func (f *figures) ofWorkers(workers []db.WorkerLookRow) []attention {
	var all []attention
	for _, w := range workers {
		about := func(a *gen.Attention) { a.Worker = &w.ID }
		if w.SilentS > silentAfter.Seconds() {
			all = append(all, note(gen.AttentionKindWorkerSilent, 1, w.SeenAt, about, "the worker on %s has not been heard of for %.0f s", w.Host, w.SilentS))
			continue
		}
		if since := w.DrainAskedAt; since != nil && f.at.Sub(*since) > drainsLong {
			all = append(all, note(gen.AttentionKindWorkerDraining, 1, *since, about, "the worker on %s has been draining for %.0f min", w.Host, f.at.Sub(*since).Minutes()))
		}
	}
	return all
}

func (f *figures) ofQueues(configs []db.QueueLookRow, holds []db.HoldLookRow) []attention {
	var all []attention
	waiting := make(map[string]int)
	for _, q := range f.queues {
		waiting[q.Queue] = q.Depth
	}
	for _, c := range configs {
		if c.Pressure == 0 || c.Capacity == nil {
			continue
		}
		about, since := func(a *gen.Attention) { a.Queue = &c.Name }, f.at
		if c.PublishedAt != nil {
			since = *c.PublishedAt
		}
		switch pressures[min(int(c.Pressure), len(pressures)-1)] {
		case gen.QueuePressurePause:
			all = append(all, note(gen.AttentionKindQueuePaused, int(c.Depth), since, about, "queue %s is full and pauses its low levels: %d of %d tasks", c.Name, c.Depth, *c.Capacity))
		case gen.QueuePressureRefuse:
			all = append(all, note(gen.AttentionKindQueuePressure, int(c.Depth), since, about, "queue %s refuses new work: %d of %d tasks", c.Name, c.Depth, *c.Capacity))
		case gen.QueuePressureAlert, gen.QueuePressureNormal:
			all = append(all, note(gen.AttentionKindQueuePressure, int(c.Depth), since, about, "queue %s fills up: %d of %d tasks", c.Name, c.Depth, *c.Capacity))
		}
	}
	for _, hold := range holds {
		switch {
		case hold.Kind == "queue":
			all = append(all, note(gen.AttentionKindQueuePaused, waiting[hold.Name], hold.HeldAt, func(a *gen.Attention) { a.Queue = &hold.Name }, "%s",
				because(fmt.Sprintf("queue %s is paused by %s", hold.Name, hold.Actor), hold.Reason)))
		case f.at.Sub(hold.HeldAt) > heldLong:
			all = append(all, note(gen.AttentionKindHoldOld, 1, hold.HeldAt, func(a *gen.Attention) {
				if id, err := uuid.Parse(hold.Name); hold.Kind == "run" && err == nil {
					a.Run = &id
				} else {
					a.Flow = &hold.Name
				}
			}, "%s", because(fmt.Sprintf("%s %s has been paused for more than an hour by %s", hold.Kind, hold.Name, hold.Actor), hold.Reason)))
		}
	}
	return all
}

func (h *Handlers) switchesOff(ctx context.Context, _ *db.Queries, c *control.Client, now time.Time) ([]attention, error) {
	settings, err := c.Settings(ctx)
	if err != nil {
		return nil, err
	}
	var all []attention
	for _, s := range settings {
		if s.On {
			continue
		}
		since := now
		if s.UpdatedAt != nil {
			since = *s.UpdatedAt
		}
		all = append(all, note(gen.AttentionKindSwitchOff, 1, since, func(a *gen.Attention) { a.Setting = &s.Name }, "%s", because("the switch "+s.Name+" is off", s.Says)))
	}
	return all, nil
}

func (h *Handlers) openCircuits(ctx context.Context, _ *db.Queries, c *control.Client, _ time.Time) ([]attention, error) {
	circuits, err := c.Circuits(ctx)
	if err != nil {
		return nil, err
	}
	var all []attention
	for _, x := range circuits {
		if x.State == "closed" {
			continue
		}
		since, reason := x.UpdatedAt, cmp.Or(x.LastError, x.Reason)
		if x.OpenedAt != nil {
			since = *x.OpenedAt
		}
		if x.Manual {
			reason = cmp.Or(x.Reason, "by "+x.Actor)
		}
		all = append(all, note(gen.AttentionKindCircuitOpen, 1, since, func(a *gen.Attention) {
			a.Circuit = &gen.CircuitName{Kind: gen.CircuitKind(x.Kind), Name: x.Name}
		}, "%s", because(fmt.Sprintf("the circuit of the %s %s is %s", x.Kind, x.Name, x.State), reason)))
	}
	return all, nil
}

// runsInNeed are runs that are stuck, late, or have failed lately, by flow.
func (h *Handlers) runsInNeed(ctx context.Context, q *db.Queries, c *control.Client, now time.Time) ([]attention, error) {
	var all []attention
	total := 0
	of := func(kind gen.AttentionKind, flow string, n int32, since time.Time, example uuid.UUID, text string) {
		total += int(n)
		all = append(all, note(kind, int(n), since, func(a *gen.Attention) {
			a.Flow = &flow
			if n == 1 {
				a.Run = &example
			}
		}, "%s", text))
	}
	stuck, err := q.StuckRuns(ctx, db.StuckRunsParams{Namespace: c.Namespace(), Most: mostAttentionRuns})
	if err != nil {
		return nil, reading("what is stuck", err)
	}
	for _, r := range stuck {
		of(gen.AttentionKindRunStuck, r.Flow, r.N, r.Since, r.Example, fmt.Sprintf("%s of %s: the engine cannot decide %s (%s)", plural(int(r.N), "run", "runs"), r.Flow, them(r.N), r.Code))
	}
	late, err := q.LateRuns(ctx, db.LateRunsParams{Namespace: c.Namespace(), Most: mostAttentionRuns})
	if err != nil {
		return nil, reading("what is late", err)
	}
	for _, r := range late {
		of(gen.AttentionKindRunLate, r.Flow, r.N, r.Since, r.Example, plural(int(r.N), "run of "+r.Flow+" is late", "runs of "+r.Flow+" are late"))
	}
	total = 0
	failed, err := q.FailedRuns(ctx, db.FailedRunsParams{Namespace: c.Namespace(), First: idsFrom(now.Add(-2 * lately)), Most: mostAttentionRuns, Since: now.Add(-lately)})
	if err != nil {
		return nil, reading("what has failed", err)
	}
	before := len(all)
	for _, r := range failed {
		of(gen.AttentionKindRunsFailed, r.Flow, r.N, r.Since, r.Example, plural(int(r.N), "run of "+r.Flow+" has failed", "runs of "+r.Flow+" have failed")+" in the last 24 h")
	}
	if total >= mostAttentionRuns {
		for i := range all[before:] {
			all[before+i].AtLeast = opt(true)
		}
	}
	return all, nil
}

func them(n int32) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// mostDeadNamed is how many groups of dead letters are told with their errors.
const mostDeadNamed = 10

func (h *Handlers) deadLetters(ctx context.Context, q *db.Queries, c *control.Client, _ time.Time) ([]attention, error) {
	groups, err := q.DeadLook(ctx, db.DeadLookParams{Namespace: c.Namespace(), Most: mostDeadRows})
	if err != nil {
		return nil, reading("the dead letters", err)
	}
	groups = groups[:min(len(groups), mostAttention)]
	var examples []uuid.UUID
	for _, g := range groups[:min(len(groups), mostDeadNamed)] {
		examples = append(examples, g.Example)
	}
	errs := make(map[uuid.UUID]control.Failure)
	if len(examples) > 0 {
		rows, err := q.NewestOfDead(ctx, examples)
		if err != nil {
			return nil, reading("the errors of dead letters", err)
		}
		for _, r := range rows {
			errs[r.ID] = control.FailureOf(r.Error)
		}
	}
	var all []attention
	for _, g := range groups {
		v, err := c.Pinned(ctx, g.VersionID)
		if err != nil || int(g.Ord) >= len(v.Graph.Stages) {
			continue // a version that this binary cannot read has no names
		}
		flow, stage := v.Flow, v.Graph.Stages[g.Ord].Name
		reason := ""
		if e := h.failure(ctx, flow, stage, errs[g.Example]); e != nil {
			reason = e.Message
		}
		all = append(all, note(gen.AttentionKindDeadLetters, int(g.N), g.Since, func(a *gen.Attention) {
			a.Flow, a.Stage, a.Fingerprint = &flow, &stage, opt(g.Fingerprint)
		}, "%s", because(fmt.Sprintf("%s of %s/%s", plural(int(g.N), "dead shard", "dead shards"), flow, stage), reason)))
	}
	return all, nil
}

func (h *Handlers) endedReplays(ctx context.Context, q *db.Queries, c *control.Client, now time.Time) ([]attention, error) {
	rows, err := q.StoppedReplays(ctx, db.StoppedReplaysParams{First: idsFrom(now.Add(-lately)), Namespace: c.Namespace(), Most: mostAttention})
	if err != nil {
		return nil, reading("the replays", err)
	}
	var all []attention
	for _, r := range rows {
		all = append(all, note(gen.AttentionKindReplayStopped, int(r.Failed), r.Since, func(a *gen.Attention) { a.Replay = &r.ID }, "%s", because("a replay has stopped", r.Note)))
	}
	return all, nil
}

func (h *Handlers) silentWebhooks(ctx context.Context, q *db.Queries, c *control.Client, now time.Time) ([]attention, error) {
	rows, err := q.FailingWebhooks(ctx, db.FailingWebhooksParams{Namespace: c.Namespace(), Most: mostAttention})
	if err != nil {
		return nil, reading("the webhooks", err)
	}
	var all []attention
	for _, r := range rows {
		about := func(a *gen.Attention) { a.Webhook = &r.ID }
		if r.DisabledAt != nil {
			all = append(all, note(gen.AttentionKindDeliveryFailing, 1, *r.DisabledAt, about, "the webhook %s is disabled: its receiver says that it is gone", r.Name))
			continue
		}
		all = append(all, note(gen.AttentionKindDeliveryFailing, 1, *r.FailingSince, about, "the webhook %s delivers nothing for %.0f min", r.Name, now.Sub(*r.FailingSince).Minutes()))
	}
	return all, nil
}
