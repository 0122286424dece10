package rest

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

// shardStates are the words for where a shard stands; packed arrays number them by their places here.
var shardStates = []gen.ShardState{gen.ShardStateWaiting, gen.ShardStateReady, gen.ShardStateDelayed, gen.ShardStateRetrying, gen.ShardStateInFlight,
	gen.ShardStateAligned, gen.ShardStateChild, gen.ShardStateSucceeded, gen.ShardStateDead, gen.ShardStateExpired, gen.ShardStateDiscarded,
	gen.ShardStateCancelled, gen.ShardStateSkipped, gen.ShardStateUpstreamFailed}

// parkedStates are the words for what is parked.
var parkedStates = map[span.ParkReason]gen.ShardState{span.Dead: gen.ShardStateDead, span.Cancelled: gen.ShardStateCancelled, span.Skipped: gen.ShardStateSkipped,
	span.Aligned: gen.ShardStateAligned, span.UpstreamFailed: gen.ShardStateUpstreamFailed, span.Poison: gen.ShardStateDead, span.Child: gen.ShardStateChild,
	span.Expired: gen.ShardStateExpired, span.Discarded: gen.ShardStateDiscarded}

// shardMap is where all shards of a stage stand at one moment, read from a few small rows.
type shardMap struct {
	run        uuid.UUID
	ord        int16
	generation int16
	stage      stage.StageState
	total      int // -1: not known
	at         time.Time
	others     gen.ShardState // the state of what is in no row
	plan       *shardRow      // where the plan task stands, if it is in a row
	ranges     []shardRange   // by index; they do not overlap
}

// shardRow is shards that share their fate.
type shardRow struct {
	state     gen.ShardState
	set       shard.Set
	attempt   int
	notBefore *time.Time
	worker    *uuid.UUID
}

// shardRange is a range of a row's shards.
type shardRange struct {
	shard.Range
	row *shardRow
}

// readShards reads where the shards of a stage stand, in one snapshot.
func (h *Handlers) readShards(ctx context.Context, g *flow.Graph, run uuid.UUID, ord int) (*shardMap, error) {
	m := &shardMap{run: run, ord: int16(ord), total: -1}
	err := pgx.BeginTxFunc(ctx, h.cfg.Reads, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		q := db.New(tx)
		now, err := q.StageNow(ctx, db.StageNowParams{RunID: run, Ord: m.ord})
		if err != nil {
			return err
		}
		m.at, m.generation = now.Now, now.Generation
		m.stage = stage.StageState(now.State)
		m.count(g.Stages[ord].Kind, now.ShardTotal)
		rows, err := q.ShardRows(ctx, db.ShardRowsParams{Now: now.Now, RunID: run, Ord: m.ord, Generation: m.generation})
		if err != nil {
			return err
		}
		return m.add(rows)
	})
	if err != nil {
		return nil, slow(fmt.Errorf("reading the shards of stage %s of run %s: %w", g.Stages[ord].Name, run, err), "try again")
	}
	return m, nil
}

// count sets how many shards there are and what those are that are in no row. Those of a released stage have succeeded; what a
// stage has that was decided without being released ended as it did.
func (m *shardMap) count(kind stage.Kind, total *int32) {
	m.others = gen.ShardStateSucceeded
	if total == nil {
		m.others = unreleased(m.stage)
	}
	switch {
	case total != nil:
		m.total = int(*total)
	case kind == stage.Single:
		m.total = 1
	}
}

// unreleased is the state of the tasks of a stage that are not known to the tables.
func unreleased(state stage.StageState) gen.ShardState {
	switch state {
	case stage.StageSucceeded:
		return gen.ShardStateSucceeded
	case stage.StageSkipped:
		return gen.ShardStateSkipped
	case stage.StageUpstreamFailed:
		return gen.ShardStateUpstreamFailed
	case stage.StageFailed:
		return gen.ShardStateDead
	case stage.StageCancelled, stage.StageCancelling:
		return gen.ShardStateCancelled
	default:
		return gen.ShardStateWaiting
	}
}

