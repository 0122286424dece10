package worker

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/stage"
)

// unreadablePause is how long work is kept that cannot be run here.
const unreadablePause = time.Second

// intake reads the worker's mailbox until ctx ends.
func (w *Worker) intake(ctx context.Context) {
	box := <-w.boxes
	for {
		select {
		case <-ctx.Done():
			return
		case box = <-w.boxes:
		case <-box.C():
		}
		for _, n := range box.Take() {
			w.take(ctx, n)
		}
	}
}

func (w *Worker) take(ctx context.Context, n hint.Worker) {
	for i := range n.Flights {
		w.adopt(n.Flights[i], 0)
	}
	if len(n.IDs) > 0 {
		w.background(func() {
			if err := w.fetch(ctx, w.q, n.IDs, 0); err != nil && ctx.Err() == nil {
				w.log.Warn("reading handed-out work failed; the next heartbeat looks again", "worker", w.ID(), "err", err)
			}
		})
	}
	if n.Asks {
		w.heart.beatNow()
	}
}

// fetch reads flights of this worker and takes them on. asOf is when the database last named them; 0: unknown.
func (w *Worker) fetch(ctx context.Context, q *db.Queries, ids []uuid.UUID, asOf time.Duration) error {
	ids = slices.DeleteFunc(ids, func(id uuid.UUID) bool { return w.knows(id, asOf) })
	if len(ids) == 0 {
		return nil
	}
	rows, err := q.AssignedFlights(ctx, db.AssignedFlightsParams{WorkerID: w.ID(), Ids: ids})
	if err != nil {
		return fmt.Errorf("reading %d flights: %w", len(ids), err)
	}
	for _, r := range rows {
		set, err := shard.ParseSet(r.Todo)
		if err != nil {
			return fmt.Errorf("reading flight %s: %w", r.ID, err)
		}
		level := stage.P5
		if r.Level >= int16(stage.P0) && r.Level <= int16(stage.P5) {
			level = stage.Level(r.Level)
		}
		w.adopt(span.Assignment{Set: set, Par: int(r.Par), DispatchedAt: r.DispatchedAt,
			Header: span.Header{ID: r.ID, Run: r.RunID, VersionID: r.VersionID, Ord: r.Ord, Generation: r.Generation, Kind: span.Kind(r.Kind),
				Attempt: r.Attempt, Delivery: r.Delivery, Level: level, Namespace: r.Namespace, Queue: r.Queue, ReadyAt: r.ReadyAt}}, asOf)
	}
	return nil
}

// knows tells whether a flight is held, or has ended after asOf.
func (w *Worker) knows(id uuid.UUID, asOf time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known(id, asOf)
}

func (w *Worker) known(id uuid.UUID, asOf time.Duration) bool {
	if _, ok := w.flights[id]; ok {
		return true
	}
	at, ok := w.ended.get(id)
	return ok && (asOf == 0 || at >= asOf)
}

// adopt takes a flight on, once.
func (w *Worker) adopt(a span.Assignment, asOf time.Duration) {
	f := &flight{Assignment: a, total: 1, count: w.throughput.of(a.Queue)}
	if raw, corrupt, err := w.openParams(w.hard, a.Namespace, a.Run, a.Params); err == nil && corrupt == nil {
		f.raw = raw // else reading them says what is wrong
	}
	f.c = w.committers[maphash.Comparable(w.seed, a.ID)%uint64(len(w.committers))]
	w.mu.Lock()
	if w.known(a.ID, asOf) {
		w.mu.Unlock()
		return
	}
	w.seq++
	f.seq, f.worker = w.seq, w.id
	w.flights[a.ID] = f
	w.mu.Unlock()
	w.count.flights.Add(1)
	f.expires = w.clk.now() + stage.DefaultDispatchTimeout
	if v := w.versions.peek(a.VersionID); v != nil && w.complete(f, v) {
		w.place(f)
		return
	}
	if !w.background(func() {
		w.loaders <- struct{}{}
		defer func() { <-w.loaders }()
		w.load(f)
	}) {
		w.place(f)
	}
}

// background runs something that reads the database beside the mailbox, unless the worker is ending.
func (w *Worker) background(do func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.loaded {
		return false
	}
	w.loading.Go(do)
	return true
}

