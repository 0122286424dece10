package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow"
	"axflow/api"
	"axflow/api/access"
	apiclient "axflow/api/client"
	"axflow/api/gen"
	"axflow/api/live"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/stage"
)

const patient = 30 * time.Second

var me = control.Who{Actor: "tester"}

type params struct {
	Shards  int `json:"shards"`
	PauseMS int `json:"pause_ms"` // of each shard
	Fail    int `json:"fail"`     // so many shards die
}

var (
	part = shard.New("part", func(_ context.Context, p params) (shard.Plan, error) { return shard.N(p.Shards), nil },
		func(ctx context.Context, p params, s shard.Shard) (struct{}, error) {
			if s.Index < p.Fail {
				return struct{}{}, errors.New("as asked")
			}
			if p.PauseMS == 0 {
				return struct{}{}, nil
			}
			timer := time.NewTimer(time.Duration(p.PauseMS) * time.Millisecond)
			defer timer.Stop()
			select {
			case <-timer.C:
				return struct{}{}, nil
			case <-ctx.Done():
				return struct{}{}, context.Cause(ctx)
			}
		}, stage.Retry{MaxAttempts: 1})
	after = stage.New("after", func(context.Context, params) (int, error) { return 1, nil }).After(part)
	work  = flow.New("work", part, after)
)

// system is a process with engine, worker and API on a database.
type system struct {
	t    *testing.T
	ctx  context.Context
	p    *axflow.Process
	url  string
	stop func()
}

// start runs a process until the test ends.
func start(t *testing.T, d *pgtest.DB, tune func(*axflow.Config), flows ...flow.Definition) *system {
	t.Helper()
	ctx := pgtest.Context(t, 2*time.Minute)
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	cfg := axflow.Config{DatabaseURL: d.URL, Engine: true, Logger: log,
		API: &api.Config{Listen: "127.0.0.1:0", Local: &access.Principal{Actor: "local", Namespace: "default", Role: gen.RoleAdmin, Via: gen.MeViaLocal}}}
	cfg.Flows = flows
	if tune != nil {
		tune(&cfg)
	}
	p, err := axflow.Open(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	run, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(run) }()
	s := &system{t: t, ctx: ctx, p: p, url: p.Server().URL()}
	s.stop = sync.OnceFunc(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("running: %v", err)
		}
		p.Close()
	})
	t.Cleanup(s.stop)
	return s
}

