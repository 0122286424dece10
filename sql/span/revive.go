package span

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/pipe"
	"axflow/stage"
)

// Revive takes whole rows of dead indices back to ready for their next attempt. The caller holds the locks of the
// run and the stage in an open transaction, has put the stage into state, and ends the transaction.
func Revive(ctx context.Context, conn Conn, key StageKey, generation int16, state stage.StageState, rows map[uuid.UUID]shard.Set) ([]Ready, error) {
	ids := make([]uuid.UUID, 0, len(rows))
	for id := range rows {
		ids = append(ids, id)
	}
	taken, err := db.New(conn).UnparkDead(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("taking dead indices: %w", err)
	}
	places := newPlacing([]db.LockStagesRow{{RunID: key.Run, Ord: key.Ord, Generation: generation, State: int16(state)}})
	for _, row := range taken {
		t, err := fromTake(db.TakeFromFlightsRow(row))
		if err != nil {
			return nil, err
		}
		t.Losses = 0
		places.put(t.Header, t.set, Retry, 0, t.set.Len())
	}
	var made []db.PlaceReadyRow
	p := pipe.New()
	places.queue(ctx, p, []uuid.UUID{key.Run}, &made)
	if err := p.Send(ctx, conn); err != nil {
		return nil, fmt.Errorf("placing revived indices: %w", err)
	}
	return places.made(made), nil
}
