package dispatch

import (
	"context"
	"fmt"
	"strconv"

	"axflow/engine/dispatch/board"
	"axflow/sql/db"
	"axflow/sql/pipe"
)

// saveRates adds what start rates have counted to the transaction that hands out what they count: a new leader knows
// of every start that the database knows of.
func saveRates(ctx context.Context, to *pipe.Pipe, states []board.RateState) {
	if len(states) == 0 {
		return
	}
	var p db.SaveRatesParams
	for i := range states {
		s := &states[i]
		p.Names = append(p.Names, s.Name)
		p.Widths = append(p.Widths, s.WidthMs)
		p.Slots = append(p.Slots, s.Slot)
		p.Counts = append(p.Counts, array(s.Counts))
		p.Unstarted = append(p.Unstarted, int32(s.Unstarted))
	}
	_ = to.SaveRates(ctx, p)
}

// array spells an array of PostgreSQL.
func array(counts []int32) string {
	text := make([]byte, 0, 2+2*len(counts))
	text = append(text, '{')
	for i, n := range counts {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(n), 10)
	}
	return string(append(text, '}'))
}

// restoreRates tells the Board what the last leader had counted.
func (l *Loop) restoreRates(ctx context.Context) error {
	rows, err := l.q.Rates(ctx)
	if err != nil {
		return fmt.Errorf("reading start rates: %w", err)
	}
	for i := range rows {
		l.board.SetRate(rateState(&rows[i]))
	}
	return nil
}

func rateState(row *db.AxRate) board.RateState {
	return board.RateState{Name: row.Name, WidthMs: row.WidthMs, Slot: row.Slot, Counts: row.Counts, Unstarted: int(row.Unstarted),
		SavedAt: row.UpdatedAt}
}
