package dispatch

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// loadFlights compares the books with the database: a hint about a flight may have been lost.
func (l *Loop) loadFlights(ctx context.Context) error {
	rows, err := l.q.Flights(ctx)
	if err != nil {
		return fmt.Errorf("loading the flights: %w", err)
	}
	there := make(map[uuid.UUID]struct{}, len(rows))
	for i := range rows {
		row := &rows[i]
		set, err := flightSet(row)
		if err != nil {
			return err
		}
		if set.Empty() {
			continue
		}
		there[row.ID] = struct{}{}
		if l.board.Left(row.ID, set.Len()) {
			continue
		}
		v, err := l.cfg.Versions.Get(ctx, l.q, row.VersionID)
		if err != nil {
			if l.cfg.Versions.Unreadable(err) {
				continue
			}
			return err
		}
		f := boardFlight(v, row, set.Len())
		l.board.AddFlight(f)
		l.flights[row.ID] = flightInfo{f.Handler, row.RunID, row.WorkerID}
	}
	for id := range l.flights {
		if _, ok := there[id]; !ok {
			l.board.Left(id, 0)
			delete(l.flights, id)
		}
	}
	return nil
}
