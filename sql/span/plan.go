package span

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/pipe"
	"axflow/stage"
)

// inputChunk is how many keys or inputs one shard_input row holds.
const inputChunk = 256

// PlanReport is a plan task's success.
type PlanReport struct {
	Execution         uuid.UUID
	Run               uuid.UUID
	Ord               int16
	Started, Finished time.Time
	Layout            stage.Layout
	SkipEmpty         bool // an empty plan skips the stage instead of succeeding it
	// KeyGroup is what flow.Graph.ShardKeyGroup says: with it, each distinct key of the layout's items becomes a ready row
	// of its own, with the key KeyGroup/key. "": one row, with the stage's key.
	KeyGroup string
	Tolerate int // how many shards may fail: stage.Tolerated of the layout's total
}

// MaxPlanKeys is the greatest number of distinct keys that the shards of one stage may have, where each key has limits.
const MaxPlanKeys = 10_000

// CopyConn is a Conn that can copy rows in.
type CopyConn interface {
	Conn
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error)
}

// FinishPlan freezes a plan's answer: shard_total, the stored keys and inputs, and one ready row with all
// indices, in one transaction, exactly once however often it is called. An empty plan decides the stage. The
// receipt accepts nothing when the plan was not this worker's any more.
func FinishPlan(ctx context.Context, conn CopyConn, worker uuid.UUID, r PlanReport) (Receipt, error) {
	key := StageKey{r.Run, r.Ord}
	c := newCall(worker, []Report{{Execution: r.Execution, Run: r.Run, Ord: r.Ord, Last: true,
		Results: []Result{{Index: PlanIndex, Outcome: stage.Succeeded, Started: r.Started, Finished: r.Finished}}}})
	var rows []db.FinishSpansRow
	var locked []db.LockStagesRow
	p := pipe.New()
	begin(p)
	_, _ = p.FinishSpans(ctx, c.params)
	pipe.Rows(p, &rows)
	lockStages(ctx, p, []StageKey{key}, &locked)
	if err := p.Send(ctx, conn); err != nil {
		rollback(ctx, conn)
		return Receipt{}, fmt.Errorf("finishing the plan: %w", err)
	}
	receipt, took, err := c.receive(rows)
	if err != nil {
		rollback(ctx, conn)
		return Receipt{}, err
	}
	if len(took) == 0 || took[0].set.Empty() || len(locked) == 0 || locked[0].Generation != took[0].Generation {
		rollback(ctx, conn)
		return Receipt{}, nil
	}
	h := took[0].Header
	total := r.Layout.Total
	places := newPlacing(nil)
	last := pipe.New()
	var made []db.PlaceReadyRow
	var decided []db.RetireStagesRow
	switch state := stage.StageState(locked[0].State); {
	case state == stage.StageCancelling:
		// The answer comes too late to be used; the stage has nothing left and is decided.
		retireStages(ctx, last, []StageKey{key}, &decided)
	case total == 0:
		end := stage.StageSucceeded
		if r.SkipEmpty {
			end = stage.StageSkipped
		}
		if err := freeze(ctx, last, h, end, r.Layout); err != nil {
			rollback(ctx, conn)
			return Receipt{}, err
		}
		receipt.Decided = []Decided{{key, end}}
	default:
		if err := storeInputs(ctx, conn, h, r.Layout); err != nil {
			rollback(ctx, conn)
			return Receipt{}, err
		}
		if err := freeze(ctx, last, h, stage.StageRunning, r.Layout); err != nil {
			rollback(ctx, conn)
			return Receipt{}, err
		}
		h.ID, h.Kind, h.Attempt, h.Delivery, h.Losses = newID(), Shards, 1, 1, 0
		places.stages[key] = db.LockStagesRow{RunID: h.Run, Ord: h.Ord, Generation: h.Generation, State: int16(stage.StageRunning)}
		places.put(h, shard.Span(0, total), Released, 0, total)
		places.queue(ctx, last, []uuid.UUID{h.Run}, &made)
	}
	last.Text("commit")
	if err := last.Send(ctx, conn); err != nil {
		rollback(ctx, conn)
		return Receipt{}, fmt.Errorf("freezing a plan of %d shards: %w", total, err)
	}
	receipt.Decided = append(receipt.Decided, decidedOf(decided)...)
	receipt.Ready = places.made(made)
	return receipt, nil
}

func freeze(ctx context.Context, p *pipe.Pipe, h Header, state stage.StageState, layout stage.Layout) error {
	cut, err := json.Marshal(layout.Cut)
	if err != nil {
		return fmt.Errorf("encoding the plan's cut: %w", err)
	}
	_, _ = p.FreezePlan(ctx, db.FreezePlanParams{State: int16(state), ShardTotal: int32(layout.Total), Cut: cut,
		Decided: state.Decided(), RunID: h.Run, Ord: h.Ord, Generation: h.Generation, FromStates: []int16{int16(stage.StagePlanning)}})
	return nil
}

// storeInputs copies listed keys and inputs in, a chunk a row.
func storeInputs(ctx context.Context, conn CopyConn, h Header, layout stage.Layout) error {
	if len(layout.Items) == 0 {
		return nil
	}
	rows := make([]db.InsertShardInputsParams, 0, len(layout.Items)/inputChunk+1)
	for first := 0; first < len(layout.Items); first += inputChunk {
		items := layout.Items[first:min(first+inputChunk, len(layout.Items))]
		row := db.InsertShardInputsParams{RunID: h.Run, Ord: h.Ord, Generation: h.Generation, Chunk: int32(first / inputChunk)}
		keyed, filled := false, false
		for _, it := range items {
			keyed, filled = keyed || it.Key != "", filled || it.Input != nil
		}
		for _, it := range items {
			if keyed {
				row.Keys = append(row.Keys, it.Key)
			}
			if filled {
				row.Inputs = append(row.Inputs, it.Input)
			}
		}
		rows = append(rows, row)
	}
	if _, err := db.New(conn).InsertShardInputs(ctx, rows); err != nil {
		return fmt.Errorf("storing the inputs of %d shards: %w", len(layout.Items), err)
	}
	return nil
}
