// Package resolve turns decided stages into decisions about their dependents, and runs whose stages are all
// decided into ended runs. The rules are flow.Resolve's; this package brings it the states it needs, under the
// run's lock, and writes down what it says.
package resolve

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/pipe"
	"axflow/sql/span"
	"axflow/sql/versions"
	"axflow/stage"
)

// LateAfter is how long something may have been decidable before its decision counts as late: the fast path
// must have missed it.
const LateAfter = 2 * time.Second

// Grant is a slot on a worker that a released span may take at once.
type Grant struct {
	Flight uuid.UUID
	Worker uuid.UUID
}

// Room hands out slots. A nil Room has none.
type Room interface {
	// Reserve takes a slot for a span of one index, if nothing that waits should have it first.
	Reserve(span.Ready) (Grant, bool)
}

// Resolver decides. It is used by one goroutine at a time.
type Resolver struct {
	Versions *versions.Cache
	Fence    axsql.Fence
	Logger   *slog.Logger
	Stuck    *atomic.Uint64 // counts runs that were set aside
}

// News is what to look at.
type News struct {
	Stages []span.StageKey // were decided or planned: their dependents
	Runs   []uuid.UUID     // all stages
}

// Answer is what a Resolve did.
type Answer struct {
	Ready   []span.Ready      // rows made ready
	Flights []span.Assignment // handed out at once; Worker says to whom
	Workers []uuid.UUID       // of Flights, by position
	Refused []Grant           // reserved but not used
	Ended   []uuid.UUID       // runs
	Busy    News              // runs that another transaction held: try again soon
	Aligned []span.StageKey   // stages whose shards wait for aligned upstream shards
	Changed int               // stages and runs decided
	Late    int               // of these, decidable for longer than LateAfter
}

// Conn is a connection of the leader's.
type Conn interface {
	span.Conn
}

// work is one run under decision.
type work struct {
	id         uuid.UUID
	v          *versions.Version
	state      stage.RunState
	level      stage.Level
	queue      string
	params     []byte
	status     map[int]flow.Status
	generation map[int]int16
	finished   map[int]time.Time
	waited     map[int]time.Duration // since the stage began to wait
	candidates []int                 // nil: all
}

// Resolve decides the dependents of what the news names, in one fenced transaction of two round trips. Runs
// that somebody else holds are skipped and come back as Busy. A run's own fault (its graph cannot be read)
// sets that run aside as stuck and does not stop the others.
func (r *Resolver) Resolve(ctx context.Context, conn Conn, news News, room Room) (Answer, error) {
	runs, ords := r.group(news)
	ids := make([]uuid.UUID, 0, len(runs))
	for id := range runs {
		ids = append(ids, id)
	}
	sortIDs(ids)
	var heads []db.LockRunsRow
	var all []db.StagesOfRow
	p := pipe.New()
	p.Text("begin")
	_ = r.Fence.Hold(ctx, p.Queries)
	_, _ = p.LockRuns(ctx, ids)
	pipe.Rows(p, &heads)
	_, _ = p.StagesOf(ctx, ids)
	pipe.Rows(p, &all)
	if err := p.Send(ctx, conn); err != nil {
		rollback(ctx, conn)
		return Answer{}, fmt.Errorf("reading %d runs to resolve: %w", len(ids), axsql.Fenced(err))
	}
	var a Answer
	works, err := r.collect(ctx, conn, heads, all, ords, &a, news)
	if err != nil {
		rollback(ctx, conn)
		return Answer{}, err
	}
	w := writing{answer: &a, epoch: r.Fence.Epoch, room: room, byID: make(map[span.StageKey]int), ending: make(map[uuid.UUID]*work)}
	for _, x := range works {
		w.decide(x)
	}
	if err := w.commit(ctx, conn); err != nil {
		return Answer{Refused: w.grants()}, fmt.Errorf("resolving %d runs: %w", len(works), axsql.Fenced(err))
	}
	return a, nil
}

// group collects the news by run; ords is nil for runs that are to be looked at as a whole.
func (r *Resolver) group(news News) (runs map[uuid.UUID]bool, ords map[uuid.UUID][]int) {
	runs, ords = make(map[uuid.UUID]bool), make(map[uuid.UUID][]int)
	for _, k := range news.Stages {
		runs[k.Run] = true
		ords[k.Run] = append(ords[k.Run], int(k.Ord))
	}
	for _, id := range news.Runs {
		runs[id] = true
		delete(ords, id)
	}
	return runs, ords
}

