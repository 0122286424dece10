package watch

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"axflow/engine/control"
	"axflow/stage"
)

// Snapshot is how a run stood at one moment.
type Snapshot struct {
	Run       uuid.UUID
	Flow      string
	State     stage.RunState
	Stuck     string // why the engine cannot decide it; "" if it can
	Paused    string // who or what holds it; "" if nothing does
	CreatedAt time.Time
	// FinishedAt is nil while the run is open.
	FinishedAt *time.Time
	// At is the moment, by the clock that CreatedAt is of.
	At     time.Time
	Stages []Stage
	// Tasks are those that run and have told how far they are.
	Tasks []Task
}

// Stage is how a stage stood.
type Stage struct {
	Name       string
	Sharded    bool
	State      stage.StageState
	Generation int
	// Total is how many shards there are; -1 while that is not known.
	Total, Succeeded, Ready, InFlight, Dead, Parked int
	// ReadyAt and FinishedAt are nil until it is.
	ReadyAt, FinishedAt *time.Time
	// Reason is why it was decided as it was.
	Reason string
}

// Task is a running task's own word.
type Task struct {
	Stage     string
	Shard     int // -1: the plan
	StartedAt time.Time
	// Done is of Total, which is 0 where the handler does not know it.
	Done, Total float64
	Detail      string
}

// Source tells how a run stands.
type Source interface {
	// Look returns the newest snapshot of a run. A *Refusal ends the watching; other errors are taken for passing.
	Look(ctx context.Context, run uuid.UUID) (Snapshot, error)
}

// Refusal is an error that looking again does not mend, such as that there is no such run.
type Refusal struct{ Err error }

func (r *Refusal) Error() string { return r.Err.Error() }
func (r *Refusal) Unwrap() error { return r.Err }

// Client is a source that asks a control client.
func Client(c *control.Client) Source { return looking{c} }

type looking struct{ c *control.Client }

// Look reads the run's progress.
func (l looking) Look(ctx context.Context, run uuid.UUID) (Snapshot, error) {
	p, err := l.c.Progress(ctx, run)
	var refused *control.Error
	if errors.As(err, &refused) {
		return Snapshot{}, &Refusal{err}
	}
	if err != nil {
		return Snapshot{}, err
	}
	s := Snapshot{Run: p.Run.RunID, Flow: p.Run.Flow, State: p.State, CreatedAt: p.Run.CreatedAt, FinishedAt: p.Run.FinishedAt, At: p.At,
		Stages: make([]Stage, len(p.Stages))}
	if p.Run.Stuck != nil {
		s.Stuck = *p.Run.Stuck
	}
	for _, h := range p.Held {
		s.Paused = Held(string(h.Kind), h.Actor, h.Reason)
	}
	for i, x := range p.Stages {
		s.Stages[i] = Stage{Name: x.Name, Sharded: x.Kind != stage.Single, State: x.State, Generation: x.Generation, Total: x.Total, Succeeded: x.Succeeded,
			Ready: x.Ready, InFlight: x.InFlight, Dead: x.Dead, Parked: x.Parked, ReadyAt: x.ReadyAt, FinishedAt: x.FinishedAt, Reason: x.Reason}
	}
	return s, nil
}

// Held says that something is paused, by whom and why.
func Held(kind, actor, reason string) string {
	text := "its " + kind
	if kind == "run" {
		text = "the run"
	}
	text += " is paused by " + actor
	if reason != "" {
		text += ": " + reason
	}
	return text
}
