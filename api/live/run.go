package live

import (
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/stage"
)

// run is a watched run at one moment.
type run struct {
	id         uuid.UUID
	namespace  string
	state      stage.RunState
	finishedAt *time.Time
	paused     bool
	stages     []stageCounts // by ord
}

// stageCounts is one stage of a run at one moment. total is -1 while the shards are not known.
type stageCounts struct {
	name                                            string
	state                                           stage.StageState
	generation                                      int
	total, succeeded, ready, inFlight, dead, parked int
	upstreamFailed                                  int // of the dead
	readyAt, finishedAt                             *time.Time
}

// snapshot is the run in full.
func (r *run) snapshot() gen.LiveRun {
	live := gen.LiveRun{Id: r.id, State: pointer(gen.RunState(r.state.String())), FinishedAt: r.finishedAt, Paused: &r.paused,
		Stages: make(map[string]gen.LiveStage, len(r.stages))}
	for i := range r.stages {
		live.Stages[r.stages[i].name] = r.stages[i].snapshot()
	}
	return live
}

func (s *stageCounts) snapshot() gen.LiveStage {
	return gen.LiveStage{State: pointer(gen.StageState(s.state.String())), Generation: &s.generation, Total: &s.total, Succeeded: &s.succeeded,
		Ready: &s.ready, InFlight: &s.inFlight, Dead: &s.dead, Parked: &s.parked, UpstreamFailed: &s.upstreamFailed, ReadyAt: s.readyAt, FinishedAt: s.finishedAt}
}

// diff says what has changed from r to next. A delta cannot take a field away: what has lost one is told whole.
func (r *run) diff(next *run) (delta gen.LiveRun, changed, whole bool) {
	if len(r.stages) != len(next.stages) || gone(r.finishedAt, next.finishedAt) {
		return gen.LiveRun{}, true, true
	}
	delta.Id = next.id
	if r.state != next.state {
		delta.State, changed = pointer(gen.RunState(next.state.String())), true
	}
	if moved(r.finishedAt, next.finishedAt) {
		delta.FinishedAt, changed = next.finishedAt, true
	}
	if r.paused != next.paused {
		delta.Paused, changed = &next.paused, true
	}
	for i := range r.stages {
		was, is := &r.stages[i], &next.stages[i]
		if was.name != is.name || gone(was.readyAt, is.readyAt) || gone(was.finishedAt, is.finishedAt) {
			return gen.LiveRun{}, true, true
		}
		if d, differs := was.diff(is); differs {
			if delta.Stages == nil {
				delta.Stages = make(map[string]gen.LiveStage)
			}
			delta.Stages[is.name], changed = d, true
		}
	}
	return delta, changed, false
}

func (s *stageCounts) diff(next *stageCounts) (d gen.LiveStage, changed bool) {
	if s.state != next.state {
		d.State, changed = pointer(gen.StageState(next.state.String())), true
	}
	for _, n := range [...]struct {
		was, is int
		to      **int
	}{
		{s.generation, next.generation, &d.Generation}, {s.total, next.total, &d.Total}, {s.succeeded, next.succeeded, &d.Succeeded},
		{s.ready, next.ready, &d.Ready}, {s.inFlight, next.inFlight, &d.InFlight}, {s.dead, next.dead, &d.Dead}, {s.parked, next.parked, &d.Parked},
		{s.upstreamFailed, next.upstreamFailed, &d.UpstreamFailed},
	} {
		if n.was != n.is {
			*n.to, changed = pointer(n.is), true
		}
	}
	if moved(s.readyAt, next.readyAt) {
		d.ReadyAt, changed = next.readyAt, true
	}
	if moved(s.finishedAt, next.finishedAt) {
		d.FinishedAt, changed = next.finishedAt, true
	}
	return d, changed
}

func gone(was, is *time.Time) bool { return was != nil && is == nil }

func moved(was, is *time.Time) bool {
	return is != nil && (was == nil || !was.Equal(*is))
}

func pointer[T any](v T) *T { return &v }
