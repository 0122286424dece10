package span

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/pipe"
)

// Expiry is when a stage runs out of its overall budget.
type Expiry struct {
	StageKey
	Generation int16
	At         time.Time
}

// Expire ends stages that have run out of their overall budget, where they still run in that generation: what is ready
// or waits is parked as Expired, what is in flight is asked to stop (Receipt.Asked), and the stage fails once it has.
// Their ax.expiry rows go. It does not look at the time, and is safe to repeat.
func Expire(ctx context.Context, conn Conn, fence axsql.Fence, stages []Expiry) (Receipt, error) {
	if len(stages) == 0 {
		return Receipt{}, nil
	}
	keys := make([]StageKey, len(stages))
	stop := db.StopStagesParams{Why: "expired: it ran out of its overall budget"}
	for i, e := range stages {
		keys[i] = e.StageKey
		stop.StageRuns = append(stop.StageRuns, e.Run)
		stop.Ords = append(stop.Ords, e.Ord)
		stop.Generations = append(stop.Generations, e.Generation)
	}
	_, _, stop.RunIds = columns(keys)
	receipt, err := stopAll(ctx, conn, fence, keys, func(p *pipe.Pipe, asked *[]uuid.UUID) {
		_, _ = p.StopStages(ctx, stop)
		park(ctx, p, keys, Expired, expiredPrint, asked)
		_ = p.DropExpiries(ctx, db.DropExpiriesParams{StageRuns: stop.StageRuns, Ords: stop.Ords, Generations: stop.Generations, RunIds: stop.RunIds})
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("ending %d expired stages: %w", len(stages), err)
	}
	return receipt, nil
}

// FailFast does for the named stages what Finish does for reports with FailFast: those of which more indices have failed
// than they tolerate stop. It is for failures that no report tells of, such as poison. It is safe to repeat.
func FailFast(ctx context.Context, conn Conn, fence axsql.Fence, keys []StageKey) (Receipt, error) {
	if len(keys) == 0 {
		return Receipt{}, nil
	}
	receipt, err := stopAll(ctx, conn, fence, keys, func(p *pipe.Pipe, asked *[]uuid.UUID) { stopBroken(ctx, p, keys, asked) })
	if err != nil {
		return Receipt{}, fmt.Errorf("stopping %d stages: %w", len(keys), err)
	}
	return receipt, nil
}

// stopAll is one fenced transaction of one round trip around stop.
func stopAll(ctx context.Context, conn Conn, fence axsql.Fence, keys []StageKey, stop func(*pipe.Pipe, *[]uuid.UUID)) (Receipt, error) {
	var receipt Receipt
	var decided []db.RetireStagesRow
	p := pipe.New()
	p.Text("begin")
	_ = fence.Hold(ctx, p.Queries)
	lockStages(ctx, p, keys, nil)
	stop(p, &receipt.Asked)
	retireStages(ctx, p, keys, &decided)
	p.Text("commit")
	if err := p.Send(ctx, conn); err != nil {
		rollback(ctx, conn)
		return Receipt{}, axsql.Fenced(err)
	}
	receipt.Decided = decidedOf(decided)
	return receipt, nil
}

// stopBroken queues the stopping of those (locked) stages of which more shards have failed than they tolerate. The
// failures are placed by then.
func stopBroken(ctx context.Context, p *pipe.Pipe, keys []StageKey, asked *[]uuid.UUID) {
	runs, ords, distinct := columns(keys)
	_, _ = p.StopBroken(ctx, db.StopBrokenParams{StageRuns: runs, Ords: ords, RunIds: distinct})
	park(ctx, p, keys, Cancelled, "", asked)
}

// park queues what follows for the stages among keys that have been stopped.
func park(ctx context.Context, p *pipe.Pipe, keys []StageKey, reason ParkReason, fingerprint string, asked *[]uuid.UUID) {
	runs, ords, distinct := columns(keys)
	_ = p.ParkStopped(ctx, db.ParkStoppedParams{StageRuns: runs, Ords: ords, RunIds: distinct, Reason: int16(reason), Fingerprint: fingerprint})
	_ = p.ReparkStopped(ctx, db.ReparkStoppedParams{StageRuns: runs, Ords: ords, RunIds: distinct, Reason: int16(reason), Fingerprint: fingerprint})
	_, _ = p.AskStopped(ctx, db.AskStoppedParams{StageRuns: runs, Ords: ords, RunIds: distinct})
	pipe.Values(p, asked)
}
