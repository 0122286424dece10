package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/sql/db"
	"axflow/sql/pipe"
	"axflow/sql/versions"
	"axflow/stage"
)

// database is the source that is real.
type database struct {
	cfg  Config
	read func(ctx context.Context, namespace string, ids []uuid.UUID) ([]gen.Run, error)
}

func (d *database) now(ctx context.Context) (time.Time, error) {
	at, err := db.New(d.cfg.Pool).Now(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("asking the database for its time: %w", err)
	}
	return at, nil
}

func (d *database) look(ctx context.Context, runs []uuid.UUID, q feedRequest) (sight, error) {
	var seen sight
	var stages []db.LiveStagesRow
	var since []db.RunsSinceRow
	var marks []db.RunMarksRow
	var open []db.OpenRunsBeforeRow
	var held []db.HeldInRow
	var now []time.Time
	p := pipe.New()
	queued := errors.Join(
		when(len(runs) > 0, p, &stages, func() error { _, err := p.LiveStages(ctx, runs); return err }),
		when(len(q.namespaces) > 0, p, &since, func() error {
			_, err := p.RunsSince(ctx, db.RunsSinceParams{Since: q.since, Namespaces: q.namespaces, Most: page})
			return err
		}),
		when(len(q.ids) > 0, p, &marks, func() error {
			_, err := p.RunMarks(ctx, db.RunMarksParams{RunIds: q.ids, Namespaces: q.namespaces})
			return err
		}),
		when(q.before != uuid.Nil, p, &open, func() error {
			_, err := p.OpenRunsBefore(ctx, db.OpenRunsBeforeParams{Namespace: q.sweep, Before: q.before, Most: page})
			return err
		}),
		when(len(q.namespaces) > 0, p, &held, func() error { _, err := p.HeldIn(ctx, q.namespaces); return err }),
	)
	if len(q.namespaces) > 0 {
		_, err := p.Now(ctx)
		pipe.Values(p, &now)
		queued = errors.Join(queued, err)
	}
	if err := errors.Join(queued, p.Send(ctx, d.cfg.Pool)); err != nil {
		return sight{}, fmt.Errorf("reading what is watched: %w", err)
	}
	var err error
	if seen.runs, err = d.runs(ctx, stages); err != nil {
		return sight{}, err
	}
	if len(now) > 0 {
		seen.now = now[0]
	}
	for _, r := range since {
		seen.feed.since = append(seen.feed.since, mark{r.RunID, r.Namespace, r.Flow, r.Queue, r.Version, r.Open})
	}
	for _, r := range marks {
		seen.feed.marks = append(seen.feed.marks, mark{r.RunID, r.Namespace, r.Flow, r.Queue, r.Version, r.Open})
	}
	for _, r := range open {
		seen.feed.open = append(seen.feed.open, mark{r.RunID, r.Namespace, r.Flow, r.Queue, r.Version, r.Open})
	}
	seen.feed.held = make(map[string][]hold)
	for _, r := range held {
		seen.feed.held[r.Namespace] = append(seen.feed.held[r.Namespace], hold{r.Kind, r.Name})
	}
	return seen, nil
}

// when queues a statement whose rows go to dst.
func when[T any](wanted bool, p *pipe.Pipe, dst *[]T, queue func() error) error {
	if !wanted {
		return nil
	}
	err := queue()
	pipe.Rows(p, dst)
	return err
}

// runs puts stages, in the order of their runs, together.
func (d *database) runs(ctx context.Context, rows []db.LiveStagesRow) (map[uuid.UUID]*run, error) {
	runs := make(map[uuid.UUID]*run)
	for _, row := range rows {
		r := runs[row.RunID]
		if r == nil {
			r = &run{id: row.RunID, namespace: row.Namespace, state: stage.RunState(row.RunState), finishedAt: row.RunFinishedAt, paused: row.Paused}
			runs[row.RunID] = r
		}
		name := fmt.Sprint(row.Ord) // of a version that this binary cannot read
		v, err := d.version(ctx, row.VersionID)
		if err != nil {
			return nil, err
		}
		if v != nil && int(row.Ord) < len(v.Graph.Stages) {
			name = v.Graph.Stages[row.Ord].Name
		}
		s := stageCounts{name: name, state: stage.StageState(row.State), generation: int(row.Generation), total: -1, ready: int(row.Ready),
			inFlight: int(row.Flight), dead: int(row.Dead), parked: int(row.Parked), upstreamFailed: int(row.UpstreamFailed), readyAt: row.ReadyAt, finishedAt: row.FinishedAt}
		if row.ShardTotal != nil {
			s.total = int(*row.ShardTotal)
			s.succeeded = s.total - s.ready - s.inFlight - s.dead - s.parked
		}
		r.stages = append(r.stages, s)
	}
	return runs, nil
}

// version is nil for one that this binary cannot read, which must not silence the others.
func (d *database) version(ctx context.Context, id int32) (*versions.Version, error) {
	v, err := d.cfg.Versions.Get(ctx, db.New(d.cfg.Pool), id)
	if err != nil && !d.cfg.Versions.Unreadable(err) {
		return nil, err
	}
	return v, nil
}

func (d *database) rows(ctx context.Context, namespace string, ids []uuid.UUID) ([]gen.Run, error) {
	if d.read == nil {
		return nil, nil
	}
	return d.read(ctx, namespace, ids)
}
