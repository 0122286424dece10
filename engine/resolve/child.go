package resolve

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

// wake makes ready what waits for runs that have ended. They have, whatever comes of this: the scan makes up for what fails.
func (r *Resolver) wake(ctx context.Context, conn Conn, ended []uuid.UUID, a *Answer) {
	receipt, err := span.Wake(ctx, conn, r.Fence, ended)
	if err != nil {
		r.Logger.Warn("waking what waits for ended runs failed; the scan does it again", "runs", len(ended), "err", err)
		return
	}
	a.Ready = append(a.Ready, receipt.Ready...)
}

// wakeLost makes ready what waits for runs that have ended or are gone: its waking was lost.
func (r *Resolver) wakeLost(ctx context.Context, conn Conn, q *db.Queries, page int, found *Found) error {
	after := uuid.Nil
	for {
		parents, err := q.WaitingParents(ctx, db.WaitingParentsParams{After: after, Most: int32(page)})
		if err != nil {
			return fmt.Errorf("looking for what waits for runs: %w", err)
		}
		if len(parents) == 0 {
			return nil
		}
		after = parents[len(parents)-1]
		children, err := q.ChildrenOfParents(ctx, parents)
		if err != nil {
			return fmt.Errorf("looking for the runs that %d runs wait for: %w", len(parents), err)
		}
		ended, err := q.LongEnded(ctx, db.LongEndedParams{RunIds: children, LateS: LateAfter.Seconds()})
		if err != nil {
			return fmt.Errorf("looking at %d runs that others wait for: %w", len(children), err)
		}
		receipt, err := span.Wake(ctx, conn, r.Fence, ended)
		if err != nil {
			return err
		}
		found.Ready = append(found.Ready, receipt.Ready...)
		found.Repaired += len(receipt.Ready)
	}
}

// orphans are those of the runs that a task has started which is not there any more to take their result: its stage is
// decided, or has a later generation. They are to be cancelled.
func (r *Resolver) orphans(ctx context.Context, q *db.Queries, ids []uuid.UUID, found *Found) error {
	links, err := q.ParentsOf(ctx, ids)
	if err != nil {
		return fmt.Errorf("looking for the parents of runs: %w", err)
	}
	if len(links) == 0 {
		return nil
	}
	parents := make([]uuid.UUID, 0, len(links))
	for _, l := range links {
		parents = append(parents, l.ParentRun)
	}
	rows, err := q.StagesOf(ctx, distinct(parents))
	if err != nil {
		return fmt.Errorf("reading the stages of %d parents: %w", len(parents), err)
	}
	open := make(map[span.StageKey]int16, len(rows))
	for _, s := range rows {
		if !stage.StageState(s.State).Decided() {
			open[span.StageKey{Run: s.RunID, Ord: s.Ord}] = s.Generation
		}
	}
	for _, l := range links {
		if g, ok := open[span.StageKey{Run: l.ParentRun, Ord: l.Ord}]; !ok || g != l.Generation {
			found.Orphans = append(found.Orphans, l.ChildRun)
		}
	}
	return nil
}
