package control

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

// Wait returns a run's end state; the news of it comes by hint, and by looking every Config.Poll.
func (c *Client) Wait(ctx context.Context, id uuid.UUID) (stage.RunState, error) {
	states, err := c.WaitAll(ctx, []uuid.UUID{id})
	return states[id], err
}

// WaitAll waits for the end of many runs. On an error it returns those that have ended so far.
func (c *Client) WaitAll(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]stage.RunState, error) {
	box := c.cfg.Bus.SubscribeRuns()
	defer box.Close()
	ended := make(map[uuid.UUID]stage.RunState, len(ids))
	open := make(map[uuid.UUID]struct{}, len(ids))
	for _, id := range ids {
		open[id] = struct{}{}
	}
	poll := time.NewTicker(c.cfg.Poll)
	defer poll.Stop()
	look := ids
	for {
		if err := c.look(ctx, look, open, ended); err != nil {
			return ended, err
		}
		if len(open) == 0 {
			return ended, nil
		}
		look = nil
		for len(look) == 0 {
			select {
			case <-ctx.Done():
				return ended, ctx.Err()
			case <-poll.C:
				look = keys(open)
			case <-box.C():
				for _, news := range box.Take() {
					if len(news) == 0 { // hints were lost
						look = keys(open)
						break
					}
					for _, id := range news {
						if _, mine := open[id]; mine {
							look = append(look, id)
						}
					}
				}
			}
		}
	}
}

func (c *Client) look(ctx context.Context, ids []uuid.UUID, open map[uuid.UUID]struct{}, ended map[uuid.UUID]stage.RunState) error {
	rows, err := c.q.RunStates(ctx, ids)
	if err != nil {
		return fmt.Errorf("looking at %d runs: %w", len(ids), err)
	}
	there := make(map[uuid.UUID]bool, len(rows))
	for _, r := range rows {
		there[r.RunID] = true
		if s := stage.RunState(r.State); s.Ended() {
			ended[r.RunID] = s
			delete(open, r.RunID)
		}
	}
	for _, id := range ids {
		if !there[id] {
			return notFound(id)
		}
	}
	return nil
}

func keys(m map[uuid.UUID]struct{}) []uuid.UUID {
	ids := make([]uuid.UUID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	return ids
}
