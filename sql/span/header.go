// Package span moves indices of stages between the tables: the transactions that a worker and a leader share.
//
// An index of a released stage is in exactly one of ready, flight and parked until it succeeds, and leaves them
// in the transaction that appends its success. The one lock order is run, flight (by id), stage (by run and
// ord), then ready and parked. Locks are taken in one statement and what they protect is read in a later one,
// because a READ COMMITTED snapshot is older than the lock that its statement waited for; a statement may
// decide at once only from the very rows it has locked.
package span

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/stage"
)

// Kind says what a span's indices are.
type Kind int16

// The kinds of span.
const (
	Shards Kind = 0 // indices from 0 on; an unsharded stage is index 0
	Plan   Kind = 1 // the plan task of a sharded stage, index PlanIndex
)

// PlanIndex is the index of a plan task.
const PlanIndex = -1

// Header is what all indices of a span share, whichever table they stand in.
type Header struct {
	ID, Run    uuid.UUID
	VersionID  int32
	Ord        int16
	Generation int16
	Kind       Kind
	Attempt    int16
	Delivery   int16
	Losses     int16 // times it was lost with its worker while handed out alone
	Level      stage.Level
	Namespace  string
	Queue      string
	Key        string
	ReadyAt    time.Time
}

// StageKey names a stage of a run.
type StageKey struct {
	Run uuid.UUID
	Ord int16
}

// Decided is a stage that a transaction decided.
type Decided struct {
	StageKey
	State stage.StageState
}

// taken is indices that a transaction has taken out of a table and owes a place.
type taken struct {
	Header
	set shard.Set
}

func parseTaken(h Header, text string) (taken, error) {
	set, err := shard.ParseSet(text)
	if err != nil {
		return taken{}, fmt.Errorf("reading the set of span %s: %w", h.ID, err)
	}
	return taken{Header: h, set: set}, nil
}

func fromFinish(r db.FinishSpansRow) (taken, error) {
	return parseTaken(Header{ID: r.ID, Run: r.RunID, VersionID: r.VersionID, Ord: r.Ord, Generation: r.Generation,
		Kind: Kind(r.Kind), Attempt: r.Attempt, Delivery: r.Delivery, Losses: r.Losses, Level: level(r.Level),
		Namespace: r.Namespace, Queue: r.Queue, Key: r.Key, ReadyAt: r.ReadyAt}, r.Taken)
}

func fromTake(r db.TakeFromFlightsRow) (taken, error) {
	return parseTaken(Header{ID: r.ID, Run: r.RunID, VersionID: r.VersionID, Ord: r.Ord, Generation: r.Generation,
		Kind: Kind(r.Kind), Attempt: r.Attempt, Delivery: r.Delivery, Losses: r.Losses, Level: level(r.Level),
		Namespace: r.Namespace, Queue: r.Queue, Key: r.Key, ReadyAt: r.ReadyAt}, r.Taken)
}

func fromSeize(r db.SeizeOrphansRow) (taken, error) {
	return fromTake(db.TakeFromFlightsRow{ID: r.ID, RunID: r.RunID, ReadyAt: r.ReadyAt, VersionID: r.VersionID, Ord: r.Ord,
		Generation: r.Generation, Kind: r.Kind, Attempt: r.Attempt, Delivery: r.Delivery, Losses: r.Losses, Level: r.Level,
		Namespace: r.Namespace, Queue: r.Queue, Key: r.Key, Taken: r.Taken})
}

func fromUnpark(r db.UnparkRow) (taken, error) { return fromTake(db.TakeFromFlightsRow(r)) }

// level reads a stored level; one that no version of AX wrote reads as the lowest.
func level(v int16) stage.Level {
	if v < int16(stage.P0) || v > int16(stage.P5) {
		return stage.P5
	}
	return stage.Level(v)
}
