package rest

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/sql/db"
)

// packedPage is how many shards' times one statement reads.
const packedPage = 50_000

// The values of packed arrays that mean none.
const (
	noTime   = math.MaxUint32
	noWorker = math.MaxUint16
)

// PackShards is all shards of a stage as arrays. The states come from the few rows that say where shards stand; the other arrays read
// the newest result of each shard, page by page, straight into their places, so that a million shards need 11 MB.
func (h *Handlers) PackShards(ctx context.Context, req gen.PackShardsRequestObject) (gen.PackShardsResponseObject, error) {
	_, run, g, ord, err := h.stageOf(ctx, req.Run, req.Stage)
	if err != nil {
		return nil, err
	}
	m, err := h.readShards(ctx, g, req.Run, ord)
	if err != nil {
		return nil, err
	}
	out := gen.PackedShards{Total: m.total, Generation: int(m.generation), At: m.at, StateNames: shardStates, States: m.pack()}
	if len(req.Params.Fields) == 0 {
		return gen.PackShards200JSONResponse(out), nil
	}
	p := newPacking(len(out.States), run.CreatedAt, req.Params.Fields)
	if err := p.results(ctx, h.reads(), m); err != nil {
		return nil, slow(fmt.Errorf("reading the shards of stage %s of run %s: %w", req.Stage, req.Run, err), "ask for fewer fields, or list the shards")
	}
	p.standing(m)
	out.Attempts, out.Durations, out.Started, out.Workers, out.WorkerIds = p.attempts, p.durations, p.started, p.workers, p.workerIDs
	if p.started != nil {
		out.StartedFrom = &p.from
	}
	return gen.PackShards200JSONResponse(out), nil
}

// pack is the state of every shard, one byte each.
func (m *shardMap) pack() []byte {
	states := make([]byte, max(0, m.total))
	fill := func(b []byte, state gen.ShardState) {
		code := byte(slices.Index(shardStates, state))
		for i := range b {
			b[i] = code
		}
	}
	fill(states, m.others)
	for _, r := range m.ranges {
		if lo, hi := max(0, int(r.Lo)), min(int(r.Hi), len(states)); lo < hi {
			fill(states[lo:hi], r.row.state)
		}
	}
	return states
}

// packing are the arrays that are asked for; the others are nil.
type packing struct {
	n                                     int
	from                                  time.Time // of started
	attempts, durations, started, workers []byte
	workerIDs                             []uuid.UUID
	numbers                               map[uuid.UUID]uint16
}

func newPacking(n int, from time.Time, fields []gen.PackShardsParamsFields) *packing {
	p := &packing{n: n, from: from.Truncate(time.Millisecond), numbers: make(map[uuid.UUID]uint16)}
	filled := func(field gen.PackShardsParamsFields, size int, with byte) []byte {
		if !slices.Contains(fields, field) {
			return nil
		}
		b := make([]byte, n*size)
		if with != 0 {
			for i := range b {
				b[i] = with
			}
		}
		return b
	}
	p.attempts = filled(gen.PackShardsParamsFieldsAttempts, 1, 0)
	p.durations = filled(gen.PackShardsParamsFieldsDurations, 4, 0xff)
	p.started = filled(gen.PackShardsParamsFieldsStarted, 4, 0xff)
	p.workers = filled(gen.PackShardsParamsFieldsWorkers, 2, 0xff)
	return p
}

// results packs the newest attempt of each shard.
func (p *packing) results(ctx context.Context, q *db.Queries, m *shardMap) error {
	for first := 0; first < p.n; first += packedPage {
		rows, err := q.NewestTimes(ctx, db.NewestTimesParams{RunID: m.run, Ord: m.ord, Generation: m.generation, First: int32(first), Last: int32(min(first+packedPage, p.n))})
		if err != nil {
			return err
		}
		for i := range rows {
			r := &rows[i]
			at := int(r.Shard)
			p.attempt(at, int(r.Attempt))
			if p.durations != nil {
				binary.LittleEndian.PutUint32(p.durations[4*at:], milliseconds(r.FinishedAt.Sub(r.StartedAt)))
			}
			if p.started != nil {
				binary.LittleEndian.PutUint32(p.started[4*at:], milliseconds(r.StartedAt.Sub(p.from)))
			}
			if r.WorkerID != uuid.Nil {
				p.worker(at, r.WorkerID)
			}
		}
	}
	return nil
}

// standing packs what the rows know better: the attempt that comes or is under way, and who has it.
func (p *packing) standing(m *shardMap) {
	for _, r := range m.ranges {
		for at := max(0, int(r.Lo)); at < min(int(r.Hi), p.n); at++ {
			p.attempt(at, r.row.attempt)
			if r.row.worker != nil {
				p.worker(at, *r.row.worker)
			}
		}
	}
}

func (p *packing) attempt(at, attempt int) {
	if p.attempts != nil {
		p.attempts[at] = byte(min(attempt, math.MaxUint8))
	}
}

func (p *packing) worker(at int, id uuid.UUID) {
	if p.workers == nil {
		return
	}
	n, ok := p.numbers[id]
	if !ok {
		if len(p.workerIDs) == noWorker {
			n = noWorker // more workers than numbers: the last ones have none
		} else {
			n = uint16(len(p.workerIDs))
			p.workerIDs = append(p.workerIDs, id)
			p.numbers[id] = n
		}
	}
	binary.LittleEndian.PutUint16(p.workers[2*at:], n)
}

// milliseconds are a duration's, within what a packed array holds.
func milliseconds(d time.Duration) uint32 {
	return uint32(min(max(0, d.Milliseconds()), noTime-1))
}
