package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/versions"
)

// The states of a replay.
const (
	ReplayCanary    = "canary"    // the first have gone, or go, and their end is waited for
	ReplayRunning   = "running"   // the rest goes
	ReplayDone      = "done"      // everything that matched has gone
	ReplayStopped   = "stopped"   // the canary failed
	ReplayCancelled = "cancelled" // by an operator
)

// The limits of a replay.
const (
	MaxCanary    = 10_000
	MaxPerSecond = 100_000
)

// ReplayWhere has the leader replay the dead letters that the filter picks now, throttled and after a canary. A dry run returns what
// would be replayed. Nothing that matches is CodeNotFound. What dies again meanwhile is not replayed again.
func (c *Client) ReplayWhere(ctx context.Context, f DeadFilter, o ReplayOptions, who Who) (ReplayJob, error) {
	if err := who.check(); err != nil {
		return ReplayJob{}, err
	}
	if err := f.check(); err != nil {
		return ReplayJob{}, err
	}
	switch {
	case o.PerSecond < 0 || o.PerSecond > MaxPerSecond || o.PerSecond != o.PerSecond:
		return ReplayJob{}, &Error{Code: CodeInvalid, Field: "/per_second", Text: fmt.Sprintf("%v indices a second: use up to %d, or 0 for as fast as it goes", o.PerSecond, MaxPerSecond)}
	case o.Canary < 0 || o.Canary > MaxCanary:
		return ReplayJob{}, &Error{Code: CodeInvalid, Field: "/canary", Text: fmt.Sprintf("a canary of %d: use 1 to %d, or 0 for none", o.Canary, MaxCanary)}
	}
	now, err := c.q.Now(ctx)
	if err != nil {
		return ReplayJob{}, fmt.Errorf("reading the database's clock: %w", err)
	}
	if f.Until.IsZero() || f.Until.After(now) {
		f.Until = now
	}
	f.Most = 0
	job := ReplayJob{State: ReplayRunning, Filter: f, Options: o, Actor: who.Actor, Reason: who.Reason, CreatedAt: now, UpdatedAt: now}
	if o.Canary > 0 {
		job.State = ReplayCanary
	}
	if err := c.dead(ctx, f, func(l DeadLetter) { job.Total += l.Indices.Len() }); err != nil {
		return ReplayJob{}, err
	}
	if job.Total == 0 {
		return ReplayJob{}, &Error{Code: CodeNotFound, Text: "no dead letter matches the filter: list the dead letters to see what there is"}
	}
	if who.DryRun {
		return job, nil
	}
	job.ID = uuid.Must(uuid.NewV7())
	filter, err := json.Marshal(f)
	if err != nil {
		return ReplayJob{}, fmt.Errorf("encoding the filter: %w", err)
	}
	p := db.InsertReplayParams{ID: job.ID, Namespace: c.cfg.Namespace, State: job.State, Filter: filter, Canary: int32(o.Canary),
		Total: int32(job.Total), Actor: who.Actor, Reason: who.Reason}
	if o.PerSecond > 0 {
		p.PerSecond = &o.PerSecond
	}
	_, err = c.admin(ctx, "replay", "replay/"+job.ID.String(), who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		if err := q.InsertReplay(ctx, p); err != nil {
			return nil, nil, fmt.Errorf("writing the replay: %w", err)
		}
		return says("replay " + job.ID.String()), map[string]any{"filter": f, "indices": job.Total, "canary": o.Canary, "per_second": o.PerSecond}, nil
	})
	return job, err
}

// Replays lists replays, newest first. before is exclusive, for the next page, and the zero id means from the newest; most
// at most 1,000.
func (c *Client) Replays(ctx context.Context, before uuid.UUID, most int) ([]ReplayJob, error) {
	most, err := pageSize(most, 1_000)
	if err != nil {
		return nil, err
	}
	return c.replays(ctx, nil, before, most)
}

// ReplayJob is one replay.
func (c *Client) ReplayJob(ctx context.Context, id uuid.UUID) (ReplayJob, error) {
	jobs, err := c.replays(ctx, &id, uuid.Nil, 1)
	if err != nil {
		return ReplayJob{}, err
	}
	if len(jobs) == 0 {
		return ReplayJob{}, noReplay(id)
	}
	return jobs[0], nil
}

