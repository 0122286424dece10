package span

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/pipe"
	"axflow/stage"
)

// placing collects the places of taken indices on stages that are locked.
type placing struct {
	stages map[StageKey]db.LockStagesRow
	ready  db.PlaceReadyParams
	parked db.PlaceParkedParams
	heads  map[uuid.UUID]Ready
	fast   []StageKey // stages that a failure too many stops
	idle   []StageKey // stages whose condition was false
}

func newPlacing(locked []db.LockStagesRow) *placing {
	p := &placing{stages: make(map[StageKey]db.LockStagesRow, len(locked)), heads: make(map[uuid.UUID]Ready)}
	for _, s := range locked {
		p.stages[StageKey{s.RunID, s.Ord}] = s
	}
	return p
}

// maxAttempts is the stage's raised limit, 0 when no operator raised it.
func (p *placing) maxAttempts(k StageKey) int {
	if m := p.stages[k].MaxAttempts; m != nil {
		return int(*m)
	}
	return 0
}

// running tells whether the stage runs and is not being stopped.
func (p *placing) running(k StageKey) bool {
	return stage.StageState(p.stages[k].State) == stage.StageRunning
}

// put gives indices of a header their place. size is how many indices the header's flight held.
func (p *placing) put(h Header, set shard.Set, why Reason, delay time.Duration, size int) (Place, ParkReason) {
	return p.putError(h, set, why, delay, size, "")
}

// putError is put for failures; fingerprint groups those that are dead.
func (p *placing) putError(h Header, set shard.Set, why Reason, delay time.Duration, size int, fingerprint string) (Place, ParkReason) {
	s, ok := p.stages[StageKey{h.Run, h.Ord}]
	if !ok {
		return Nowhere, 0
	}
	attempt, delivery, losses := h.next(why, size)
	place, reason := Destination(why, stage.StageState(s.State), s.Generation == h.Generation, losses)
	switch place {
	case Nowhere:
	case ToReady:
		id := newID()
		r := &p.ready
		r.Ids = append(r.Ids, id)
		r.StageRuns = append(r.StageRuns, h.Run)
		r.Ords = append(r.Ords, h.Ord)
		r.Generations = append(r.Generations, h.Generation)
		r.Kinds = append(r.Kinds, int16(h.Kind))
		r.VersionIds = append(r.VersionIds, h.VersionID)
		r.Attempts = append(r.Attempts, attempt)
		r.Deliveries = append(r.Deliveries, delivery)
		r.Losses = append(r.Losses, losses)
		r.Levels = append(r.Levels, int16(h.Level))
		r.Namespaces = append(r.Namespaces, h.Namespace)
		r.Queues = append(r.Queues, h.Queue)
		r.Keys = append(r.Keys, h.Key)
		r.DelayMs = append(r.DelayMs, delay.Milliseconds())
		r.QuantumMs = append(r.QuantumMs, quantum(delay).Milliseconds())
		r.Ns = append(r.Ns, int32(set.Len()))
		r.Todos = append(r.Todos, set.String())
		h.ID, h.Attempt, h.Delivery, h.Losses = id, attempt, delivery, losses
		p.heads[id] = Ready{Header: h, Set: set}
	case ToParked:
		if why == NotNeeded && reason == Skipped {
			p.idle = append(p.idle, StageKey{h.Run, h.Ord})
		}
		h.Losses = losses
		if why == Retry { // it would have been tried again: this attempt is spent, whatever revives it
			h.Attempt, h.Delivery = attempt, 0
		}
		if reason == Poison {
			fingerprint = lostPrint
		}
		p.park(h, set, reason, fingerprint)
	}
	return place, reason
}

// Fingerprints of dead letters that no error of theirs describes.
const (
	lostPrint    = "lost with its worker"
	expiredPrint = "out of its overall budget"
)

// park gives indices a place among the parked. They keep the attempt that they failed in: a replay counts on
// from there.
func (p *placing) park(h Header, set shard.Set, reason ParkReason, fingerprint string) {
	if len(fingerprint) > MaxFingerprint {
		fingerprint = fingerprint[:MaxFingerprint]
	}
	fingerprint = strings.ReplaceAll(strings.ToValidUTF8(fingerprint, ""), "\x00", "")
	r := &p.parked
	r.Ids = append(r.Ids, newID())
	r.StageRuns = append(r.StageRuns, h.Run)
	r.Ords = append(r.Ords, h.Ord)
	r.Generations = append(r.Generations, h.Generation)
	r.Kinds = append(r.Kinds, int16(h.Kind))
	r.VersionIds = append(r.VersionIds, h.VersionID)
	r.Attempts = append(r.Attempts, h.Attempt)
	r.Deliveries = append(r.Deliveries, h.Delivery)
	r.Losses = append(r.Losses, h.Losses)
	r.Levels = append(r.Levels, int16(h.Level))
	r.Namespaces = append(r.Namespaces, h.Namespace)
	r.Queues = append(r.Queues, h.Queue)
	r.Keys = append(r.Keys, h.Key)
	r.Reasons = append(r.Reasons, int16(reason))
	r.Fingerprints = append(r.Fingerprints, fingerprint)
	r.Ns = append(r.Ns, int32(set.Len()))
	r.Todos = append(r.Todos, set.String())
}

// queue adds the statements of everything put to the pipe.
func (p *placing) queue(ctx context.Context, to *pipe.Pipe, distinct []uuid.UUID, made *[]db.PlaceReadyRow) {
	if len(p.ready.Ids) > 0 {
		p.ready.RunIds, p.ready.Live = distinct, live
		_, _ = to.PlaceReady(ctx, p.ready)
		pipe.Rows(to, made)
	}
	if len(p.parked.Ids) > 0 {
		p.parked.RunIds, p.parked.Live = distinct, active
		_, _ = to.PlaceParked(ctx, p.parked)
	}
	for _, k := range p.idle {
		_ = to.SetStageReason(ctx, db.SetStageReasonParams{Reason: "its condition was false", RunID: k.Run, Ord: k.Ord})
	}
}

// commit writes everything put, decides the stages named by keys, queues what also adds, and ends the open
// transaction.
func (p *placing) commit(ctx context.Context, conn Conn, keys []StageKey, receipt *Receipt, also ...func(*pipe.Pipe) error) error {
	_, _, distinct := columns(keys)
	var made []db.PlaceReadyRow
	var decided []db.RetireStagesRow
	to := pipe.New()
	p.queue(ctx, to, distinct, &made)
	if len(p.fast) > 0 {
		stopBroken(ctx, to, p.fast, &receipt.Asked)
	}
	if len(keys) > 0 {
		retireStages(ctx, to, keys, &decided)
	}
	for _, add := range also {
		if err := add(to); err != nil {
			rollback(ctx, conn)
			return err
		}
	}
	to.Text("commit")
	if err := to.Send(ctx, conn); err != nil {
		rollback(ctx, conn)
		return err
	}
	receipt.Decided = append(receipt.Decided, decidedOf(decided)...)
	receipt.Ready = append(receipt.Ready, p.made(made)...)
	return nil
}

// made are the ready rows as the database wrote them.
func (p *placing) made(rows []db.PlaceReadyRow) []Ready {
	out := make([]Ready, 0, len(rows))
	for _, row := range rows {
		r := p.heads[row.ID]
		r.NotBefore, r.ReadyAt = row.NotBefore, row.ReadyAt
		out = append(out, r)
	}
	return out
}
