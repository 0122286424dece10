package worker

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/payload"
	"axflow/stage"
)

// outputsPage is how many outputs are read at once.
const outputsPage = 1000

// task is the stage.Env of its handler.
var _ stage.Env = (*task)(nil)

// Info says what is running.
func (t *task) Info() stage.Info {
	f := t.f
	return stage.Info{
		Namespace: f.Namespace, Flow: f.h.version.flow, Version: f.h.version.hash, Run: f.Run, Trace: f.Run,
		Stage: f.h.spec.Name, Ord: int(f.Ord), Generation: int(f.Generation), Attempt: int(f.Attempt),
		MaxAttempts: f.attempts, Delivery: int(f.Delivery), Index: int(t.index), Total: f.total,
		Execution: f.ID, Worker: f.worker,
	}
}

// Fail remembers a stream's error.
func (t *task) Fail(err error) {
	t.faultMu.Lock()
	defer t.faultMu.Unlock()
	if t.fault == nil {
		t.fault = err
	}
}

// upstream finds a stage that comes before the running one, in the graph that the run is pinned to.
func (t *task) upstream(up *stage.Def) (*handling, error) {
	v := t.f.h.version
	ord, ok := v.graph.Ord(up.Name)
	if !ok || !v.upstream(int(t.f.Ord), ord) {
		return nil, stage.ErrNotUpstream
	}
	return &v.stages[ord], nil
}

// Output reads an upstream's output.
func (t *task) Output(ctx context.Context, up *stage.Def) ([]byte, error) {
	h, err := t.upstream(up)
	if err != nil {
		return nil, err
	}
	index := int32(0)
	if h.origin >= 0 {
		if t.index < 0 || !t.f.h.version.aligned(int(t.f.Ord), h.ord) {
			return nil, errors.New("the upstream is sharded and has many outputs: range over its Outputs")
		}
		index = t.index
	}
	output, err := t.f.pool.w.q.Output(ctx, db.OutputParams{RunID: t.f.Run, Ord: int16(h.ord), Shard: index})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, stage.ErrNoOutput
	}
	if err != nil {
		return nil, fmt.Errorf("reading the output: %w", err)
	}
	return t.openAt(ctx, payload.Output, h.ord, output)
}

// Outputs streams an upstream's outputs, a page at a time.
func (t *task) Outputs(ctx context.Context, up *stage.Def) iter.Seq2[stage.Shard, error] {
	return func(yield func(stage.Shard, error) bool) {
		h, err := t.upstream(up)
		if err != nil {
			yield(stage.Shard{}, err)
			return
		}
		s := head{total: 1}
		if h.origin >= 0 {
			if s, err = t.f.pool.w.readHead(ctx, t.f.pool.w.q, t.f.Run, h, 0); err != nil {
				yield(stage.Shard{}, err)
				return
			}
		}
		for first := 0; first < s.total; first += outputsPage {
			page, err := t.page(ctx, h, &s, first)
			if err != nil {
				yield(stage.Shard{}, err)
				return
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
		}
	}
}

// page reads the outputs of a page of indices.
func (t *task) page(ctx context.Context, h *handling, s *head, first int) (page []stage.Shard, err error) {
	q := t.f.pool.w.q
	rows, err := q.Outputs(ctx, db.OutputsParams{RunID: t.f.Run, Ord: int16(h.ord), First: int32(first), Last: int32(first + outputsPage)})
	if err != nil {
		return nil, fmt.Errorf("reading outputs: %w", err)
	}
	var x items
	if stored(s.cut) && len(rows) > 0 {
		set := shard.Span(int(rows[0].Shard), int(rows[len(rows)-1].Shard)+1)
		if x, err = readItems(ctx, q, t.f.Run, h.origin, s.items, set); err != nil {
			return nil, err
		}
	}
	page = make([]stage.Shard, len(rows))
	for i, r := range rows {
		item := x.at(int(r.Shard))
		if item.Input, err = t.openAt(ctx, payload.Input, h.origin, item.Input); err != nil {
			return nil, err
		}
		output, err := t.openAt(ctx, payload.Output, h.ord, r.Output)
		if err != nil {
			return nil, err
		}
		page[i] = stage.Shard{Index: int(r.Shard), Total: s.total, Item: item, Cut: s.cut, Output: output}
	}
	return page, nil
}

// Counts reads how an upstream's shards ended.
func (t *task) Counts(ctx context.Context, up *stage.Def) (stage.ShardCounts, error) {
	h, err := t.upstream(up)
	if err != nil {
		return stage.ShardCounts{}, err
	}
	row, err := t.f.pool.w.q.StageCounts(ctx, db.StageCountsParams{RunID: t.f.Run, Ord: int16(h.ord)})
	if err != nil {
		return stage.ShardCounts{}, fmt.Errorf("reading the counts: %w", err)
	}
	state := stage.StageState(row.State)
	if !state.Decided() {
		return stage.ShardCounts{}, fmt.Errorf("the stage is %v: its shards are counted once it has ended", state)
	}
	if h.origin < 0 { // decided without having run, it has no counts of its own
		return countOne(state), nil
	}
	return stage.ShardCounts{Total: int(row.Total), Succeeded: int(row.Succeeded), Failed: int(row.Failed), Skipped: int(row.Skipped),
		Cancelled: int(row.Cancelled)}, nil
}

// countOne counts an unsharded stage as one shard.
func countOne(state stage.StageState) stage.ShardCounts {
	c := stage.ShardCounts{Total: 1}
	switch state {
	case stage.StageSucceeded:
		c.Succeeded = 1
	case stage.StageSkipped:
		c.Skipped = 1
	case stage.StageCancelled:
		c.Cancelled = 1
	default:
		c.Failed = 1
	}
	return c
}

// Heartbeat is the handler's sign of life.
func (t *task) Heartbeat() { t.sign.Store(int64(t.f.pool.w.clk.now())) }
