package dispatch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/engine/dispatch/board"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/pipe"
	"axflow/sql/span"
	"axflow/stage"
)

// laneKey is what the window is counted by: spans of one stage in one queue at one level. Whatever keeps a stage back (its
// limit, its circuit, no worker, full pools) keeps no other stage's spans out of memory.
type laneKey struct {
	namespace, queue string
	level            stage.Level
	version          int32
	ord              int16
}

func laneOf(r *span.Ready) laneKey {
	return laneKey{r.Namespace, r.Queue, r.Level, r.VersionID, r.Ord}
}

// lane is the part of a lane that is in memory.
type lane struct {
	key  laneKey
	ids  map[uuid.UUID]struct{}
	more bool // the database holds further spans behind these, besides the skipped ones
	skipping
}

// place is where a span in memory is counted.
type place struct {
	lane *lane
	run  uuid.UUID
	key  string
	late bool // an attempt after the first
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
// not at all when it is later, its run is held, or its lane is full: the window comes to it.
func (l *Loop) admit(ctx context.Context, r span.Ready) error {
	ln := l.lane(laneOf(&r))
	if p, here := l.known[r.ID]; here && p.lane != ln {
		l.drop(r.ID) // its level has changed: it stands in another lane
	}
	if _, here := ln.ids[r.ID]; !here && (ln.skips(&r) || ln.more || len(ln.ids) >= 2*l.perLane) {
		if !ln.skips(&r) {
			l.setMore(ln, true)
		}
		return nil
	}
	return l.enter(ctx, ln, r)
}

// enter is admit for a span that the window has room for.
func (l *Loop) enter(ctx context.Context, ln *lane, r span.Ready) error {
	if _, held := l.policies.runs[r.Run]; held {
		l.drop(r.ID)
		return nil
	}
	v, err := l.cfg.Versions.Get(ctx, l.q, r.VersionID)
	if err != nil {
		if l.cfg.Versions.Unreadable(err) {
			return nil // the resolver sets the run aside
		}
		return err
	}
	now := l.cfg.Now()
	if early(&r, now) {
		if _, waits := l.timers[r.ID]; waits {
			return nil // its wait has begun
		}
	}
	if r.NotBefore.After(now.Add(l.horizon())) {
		l.drop(r.ID)
		return nil
	}
	if v.Graph.Stages[r.Ord].Timeout.Overall > 0 {
		l.expiries.meet(span.StageKey{Run: r.Run, Ord: r.Ord})
	}
	if _, here := ln.ids[r.ID]; !here {
		ln.ids[r.ID] = struct{}{}
		l.known[r.ID] = place{ln, r.Run, r.Key, late(&r)}
		ln.count(&r)
	}
	if h, ok := l.timers[r.ID]; ok {
		l.wheel.Cancel(h)
		delete(l.timers, r.ID)
	}
	if r.NotBefore.After(now) {
		l.board.RemoveSpan(r.ID)
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
	s := BoardSpan(v, &r)
	switch l.board.AddSpan(l.cfg.Now(), s) {
	case board.Pending:
	case board.NotDue:
		// The wheel fires by the millisecond; the rest of one is waited out.
		l.remind(time.Millisecond, reminder{spans: []uuid.UUID{r.ID}})
	default:
		l.cfg.Logger.Error("a ready row cannot be dispatched", "run", r.Run, "stage", r.Ord, "span", r.ID, "level", r.Level, "todo", r.Set.String())
		l.forget(r.ID)
	}
}

// forget drops a span from its lane's count, and has the lane loaded again when it runs low.
func (l *Loop) forget(id uuid.UUID) {
	p, ok := l.known[id]
	if !ok {
		return
	}
	ln := p.lane
	delete(ln.ids, id)
	delete(l.known, id)
	if ln.uncount(&p) {
		l.reloadLane(ln)
	}
	if ln.more && len(ln.ids)-ln.skipped() < l.perLane/2 {
		l.stale[ln] = struct{}{}
	}
}

// reloadLane has a lane loaded again, soon: what asks for it may come by the thousand.
func (l *Loop) reloadLane(ln *lane) {
	if ln.reloading {
		return
	}
	ln.reloading = true
	l.remind(laneRest, reminder{lane: ln.key})
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

func (l *Loop) setMore(ln *lane, more bool) {
	ln.more = more
	if more {
		l.crowded[ln] = struct{}{}
	} else {
		delete(l.crowded, ln)
	}
}

// loadWindow compares every lane with the database: new spans come in, vanished ones go.
func (l *Loop) loadWindow(ctx context.Context) error {
	if err := l.lookAhead(ctx); err != nil {
		return err
	}
	rows, err := l.q.ReadyLanes(ctx)
	if err != nil {
		return fmt.Errorf("looking for what is ready: %w", err)
	}
	l.perLane = perLane(l.cfg.PerLane, len(rows))
	there := make(map[laneKey]struct{}, len(rows))
	lanes := make([]*lane, 0, len(rows))
	for _, row := range rows {
		k := laneKey{row.Namespace, row.Queue, stage.Level(row.Level), row.VersionID, row.Ord}
		there[k] = struct{}{}
		lanes = append(lanes, l.lane(k))
	}
	for k, ln := range l.lanes {
		if _, ok := there[k]; !ok {
			l.empty(ln)
		}
	}
	return l.loadLanes(ctx, lanes)
}

// empty forgets a lane that holds nothing.
func (l *Loop) empty(ln *lane) {
	l.setMore(ln, false)
	ln.skipping = skipping{}
	for id := range ln.ids {
		l.drop(id)
	}
	delete(l.stale, ln)
	delete(l.lanes, ln.key)
}

// perLane shares the window's memory among the lanes.
func perLane(most, lanes int) int {
	return max(1, most/20, min(most, 10*most/max(1, lanes)))
}

const (
	// lanesAtOnce is how many lanes one round trip loads.
	lanesAtOnce = 256
	// laneRest is the least time between two loads of a lane for the sake of spans that were skipped.
	laneRest = 100 * time.Millisecond
)

// loadStale loads the lanes that have run low.
func (l *Loop) loadStale(ctx context.Context) error {
	if len(l.stale) == 0 {
		return nil
	}
	lanes := make([]*lane, 0, len(l.stale))
	for ln := range l.stale {
		lanes = append(lanes, ln)
	}
	clear(l.stale)
	if err := l.loadLanes(ctx, lanes); err != nil {
		for _, ln := range lanes {
			l.stale[ln] = struct{}{}
		}
		return err
	}
	return nil
}

func (l *Loop) loadLanes(ctx context.Context, lanes []*lane) error {
	for part := range slices.Chunk(lanes, lanesAtOnce) {
		if err := l.loadSome(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loop) loadSome(ctx context.Context, lanes []*lane) error {
	held := l.policies.heldRuns()
	answers := make([][]db.LaneSpansRow, len(lanes))
	var skipped []uuid.UUID
	p := pipe.New()
	for i, ln := range lanes {
		k := &ln.key
		_, _ = p.LaneSpans(ctx, db.LaneSpansParams{Namespace: k.namespace, Queue: k.queue, Level: int16(k.level), VersionID: k.version,
			Ord: k.ord, HorizonS: (l.horizon() + l.ahead).Seconds(), HeldRuns: held, FullKeys: ln.fullKeys(), NoRetries: ln.late != nil, PerLane: int32(l.perLane)})
		pipe.Rows(p, &answers[i])
		skipped = l.appendSkipped(skipped, ln)
	}
	var still []db.ReadySpansRow
	if len(skipped) > 0 { // they are in no lane's answer
		_, _ = p.ReadySpans(ctx, skipped)
		pipe.Rows(p, &still)
	}
	if err := p.Send(ctx, l.cfg.Conn); err != nil {
		return fmt.Errorf("loading the window: %w", err)
	}
	there := make(map[uuid.UUID]struct{}, len(still))
	for i := range still {
		there[still[i].ID] = struct{}{}
	}
	for i, ln := range lanes {
		if err := l.fill(ctx, ln, answers[i], there); err != nil {
			return err
		}
	}
	for i := range still { // their rows may have changed
		r, err := readySpan(&still[i])
		if err != nil {
			return err
		}
		if err := l.admit(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// fill makes a lane what the database says it is; kept are the skipped spans that are still there.
func (l *Loop) fill(ctx context.Context, ln *lane, rows []db.LaneSpansRow, kept map[uuid.UUID]struct{}) error {
	ln.reloading, ln.judged = false, time.Time{}
	seen := make(map[uuid.UUID]struct{}, len(rows))
	for i := range rows {
		seen[rows[i].ID] = struct{}{}
	}
	full := len(rows) >= l.perLane
	l.setMore(ln, false) // what goes must not ask for another load
	for id := range ln.ids {
		if _, ok := seen[id]; ok {
			continue
		}
		if _, ok := kept[id]; !ok {
			l.drop(id)
		}
	}
	for i := range rows {
		r, err := readySpan((*db.ReadySpansRow)(&rows[i]))
		if err != nil {
			return err
		}
		if p, here := l.known[r.ID]; here && p.lane != ln {
			l.drop(r.ID)
		}
		if err := l.enter(ctx, ln, r); err != nil {
			return err
		}
	}
	l.setMore(ln, full)
	if len(ln.ids) == 0 && !full && ln.skipped() == 0 {
		l.empty(ln)
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
		l.refresh = ids
		return fmt.Errorf("loading %d spans: %w", len(ids), err)
	}
	there := make(map[uuid.UUID]struct{}, len(rows))
	for i := range rows {
		there[rows[i].ID] = struct{}{}
		r, err := readySpan(&rows[i])
		if err != nil {
			return err
		}
		if err := l.admit(ctx, r); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if _, ok := there[id]; !ok {
			l.drop(id)
		}
	}
	return nil
}

func readySpan(row *db.ReadySpansRow) (span.Ready, error) {
	set, err := shard.ParseSet(row.Todo)
	if err != nil {
		return span.Ready{}, fmt.Errorf("reading the set of ready row %s: %w", row.ID, err)
	}
	return span.Ready{Set: set, NotBefore: row.NotBefore, Header: span.Header{ID: row.ID, Run: row.RunID, VersionID: row.VersionID,
		Ord: row.Ord, Generation: row.Generation, Kind: span.Kind(row.Kind), Attempt: row.Attempt, Delivery: row.Delivery,
		Losses: row.Losses, Level: stage.Level(row.Level), Namespace: row.Namespace, Queue: row.Queue, Key: row.Key, ReadyAt: row.ReadyAt}}, nil
}
