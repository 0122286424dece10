package span

import (
	"context"
	"time"

	axsql "axflow/sql"
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
	return Receipt{}, nil
}

// FailFast does for the named stages what Finish does for reports with FailFast: those of which more indices have failed
// than they tolerate stop. It is for failures that no report tells of, such as poison. It is safe to repeat.
func FailFast(ctx context.Context, conn Conn, fence axsql.Fence, keys []StageKey) (Receipt, error) {
	return Receipt{}, nil
}