func (r *Resolver) collect(ctx context.Context, conn Conn, heads []db.LockRunsRow, all []db.StagesOfRow, ords map[uuid.UUID][]int, a *Answer, news News) ([]*work, error) {
	q := db.New(conn)
	locked := make(map[uuid.UUID]*work, len(heads))
	works := make([]*work, 0, len(heads))
	for _, h := range heads {
		v, err := r.Versions.Get(ctx, q, h.VersionID)
		if err != nil {
			if !r.Versions.Unreadable(err) {
				return nil, err
			}
			r.Logger.Error("run set aside: its flow version cannot be read", "run", h.RunID, "err", err)
			if err := q.MarkStuck(ctx, db.MarkStuckParams{Code: CodeGraph, RunID: h.RunID}); err != nil {
				return nil, fmt.Errorf("setting run %s aside: %w", h.RunID, err)
			}
			r.Stuck.Add(1)
			continue
		}
		x := &work{id: h.RunID, v: v, state: stage.RunState(h.State), level: stage.Level(h.Level), queue: h.Queue, params: h.Params,
			status: make(map[int]flow.Status, len(v.Graph.Stages)), generation: make(map[int]int16), finished: make(map[int]time.Time), waited: make(map[int]time.Duration)}
		for _, ord := range ords[h.RunID] {
			x.candidates = append(x.candidates, v.Graph.Dependents(ord)...)
		}
		if ords[h.RunID] != nil && x.candidates == nil {
			x.candidates = []int{}
		}
		locked[h.RunID] = x
		works = append(works, x)
	}
	for _, s := range all {
		x := locked[s.RunID]
		if x == nil {
			continue
		}
		x.status[int(s.Ord)] = flow.Status{State: stage.StageState(s.State), Planned: s.ShardTotal >= 0, Total: int(max(s.ShardTotal, 0))}
		x.generation[int(s.Ord)] = s.Generation
		x.waited[int(s.Ord)] = seconds(s.WaitedS)
		if s.FinishedAt != nil {
			x.finished[int(s.Ord)] = *s.FinishedAt
		}
	}
	if err := busy(ctx, q, news, locked, a); err != nil {
		return nil, err
	}
	return works, nil
}

// busy notes the news of runs that were not locked although they are open: somebody else holds them. News of runs
// that have ended, were set aside, or are gone is forgotten.
func busy(ctx context.Context, q *db.Queries, news News, locked map[uuid.UUID]*work, a *Answer) error {
	var missing []uuid.UUID
	for _, k := range news.Stages {
		if locked[k.Run] == nil {
			missing = append(missing, k.Run)
		}
	}
	for _, id := range news.Runs {
		if locked[id] == nil {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	held, err := q.OpenAmong(ctx, distinct(missing))
	if err != nil {
		return fmt.Errorf("looking at %d runs that others may hold: %w", len(missing), err)
	}
	for _, k := range news.Stages {
		if slices.Contains(held, k.Run) && locked[k.Run] == nil {
			a.Busy.Stages = append(a.Busy.Stages, k)
		}
	}
	for _, id := range news.Runs {
		if slices.Contains(held, id) && locked[id] == nil {
			a.Busy.Runs = append(a.Busy.Runs, id)
		}
	}
	return nil
}

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
}

func (w *writing) decide(x *work) {
	look := func(ord int) (flow.Status, bool) { s, ok := x.status[ord]; return s, ok }
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
		Attempt: 1, Delivery: 1, Level: x.level, Namespace: x.v.Namespace, Queue: x.queue}
	if spec.Level != nil {
		h.Level = *spec.Level
	}
	if spec.Queue != "" {
		h.Queue = spec.Queue
	}
	const none, ready, flight, parked = 0, 1, 2, 3
	place, total, set := none, -1, shard.Set{}
	switch d.Act {
	case flow.Release:
		place, total, set = ready, 1, shard.Span(0, 1)
	case flow.Plan:
		place, set, h.Kind = ready, shard.Span(span.PlanIndex, 0), span.Plan
	case flow.Align:
		total = x.status[spec.AlignedTo].Total
		place, set = parked, shard.Span(0, total)
	case flow.Succeed:
		total = 0
	case flow.Skip, flow.FailUpstream:
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
	a.VersionIds = append(a.VersionIds, h.VersionID)
	a.Levels = append(a.Levels, int16(h.Level))
	a.Namespaces = append(a.Namespaces, h.Namespace)
	a.Queues = append(a.Queues, h.Queue)
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
		x := w.ending[e.RunID]
		if e.FinishedAt != nil && x.late(*e.FinishedAt, nil) {
			a.Late++
		}
	}
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
