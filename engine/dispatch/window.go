package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/engine/dispatch/board"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/sql/versions"
	"axflow/stage"
)

// laneKey is what the window is counted by: one lane's flood keeps no other lane out.
type laneKey struct {
	namespace, queue string
	level            stage.Level
}

// lane is the part of a lane that is in memory.
type lane struct {
	key  laneKey
	ids  map[uuid.UUID]struct{}
	more bool // the database holds further spans behind these
}

func (l *Loop) lane(k laneKey) *lane {
	ln := l.lanes[k]
	if ln == nil {
		ln = &lane{key: k, ids: make(map[uuid.UUID]struct{})}
		l.lanes[k] = ln
	}
	return ln
}

// admit takes a ready row in: on the Board when it is due, in the wheel when it will be within the horizon, and
// not at all when it is later or its lane is full: the window comes to it.
func (l *Loop) admit(ctx context.Context, r span.Ready) error {
	ln := l.lane(laneKey{r.Namespace, r.Queue, r.Level})
	if _, here := ln.ids[r.ID]; !here && (ln.more || len(ln.ids) >= 2*l.cfg.PerLane) {
		ln.more = true
		return nil
	}
	if _, err := l.cfg.Versions.Get(ctx, l.q, r.VersionID); err != nil {
		if l.cfg.Versions.Unreadable(err) {
			return nil // the resolver sets the run aside
		}
		return err
	}
	now := l.cfg.Now()
	if r.NotBefore.After(now.Add(l.cfg.Horizon)) {
		return nil
	}
	ln.ids[r.ID] = struct{}{}
	l.known[r.ID] = ln
	if h, ok := l.timers[r.ID]; ok {
		l.wheel.Cancel(h)
		delete(l.timers, r.ID)
	}
	if r.NotBefore.After(now) {
		l.timers[r.ID] = l.wheel.Add(r.NotBefore, timer{span: r})
		return nil
	}
	l.pend(r)
	return nil
}

// pend puts a due span on the Board.
func (l *Loop) pend(r span.Ready) {
	v := l.cfg.Versions.Peek(r.VersionID)
	if v == nil {
		return
	}
	switch l.board.AddSpan(l.cfg.Now(), boardSpan(v, r)) {
	case board.Pending:
	case board.NotDue:
		// The wheel fires by the millisecond; the rest of one is waited out.
		l.timers[r.ID] = l.wheel.Add(r.NotBefore.Add(time.Millisecond), timer{span: r})
	default:
		l.cfg.Logger.Error("a ready row cannot be dispatched", "run", r.Run, "stage", r.Ord, "span", r.ID, "level", r.Level, "todo", r.Set.String())
		l.forget(r.ID)
	}
}

// forget drops a span from the lane's count.
func (l *Loop) forget(id uuid.UUID) {
	if ln := l.known[id]; ln != nil {
		delete(ln.ids, id)
		delete(l.known, id)
		if ln.more && len(ln.ids) < l.cfg.PerLane/2 {
			l.reload = true
		}
	}
}

func boardSpan(v *versions.Version, r span.Ready) board.Span {
	spec := &v.Graph.Stages[r.Ord]
	s := board.Span{ID: r.ID, Run: r.Run, Ord: int(r.Ord), Generation: int(r.Generation), Plan: r.Kind == span.Plan,
		Attempt: int(r.Attempt), Delivery: int(r.Delivery), Losses: int(r.Losses), Level: r.Level, Namespace: r.Namespace,
		Queue: r.Queue, Handler: v.Handlers[r.Ord], Todo: r.Set, NotBefore: r.NotBefore, ReadyAt: r.ReadyAt, Limit: spec.Limit,
		Requires: spec.Requires, Cost: spec.Cost, Tx: spec.Tx, Data: r.VersionID}
	if spec.Limit > 0 && !s.Plan {
		s.LimitKey = v.LimitKeys[r.Ord]
	} else {
		s.Limit = 0
	}
	return s
}

