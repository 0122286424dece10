package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
)

// Discard gives dead indices up: they count as failed and are no dead letters any more. An empty set is all of the stage's
// dead. What has been discarded is left alone; if nothing was dead it is CodeConflict.
func (c *Client) Discard(ctx context.Context, id uuid.UUID, stageName string, set shard.Set, who Who) ([]Touch, error) {
	touched, _, err := c.act(ctx, id, "discard", stageName, who, func(ctx context.Context, d *deed) error {
		ord, err := d.ord(stageName)
		if err != nil {
			return err
		}
		if err := d.lock(ctx); err != nil {
			return err
		}
		if err := d.discard(ctx, ord, set); err != nil || len(d.touched) > 0 {
			return err
		}
		return d.nothingLeft(ctx, ord, set, span.Discarded, "discard")
	})
	return touched, err
}

// generation is one generation of a stage.
type generation struct{ ord, generation int16 }

// DiscardWhere is Discard for the dead letters that the filter picks; one transaction a run.
func (c *Client) DiscardWhere(ctx context.Context, f DeadFilter, who Who) (Sweep, error) {
	began := time.Now()
	dead := make(map[uuid.UUID]map[generation]shard.Set)
	flows := make(map[uuid.UUID]string)
	var order []uuid.UUID
	if err := c.dead(ctx, f, func(l DeadLetter) {
		if dead[l.Run] == nil {
			dead[l.Run], flows[l.Run] = make(map[generation]shard.Set), l.Flow
			order = append(order, l.Run)
		}
		g := generation{int16(l.Ord), int16(l.Generation)}
		dead[l.Run][g] = dead[l.Run][g].Union(l.Indices)
	}); err != nil {
		return Sweep{}, err
	}
	var s Sweep
	for _, id := range order {
		if f.Most > 0 && len(s.Runs) == f.Most || len(s.Runs) > 0 && f.Within > 0 && time.Since(began) > f.Within {
			s.More = true
			break
		}
		touched, _, err := c.act(ctx, id, "discard", "", who, func(ctx context.Context, d *deed) error {
			if err := d.lock(ctx); err != nil {
				return err
			}
			for ord := range d.stages {
				if set := dead[id][generation{int16(ord), d.stages[ord].Generation}]; !set.Empty() {
					if err := d.discard(ctx, int16(ord), set); err != nil {
						return err
					}
				}
			}
			return nil
		})
		var refused *Error
		if err != nil && !errors.As(err, &refused) {
			return s, err
		}
		s.Runs = append(s.Runs, RunResult{Run: id, Flow: flows[id], Touched: touched, Err: err})
	}
	return s, nil
}

func (d *deed) discard(ctx context.Context, ord int16, set shard.Set) error {
	want := "{(,)}"
	if !set.Empty() {
		want = set.String()
	}
	texts, err := d.q.ReparkStage(ctx, db.ReparkStageParams{RunID: d.run.RunID, Ord: ord, Generation: d.stages[ord].Generation, Want: want,
		Reasons: []int16{int16(span.Dead), int16(span.Poison), int16(span.Expired)}, ToReason: int16(span.Discarded)})
	if err != nil {
		return fmt.Errorf("discarding dead indices of stage %s of run %s: %w", d.name(ord), d.run.RunID, err)
	}
	gone, err := sets(texts)
	if err != nil || gone.Empty() {
		return err
	}
	d.touch(ord, gone, "given up")
	return nil
}
