package span

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/pipe"
)

// MoveAligned moves indices of a stage out of its rows that wait for aligned upstream shards (waiting, by row):
// those whose upstream shard succeeded to ready, those whose upstream shard was skipped or is lost to parked for good. The
// caller holds the run's lock in an open transaction, which this ends.
func MoveAligned(ctx context.Context, conn Conn, key StageKey, waiting map[uuid.UUID]shard.Set, succeeded, skipped, lost shard.Set) (Receipt, error) {
	free := db.UnparkParams{Reason: int16(Aligned)}
	doomed := db.UnparkParams{Reason: int16(Aligned)}
	for id, set := range waiting {
		if s := set.Intersect(succeeded); !s.Empty() {
			free.Ids, free.Wanted = append(free.Ids, id), append(free.Wanted, s.String())
		}
		if s := set.Intersect(lost.Union(skipped)); !s.Empty() {
			doomed.Ids, doomed.Wanted = append(doomed.Ids, id), append(doomed.Wanted, s.String())
		}
	}
	if len(free.Ids)+len(doomed.Ids) == 0 {
		return Receipt{}, nil
	}
	var locked []db.LockStagesRow
	var freed, given []db.UnparkRow
	p := pipe.New()
	lockStages(ctx, p, []StageKey{key}, &locked)
	_, _ = p.Unpark(ctx, free)
	pipe.Rows(p, &freed)
	_, _ = p.Unpark(ctx, doomed)
	pipe.Rows(p, &given)
	if err := p.Send(ctx, conn); err != nil {
		return Receipt{}, fmt.Errorf("taking aligned shards: %w", err)
	}
	places := newPlacing(locked)
	for _, row := range freed {
		t, err := fromUnpark(row)
		if err != nil {
			return Receipt{}, err
		}
		places.put(t.Header, t.set, Released, 0, t.set.Len())
	}
	for _, row := range given {
		t, err := fromUnpark(row)
		if err != nil {
			return Receipt{}, err
		}
		if s := t.set.Intersect(skipped); !s.Empty() {
			places.park(t.Header, s, Skipped, "")
		}
		if s := t.set.Minus(skipped); !s.Empty() {
			places.park(t.Header, s, UpstreamFailed, "")
		}
	}
	var receipt Receipt
	if err := places.commit(ctx, conn, []StageKey{key}, &receipt); err != nil {
		return Receipt{}, fmt.Errorf("moving aligned shards: %w", err)
	}
	return receipt, nil
}
