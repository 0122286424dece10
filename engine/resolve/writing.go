package resolve

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/pipe"
	"axflow/sql/span"
	"axflow/stage"
)

// writing collects the rows of a Resolve.
type writing struct {
	answer *Answer
	room   Room
	epoch  int64
	apply  db.ApplyDecisionsParams
	ends   db.EndRunsParams
	byID   map[span.StageKey]int // position in apply
	spans  []span.Ready          // by position in apply
	held   []Grant               // by position in apply; zero: none
	works  []*work               // by position in apply
	ending map[uuid.UUID]*work
	// awaited are runs that have ended and that tasks of other runs wait for.
	awaited []uuid.UUID
	told    bool // there are deliveries to webhooks
}

func (w *writing) decide(x *work) {
	look := func(ord int) (flow.Status, bool) { s, ok := x.status[ord]; return s, ok }
	if x.state == stage.RunCancelling {
		for _, d := range flow.ResolveCancelling(x.v.Graph, look, nil) {
			w.add(x, d)
		}
	}
	if x.state == stage.RunRunning {
		for _, d := range flow.Resolve(x.v.Graph, look, x.candidates) {
			w.add(x, d)
		}
		if late := expired(x.v.Graph, look, x.waited); len(late) > 0 {
			for _, d := range late {
				w.add(x, d)
			}
			for _, d := range flow.Resolve(x.v.Graph, look, nil) {
				w.add(x, d)
			}
		}
	}
	if state, over := flow.Outcome(x.v.Graph, look); over {
		if x.state == stage.RunCancelling {
			state = stage.RunCancelled
		}
		w.ending[x.id] = x
		w.ends.Ended = append(w.ends.Ended, x.id)
		w.ends.States = append(w.ends.States, int16(state))
	}
}

// add writes one decision down and keeps the run's states in step, so that the outcome sees it.
func (w *writing) add(x *work, d flow.Decision) {
	spec := &x.v.Graph.Stages[d.Ord]
	state := control.StateOf(d.Act)
	st := x.status[d.Ord]
	st.State = state
	h := span.Header{ID: uuid.Must(uuid.NewV7()), Run: x.id, VersionID: x.v.ID, Ord: int16(d.Ord), Generation: x.generation[d.Ord],
		Attempt: 1, Delivery: 1, Level: x.levelOf(d.Ord), Namespace: x.v.Namespace, Queue: x.queue, Key: x.keys[d.Ord]}
	if spec.Queue != "" {
		h.Queue = spec.Queue
	}
	const none, ready, flight, parked = 0, 1, 2, 3
	place, total, tolerate, set := none, -1, 0, shard.Set{}
	switch d.Act {
	case flow.Release:
		place, total, set = ready, 1, shard.Span(0, 1)
	case flow.Plan:
		place, set, h.Kind = ready, shard.Span(span.PlanIndex, 0), span.Plan
		h.Key = "" // a plan counts against no key
	case flow.Align:
		total = x.status[spec.AlignedTo].Total
		place, set = parked, shard.Span(0, total)
		tolerate = stage.Tolerated(spec.Tolerate, spec.TolerateShare, total)
	case flow.Succeed:
		total = 0
	case flow.Skip, flow.FailUpstream, flow.Cancel:
	}
	st.Planned, st.Total = total >= 0, max(total, 0)
	x.status[d.Ord] = st
	r := span.Ready{Header: h, Set: set}
	var grant Grant
	if place == ready && w.room != nil && spec.Delay == 0 {
		if g, ok := w.room.Reserve(r); ok {
			grant, place, r.ID = g, flight, g.Flight
		}
	}
	a := &w.apply
	w.byID[span.StageKey{Run: x.id, Ord: h.Ord}] = len(a.Ords)
	w.spans, w.held, w.works = append(w.spans, r), append(w.held, grant), append(w.works, x)
	a.StageRuns = append(a.StageRuns, x.id)
	a.Ords = append(a.Ords, h.Ord)
	a.Generations = append(a.Generations, h.Generation)
	a.States = append(a.States, int16(state))
	a.Totals = append(a.Totals, int32(total))
	a.Reasons = append(a.Reasons, d.Reason)
	a.SpanIds = append(a.SpanIds, r.ID)
	a.SpanPlaces = append(a.SpanPlaces, int16(place))
	a.WorkerIds = append(a.WorkerIds, grant.Worker)
	a.Kinds = append(a.Kinds, int16(h.Kind))
	a.Ns = append(a.Ns, int32(set.Len()))
	a.Todos = append(a.Todos, set.String())
	a.DelaysS = append(a.DelaysS, spec.Delay.Seconds())
	a.OverallsS = append(a.OverallsS, spec.Timeout.Overall.Seconds())
	a.Keys = append(a.Keys, h.Key)
	a.Tolerates = append(a.Tolerates, int32(tolerate))
	a.VersionIds = append(a.VersionIds, h.VersionID)
	a.Levels = append(a.Levels, int16(h.Level))
	a.Namespaces = append(a.Namespaces, h.Namespace)
	a.Queues = append(a.Queues, h.Queue)
}

