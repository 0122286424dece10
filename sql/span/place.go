package span

import (
	"fmt"

	"axflow/stage"
)

// Reason says why indices leave a flight without success.
type Reason int8

// The reasons.
const (
	Retry       Reason = iota // failed, with attempts left
	Exhausted                 // failed for good: out of attempts, or not retryable
	GivenBack                 // never started: given back, drained, not started in time
	Interrupted               // started, then stopped by a deploy, a drain or a cancel: no attempt is charged
	Seized                    // its worker is gone
	Released                  // its aligned upstream shard has succeeded, or the run that it waited for has ended
	Awaiting                  // it has started a run and waits for its end
	NotNeeded                 // its condition was false
)

// Place is where taken indices go.
type Place int8

// The places.
const (
	Nowhere Place = iota // dropped: a later generation owns the stage
	ToReady
	ToParked
)

// ParkReason says why indices are parked; parked.reason holds it.
type ParkReason int16

// The reasons for parking.
const (
	Dead           ParkReason = 1 // out of attempts: the dead letters
	Cancelled      ParkReason = 2
	Skipped        ParkReason = 3
	Aligned        ParkReason = 4 // waits for the aligned upstream shards
	UpstreamFailed ParkReason = 5 // its aligned upstream shard will not succeed
	Poison         ParkReason = 6 // took its worker down too often
	Child          ParkReason = 7 // waits for the run that it has started
	Expired        ParkReason = 8 // its stage ran out of its overall budget: a dead letter too
	Discarded      ParkReason = 9 // a dead letter that an operator gave up: counts as failed
)

// DeadLetter tells whether indices parked for the reason are dead letters.
func (r ParkReason) DeadLetter() bool { return r == Dead || r == Poison || r == Expired }

// Failed tells whether indices parked for the reason count as failed, against what their stage tolerates.
func (r ParkReason) Failed() bool { return r.DeadLetter() || r == UpstreamFailed || r == Discarded }

// PoisonCap is the number of losses, each suffered while handed out alone, after which an index is parked.
const PoisonCap = 3

// AloneFrom is the delivery from which indices are handed out singly, so that a loss names its culprit.
const AloneFrom = 3

// Destination is the one table of where indices go that leave a flight: by reason, by the state of their
// (locked) stage, by whether the stage is still in their generation, and by their losses so far (this one
// included). The second result is meaningful for ToParked.
func Destination(why Reason, state stage.StageState, sameGeneration bool, losses int16) (Place, ParkReason) {
	if !sameGeneration {
		return Nowhere, 0
	}
	switch state {
	case stage.StagePlanning, stage.StageRunning:
		switch {
		case why == Exhausted:
			return ToParked, Dead
		case why == Awaiting:
			return ToParked, Child
		case why == NotNeeded:
			return ToParked, Skipped
		case why == Seized && losses >= PoisonCap:
			return ToParked, Poison
		default:
			return ToReady, 0
		}
	case stage.StageCancelling:
		switch why {
		case Exhausted:
			return ToParked, Dead
		case NotNeeded:
			return ToParked, Skipped
		default:
			return ToParked, Cancelled
		}
	default:
		// A waiting or decided stage holds nothing in flight in its own generation.
		return Nowhere, 0
	}
}

// next is the attempt, delivery and losses of indices that left a flight of size n for the reason.
func (h Header) next(why Reason, n int) (attempt, delivery, losses int16) {
	attempt, delivery, losses = h.Attempt, h.Delivery, h.Losses
	switch why {
	case Retry:
		attempt, delivery = attempt+1, 1
	case Interrupted:
		delivery++
	case Seized:
		delivery++
		if n == 1 && h.Delivery >= AloneFrom {
			losses++
		}
	case Exhausted, GivenBack, Released, Awaiting, NotNeeded:
	}
	return attempt, delivery, losses
}

func (r Reason) String() string {
	names := [...]string{"retry", "exhausted", "given back", "interrupted", "seized", "released", "awaiting", "not needed"}
	if r < 0 || int(r) >= len(names) {
		return fmt.Sprintf("reason %d", int8(r))
	}
	return names[r]
}
