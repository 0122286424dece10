package rest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/sql/db"
	"axflow/stage"
)

// ListFailures lists failed attempts, the newest first.
func (h *Handlers) ListFailures(ctx context.Context, req gen.ListFailuresRequestObject) (gen.ListFailuresResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	run, err := c.Run(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	v, err := c.Pinned(ctx, run.VersionID)
	if err != nil {
		return nil, err
	}
	ords, list := all(v.Graph), []string{"failures", req.Run.String()}
	if name := req.Params.Stage; name != nil {
		ord, ok := v.Graph.Ord(*name)
		if !ok {
			return nil, errNoStage(run, *name)
		}
		ords, list = []int16{int16(ord)}, append(list, *name)
	}
	before := newest()
	b, err := place(list, req.Params.Cursor, failureSize)
	if err != nil {
		return nil, err
	}
	if b != nil {
		before.read(b)
	}
	var page gen.AttemptList
	var goOn *failurePlace
	if page.Items, goOn, err = h.failures(ctx, v.Graph, req.Run, ords, before, pageSize(req.Params.Limit)); err != nil {
		return nil, err
	}
	if goOn != nil {
		page.NextCursor = pageCursor(list, goOn.bytes())
	}
	return gen.ListFailures200JSONResponse(page), nil
}

// failurePlace is a place in the order of a run's failed attempts.
type failurePlace struct {
	at                                 time.Time
	ord, generation, attempt, delivery int16
	shard                              int32
}

// failureSize is the length of a place's bytes.
const failureSize = 20

// newest is before every failure.
func newest() failurePlace {
	return failurePlace{at: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), ord: math.MaxInt16, generation: math.MaxInt16, attempt: math.MaxInt16,
		delivery: math.MaxInt16, shard: math.MaxInt32}
}

func (p *failurePlace) bytes() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(p.at.UnixMicro()))
	for _, n := range []int16{p.ord, p.generation, p.attempt, p.delivery} {
		b = binary.BigEndian.AppendUint16(b, uint16(n))
	}
	return binary.BigEndian.AppendUint32(b, uint32(p.shard))
}

func (p *failurePlace) read(b []byte) {
	p.at = time.UnixMicro(int64(binary.BigEndian.Uint64(b)))
	for i, n := range []*int16{&p.ord, &p.generation, &p.attempt, &p.delivery} {
		*n = int16(binary.BigEndian.Uint16(b[8+2*i:]))
	}
	p.shard = int32(binary.BigEndian.Uint32(b[16:]))
}

// failures reads failed attempts of stages before a place, and where to go on; nil after the last.
func (h *Handlers) failures(ctx context.Context, g *flow.Graph, run uuid.UUID, ords []int16, before failurePlace, most int) ([]gen.Attempt, *failurePlace, error) {
	rows, err := h.reads().Failures(ctx, db.FailuresParams{RunID: run, Ords: ords, Before: before.at, BeforeOrd: before.ord, BeforeGeneration: before.generation,
		BeforeShard: before.shard, BeforeAttempt: before.attempt, BeforeDelivery: before.delivery, Most: int32(most) + 1})
	if err != nil {
		return nil, nil, slow(fmt.Errorf("reading the failures of run %s: %w", run, err), "ask for one stage's, or for fewer")
	}
	var goOn *failurePlace
	if len(rows) > most {
		rows = rows[:most]
		r := rows[most-1]
		goOn = &failurePlace{r.FinishedAt, r.Ord, r.Generation, r.Attempt, r.Delivery, r.Shard}
	}
	attempts := make([]gen.Attempt, len(rows))
	for i, r := range rows {
		a := control.Attempt{Generation: int(r.Generation), Attempt: int(r.Attempt), Delivery: int(r.Delivery), Outcome: stage.Outcome(r.Outcome),
			Worker: r.WorkerID, Execution: r.ExecutionID, ReadyAt: r.ReadyAt, DispatchedAt: r.DispatchedAt, StartedAt: r.StartedAt,
			FinishedAt: r.FinishedAt, Failure: control.FailureOf(r.Error)}
		attempts[i] = h.attempt(ctx, g, g.Stages[r.Ord].Name, int(r.Shard), a)
	}
	return attempts, goOn, nil
}

// all are the numbers of all stages.
func all(g *flow.Graph) []int16 {
	ords := make([]int16, len(g.Stages))
	for i := range ords {
		ords[i] = int16(i)
	}
	return ords
}

// attempt is attemptOf with its failure redacted.
func (h *Handlers) attempt(ctx context.Context, g *flow.Graph, stageName string, index int, a control.Attempt) gen.Attempt {
	out := attemptOf(stageName, index, a)
	out.Failure = h.failure(ctx, g.Flow, stageName, a.Failure)
	return out
}

// failure is an attempt's error as far as it may leave the server: errors quote data.
func (h *Handlers) failure(ctx context.Context, flowName, stageName string, f control.Failure) *gen.Failure {
	out := failureOf(f)
	if out == nil || h.cfg.Redact == nil {
		return out
	}
	text, err := json.Marshal(out)
	if err == nil {
		var left gen.Failure
		if err = json.Unmarshal(h.redact(ctx, Payload{Kind: "failure", Flow: flowName, Stage: stageName, JSON: text}), &left); err == nil {
			return &left
		}
	}
	return &gen.Failure{Code: f.Code, Message: withheldFailure}
}
