package dispatch

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"axflow/sql/span"
)

// aligned remembers the stages whose shards follow another stage's shards one by one, so that news about a run
// moves them on. It is only a memory aid: loadAligned finds them all again.
type aligned struct {
	runs      map[uuid.UUID]map[span.StageKey]struct{}
	dirty     map[span.StageKey]struct{}
	due       bool // a look at the dirty ones is due
	scheduled bool
}

func newAligned() aligned {
	return aligned{runs: make(map[uuid.UUID]map[span.StageKey]struct{}), dirty: make(map[span.StageKey]struct{})}
}

func (a *aligned) add(k span.StageKey) {
	if a.runs[k.Run] == nil {
		a.runs[k.Run] = make(map[span.StageKey]struct{})
	}
	a.runs[k.Run][k] = struct{}{}
	a.dirty[k] = struct{}{}
}

func (a *aligned) touchRun(run uuid.UUID) {
	for k := range a.runs[run] {
		a.dirty[k] = struct{}{}
	}
}

func (a *aligned) ended(runs []uuid.UUID) {
	for _, id := range runs {
		for k := range a.runs[id] {
			delete(a.dirty, k)
		}
		delete(a.runs, id)
	}
}

// align moves shards whose aligned upstream shards have succeeded, at most every alignEvery.
func (l *Loop) align(ctx context.Context) error {
	a := &l.aligned
	if len(a.dirty) == 0 {
		return nil
	}
	if !a.due {
		if !a.scheduled {
			a.scheduled = true
			l.remind(alignEvery, reminder{align: true})
		}
		return nil
	}
	a.due, a.scheduled = false, false
	keys := slices.SortedFunc(maps.Keys(a.dirty), func(x, y span.StageKey) int {
		if c := compareIDs(x.Run, y.Run); c != 0 {
			return c
		}
		return int(x.Ord) - int(y.Ord)
	})
	clear(a.dirty)
	for i, k := range keys {
		receipt, free, err := l.cfg.Resolver.Align(ctx, l.cfg.Conn, k)
		if err != nil {
			for _, rest := range keys[i:] {
				a.dirty[rest] = struct{}{}
			}
			return err
		}
		if !free {
			a.dirty[k] = struct{}{} // somebody else holds the run
			continue
		}
		if err := l.receive(ctx, &receipt); err != nil {
			return err
		}
	}
	if len(a.dirty) > 0 && !a.scheduled {
		a.scheduled = true
		l.remind(alignEvery, reminder{align: true})
	}
	return nil
}

// loadAligned finds the stages that wait for aligned shards.
func (l *Loop) loadAligned(ctx context.Context) error {
	rows, err := l.q.AlignedWaiting(ctx, 1000)
	if err != nil {
		return fmt.Errorf("looking for aligned stages: %w", err)
	}
	for _, row := range rows {
		l.aligned.add(span.StageKey{Run: row.RunID, Ord: row.Ord})
	}
	return nil
}

func compareIDs(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }
