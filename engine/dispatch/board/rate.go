package board

import (
	"time"

	"github.com/google/uuid"
)

// Rate bounds starts: at most N in any window of length Per. The zero Rate bounds nothing.
type Rate struct {
	N   int
	Per time.Duration
}

// RateState is what the Board remembers of the starts under one name, as a row of the table rate. The names are "rate/" and
// Span.StageKey, "retry/" and Span.StageKey, and "key/", the namespace, "/" and Span.Key.
type RateState struct {
	Name string
	// WidthMs is the length of a slot in milliseconds, and Slot the number of the newest slot since 1970.
	WidthMs, Slot int64
	// Counts are the starts by slot, the newest last.
	Counts []int32
	// Unstarted is how many indices are handed out and have not started.
	Unstarted int
}

// SetRate restores what another Board had written of a rate, after a take-over; in whatever order with AddFlight. What had not
// started by then and is in no flight's waiting part now counts as started when the flights that were there have ended.
func (b *Board) SetRate(s RateState) {}

// TakeRates returns the rates that changed by grants or rejects since the last call, by name. Write them in the transaction
// that writes the grants.
func (b *Board) TakeRates() []RateState { return nil }

// NextRate tells when the first lane that waits for a rate may go on by the passing of time, if there is one.
func (b *Board) NextRate(now time.Time) (time.Time, bool) { return time.Time{}, false }

// Blocked tells whether the pending span stands behind a closed scope or rate for now, and which: the Scope's String, or the
// rate's name. It does not ask whether there are workers, or who goes first.
func (b *Board) Blocked(id uuid.UUID) (name string, blocked bool) { return "", false }