// state is what control.Progress says of a run, as the stream would tell it whole.
func (s *system) state(id uuid.UUID) string {
	s.t.Helper()
	p, err := s.p.Client().Progress(s.ctx, id)
	if err != nil {
		s.t.Fatal(err)
	}
	held := p.Run.FinishedAt == nil && len(p.Held) > 0
	state := gen.RunState(p.State.String())
	r := gen.LiveRun{Id: id, State: &state, FinishedAt: p.Run.FinishedAt, Paused: &held, Stages: make(map[string]gen.LiveStage)}
	for _, x := range p.Stages {
		state := gen.StageState(x.State.String())
		r.Stages[x.Name] = gen.LiveStage{State: &state, Generation: &x.Generation, Total: &x.Total, Succeeded: &x.Succeeded, Ready: &x.Ready,
			InFlight: &x.InFlight, Dead: &x.Dead, Parked: &x.Parked, UpstreamFailed: &x.UpstreamFailed, ReadyAt: x.ReadyAt, FinishedAt: x.FinishedAt}
	}
	text, err := json.Marshal(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// agrees waits until a follower knows of a run what the database says.
func (s *system) agrees(f *live.Follower, id uuid.UUID) {
	s.t.Helper()
	pgtest.Eventually(s.t, patient, func() (bool, string) {
		got, want := f.Run(s.t, id), s.state(id)
		return got == want, fmt.Sprintf("the stream told\n%s, the database has\n%s", got, want)
	})
}

func (s *system) start(f flow.Definition, params string) uuid.UUID {
	s.t.Helper()
	v, err := s.p.Client().Newest(s.ctx, f.Name())
	if err != nil {
		s.t.Fatal(err)
	}
	started, err := s.p.Client().Start(s.ctx, control.Batch{Trigger: "test"}, []control.Start{{Version: v, Params: []byte(params)}})
	if err != nil {
		s.t.Fatal(err)
	}
	return started[0].Run
}

// A run that is watched from its start to its end is told truly: the sum of the deltas is what the database holds, for one who watches
// all the time, one who comes and goes, and one who comes late.
func TestRunIsWatchedToItsEnd(t *testing.T) {
	t.Parallel()
	for name, pollOnly := range map[string]bool{"with hints": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, pgtest.New(t), func(c *axflow.Config) { c.PollOnly = pollOnly }, work)
			feed := live.Follow(t, s.url, apiclient.Watch{Flows: []string{"work"}})
			s.begun(feed)
			id := s.start(work, `{"shards": 3000, "pause_ms": 0}`)
			f := live.Follow(t, s.url, apiclient.Watch{Runs: []uuid.UUID{id}})
			if state, err := s.p.Client().Wait(s.ctx, id); err != nil || state != stage.RunSucceeded {
				t.Fatalf("%v, %v", state, err)
			}
			s.agrees(f, id)
			late := live.Follow(t, s.url, apiclient.Watch{Runs: []uuid.UUID{id}})
			s.agrees(late, id)
			pgtest.Eventually(t, patient, func() (bool, string) {
				feed.Mu.Lock()
				defer feed.Mu.Unlock()
				told := feed.Told[id]
				return told.State == gen.RunStateSucceeded && told.Flow == "work" && told.FinishedAt != nil && len(told.Version) > 0, fmt.Sprintf("of the run it told %+v", told)
			})
		})
	}
}

// begun waits until a stream is open.
func (s *system) begun(f *live.Follower) {
	s.t.Helper()
	pgtest.Eventually(s.t, patient, func() (bool, string) {
		s.start(work, `{"shards": 1}`)
		f.Mu.Lock()
		defer f.Mu.Unlock()
		return len(f.Told) > 0, "it was told of no run"
	})
}

// Whatever operators do to runs, the stream ends up saying what the database says.
func TestVerbsAreTold(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.New(t), nil, work)
	feed := live.Follow(t, s.url, apiclient.Watch{})
	s.begun(feed)
	c := s.p.Client()
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		ids := make([]uuid.UUID, 3)
		for i := range ids {
			ids[i] = s.start(work, fmt.Sprintf(`{"shards": %d, "pause_ms": 5, "fail": %d}`, 1+r.IntN(400), r.IntN(3)))
		}
		f := live.Follow(t, s.url, apiclient.Watch{Runs: ids})
		for range 30 {
			id := ids[r.IntN(len(ids))]
			// Refusals are as good as acts: what counts is what the database says then.
			switch r.IntN(11) {
			case 0:
				_, _ = c.Pause(s.ctx, control.HoldRun, id.String(), me)
			case 1:
				_, _ = c.Resume(s.ctx, control.HoldRun, id.String(), me)
			case 2:
				_, _ = c.Retry(s.ctx, id, me)
			case 3:
				_, _ = c.Rerun(s.ctx, id, []string{"part", "after"}[r.IntN(2)], me)
			case 4:
				_, _ = c.SkipShards(s.ctx, id, "part", shard.Span(0, r.IntN(5)), me)
			case 5:
				_, _ = c.Expedite(s.ctx, id, "", me)
			case 6:
				if r.IntN(4) == 0 {
					_, _ = c.Cancel(s.ctx, id, false, me)
				}
			case 7:
				kind := []control.HoldKind{control.HoldFlow, control.HoldQueue}[r.IntN(2)]
				name := map[control.HoldKind]string{control.HoldFlow: "work", control.HoldQueue: "default"}[kind]
				_, _ = c.Pause(s.ctx, kind, name, me)
				s.lull(time.Duration(r.IntN(600)) * time.Millisecond)
				_, _ = c.Resume(s.ctx, kind, name, me)
			default:
				s.lull(time.Duration(r.IntN(60)) * time.Millisecond)
			}
		}
		for _, id := range ids {
			_, _ = c.Resume(s.ctx, control.HoldRun, id.String(), me)
		}
		for _, id := range ids {
			if _, err := c.Wait(s.ctx, id); err != nil {
				t.Fatal(err)
			}
			s.agrees(f, id)
			pgtest.Eventually(t, patient, func() (bool, string) {
				run, err := c.Run(s.ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				feed.Mu.Lock()
				defer feed.Mu.Unlock()
				told := feed.Told[id]
				return told.Etag != nil && *told.Etag == int(run.Version) && told.State == gen.RunState(stage.RunState(run.State).String()),
					fmt.Sprintf("seed %d: told %+v, the database has version %d", seed, told, run.Version)
			})
		}
		f.Stop()
	}
	feed.Mu.Lock()
	defer feed.Mu.Unlock()
	for _, kind := range feed.Kinds {
		if kind != apiclient.EventRun {
			t.Errorf("the stream of the namespace had a frame %s", kind)
		}
	}
}

