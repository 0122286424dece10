package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/engine/dispatch/board"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/sql/versions"
	"axflow/stage"
)

func readBoard(ctx context.Context, tx pgx.Tx, cache *versions.Cache, now time.Time) (*board.Board, error) {
	b, err := board.New(board.Config{NewID: uuid.New})
	if err != nil {
		return nil, err
	}
	q := db.New(tx)
	workers, err := q.Workers(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range workers {
		bw := board.Worker{ID: w.ID, Labels: w.Labels, Urgent: int(w.Urgent), Draining: w.State == 1}
		_ = json.Unmarshal(w.Handlers, &bw.Handlers)
		b.SetWorker(bw)
	}
	rows, err := tx.Query(ctx, `SELECT id, run_id, not_before, ready_at, version_id, ord, generation, kind, attempt, delivery, losses, level, namespace, queue, todo::text FROM ax.ready`)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
		ID, Run                                            uuid.UUID
		NotBefore, ReadyAt                                 time.Time
		Version                                            int32
		Ord, Generation, Kind, Attempt, Delivery, Loss, Lv int16
		NS, Queue, Todo                                    string
	}])
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	for _, r := range all {
		v, err := cache.Get(ctx, q, r.Version)
		if err != nil {
			continue
		}
		set, err := shard.ParseSet(r.Todo)
		if err != nil {
			return nil, err
		}
		b.AddSpan(now, boardSpan(v, db.WhyReadyRow{ID: r.ID, RunID: r.Run, NotBefore: r.NotBefore, ReadyAt: r.ReadyAt, VersionID: r.Version, Ord: r.Ord, Kind: r.Kind,
			Attempt: r.Attempt, Delivery: r.Delivery, Losses: r.Loss, Level: r.Lv, Namespace: r.NS, Queue: r.Queue}, set))
	}
	return b, nil
}

func boardSpan(v *versions.Version, r db.WhyReadyRow, todo shard.Set) board.Span {
	spec := &v.Graph.Stages[r.Ord]
	return board.Span{ID: r.ID, Run: r.RunID, Ord: int(r.Ord), Plan: span.Kind(r.Kind) == span.Plan, Attempt: int(r.Attempt), Delivery: int(r.Delivery),
		Level: stage.Level(r.Level), Namespace: r.Namespace, Queue: r.Queue, Handler: v.Handlers[r.Ord], Todo: todo, ReadyAt: r.ReadyAt,
		Limit: spec.Limit, StageKey: v.LimitKeys[r.Ord], Flow: v.Flow, Requires: spec.Requires}
}
