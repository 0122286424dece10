package control

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"axflow/sql/db"
	"axflow/stage"
)

// SetLevel gives an open run (stageName "") or one of its stages another level, for what is pending and for what comes. An
// operator's level of a stage goes before one of the run, and both before what the flow declares. nil takes the
// operator's level back. It takes effect within one round of the dispatcher. An ended run is CodeConflict.
func (c *Client) SetLevel(ctx context.Context, id uuid.UUID, stageName string, level *stage.Level, who Who) ([]Touch, error) {
	if level != nil && !level.Valid() {
		return nil, &Error{Code: CodeInvalid, Field: "/level", Text: fmt.Sprintf("level %d is none: use P0 (most urgent) to P5", *level)}
	}
	return c.setLevel(ctx, "set_level", id, stageName, who, func(stage.Level) *stage.Level { return level })
}

// Expedite is SetLevel one level up from where the run or the stage is; P0 stays.
func (c *Client) Expedite(ctx context.Context, id uuid.UUID, stageName string, who Who) ([]Touch, error) {
	return c.setLevel(ctx, "expedite", id, stageName, who, func(at stage.Level) *stage.Level {
		if at > stage.P0 {
			at--
		}
		return &at
	})
}

// Demote is SetLevel one level down; P5 stays.
func (c *Client) Demote(ctx context.Context, id uuid.UUID, stageName string, who Who) ([]Touch, error) {
	return c.setLevel(ctx, "demote", id, stageName, who, func(at stage.Level) *stage.Level {
		if at < stage.P5 {
			at++
		}
		return &at
	})
}

// SetLevelWhere is SetLevel for every run that the filter picks (stageName "": the run); default states: running and cancelling.
func (c *Client) SetLevelWhere(ctx context.Context, f Filter, stageName string, level *stage.Level, who Who) (Sweep, error) {
	return c.sweep(ctx, f, []stage.RunState{stage.RunRunning, stage.RunCancelling},
		func(ctx context.Context, id uuid.UUID) ([]Touch, error) {
			return c.SetLevel(ctx, id, stageName, level, who)
		})
}

// ExpediteWhere is Expedite for every run that the filter picks (stageName "": the run); default states: running and cancelling.
func (c *Client) ExpediteWhere(ctx context.Context, f Filter, stageName string, who Who) (Sweep, error) {
	return c.sweep(ctx, f, []stage.RunState{stage.RunRunning, stage.RunCancelling},
		func(ctx context.Context, id uuid.UUID) ([]Touch, error) { return c.Expedite(ctx, id, stageName, who) })
}

// DemoteWhere is Demote for every run that the filter picks (stageName "": the run); default states: running and cancelling.
func (c *Client) DemoteWhere(ctx context.Context, f Filter, stageName string, who Who) (Sweep, error) {
	return c.sweep(ctx, f, []stage.RunState{stage.RunRunning, stage.RunCancelling},
		func(ctx context.Context, id uuid.UUID) ([]Touch, error) { return c.Demote(ctx, id, stageName, who) })
}

func (c *Client) setLevel(ctx context.Context, verb string, id uuid.UUID, stageName string, who Who, to func(stage.Level) *stage.Level) ([]Touch, error) {
	touched, _, err := c.act(ctx, id, verb, stageName, who, func(ctx context.Context, d *deed) error {
		ords, err := d.named(stageName)
		if err != nil {
			return err
		}
		if state := stage.RunState(d.run.State); state.Ended() {
			return d.conflict("run %s has %s: there is nothing left whose level could be changed", id, state)
		}
		if err := d.lock(ctx); err != nil {
			return err
		}
		if stageName == "" {
			return d.levelRun(ctx, ords, to)
		}
		return d.levelStage(ctx, ords[0], to)
	})
	return touched, err
}

func (d *deed) levelRun(ctx context.Context, ords []int16, to func(stage.Level) *stage.Level) error {
	at := levelOf(nil, d.run.ForcedLevel, nil, d.run.Level)
	level := number(to(at))
	if !same(level, d.run.ForcedLevel) {
		if err := d.q.ForceRunLevel(ctx, db.ForceRunLevelParams{Level: level, RunID: d.run.RunID}); err != nil {
			return fmt.Errorf("setting the level of run %s: %w", d.run.RunID, err)
		}
		d.run.ForcedLevel = level
		d.touch(-1, noIndices, "%s, it was %s", levelText(level), at)
	}
	return d.relevel(ctx, ords)
}

func (d *deed) levelStage(ctx context.Context, ord int16, to func(stage.Level) *stage.Level) error {
	at := d.level(ord)
	level := number(to(at))
	if !same(level, d.stages[ord].Level) {
		if err := d.q.ForceStageLevel(ctx, db.ForceStageLevelParams{Level: level, RunID: d.run.RunID, Ord: ord}); err != nil {
			return fmt.Errorf("setting the level of stage %s of run %s: %w", d.name(ord), d.run.RunID, err)
		}
		d.stages[ord].Level = level
		d.touch(ord, noIndices, "%s, it was %s", levelText(level), at)
	}
	return d.relevel(ctx, []int16{ord})
}

// relevel gives what is pending of some stages the level that new work of them has.
func (d *deed) relevel(ctx context.Context, ords []int16) error {
	id := d.run.RunID
	levels := make([]int16, len(ords))
	for i, ord := range ords {
		levels[i] = int16(d.level(ord))
	}
	byOrd := make(map[int16][]string)
	flights, err := d.q.LevelFlights(ctx, db.LevelFlightsParams{RunID: id, Ords: ords, Levels: levels})
	if err != nil {
		return fmt.Errorf("changing the level of flights of run %s: %w", id, err)
	}
	for _, r := range flights {
		byOrd[r.Ord] = append(byOrd[r.Ord], r.Todo)
	}
	ready, err := d.q.LevelReady(ctx, db.LevelReadyParams{RunID: id, Ords: ords, Levels: levels})
	if err != nil {
		return fmt.Errorf("changing the level of ready work of run %s: %w", id, err)
	}
	for _, r := range ready {
		byOrd[r.Ord] = append(byOrd[r.Ord], r.Todo)
		d.news.IDs = append(d.news.IDs, r.ID)
	}
	parked, err := d.q.LevelParked(ctx, db.LevelParkedParams{RunID: id, Ords: ords, Levels: levels})
	if err != nil {
		return fmt.Errorf("changing the level of parked work of run %s: %w", id, err)
	}
	for _, r := range parked {
		byOrd[r.Ord] = append(byOrd[r.Ord], r.Todo)
	}
	for i, ord := range ords {
		if len(byOrd[ord]) == 0 {
			continue
		}
		all, err := sets(byOrd[ord])
		if err != nil {
			return err
		}
		d.touch(ord, all, "pending work at %s", stage.Level(levels[i]))
	}
	return nil
}

func number(l *stage.Level) *int16 {
	if l == nil {
		return nil
	}
	n := int16(*l)
	return &n
}

func same(a, b *int16) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func levelText(level *int16) string {
	if level == nil {
		return "level as declared"
	}
	return "level " + stage.Level(*level).String()
}
