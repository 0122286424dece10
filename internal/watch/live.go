package watch

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"axflow/api/client"
	"axflow/api/gen"
	"axflow/stage"
)

// LiveConfig says how a Live source works. API and Stream are required.
type LiveConfig struct {
	// API is asked for the run as a whole.
	API *gen.ClientWithResponses
	// Stream is where the events are.
	Stream client.Config
	// Poll is the least time between two looks while there are no events. Default 1 s.
	Poll time.Duration
	// Now tells the time. Default time.Now.
	Now func() time.Time
}

const (
	wholeEvery = time.Second      // the least time between two looks that an event has caused
	anyway     = 10 * time.Second // the most
	tasksEvery = 2 * time.Second  // how often running tasks are asked what they do
	maxAsked   = 50               // how many of them
)

// Live is a source that asks the API: events tell it the counts as they change, and it looks at the run as a whole when a state has
// changed. While there are no events it looks again and again. It is for one run, and one Look at a time. Close ends it.
type Live struct {
	cfg LiveConfig

	base          Snapshot // as looked at last
	looked, asked time.Time
	tasks         []Task

	stop  context.CancelFunc
	ended chan struct{}

	mu        sync.Mutex
	streaming bool
	live      gen.LiveRun // what events have told since base
	changed   bool        // more than counts
}

// NewLive makes a source.
func NewLive(cfg LiveConfig) *Live {
	if cfg.Poll == 0 {
		cfg.Poll = time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Live{cfg: cfg}
}

// Close ends the stream of events and waits for it.
func (l *Live) Close() {
	if l.stop != nil {
		l.stop()
		<-l.ended
	}
}

// Look returns how the run stands.
func (l *Live) Look(ctx context.Context, run uuid.UUID) (Snapshot, error) {
	if l.due() {
		if err := l.whole(ctx, run); err != nil {
			return Snapshot{}, err
		}
	}
	if l.stop == nil {
		l.listen(ctx, run)
	}
	s := l.merged()
	if now := l.cfg.Now(); now.Sub(l.asked) >= tasksEvery && s.busy() {
		l.asked = now
		l.askTasks(ctx, run)
	}
	s.Tasks = l.tasks
	return s, nil
}

// due tells whether it is time to look at the run as a whole.
func (l *Live) due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := l.cfg.Now().Sub(l.looked)
	switch {
	case l.looked.IsZero():
		return true
	case !l.streaming:
		return since >= l.cfg.Poll
	case l.live.State != nil && l.state().Ended() && !l.base.State.Ended():
		return true // the last word has everything
	default:
		return l.changed && since >= wholeEvery || since >= anyway
	}
}

func (l *Live) state() stage.RunState {
	s, err := stage.ParseRunState(string(*l.live.State))
	if err != nil {
		return l.base.State
	}
	return s
}

// whole looks at the run. What events tell meanwhile goes on top of it: they may be a little older, and the next ones mend that.
func (l *Live) whole(ctx context.Context, run uuid.UUID) error {
	l.mu.Lock()
	l.live, l.changed = gen.LiveRun{}, false
	l.mu.Unlock()
	r, err := l.cfg.API.GetRunWithResponse(ctx, run)
	if err == nil {
		err = client.Check(r.HTTPResponse, r.Body)
	}
	var problem *client.Error
	switch {
	case errors.As(err, &problem) && problem.Status/100 == 4 && problem.Status != http.StatusTooManyRequests:
		return &Refusal{err}
	case err == nil && r.JSON200 == nil:
		err = errors.New("the server answered with something else than a run")
	}
	if err != nil {
		l.mu.Lock()
		l.changed = true // what events told is lost
		l.mu.Unlock()
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.base, l.looked = snapshotOf(r.JSON200), l.cfg.Now()
	return nil
}

// listen begins to read the events, which Close ends.
func (l *Live) listen(ctx context.Context, run uuid.UUID) {
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	l.ended = make(chan struct{})
	go func() {
		defer close(l.ended)
		lost := func(error, time.Duration) { l.connected(false) }
		for e, err := range client.Events(ctx, l.cfg.Stream, client.Watch{Runs: []uuid.UUID{run}, Lost: lost}) {
			if err != nil {
				l.connected(false) // looking goes on without events
				return
			}
			l.take(e)
		}
	}()
}

func (l *Live) connected(is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streaming = is
}

// take takes an event.
func (l *Live) take(e client.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streaming = true
	if e.Live == nil {
		return
	}
	l.changed = l.changed || e.Live.State != nil || e.Live.Paused != nil
	for _, s := range e.Live.Stages {
		l.changed = l.changed || s.State != nil || s.Generation != nil || s.Total != nil
	}
	e.Kind = client.EventDelta // what was looked at is the beginning
	client.Merge(&l.live, e)
}

// merged is what was looked at, with what events have told since.
func (l *Live) merged() Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.base
	s.At = s.At.Add(l.cfg.Now().Sub(l.looked))
	if s.State.Ended() {
		return s
	}
	s.Stages = append([]Stage(nil), s.Stages...)
	for i := range s.Stages {
		if x, ok := l.live.Stages[s.Stages[i].Name]; ok {
			s.Stages[i].merge(x)
		}
	}
	return s
}