// loadWindow compares every lane with the database: new spans come in, vanished ones go.
func (l *Loop) loadWindow(ctx context.Context) error {
	rows, err := l.q.ReadyLanes(ctx, db.ReadyLanesParams{HorizonS: l.cfg.Horizon.Seconds(), PerLane: int32(l.cfg.PerLane)})
	if err != nil {
		return fmt.Errorf("loading the window: %w", err)
	}
	seen := make(map[uuid.UUID]struct{}, len(rows))
	counts := make(map[laneKey]int)
	for _, row := range rows {
		seen[row.ID] = struct{}{}
		counts[laneKey{row.Namespace, row.Queue, stage.Level(row.Level)}]++
	}
	for k, ln := range l.lanes {
		ln.more = counts[k] >= l.cfg.PerLane
		for id := range ln.ids {
			if _, ok := seen[id]; !ok {
				l.drop(id)
			}
		}
		if len(ln.ids) == 0 && counts[k] == 0 {
			delete(l.lanes, k)
		}
	}
	for _, row := range rows {
		r, err := readySpan(db.ReadySpansRow(row))
		if err != nil {
			return err
		}
		ln := l.lane(laneKey{r.Namespace, r.Queue, r.Level})
		full := ln.more
		ln.more = false
		err = l.admit(ctx, r)
		ln.more = full || counts[ln.key] >= l.cfg.PerLane
		if err != nil {
			return err
		}
	}
	return nil
}

// loadSpans reads the ready rows that news named.
func (l *Loop) loadSpans(ctx context.Context) error {
	if len(l.refresh) == 0 {
		return nil
	}
	ids := l.refresh
	l.refresh = nil
	rows, err := l.q.ReadySpans(ctx, ids)
	if err != nil {
		return fmt.Errorf("loading %d spans: %w", len(ids), err)
	}
	for _, row := range rows {
		r, err := readySpan(row)
		if err != nil {
			return err
		}
		if err := l.admit(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// drop takes a span off the Board and out of the wheel.
func (l *Loop) drop(id uuid.UUID) {
	if h, ok := l.timers[id]; ok {
		l.wheel.Cancel(h)
		delete(l.timers, id)
	}
	l.board.RemoveSpan(id)
	l.forget(id)
}

// loadFlights compares the books with the database: a hint about a flight may have been lost.
func (l *Loop) loadFlights(ctx context.Context) error {
	rows, err := l.q.Flights(ctx)
	if err != nil {
		return fmt.Errorf("loading the flights: %w", err)
	}
	there := make(map[uuid.UUID]struct{}, len(rows))
	for _, row := range rows {
		set, err := shard.ParseSet(row.Todo)
		if err != nil {
			return fmt.Errorf("reading the set of flight %s: %w", row.ID, err)
		}
		if set.Empty() {
			continue
		}
		there[row.ID] = struct{}{}
		if l.board.Left(row.ID, set.Len()) {
			continue
		}
		v, err := l.cfg.Versions.Get(ctx, l.q, row.VersionID)
		if err != nil {
			if l.cfg.Versions.Unreadable(err) {
				continue
			}
			return err
		}
		spec := &v.Graph.Stages[row.Ord]
		f := board.Flight{ID: row.ID, Run: row.RunID, Worker: row.WorkerID, Handler: v.Handlers[row.Ord], Namespace: row.Namespace,
			Queue: row.Queue, Level: stage.Level(row.Level), Plan: span.Kind(row.Kind) == span.Plan, Delivery: int(row.Delivery),
			Left: set.Len(), Par: int(row.Par), Since: row.DispatchedAt, Cost: spec.Cost}
		if spec.Limit > 0 && !f.Plan {
			f.LimitKey = v.LimitKeys[row.Ord]
		}
		l.board.AddFlight(f)
		l.flights[row.ID] = flightInfo{f.Handler, row.RunID}
	}
	for id := range l.flights {
		if _, ok := there[id]; !ok {
			l.board.Left(id, 0)
			delete(l.flights, id)
		}
	}
	return nil
}

func readySpan(row db.ReadySpansRow) (span.Ready, error) {
	set, err := shard.ParseSet(row.Todo)
	if err != nil {
		return span.Ready{}, fmt.Errorf("reading the set of ready row %s: %w", row.ID, err)
	}
	return span.Ready{Set: set, NotBefore: row.NotBefore, Header: span.Header{ID: row.ID, Run: row.RunID, VersionID: row.VersionID,
		Ord: row.Ord, Generation: row.Generation, Kind: span.Kind(row.Kind), Attempt: row.Attempt, Delivery: row.Delivery,
		Losses: row.Losses, Level: stage.Level(row.Level), Namespace: row.Namespace, Queue: row.Queue, ReadyAt: row.ReadyAt}}, nil
}
