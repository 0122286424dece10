package alive

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
)

// longRun is a task in a worker's report of what has run for longer than a beat.
type longRun struct {
	Execution uuid.UUID `json:"execution"`
	Index     int32     `json:"index"`
	Started   time.Time `json:"started"`

	ran time.Duration // when its worker beat last
}

// seizeOverdue takes tasks away that their workers report as running for longer than they may: a worker ends such
// a task by itself, unless its watchdog is broken. Its late report is then refused.
func (w *Watch) seizeOverdue(ctx context.Context, rows []db.WorkersRow) error {
	var runs []longRun
	ids := make([]uuid.UUID, 0)
	for _, row := range rows {
		if len(row.Running) <= len("[]") {
			continue
		}
		var list []longRun
		if err := json.Unmarshal(row.Running, &list); err != nil {
			w.cfg.Logger.Error("a worker's report of what runs cannot be read", "worker", row.ID, "err", err)
			continue
		}
		for _, r := range list {
			// No Execution time-out is shorter than nothing: most tasks need no look at theirs.
			if r.ran = row.SeenAt.Sub(r.Started); r.ran > w.cfg.Overdue {
				runs, ids = append(runs, r), append(ids, r.Execution)
			}
		}
	}
	if len(runs) == 0 {
		return nil
	}
	flights, err := w.q.FlightStages(ctx, ids)
	if err != nil {
		return fmt.Errorf("reading the stages of long runs: %w", err)
	}
	of := make(map[uuid.UUID]db.FlightStagesRow, len(flights))
	for _, f := range flights {
		of[f.ID] = f
	}
	var backs []span.Handback
	for _, r := range runs {
		f, ok := of[r.Execution]
		if !ok {
			continue // it has ended meanwhile
		}
		v, err := w.cfg.Versions.Get(ctx, w.q, f.VersionID)
		if err != nil {
			if w.cfg.Versions.Unreadable(err) {
				continue
			}
			return err
		}
		if limit := v.Graph.Stages[f.Ord].Timeout.Execution; r.ran > limit+w.cfg.Overdue {
			w.cfg.Logger.Warn("task seized: it runs past its time-out", "run", f.RunID, "stage", f.Ord, "shard", r.Index,
				"execution", f.ID, "epoch", w.cfg.Fence.Epoch, "ran", r.ran, "limit", limit)
			backs = append(backs, span.Handback{Execution: f.ID, Run: f.RunID, Ord: f.Ord, Set: shard.Of(int(r.Index))})
		}
	}
	return w.takeBack(ctx, merge(backs))
}

// merge makes one handback of each flight.
func merge(backs []span.Handback) []span.Handback {
	at := make(map[uuid.UUID]int)
	var out []span.Handback
	for _, b := range backs {
		if i, ok := at[b.Execution]; ok {
			out[i].Set = out[i].Set.Union(b.Set)
			continue
		}
		at[b.Execution] = len(out)
		out = append(out, b)
	}
	return out
}

func (w *Watch) takeBack(ctx context.Context, backs []span.Handback) error {
	if len(backs) == 0 {
		return nil
	}
	receipt, err := span.SeizeFrom(ctx, w.cfg.Conn, w.cfg.Fence, backs)
	if err != nil {
		return err
	}
	news := hint.Engine{Ready: receipt.Ready, Look: true} // the books are compared with what is left of the flights
	for _, d := range receipt.Decided {
		news.Stages = append(news.Stages, d.StageKey)
	}
	for _, a := range receipt.Accepted {
		w.cfg.Stats.Seized.Add(uint64(a.Set.Len()))
	}
	w.cfg.Box.Put(news)
	return nil
}
