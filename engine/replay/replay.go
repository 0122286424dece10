// Package replay carries replays of dead letters out: it is one of the leader's loops. All it knows of a replay is in its
// row; each step is one fenced transaction that moves dead indices back to ready and advances the row, so that another
// leader goes on where one has ended.
package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/engine/control"
	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/sql/versions"
)

// atOnce bounds how many indices one step moves.
const atOnce = 10_000

// Conn is the leader's connection, for this loop alone.
type Conn interface {
	db.DBTX
	Begin(ctx context.Context) (pgx.Tx, error)
	IsClosed() bool
}

// Config is what a Loop needs; all but Every is required.
type Config struct {
	Conn     Conn
	Fence    axsql.Fence
	Versions *versions.Cache
	// Tell takes the news of what was moved, for the leader's own dispatcher.
	Tell func(hint.Engine)
	// Every is how often replays are looked for, and go on. Default 500 ms.
	Every  time.Duration
	Logger *slog.Logger
}

// Loop carries replays out.
type Loop struct{ cfg Config }

// New makes a Loop.
func New(cfg Config) *Loop {
	if cfg.Every == 0 {
		cfg.Every = 500 * time.Millisecond
	}
	return &Loop{cfg: cfg}
}

// Run works until ctx ends (nil), the term is over (ErrFenced), or the connection is lost.
func (l *Loop) Run(ctx context.Context) error {
	tick := time.NewTicker(l.cfg.Every)
	defer tick.Stop()
	for {
		err := l.Round(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, axsql.ErrFenced), err != nil && l.cfg.Conn.IsClosed():
			return err
		case err != nil:
			l.cfg.Logger.Error("replaying dead letters failed; it is tried again", "epoch", l.cfg.Fence.Epoch, "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Round lets every open replay go on as far as it may at this moment. The faults of one hold up no other.
func (l *Loop) Round(ctx context.Context) error {
	ids, err := db.New(l.cfg.Conn).OpenReplays(ctx)
	if err != nil {
		return fmt.Errorf("looking for replays: %w", err)
	}
	var faults []error
	for _, id := range ids {
		for again := true; again; {
			again, err = l.step(ctx, id)
			if errors.Is(err, axsql.ErrFenced) || l.cfg.Conn.IsClosed() || ctx.Err() != nil {
				return err
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("replay %s: %w", id, err))
				again = false
			}
		}
	}
	return errors.Join(faults...)
}

// cursor is what a replay remembers from one step to the next.
type cursor struct {
	After  uuid.UUID `json:"after"`            // the parked row behind which it goes on
	Credit float64   `json:"credit,omitempty"` // indices that it might have moved and has not
	Canary []sent    `json:"canary,omitempty"` // what it has sent ahead
}

// sent is indices whose end the replay waits for.
type sent struct {
	Run        uuid.UUID `json:"run"`
	Ord        int16     `json:"ord"`
	Generation int16     `json:"generation"`
	Set        string    `json:"set"`
	N          int       `json:"n"`
}

// job is one step's view of its replay.
type job struct {
	row    db.LockReplayRow
	at     cursor
	filter control.DeadFilter
	news   hint.Engine
	ended  bool
	wrote  bool
}

// step is one transaction. again says that another may follow at once.
func (l *Loop) step(ctx context.Context, id uuid.UUID) (again bool, err error) {
	j := &job{}
	tx, err := l.cfg.Conn.Begin(ctx)
	if err != nil {
		return false, fmt.Errorf("beginning: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	q := db.New(tx)
	if err := l.cfg.Fence.Hold(ctx, q); err != nil {
		return false, axsql.Fenced(err)
	}
	if j.row, err = q.LockReplay(ctx, id); err != nil {
		return false, fmt.Errorf("locking it: %w", err)
	}
	if j.row.FinishedAt != nil {
		return false, nil
	}
	if err := j.read(); err != nil {
		return false, err
	}
	if again, err = l.advance(ctx, tx, q, j); err != nil || !j.wrote {
		return false, err
	}
	if err := j.write(ctx, q); err != nil {
		return false, err
	}
	if err := tx.Commit(ctx); err != nil {
		return false, fmt.Errorf("committing: %w", axsql.Fenced(err))
	}
	l.cfg.Tell(j.news)
	return again, nil
}

func (j *job) read() error {
	if err := json.Unmarshal(j.row.Filter, &j.filter); err != nil {
		return fmt.Errorf("reading its filter: %w", err)
	}
	if len(j.row.Cursor) > 0 {
		if err := json.Unmarshal(j.row.Cursor, &j.at); err != nil {
			return fmt.Errorf("reading its cursor: %w", err)
		}
	}
	return nil
}

func (j *job) write(ctx context.Context, q *db.Queries) error {
	at, err := json.Marshal(j.at)
	if err != nil {
		return fmt.Errorf("encoding its cursor: %w", err)
	}
	if err := q.AdvanceReplay(ctx, db.AdvanceReplayParams{ID: j.row.ID, State: j.row.State, Moved: j.row.Moved, Failed: j.row.Failed, Cursor: at,
		Note: j.row.Note, Ended: j.ended}); err != nil {
		return fmt.Errorf("advancing it: %w", err)
	}
	return nil
}

// end ends the replay.
func (j *job) end(state, note string) {
	j.row.State, j.row.Note, j.ended, j.wrote = state, note, true, true
}

func (l *Loop) advance(ctx context.Context, tx pgx.Tx, q *db.Queries, j *job) (again bool, err error) {
	most, unlimited := j.allowance()
	if j.row.State == control.ReplayCanary {
		ahead := 0
		for _, s := range j.at.Canary {
			ahead += s.N
		}
		if ahead >= int(j.row.Canary) {
			return l.canary(ctx, q, j)
		}
		most = min(most, int(j.row.Canary)-ahead)
	}
	if most < 1 {
		return false, nil
	}
	var letter *control.DeadLetter
	if err := control.DeadAfter(ctx, q, l.cfg.Versions, j.row.Namespace, j.filter, j.at.After, func(d control.DeadLetter) (bool, error) {
		letter = &d
		return false, nil
	}); err != nil {
		return false, err
	}
	if letter == nil {
		if j.row.State == control.ReplayCanary && len(j.at.Canary) > 0 {
			return l.canary(ctx, q, j) // there was less than the canary asked for
		}
		j.end(control.ReplayDone, j.row.Note)
		return false, nil
	}
	set := first(letter.Indices, most)
	moved, news, err := control.ReplayIn(ctx, tx, l.cfg.Versions, j.row.Namespace, *letter, set, control.Who{Actor: j.row.Actor, Reason: j.row.Reason})
	var refused *control.Error
	switch {
	case errors.As(err, &refused):
		j.row.Note = "passed over: " + refused.Text
	case err != nil:
		return false, axsql.Fenced(err)
	}
	if moved.Empty() || set.Len() == letter.Indices.Len() {
		j.at.After = letter.ID
	}
	j.wrote, j.news = true, news
	j.row.Moved += int32(moved.Len())
	if !unlimited {
		j.at.Credit -= float64(moved.Len())
	}
	if j.row.State == control.ReplayCanary && !moved.Empty() {
		j.at.Canary = append(j.at.Canary, sent{Run: letter.Run, Ord: int16(letter.Ord), Generation: int16(letter.Generation), Set: moved.String(), N: moved.Len()})
	}
	return true, nil
}

// allowance is how many indices may go now; it adds to the credit what the time since the last step is worth, a second's
// at most, so that a replay that nobody could carry out for a while makes up for nothing.
func (j *job) allowance() (most int, unlimited bool) {
	if j.row.PerSecond == nil {
		return atOnce, true
	}
	rate := *j.row.PerSecond
	j.at.Credit = min(j.at.Credit+rate*max(j.row.ElapsedS, 0), max(rate, 1))
	return min(int(math.Floor(j.at.Credit)), atOnce), false
}

// canary looks at how those have ended that were sent ahead.
func (l *Loop) canary(ctx context.Context, q *db.Queries, j *job) (again bool, err error) {
	failed, pending := 0, 0
	for _, s := range j.at.Canary {
		set, err := shard.ParseSet(s.Set)
		if err != nil {
			return false, fmt.Errorf("reading its canary: %w", err)
		}
		f, p, err := fate(ctx, q, s, set)
		if err != nil {
			return false, err
		}
		failed, pending = failed+f, pending+p
	}
	switch {
	case failed > 0:
		j.row.Failed = int32(failed)
		j.end(control.ReplayStopped, fmt.Sprintf("%d of the canary's %d died again", failed, j.row.Moved))
		return false, nil
	case pending > 0:
		return false, nil
	default:
		j.row.State, j.row.Note, j.wrote = control.ReplayRunning, "the canary ended well", true
		j.at.Canary = nil
		return true, nil
	}
}

// fate counts which of the indices have died again and which are still on their way. What was skipped, cancelled or rerun
// meanwhile says nothing.
func fate(ctx context.Context, q *db.Queries, s sent, set shard.Set) (failed, pending int, err error) {
	rows, err := q.HeldOf(ctx, db.HeldOfParams{RunID: s.Run, Ord: s.Ord, Generation: s.Generation})
	if err != nil {
		return 0, 0, fmt.Errorf("looking at its canary: %w", err)
	}
	for _, r := range rows {
		held, err := shard.ParseSet(r.Todo)
		if err != nil {
			return 0, 0, fmt.Errorf("reading the set of row %s: %w", r.ID, err)
		}
		n := held.Intersect(set).Len()
		switch reason := span.ParkReason(r.Reason); {
		case r.Place != 3 || reason == span.Aligned || reason == span.Child:
			pending += n
		case reason.DeadLetter():
			failed += n
		}
	}
	return failed, pending, nil
}

// first is the first n indices of a set.
func first(set shard.Set, n int) shard.Set {
	if set.Len() <= n {
		return set
	}
	var ranges []shard.Range
	for _, r := range set.Ranges() {
		if n < 1 {
			break
		}
		if size := int(r.Hi - r.Lo); size > n {
			r.Hi = r.Lo + int32(n)
		}
		n -= int(r.Hi - r.Lo)
		ranges = append(ranges, r)
	}
	return shard.OfRanges(ranges...)
}