func (m *shardMap) add(rows []db.ShardRowsRow) error {
	for i := range rows {
		r := &rows[i]
		set, err := shard.ParseSet(r.Todo)
		if err != nil {
			return err
		}
		row := &shardRow{set: set, attempt: int(r.Attempt)}
		switch {
		case r.Place == 2:
			row.state, row.worker = gen.ShardStateInFlight, &r.WorkerID
		case r.Place == 3:
			row.state = parkedStates[span.ParkReason(r.Reason)]
		case r.Due:
			row.state = gen.ShardStateReady
		case r.Attempt > 1:
			row.state, row.notBefore = gen.ShardStateRetrying, &r.At
		default:
			row.state, row.notBefore = gen.ShardStateDelayed, &r.At
		}
		if span.Kind(r.Kind) == span.Plan {
			m.plan = row
			continue
		}
		for j := range set.NumRanges() {
			m.ranges = append(m.ranges, shardRange{set.At(j), row})
		}
	}
	slices.SortFunc(m.ranges, func(a, b shardRange) int { return int(a.Lo) - int(b.Lo) })
	return nil
}

// row is the row that holds an index; nil for none.
func (m *shardMap) row(index int) *shardRow {
	i := sort.Search(len(m.ranges), func(i int) bool { return int(m.ranges[i].Hi) > index })
	if i < len(m.ranges) && int(m.ranges[i].Lo) <= index {
		return m.ranges[i].row
	}
	return nil
}

// where is the row and the state of an index, or of the plan.
func (m *shardMap) where(index int) (*shardRow, gen.ShardState) {
	row, state := m.plan, m.others
	if index != span.PlanIndex {
		row = m.row(index)
	}
	if row != nil {
		state = row.state
	}
	return row, state
}

// in are the shards in one of states.
func (m *shardMap) in(states []gen.ShardState) shard.Set {
	all := shard.Span(0, max(0, m.total))
	var held, wanted []shard.Range
	for _, r := range m.ranges {
		held = append(held, r.Range)
		if slices.Contains(states, r.row.state) {
			wanted = append(wanted, r.Range)
		}
	}
	set := shard.OfRanges(wanted...)
	if slices.Contains(states, m.others) {
		set = set.Union(all.Minus(shard.OfRanges(held...)))
	}
	return set.Intersect(all)
}

// ListShards lists the shards of a stage by index.
func (h *Handlers) ListShards(ctx context.Context, req gen.ListShardsRequestObject) (gen.ListShardsResponseObject, error) {
	_, _, g, ord, err := h.stageOf(ctx, req.Run, req.Stage)
	if err != nil {
		return nil, err
	}
	list := []string{"shards", req.Run.String(), req.Stage, "", ""}
	states := shardStates
	if text := req.Params.State; text != nil {
		if states, err = parseShardStates(*text); err != nil {
			return nil, err
		}
		list[3] = *text
	}
	asked := shard.Span(0, maxIndex+1)
	if text := req.Params.Indices; text != nil {
		if asked, err = parseSet("indices", *text); err != nil {
			return nil, err
		}
		list[4] = *text
	}
	b, err := place(list, req.Params.Cursor, 4)
	if err != nil {
		return nil, err
	}
	from := 0
	if b != nil {
		from = int(binary.BigEndian.Uint32(b))
	}
	m, err := h.readShards(ctx, g, req.Run, ord)
	if err != nil {
		return nil, err
	}
	page := gen.ShardList{Total: m.total, Generation: int(m.generation), Items: []gen.ShardItem{}}
	var indices []int32
	for index := range m.in(states).Intersect(asked).Intersect(shard.Span(from, maxIndex+1)).All() {
		if len(indices) == pageSize(req.Params.Limit) {
			page.NextCursor = pageCursor(list, binary.BigEndian.AppendUint32(nil, uint32(index)))
			break
		}
		indices = append(indices, int32(index))
	}
	if page.Items, err = h.shardItems(ctx, g, m, indices); err != nil {
		return nil, err
	}
	return gen.ListShards200JSONResponse(page), nil
}

func parseShardStates(text string) ([]gen.ShardState, error) {
	var states []gen.ShardState
	for name := range strings.SplitSeq(text, ",") {
		state := gen.ShardState(strings.TrimSpace(name))
		if !slices.Contains(shardStates, state) {
			names := make([]string, len(shardStates))
			for i, s := range shardStates {
				names[i] = string(s)
			}
			return nil, problem.Field("state", "there is no state %.40q of shards: use one of %s, or several with commas", state, strings.Join(names, ", "))
		}
		states = append(states, state)
	}
	return states, nil
}