// lull lets a moment pass between two acts.
func (s *system) lull(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

// A database that goes down in the middle breaks no stream, and what happened meanwhile is told.
func TestStreamsOutliveARestartOfTheDatabase(t *testing.T) {
	t.Parallel()
	d := pgtest.Own(t)
	s := start(t, d, nil, work)
	id := s.start(work, `{"shards": 2000, "pause_ms": 1}`)
	f := live.Follow(t, s.url, apiclient.Watch{Runs: []uuid.UUID{id}, Flows: []string{"work"}})
	pgtest.Eventually(t, patient, func() (bool, string) {
		f.Mu.Lock()
		defer f.Mu.Unlock()
		r := f.Runs[id]
		return r != nil && *r.Stages["part"].Succeeded > 0, fmt.Sprintf("it was told %+v", r)
	})
	if err := d.Server.PG.ImmediateRestart(s.ctx); err != nil {
		t.Fatal(err)
	}
	pgtest.Eventually(t, patient, func() (bool, string) {
		state, err := s.p.Client().Wait(s.ctx, id)
		return err == nil && state == stage.RunSucceeded, fmt.Sprint(state, err)
	})
	s.agrees(f, id)
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Lost != 0 {
		t.Errorf("the stream broke %d times", f.Lost)
	}
}

// A server that ends says goodbye and waits for no stream; the next one begins with snapshots, and says what was missed.
func TestServerEndsWithItsStreams(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	workers := start(t, d, nil, work)
	first := start(t, d, func(c *axflow.Config) { c.Engine = false })
	id := workers.start(work, `{"shards": 10}`)
	f := live.Follow(t, first.url, apiclient.Watch{Runs: []uuid.UUID{id}, Flows: []string{"work"}})
	workers.agrees(f, id)
	began := time.Now()
	first.stop()
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("the server took %s to end, as if it had waited for the stream", took)
	}
	state, err := workers.p.Client().Wait(workers.ctx, id)
	if err != nil || state != stage.RunSucceeded {
		t.Fatal(state, err)
	}
	if _, err := workers.p.Client().Rerun(workers.ctx, id, "part", me); err != nil {
		t.Fatal(err)
	}
	start(t, d, func(c *axflow.Config) { c.Engine, c.API.Listen = false, strings.TrimPrefix(first.url, "http://") })
	if _, err := workers.p.Client().Wait(workers.ctx, id); err != nil {
		t.Fatal(err)
	}
	workers.agrees(f, id)
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Lost == 0 || !slices.Contains(f.Kinds, apiclient.EventLost) {
		t.Errorf("%d connections were lost, frames %v; want one, and that runs were missed", f.Lost, f.Kinds)
	}
}
