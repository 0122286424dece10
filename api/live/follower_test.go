package live

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	apiclient "axflow/api/client"
	"axflow/api/gen"
)

// Follower reads a stream as programs do. Mu guards the rest.
type Follower struct {
	Mu    sync.Mutex
	Runs  map[uuid.UUID]*gen.LiveRun
	Told  map[uuid.UUID]gen.Run
	Kinds []apiclient.EventKind
	Lost  int // connections
	Stop  func()
}

// Follow follows what a server streams, until Stop or the test's end.
func Follow(t *testing.T, url string, w apiclient.Watch) *Follower {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f := &Follower{Runs: make(map[uuid.UUID]*gen.LiveRun), Told: make(map[uuid.UUID]gen.Run)}
	w.Lost = func(error, time.Duration) { f.Mu.Lock(); f.Lost++; f.Mu.Unlock() }
	w.Rand = func() float64 { return 0 }
	hc := &http.Client{Transport: &http.Transport{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer hc.CloseIdleConnections()
		for e, err := range apiclient.Events(ctx, apiclient.Config{URL: url, HTTP: hc}, w) {
			if err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("following: %v", err)
				}
				return
			}
			f.take(e)
		}
	}()
	f.Stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(f.Stop)
	return f
}

func (f *Follower) take(e apiclient.Event) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Kinds = append(f.Kinds, e.Kind)
	switch {
	case e.Live != nil:
		if f.Runs[e.Live.Id] == nil {
			f.Runs[e.Live.Id] = new(gen.LiveRun)
		}
		apiclient.Merge(f.Runs[e.Live.Id], e)
	case e.Run != nil:
		f.Told[e.Run.Id] = *e.Run
	}
}

// Run is what the follower knows of a run, as JSON.
func (f *Follower) Run(t *testing.T, id uuid.UUID) string {
	t.Helper()
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return asJSON(t, f.Runs[id])
}