// levelOf is the level of new work of a stage: an operator's for the stage, or for the run, else the stage's own, else
// the run's.
func (x *work) levelOf(ord int) stage.Level {
	if l, ok := x.levels[ord]; ok {
		return l
	}
	if x.forced != nil {
		return *x.forced
	}
	if l := x.v.Graph.Stages[ord].Level; l != nil {
		return *l
	}
	return x.level
}

func (w *writing) commit(ctx context.Context, conn Conn) error {
	p := pipe.New()
	var applied []db.ApplyDecisionsRow
	var ended []db.EndRunsRow
	if len(w.apply.Ords) > 0 {
		w.apply.RunIds, w.apply.Epoch = distinct(w.apply.StageRuns), int32(w.epoch)
		_, _ = p.ApplyDecisions(ctx, w.apply)
		pipe.Rows(p, &applied)
	}
	if len(w.ends.Ended) > 0 {
		w.ends.FromStates = runFrom
		_, _ = p.EndRuns(ctx, w.ends)
		pipe.Rows(p, &ended)
		if budgeted := w.budgeted(); len(budgeted) > 0 {
			_ = p.DropExpiriesOf(ctx, budgeted)
		}
	}
	p.Text("commit")
	if err := p.Send(ctx, conn); err != nil {
		rollback(ctx, conn)
		return err
	}
	w.receive(applied, ended)
	return nil
}

// receive sorts what was written by where it has to go.
func (w *writing) receive(applied []db.ApplyDecisionsRow, ended []db.EndRunsRow) {
	a := w.answer
	a.Changed = len(applied) + len(ended)
	for _, row := range applied {
		i := w.byID[span.StageKey{Run: row.RunID, Ord: row.Ord}]
		r, grant := w.spans[i], w.held[i]
		if row.ReadyAt != nil {
			r.ReadyAt, r.NotBefore = *row.ReadyAt, row.ReadyAt.Add(w.works[i].v.Graph.Stages[row.Ord].Delay)
			if w.works[i].late(*row.ReadyAt, w.works[i].v.Graph.Stages[row.Ord].Upstreams) {
				a.Late++
			}
		}
		switch w.apply.SpanPlaces[i] {
		case 1:
			a.Ready = append(a.Ready, r)
		case 2:
			a.Flights = append(a.Flights, span.Assignment{Header: r.Header, Par: 1, DispatchedAt: r.ReadyAt, Set: r.Set, Params: w.works[i].params})
			a.Workers = append(a.Workers, grant.Worker)
			w.held[i] = Grant{}
		case 3:
			// Aligned upstream shards may have succeeded already.
			a.Aligned = append(a.Aligned, span.StageKey{Run: row.RunID, Ord: row.Ord})
		}
	}
	a.Refused = w.grants()
	for _, e := range ended {
		a.Ended = append(a.Ended, e.RunID)
		w.told = w.told || e.Told
		x := w.ending[e.RunID]
		x.ended = stage.RunState(e.State)
		if x.child {
			w.awaited = append(w.awaited, e.RunID)
		}
		if e.FinishedAt != nil && x.late(*e.FinishedAt, nil) {
			a.Late++
		}
	}
}

// budgeted are the runs that end and may have stages with a budget of time.
func (w *writing) budgeted() []uuid.UUID {
	var ids []uuid.UUID
	for id, x := range w.ending {
		if slices.ContainsFunc(x.v.Graph.Stages, func(s flow.StageSpec) bool { return s.Timeout.Overall > 0 }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// late tells whether what was decided at that time could have been decided long before: when the named stages
// (nil: all) were finished.
func (x *work) late(at time.Time, ords []int) bool {
	var newest time.Time
	see := func(t time.Time) {
		if t.After(newest) {
			newest = t
		}
	}
	if ords == nil {
		for _, t := range x.finished {
			see(t)
		}
	}
	for _, ord := range ords {
		see(x.finished[ord])
	}
	return !newest.IsZero() && at.Sub(newest) > LateAfter
}

// grants are the reservations that were not used.
func (w *writing) grants() []Grant {
	var unused []Grant
	for _, g := range w.held {
		if g != (Grant{}) {
			unused = append(unused, g)
		}
	}
	return unused
}
