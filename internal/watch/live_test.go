package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"axflow/api/client"
	"axflow/api/gen"
	"axflow/stage"
)

// service is a server's side of one run: how it stands, and the frames of its stream.
type service struct {
	run    atomic.Pointer[gen.RunDetail]
	looks  atomic.Int32
	frames chan string // nil: there are no events
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/api/v1/runs/" + runID.String():
		s.looks.Add(1)
		_ = json.NewEncoder(w).Encode(s.run.Load())
	case "/api/v1/runs/" + runID.String() + "/progress":
		_, _ = fmt.Fprintf(w, `{"items":[{"stage":"load","shard":17,"attempt":1,"worker":"%[1]s","execution":"%[1]s","started_at":"2026-03-01T12:00:00Z","done":2,"total":8,"detail":"page 2"}]}`, runID)
	case "/api/v1/events":
		if s.frames == nil {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"type":"x","title":"none","status":503,"code":"unavailable"}`))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for {
			select {
			case f := <-s.frames:
				_, _ = w.Write([]byte(f))
			case <-r.Context().Done():
				return
			}
		}
	default:
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"type":"x","title":"none","status":404,"code":"not_found","detail":"there is no such run"}`))
	}
}

// at is the run with so many of load's 100 shards done.
func (s *service) at(state gen.RunState, stageState gen.StageState, done int) {
	d := &gen.RunDetail{At: began, Run: gen.Run{Id: runID, Flow: "daily-recon", State: state, CreatedAt: began}, Holds: []gen.Hold{},
		Stages: []gen.StageStatus{{Name: "load", Kind: gen.StageKindSharded, State: stageState, Generation: 1, Total: 100, Succeeded: done, InFlight: 100 - done, ReadyAt: &began}}}
	if state == gen.RunStateSucceeded {
		d.Run.FinishedAt = &began
	}
	s.run.Store(d)
}

// send sends a delta.
func (s *service) send(t *testing.T, live gen.LiveRun) {
	t.Helper()
	raw, err := json.Marshal(live)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case s.frames <- fmt.Sprintf("event: delta\nid: 1\ndata: %s\n\n", raw):
	case <-time.After(30 * time.Second):
		t.Fatal("nobody reads the stream")
	}
}

func (s *service) source(t *testing.T, poll time.Duration) *Live {
	t.Helper()
	cfg := client.Config{URL: "http://localhost", HTTP: &http.Client{Transport: client.Local(s)}}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLive(LiveConfig{API: c, Stream: cfg, Poll: poll})
	t.Cleanup(l.Close)
	return l
}

// until looks until what is seen is good.
func until(t *testing.T, l *Live, good func(Snapshot) bool) Snapshot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		p, err := l.Look(ctx, runID)
		if err != nil {
			t.Fatal(err)
		}
		if good(p) {
			return p
		}
		<-tick.C
	}
}

func TestEventsTellTheCounts(t *testing.T) {
	s := &service{frames: make(chan string)}
	s.at(gen.RunStateRunning, gen.StageStateRunning, 10)
	l := s.source(t, time.Hour) // without events it would not look again
	first := until(t, l, func(Snapshot) bool { return true })
	if first.Stages[0].Succeeded != 10 || len(first.Tasks) != 1 || first.Tasks[0] != (Task{"load", 17, began, 2, 8, "page 2"}) {
		t.Errorf("at first %+v", first)
	}
	done, flying := 42, 58
	s.send(t, gen.LiveRun{Id: runID, Stages: map[string]gen.LiveStage{"load": {Succeeded: &done, InFlight: &flying}}})
	p := until(t, l, func(p Snapshot) bool { return p.Stages[0].Succeeded == 42 })
	if p.Stages[0].InFlight != 58 || p.Stages[0].Total != 100 {
		t.Errorf("after a delta %+v", p.Stages[0])
	}
	if n := s.looks.Load(); n != 1 {
		t.Errorf("%d looks at the whole run for counts, want the first alone", n)
	}
	// The end is looked at in full.
	s.at(gen.RunStateSucceeded, gen.StageStateSucceeded, 100)
	ended := gen.RunStateSucceeded
	s.send(t, gen.LiveRun{Id: runID, State: &ended})
	p = until(t, l, func(p Snapshot) bool { return p.State == stage.RunSucceeded })
	if p.Stages[0].State != stage.StageSucceeded || p.FinishedAt == nil {
		t.Errorf("at the end %+v", p)
	}
}

func TestWithoutEventsItLooksAgain(t *testing.T) {
	s := &service{}
	s.at(gen.RunStateRunning, gen.StageStateRunning, 10)
	l := s.source(t, time.Millisecond)
	until(t, l, func(Snapshot) bool { return true })
	s.at(gen.RunStateRunning, gen.StageStateRunning, 60)
	until(t, l, func(p Snapshot) bool { return p.Stages[0].Succeeded == 60 })
}

func TestNoSuchRunEndsTheWatching(t *testing.T) {
	s := &service{}
	l := s.source(t, time.Millisecond)
	var refused *Refusal
	if _, err := l.Look(t.Context(), noRunID); !errors.As(err, &refused) || refused.Error() != "there is no such run" {
		t.Errorf("error %v, want a refusal", err)
	}
}
