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

	"axflow/flow"
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
	Stuck    *atomic.Uint64                               // counts runs that were set aside
	Ended    func(namespace string, state stage.RunState) // is called for each run that has ended; nil: nobody counts
	Told     func()                                       // is called when a run has ended that webhooks are to be told of; nil: nobody is
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
	forced     *stage.Level // an operator's, above what stages declare
	child      bool         // a task of another run waits for this one
	queue      string
	params     []byte
	status     map[int]flow.Status
	generation map[int]int16
	finished   map[int]time.Time
	waited     map[int]time.Duration // since the stage began to wait
	levels     map[int]stage.Level   // operators', above everything else
	keys       map[int]string
	candidates []int // nil: all
	ended      stage.RunState
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
	if r.Ended != nil {
		for _, id := range a.Ended {
			r.Ended(w.ending[id].v.Namespace, w.ending[id].ended)
		}
	}
	if w.told && r.Told != nil {
		r.Told()
	}
	r.wake(ctx, conn, w.awaited, &a)
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
		x := &work{id: h.RunID, v: v, state: stage.RunState(h.State), level: stage.Level(h.Level), queue: h.Queue, params: h.Params, child: h.Child,
			levels: make(map[int]stage.Level), keys: make(map[int]string), status: make(map[int]flow.Status, len(v.Graph.Stages)), generation: make(map[int]int16), finished: make(map[int]time.Time), waited: make(map[int]time.Duration)}
		if h.ForcedLevel != nil {
			forced := stage.Level(*h.ForcedLevel)
			x.forced = &forced
		}
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
		x.keys[int(s.Ord)] = s.Key
		if s.Level != nil {
			x.levels[int(s.Ord)] = stage.Level(*s.Level)
		}
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