// complete fills in what is in memory, and tells whether that is all.
func (w *Worker) complete(f *flight, v *version) bool {
	if f.Ord < 0 || int(f.Ord) >= len(v.stages) {
		return true
	}
	h := &v.stages[f.Ord]
	if h.def == nil {
		return true
	}
	if f.raw == nil {
		p, ok := w.params.get(f.Run)
		if !ok {
			return false
		}
		f.raw = p
	}
	if f.attempts = h.spec.Retry.MaxAttempts; int(f.Attempt) >= f.attempts {
		return false // an operator may have raised the limit
	}
	switch {
	case f.Kind == span.Plan:
		f.total = 0
	case h.origin >= 0:
		own, ok := w.heads.get(span.StageKey{Run: f.Run, Ord: f.Ord})
		if !ok || own.generation != f.Generation || stored(own.cut) {
			return false
		}
		f.total, f.cut = own.total, own.cut
	}
	f.h = h
	return true
}

// load reads what running a flight needs, for as long as it takes, and places it.
func (w *Worker) load(f *flight) {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		err := w.read(w.loadCtx, f)
		if err == nil {
			break
		}
		if w.loadCtx.Err() != nil || !w.holding(f) {
			f.h = nil
			break
		}
		if errors.Is(err, errUnreadable) {
			w.log.Error("handed-out work cannot be read and goes back", append(f.attrs(), "err", err)...)
			f.h = nil
			w.pause(w.loadCtx, unreadablePause) // it may come again at once
			break
		}
		w.log.Warn("reading what handed-out work needs failed; trying again", append(f.attrs(), "err", err)...)
		w.pause(w.loadCtx, pause)
	}
	w.place(f)
}

// pause waits for d or the end of ctx.
func (w *Worker) pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

func (w *Worker) read(ctx context.Context, f *flight) error {
	v, err := w.versions.get(ctx, w.q, f.VersionID)
	if err != nil {
		return err
	}
	if f.Ord < 0 || int(f.Ord) >= len(v.stages) {
		return fmt.Errorf("%w: stage %d of %d", errUnreadable, f.Ord, len(v.stages))
	}
	h := &v.stages[f.Ord]
	if h.def == nil {
		return fmt.Errorf("%w: this worker has no handler %s", errUnreadable, v.graph.HandlerKey(h.ord))
	}
	if f.raw == nil {
		if f.raw, f.corrupt, err = w.readParams(ctx, f.Run); err != nil {
			return err
		}
	}
	if err := w.readAttempts(ctx, f, h); err != nil {
		return err
	}
	switch {
	case f.Kind == span.Plan:
		f.total = 0
	case h.origin >= 0:
		if err := w.readShards(ctx, f, h); err != nil {
			return err
		}
	}
	f.h = h
	return nil
}

// readShards reads how the stage was cut, and the stored items of the flight's shards.
func (w *Worker) readShards(ctx context.Context, f *flight, h *handling) error {
	own, err := w.readHead(ctx, w.q, f.Run, h, f.Generation)
	if err != nil {
		return err
	}
	if own.generation != f.Generation {
		return fmt.Errorf("%w: the stage is in generation %d, the work is of %d", errUnreadable, own.generation, f.Generation)
	}
	f.total, f.cut = own.total, own.cut
	if stored(f.cut) {
		f.items, err = readItems(ctx, w.q, f.Run, h.origin, own.items, f.Set)
	}
	return err
}

// place gives a flight to its handler's pool. What cannot be run here goes back.
func (w *Worker) place(f *flight) {
	p := w.nowhere
	if f.h != nil {
		p = f.h.pool
		f.expires = w.clk.now() + f.h.spec.Timeout.Dispatch
		if f.h.def.Handler.ParamsShareable {
			// What is wrong with them is told by each task.
			if params, err := (&task{f: f}).decode(); err == nil {
				f.params = params
			}
		}
	}
	w.mu.Lock()
	if w.flights[f.ID] != f {
		w.mu.Unlock()
		return
	}
	f.pool = p
	w.mu.Unlock()
	p.add(f)
	w.dog.soon(f.expires + 1)
}

func (w *Worker) holding(f *flight) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flights[f.ID] == f
}

// held are the flights that have their place.
func (w *Worker) held() []*flight {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]*flight, 0, len(w.flights))
	for _, f := range w.flights {
		if f.pool != nil {
			all = append(all, f)
		}
	}
	return all
}

// forget ends a flight of which the worker holds nothing any more.
func (w *Worker) forget(f *flight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.flights[f.ID] == f {
		delete(w.flights, f.ID)
		w.ended.put(f.ID, w.clk.now())
	}
}

// lose drops a flight that was taken away. If it was not, the next heartbeat finds it again.
func (w *Worker) lose(f *flight) {
	w.mu.Lock()
	p := f.pool
	if w.flights[f.ID] == f {
		delete(w.flights, f.ID)
		w.count.lost.Add(1)
	}
	w.mu.Unlock()
	if p != nil {
		p.lose(f)
	}
}