func (s *Stage) merge(x gen.LiveStage) {
	for _, n := range []struct {
		to   *int
		from *int
	}{{&s.Generation, x.Generation}, {&s.Total, x.Total}, {&s.Succeeded, x.Succeeded}, {&s.Ready, x.Ready}, {&s.InFlight, x.InFlight}, {&s.Dead, x.Dead}, {&s.Parked, x.Parked}} {
		if n.from != nil {
			*n.to = *n.from
		}
	}
	if x.ReadyAt != nil {
		s.ReadyAt = x.ReadyAt
	}
	if x.FinishedAt != nil {
		s.FinishedAt = x.FinishedAt
	}
	if x.State != nil {
		if state, err := stage.ParseStageState(string(*x.State)); err == nil {
			s.State = state
		}
	}
}

// busy tells whether something runs.
func (s *Snapshot) busy() bool {
	for i := range s.Stages {
		if s.Stages[i].InFlight > 0 {
			return true
		}
	}
	return false
}

// askTasks asks what the running tasks tell; without an answer they tell nothing.
func (l *Live) askTasks(ctx context.Context, run uuid.UUID) {
	most := maxAsked
	l.tasks = nil
	r, err := l.cfg.API.ListRunningWithResponse(ctx, run, &gen.ListRunningParams{Limit: &most})
	if err != nil || r.JSON200 == nil {
		return
	}
	for _, x := range r.JSON200.Items {
		if x.Done == nil && x.Total == nil && x.Detail == nil {
			continue
		}
		l.tasks = append(l.tasks, Task{Stage: x.Stage, Shard: x.Shard, StartedAt: x.StartedAt, Done: value(x.Done), Total: value(x.Total), Detail: value(x.Detail)})
	}
}

// snapshotOf is what the API tells of a run.
func snapshotOf(d *gen.RunDetail) Snapshot {
	s := Snapshot{Run: d.Run.Id, Flow: d.Run.Flow, Stuck: value(d.Run.Stuck), CreatedAt: d.Run.CreatedAt, FinishedAt: d.Run.FinishedAt, At: d.At,
		Stages: make([]Stage, len(d.Stages))}
	var err error
	if s.State, err = stage.ParseRunState(string(d.Run.State)); err != nil {
		s.State = stage.RunRunning // a newer server's state
	}
	for _, h := range d.Holds {
		s.Paused = Held(string(h.Kind), h.Actor, value(h.Reason))
	}
	for i, x := range d.Stages {
		state, err := stage.ParseStageState(string(x.State))
		if err != nil {
			state = stage.StageWaiting
		}
		s.Stages[i] = Stage{Name: x.Name, Sharded: x.Kind == gen.StageKindSharded, State: state, Generation: x.Generation, Total: x.Total, Succeeded: x.Succeeded,
			Ready: x.Ready, InFlight: x.InFlight, Dead: x.Dead, Parked: x.Parked, ReadyAt: x.ReadyAt, FinishedAt: x.FinishedAt, Reason: value(x.Reason)}
	}
	return s
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
