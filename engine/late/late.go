// Package late notes which open runs have passed their deadline: it is one of the leader's loops. Each run is noted once, in the
// transaction that writes its journal and the deliveries to webhooks.
package late

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	axsql "axflow/sql"
	"axflow/sql/db"
)

// Event is what webhooks are told.
const Event = "run.late"

// atOnce bounds how many runs one transaction notes.
const atOnce = 500

// Conn is the leader's database.
type Conn interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// Config is what a Loop needs; all but Every and Told is required.
type Config struct {
	Conn  Conn
	Fence axsql.Fence
	// Every is how often late runs are looked for. Default 5 s.
	Every time.Duration
	// Told is called when there is something to deliver.
	Told   func()
	Logger *slog.Logger
}

// Loop looks for late runs.
type Loop struct{ cfg Config }

// New makes a Loop.
func New(cfg Config) *Loop {
	if cfg.Every == 0 {
		cfg.Every = 5 * time.Second
	}
	return &Loop{cfg: cfg}
}

// Run works until ctx ends (nil) or the term is over (ErrFenced). Faults of the database are logged, and tried again.
func (l *Loop) Run(ctx context.Context) error {
	tick := time.NewTicker(l.cfg.Every)
	defer tick.Stop()
	for {
		err := l.Round(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, axsql.ErrFenced):
			return err
		case err != nil:
			l.cfg.Logger.Error("looking for late runs failed; it is tried again", "epoch", l.cfg.Fence.Epoch, "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Round notes every run that is late by now.
func (l *Loop) Round(ctx context.Context) error {
	for {
		n, err := l.step(ctx)
		if err != nil || n < atOnce {
			return err
		}
	}
}

// step is one transaction.
func (l *Loop) step(ctx context.Context) (noted int, err error) {
	tx, err := l.cfg.Conn.Begin(ctx)
	if err != nil {
		return 0, fmt.Errorf("beginning to look for late runs: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	q := db.New(tx)
	if err := l.cfg.Fence.Hold(ctx, q); err != nil {
		return 0, axsql.Fenced(err)
	}
	runs, err := q.LockLate(ctx, atOnce)
	if err != nil {
		return 0, fmt.Errorf("locking late runs: %w", err)
	}
	if len(runs) == 0 {
		return 0, nil
	}
	p := db.NoteLateParams{RunIds: runs, Actor: fmt.Sprintf("leader/%d", l.cfg.Fence.Epoch)}
	for range runs {
		p.JournalIds = append(p.JournalIds, uuid.Must(uuid.NewV7()))
	}
	if runs, err = q.NoteLate(ctx, p); err != nil {
		return 0, fmt.Errorf("noting %d runs as late: %w", len(p.RunIds), err)
	}
	told, err := q.TellRuns(ctx, db.TellRunsParams{Event: Event, RunIds: runs})
	if err != nil {
		return 0, fmt.Errorf("telling webhooks of %d late runs: %w", len(runs), err)
	}
	if err := tx.Commit(ctx); err != nil {
		return 0, fmt.Errorf("committing %d late runs: %w", len(runs), axsql.Fenced(err))
	}
	if told > 0 && l.cfg.Told != nil {
		l.cfg.Told()
	}
	return len(p.RunIds), nil
}
