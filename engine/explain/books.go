package explain

import (
	"context"
	"fmt"
	"time"

	"axflow/engine/dispatch"
	"axflow/engine/dispatch/board"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/sql/versions"
	"axflow/stage"
)

// books is the dispatcher's Board as the tables have it.
type books struct {
	*dispatch.View
	now   time.Time
	beatS float64 // seconds since the oldest heartbeat
}

// open makes the Board, once a call.
func (s *session) open(ctx context.Context, now time.Time) error {
	if s.books != nil {
		return nil
	}
	v, err := dispatch.ReadBoard(ctx, s.q, s.from.Versions, now, dispatch.ViewOptions{})
	if err != nil {
		return fmt.Errorf("reading the dispatcher's books: %w", err)
	}
	s.books = &books{View: v, now: now}
	oldest, err := s.q.WhyBeats(ctx)
	if err != nil {
		return fmt.Errorf("reading the heartbeats: %w", err)
	}
	s.books.beatS = max(0, now.Sub(oldest).Seconds())
	return nil
}

// gates asks the Board about a ready row, as if it were due and its run not held.
func (b *books) gates(v *versions.Version, r db.WhyReadyRow) []board.Gate {
	// The Board asks how many indices there are, not which: a set of a million ranges need not be read.
	s := dispatch.BoardSpan(v, &span.Ready{Set: shard.Span(int(r.First), int(r.First+r.N)), NotBefore: r.NotBefore,
		Header: span.Header{ID: r.ID, Run: r.RunID, VersionID: r.VersionID, Ord: r.Ord, Generation: r.Generation, Kind: span.Kind(r.Kind),
			Attempt: r.Attempt, Delivery: r.Delivery, Losses: r.Losses, Level: stage.Level(r.Level), Namespace: r.Namespace, Queue: r.Queue,
			Key: r.Key, ReadyAt: r.ReadyAt}})
	gates := b.ExplainSpan(s, b.now)
	if len(gates) > 0 && gates[0].Name == board.GateNotBefore {
		gates = gates[1:]
	}
	return gates
}