func noReplay(id uuid.UUID) error {
	return &Error{Code: CodeNotFound, Text: fmt.Sprintf("there is no replay %s here", id)}
}

func (c *Client) replays(ctx context.Context, id *uuid.UUID, before uuid.UUID, most int) ([]ReplayJob, error) {
	if before == uuid.Nil {
		before = uuid.Max
	}
	rows, err := c.q.Replays(ctx, db.ReplaysParams{Namespace: c.cfg.Namespace, Before: before, ID: id, Most: int32(most)})
	if err != nil {
		return nil, fmt.Errorf("reading replays: %w", err)
	}
	jobs := make([]ReplayJob, len(rows))
	for i, r := range rows {
		j := ReplayJob{ID: r.ID, State: r.State, Options: ReplayOptions{Canary: int(r.Canary)}, Total: int(r.Total), Moved: int(r.Moved), Failed: int(r.Failed),
			Note: r.Note, Actor: r.Actor, Reason: r.Reason, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, FinishedAt: r.FinishedAt}
		if r.PerSecond != nil {
			j.Options.PerSecond = *r.PerSecond
		}
		if err := json.Unmarshal(r.Filter, &j.Filter); err != nil {
			return nil, fmt.Errorf("reading the filter of replay %s: %w", r.ID, err)
		}
		jobs[i] = j
	}
	return jobs, nil
}

// CancelReplay ends a replay; what it has moved goes on. One that has ended is left alone if it was cancelled, else CodeConflict.
func (c *Client) CancelReplay(ctx context.Context, id uuid.UUID, who Who) ([]Touch, error) {
	return c.admin(ctx, "cancel_replay", "replay/"+id.String(), who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		r, err := q.LockReplay(ctx, id)
		switch {
		case errors.Is(err, pgx.ErrNoRows) || err == nil && r.Namespace != c.cfg.Namespace:
			return nil, nil, noReplay(id)
		case err != nil:
			return nil, nil, fmt.Errorf("locking replay %s: %w", id, err)
		case r.State == ReplayCancelled:
			return nil, nil, nil
		case r.FinishedAt != nil:
			return nil, nil, &Error{Code: CodeConflict, Text: fmt.Sprintf("replay %s is %s already", id, r.State)}
		}
		if err := q.AdvanceReplay(ctx, db.AdvanceReplayParams{ID: id, State: ReplayCancelled, Moved: r.Moved, Failed: r.Failed, Cursor: r.Cursor, Ended: true,
			Note: "cancelled by " + who.Actor}); err != nil {
			return nil, nil, fmt.Errorf("cancelling replay %s: %w", id, err)
		}
		return says("replay " + id.String() + " is cancelled"), map[string]any{"moved": r.Moved}, nil
	})
}

// ReplayIn replays some dead indices of one stage, in its given generation, in the caller's transaction, which commits it. It returns
// which went back to ready, and the news for the engine after the commit. A refusal is an *Error and leaves the transaction
// as good as it was.
func ReplayIn(ctx context.Context, tx pgx.Tx, cache *versions.Cache, namespace string, l DeadLetter, set shard.Set, who Who) (shard.Set, hint.Engine, error) {
	d := &deed{retire: make(map[int16]bool), workers: make(map[uuid.UUID]bool), detail: make(map[string]any)}
	var moved shard.Set
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		if err := d.begin(ctx, tx, cache, l.Run, namespace); err != nil {
			return err
		}
		if err := d.notCancelling(); err != nil {
			return err
		}
		if err := d.lock(ctx); err != nil {
			return err
		}
		ord := int16(l.Ord)
		if int(d.stages[ord].Generation) != l.Generation {
			return nil
		}
		n, err := d.retryStage(ctx, ord, set)
		if err != nil || n == 0 {
			return err
		}
		for _, t := range d.touched {
			if t.Stage == l.Stage {
				moved = moved.Union(t.Indices)
			}
		}
		d.detail["indices"] = moved.String()
		return d.end(ctx, "replay", l.Stage, who)
	})
	if err != nil {
		return shard.Set{}, hint.Engine{}, err
	}
	d.news.Runs = append(d.news.Runs, l.Run)
	return moved, d.news, nil
}
