package span

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/flow"
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

// PlanKeysError says that the shards of a plan have more distinct keys than AX holds apart. Its code is
// "too_many_keys".
type PlanKeysError struct{ Keys int }

// Error names the number, the limit and the way out.
func (e *PlanKeysError) Error() string {
	return fmt.Sprintf("the plan's shards have %d distinct keys, at most %d are allowed where each key has limits: use coarser keys, such as a bucket of their hash", e.Keys, MaxPlanKeys)
}

// Code returns "too_many_keys".
func (e *PlanKeysError) Code() string { return "too_many_keys" }

// keyed is the indices of one key.
type keyed struct {
	key string
	set shard.Set
}

// maxRanges bounds the ranges of one row that a plan makes: a cut writes the whole set anew.
const maxRanges = 100

// byKey groups a plan's indices by the key of their items, in the order of each key's first index. A key whose indices
// lie far apart has several groups.
func (r *PlanReport) byKey() ([]keyed, error) {
	if r.KeyGroup == "" || len(r.Layout.Items) == 0 {
		return []keyed{{"", shard.Span(0, r.Layout.Total)}}, nil
	}
	groups := make(map[string]*indices)
	var order []string
	for i := range r.Layout.Items {
		k := r.Layout.Items[i].Key
		g := groups[k]
		if g == nil {
			g = new(indices)
			groups[k], order = g, append(order, k)
		}
		g.add(int32(i))
	}
	if len(order) > MaxPlanKeys {
		return nil, &PlanKeysError{len(order)}
	}
	out := make([]keyed, 0, len(order))
	for _, k := range order {
		for part := range slices.Chunk(groups[k].ranges, maxRanges) {
			out = append(out, keyed{k, shard.OfRanges(part...)})
		}
	}
	return out, nil
}

// CheckKeys tells whether the plan has more distinct keys than FinishPlan takes; the error is a *PlanKeysError.
func (r *PlanReport) CheckKeys() error {
	_, err := r.byKey()
	return err
}

// FinishPlan freezes a plan's answer: shard_total, the stored keys and inputs, and one ready row with all
// indices (with KeyGroup: one for each key), in one transaction, exactly once however often it is called. An empty plan
// decides the stage. The receipt accepts nothing when the plan was not this worker's any more. A plan that CheckKeys
// refuses is refused before anything is written.
func FinishPlan(ctx context.Context, conn CopyConn, worker uuid.UUID, r PlanReport) (Receipt, error) {
	groups, err := r.byKey()
	if err != nil {
		return Receipt{}, err
	}
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
		if err := freeze(ctx, last, h, end, &r); err != nil {
			rollback(ctx, conn)
			return Receipt{}, err
		}
		receipt.Decided = []Decided{{key, end}}
	default:
		if err := storeInputs(ctx, conn, h, r.Layout); err != nil {
			rollback(ctx, conn)
			return Receipt{}, err
		}
		if err := freeze(ctx, last, h, stage.StageRunning, &r); err != nil {
			rollback(ctx, conn)
			return Receipt{}, err
		}
		h.Kind, h.Attempt, h.Delivery, h.Losses = Shards, 1, 1, 0
		places.stages[key] = db.LockStagesRow{RunID: h.Run, Ord: h.Ord, Generation: h.Generation, State: int16(stage.StageRunning)}
		for _, g := range groups {
			h.Key = locked[0].Key
			if r.KeyGroup != "" {
				h.Key = flow.KeyName(r.KeyGroup, g.key)
			}
			places.put(h, g.set, Released, 0, g.set.Len())
		}
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

func freeze(ctx context.Context, p *pipe.Pipe, h Header, state stage.StageState, r *PlanReport) error {
	cut, err := json.Marshal(r.Layout.Cut)
	if err != nil {
		return fmt.Errorf("encoding the plan's cut: %w", err)
	}
	_, _ = p.FreezePlan(ctx, db.FreezePlanParams{State: int16(state), ShardTotal: int32(r.Layout.Total), Cut: cut, Tolerate: int32(r.Tolerate),
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
