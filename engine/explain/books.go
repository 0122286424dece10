package explain

import (
	"context"
	"fmt"
	"time"

	"axflow/engine/dispatch/board"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/versions"
)

// books is the dispatcher's Board as the tables have it.
type books struct {
	board *board.Board
	now   time.Time
}

// open makes the Board, once a call.
func (s *session) open(ctx context.Context, now time.Time) error {
	if s.books != nil {
		return nil
	}
	b, err := readBoard(ctx, s.tx, s.from.Versions, now)
	if err != nil {
		return fmt.Errorf("reading the dispatcher's books: %w", err)
	}
	s.books = &books{b, now}
	return nil
}

// gates asks the Board about a ready row, as if it were due.
func (b *books) gates(v *versions.Version, r db.WhyReadyRow) []board.Gate {
	// The Board asks how many indices there are, not which: a set of a million ranges need not be read.
	todo := shard.Span(int(r.First), int(r.First+r.N))
	gates := b.board.ExplainSpan(boardSpan(v, r, todo), b.now)
	if len(gates) > 0 && gates[0].Name == board.GateNotBefore {
		gates = gates[1:]
	}
	return gates
}