// shardItems are shards with their newest attempts and their keys.
func (h *Handlers) shardItems(ctx context.Context, g *flow.Graph, m *shardMap, indices []int32) ([]gen.ShardItem, error) {
	items := make([]gen.ShardItem, len(indices))
	if len(indices) == 0 {
		return items, nil
	}
	q, name := h.reads(), g.Stages[m.ord].Name
	rows, err := q.NewestResults(ctx, db.NewestResultsParams{RunID: m.run, Ord: m.ord, Generation: m.generation, Shards: indices})
	if err != nil {
		return nil, slow(fmt.Errorf("reading the attempts of shards of stage %s of run %s: %w", name, m.run, err), "ask for fewer with limit")
	}
	last := make(map[int32]*gen.Attempt, len(rows))
	for _, r := range rows {
		a := h.attempt(ctx, g, name, int(r.Shard), control.Attempt{Generation: int(m.generation), Attempt: int(r.Attempt), Delivery: int(r.Delivery),
			Outcome: stage.Outcome(r.Outcome), Worker: r.WorkerID, Execution: r.ExecutionID, ReadyAt: r.ReadyAt, DispatchedAt: r.DispatchedAt,
			StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Failure: control.FailureOf(r.Error)})
		last[r.Shard] = &a
	}
	keys, err := shardKeys(ctx, q, m.run, m.ord, m.generation, indices)
	if err != nil {
		return nil, err
	}
	for i, index := range indices {
		item := &items[i]
		item.Index, item.State, item.Last, item.Key = int(index), m.others, last[index], opt(keys[index])
		if row := m.row(int(index)); row != nil {
			item.State, item.Attempt, item.NotBefore, item.Worker = row.state, opt(row.attempt), row.notBefore, row.worker
		} else if item.Last != nil {
			item.Attempt = &item.Last.Attempt
		}
	}
	return items, nil
}

// keysPerChunk is how many shards a row of keys and inputs holds.
const keysPerChunk = 256

// shardKeys are the keys of shards that their plan listed by key.
func shardKeys(ctx context.Context, q *db.Queries, run uuid.UUID, ord, generation int16, indices []int32) (map[int32]string, error) {
	var chunks []int32
	for _, i := range indices {
		if i >= 0 {
			chunks = append(chunks, i/keysPerChunk)
		}
	}
	slices.Sort(chunks)
	rows, err := q.KeyChunks(ctx, db.KeyChunksParams{RunID: run, Ord: ord, Generation: generation, Chunks: slices.Compact(chunks)})
	if err != nil {
		return nil, fmt.Errorf("reading the keys of shards of run %s: %w", run, err)
	}
	keys := make(map[int32]string)
	for _, r := range rows {
		for i, key := range r.Keys {
			keys[r.Chunk*keysPerChunk+int32(i)] = key
		}
	}
	return keys, nil
}

// GetShard is one task with all its attempts.
func (h *Handlers) GetShard(ctx context.Context, req gen.GetShardRequestObject) (gen.GetShardResponseObject, error) {
	c, _, g, ord, err := h.stageOf(ctx, req.Run, req.Stage)
	if err != nil {
		return nil, err
	}
	in, err := c.Inspect(ctx, req.Run, req.Stage, req.Index)
	if err != nil {
		return nil, err
	}
	m, err := h.readShards(ctx, g, req.Run, ord)
	if err != nil {
		return nil, err
	}
	if kind := g.Stages[ord].Kind; req.Index >= 0 && m.total >= 0 && req.Index >= m.total || req.Index == span.PlanIndex && kind != stage.Sharded {
		return nil, problem.New(gen.ProblemCodeNotFound, "stage %q of run %s has no index %d", req.Stage, req.Run, req.Index)
	}
	row, state := m.where(req.Index)
	out := gen.ShardDetail{Run: req.Run, Stage: req.Stage, Index: req.Index, Generation: int(m.generation), State: state,
		Attempts: make([]gen.Attempt, len(in.Attempts))}
	if row != nil {
		out.NotBefore = row.notBefore
	}
	for i, a := range in.Attempts {
		out.Attempts[i] = h.attempt(ctx, g, req.Stage, req.Index, a)
	}
	keys, err := shardKeys(ctx, h.reads(), req.Run, int16(ord), m.generation, []int32{int32(req.Index)})
	if err != nil {
		return nil, err
	}
	out.Key = opt(keys[int32(req.Index)])
	return gen.GetShard200JSONResponse(out), nil
}
