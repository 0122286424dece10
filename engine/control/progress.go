package control

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/flow"
	"axflow/sql/db"
	"axflow/sql/versions"
	"axflow/stage"
)

// Progress returns a run with its stages' states and counts, and the version that names the stages.
func (c *Client) Progress(ctx context.Context, id uuid.UUID) (Progress, error) {
	run, err := c.Run(ctx, id)
	if err != nil {
		return Progress{}, err
	}
	v, err := c.cfg.Versions.Get(ctx, c.q, run.VersionID)
	if err != nil {
		return Progress{}, err
	}
	rows, err := c.q.Progress(ctx, id)
	if err != nil {
		return Progress{}, fmt.Errorf("reading the progress of run %s: %w", id, err)
	}
	limits, err := c.q.StageLimits(ctx, id)
	if err != nil {
		return Progress{}, fmt.Errorf("reading the limits of run %s: %w", id, err)
	}
	holds, err := c.q.HoldsOn(ctx, db.HoldsOnParams{Namespace: run.Namespace, Run: id.String(), Flow: run.Flow, Queue: run.Queue})
	if err != nil {
		return Progress{}, fmt.Errorf("reading what is paused of run %s: %w", id, err)
	}
	tolerated := make(map[int16]int)
	for _, l := range limits {
		if l.Tolerate != nil {
			tolerated[l.Ord] = int(*l.Tolerate)
		}
	}
	now := c.cfg.Now()
	p := Progress{Run: run, State: stage.RunState(run.State), Version: v, At: now, Stages: make([]StageProgress, len(rows))}
	for i, r := range rows {
		p.Stages[i] = stageProgress(v.Graph, r)
		p.Stages[i].Tolerated = tolerated[r.Ord]
	}
	for _, r := range holds {
		p.Held = append(p.Held, Hold{Kind: HoldKind(r.Kind), Name: r.Name, Actor: r.Actor, Reason: r.Reason, HeldAt: r.HeldAt})
	}
	return p, nil
}

// Progress is a run at one moment.
type Progress struct {
	Run     db.RunRow
	State   stage.RunState
	Version *versions.Version
	At      time.Time // database time
	Stages  []StageProgress
	Held    []Hold // the run's own hold, and those of its flow and its queue; of stages in other queues nothing is said
}

// StageProgress is one stage of a run at one moment. Total is -1 while the shards are not known. Dead are those that have
// failed for good, discarded ones too; UpstreamFailed of these never ran, because the shards that they follow have failed, and are no
// dead letters. Parked wait, or were skipped or cancelled.
type StageProgress struct {
	Name                                            string
	Kind                                            stage.Kind
	Ord, Generation                                 int
	State                                           stage.StageState
	Total, Succeeded, Ready, InFlight, Dead, Parked int
	UpstreamFailed                                  int
	Tolerated                                       int // failed shards that do not fail the stage; 0 while they are not known
	ReadyAt, FinishedAt                             *time.Time
	Reason                                          string // why it was released, skipped or stopped; "" while it waits
}

func stageProgress(g *flow.Graph, r db.ProgressRow) StageProgress {
	s := StageProgress{Name: g.Stages[r.Ord].Name, Kind: g.Stages[r.Ord].Kind, Ord: int(r.Ord), Generation: int(r.Generation),
		State: stage.StageState(r.State), Total: -1, Ready: int(r.Ready), InFlight: int(r.Flight), Dead: int(r.Dead), Parked: int(r.Parked), UpstreamFailed: int(r.UpstreamFailed),
		ReadyAt: r.ReadyAt, FinishedAt: r.FinishedAt}
	if r.Reason != nil {
		s.Reason = *r.Reason
	}
	if r.ShardTotal != nil {
		s.Total = int(*r.ShardTotal)
		// The identity: what is in none of the three tables has succeeded.
		s.Succeeded = s.Total - s.Ready - s.InFlight - s.Dead - s.Parked
	}
	return s
}
