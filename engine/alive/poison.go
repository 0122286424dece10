package alive

import (
	"context"
	"fmt"

	"axflow/sql/hint"
	"axflow/sql/span"
)

// failFast stops stages that fail fast where the loss of a worker was an index's last: no worker's report tells of that
// failure.
func (w *Watch) failFast(ctx context.Context, seized []span.SeizedFlight) error {
	var keys []span.StageKey
	for i := range seized {
		s := &seized[i]
		if s.Set.Len() != 1 || s.Delivery < span.AloneFrom || s.Losses+1 < span.PoisonCap {
			continue
		}
		v, err := w.cfg.Versions.Get(ctx, w.q, s.VersionID)
		if w.cfg.Versions.Unreadable(err) {
			continue
		}
		if err != nil {
			return err
		}
		if v.Graph.Stages[s.Ord].FailFast {
			keys = append(keys, span.StageKey{Run: s.Run, Ord: s.Ord})
		}
	}
	if len(keys) == 0 {
		return nil
	}
	receipt, err := span.FailFast(ctx, w.cfg.Conn, w.cfg.Fence, keys)
	if err != nil {
		return fmt.Errorf("failing %d stages fast: %w", len(keys), err)
	}
	news := hint.Engine{Ready: receipt.Ready}
	for _, d := range receipt.Decided {
		news.Stages = append(news.Stages, d.StageKey)
	}
	w.cfg.Box.Put(news)
	for _, id := range receipt.Asked {
		w.cfg.Bus.ToWorker(id, hint.Worker{Asks: true})
	}
	return nil
}
