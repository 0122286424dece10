package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/api/access"
	apiclient "axflow/api/client"
	"axflow/api/problem"
	"axflow/internal/pgtest"
)

const patient = 20 * time.Second

// serving is a Hub behind an HTTP server on loopback.
type serving struct {
	*httptest.Server
	hub  *Hub
	stop func()
}

// serve runs a Hub and serves its streams to local, until the test ends. limit is how long any other request may take.
func serve(t *testing.T, h *Hub, limit time.Duration) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	s := &serving{hub: h}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, watch := local, Watch{Flows: r.URL.Query()["flow"], LastEventID: r.Header.Get("Last-Event-ID")}
		if ns := r.Header.Get("Authorization"); ns != "" {
			p = access.Principal{Namespace: ns[len("Bearer "):]}
		}
		for _, id := range r.URL.Query()["run"] {
			watch.Runs = append(watch.Runs, uuid.MustParse(id))
		}
		stream, err := h.Subscribe(r.Context(), p, watch)
		if err != nil {
			w.WriteHeader(problem.From(err).HTTPStatus())
			_, _ = io.WriteString(w, asJSON(t, problem.From(err).Body("")))
			return
		}
		if err := stream.VisitStreamEventsResponse(w); err != nil {
			t.Errorf("a stream: %v", err)
		}
	}))
	s.Config.ReadTimeout, s.Config.WriteTimeout = limit, limit
	s.Start()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the hub: %v", err)
		}
		s.Close()
	})
	t.Cleanup(s.stop)
	return s
}

// overWorld serves a world.
func overWorld(t *testing.T, limit time.Duration, tune func(*Config)) (*serving, *world) {
	t.Helper()
	cfg := Config{Pool: unused, Logger: slog.New(slog.DiscardHandler), Tick: 10 * time.Millisecond}
	if tune != nil {
		tune(&cfg)
	}
	if err := cfg.complete(); err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	return serve(t, newHub(cfg, w), limit), w
}

// A stream outlives the time-outs of its server.
func TestStreamOutlivesTimeouts(t *testing.T) {
	s, w := overWorld(t, 200*time.Millisecond, func(c *Config) { c.Beat = 50 * time.Millisecond })
	id := w.start("default", "a")
	f := Follow(t, s.URL, apiclient.Watch{Runs: []uuid.UUID{id}})
	began := time.Now()
	pgtest.Eventually(t, patient, func() (bool, string) {
		w.change(id, false, func(r *run) { r.stages[0].inFlight++ })
		return time.Since(began) > time.Second, "waiting"
	})
	last := asJSON(t, w.runs[id].snapshot())
	pgtest.Eventually(t, patient, func() (bool, string) { got := f.Run(t, id); return got == last, got })
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Lost != 0 {
		t.Errorf("the connection was lost %d times", f.Lost)
	}
}

// A client that reads nothing is cut off, and the others notice nothing.
func TestClientThatReadsNothingIsCutOff(t *testing.T) {
	s, w := overWorld(t, patient, func(c *Config) { c.Write = 300 * time.Millisecond })
	id := w.start("default", "a")
	w.change(id, false, func(r *run) { // frames that fill the buffers of a connection
		for range 500 {
			next := r.stages[0]
			next.name = uuid.NewString()
			r.stages = append(r.stages, next)
		}
	})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /?run="+id.String()+" HTTP/1.1\r\nHost: ax\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	f := Follow(t, s.URL, apiclient.Watch{Runs: []uuid.UUID{id}})
	pgtest.Eventually(t, patient, func() (bool, string) {
		w.change(id, false, func(r *run) {
			for i := range r.stages {
				r.stages[i].inFlight++
			}
		})
		return s.hub.stats.Opened.Load() == 2 && s.hub.stats.Streams.Load() == 1, "the client that does not read is still served"
	})
	last := asJSON(t, w.runs[id].snapshot())
	pgtest.Eventually(t, patient, func() (bool, string) { got := f.Run(t, id); return got == last, got })
}

// A thousand clients come at once, are served from a few looks and the same bytes, and leave nothing behind when they go.
func TestThousandClientsComeAndGo(t *testing.T) {
	// A thousand at once take a busy machine longer than a client is usually let wait.
	s, w := overWorld(t, 3*patient, func(c *Config) { c.Tick, c.Answer, c.Write = 50*time.Millisecond, 3*patient, 3*patient })
	id := w.start("default", "a")
	transport := &http.Transport{}
	ctx, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	const clients = 1000
	seen, gone := make(chan struct{}, clients), make(chan error, clients)
	for range clients {
		go func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"?run="+id.String(), http.NoBody)
			if err != nil {
				gone <- err
				return
			}
			res, err := transport.RoundTrip(req)
			if err != nil {
				gone <- err
				return
			}
			defer func() { _ = res.Body.Close() }()
			buf := make([]byte, 4096)
			var text []byte
			for told := false; ; {
				n, err := res.Body.Read(buf)
				if text = append(text, buf[:n]...); !told && bytes.Contains(text, []byte(`"dead":77`)) {
					told = true
					seen <- struct{}{}
				}
				if err != nil {
					gone <- nil
					return
				}
			}
		}()
	}
	pgtest.Eventually(t, 3*patient, func() (bool, string) {
		n := s.hub.stats.Streams.Load()
		return n == clients, fmt.Sprintf("%d have come, and %d are gone", n, len(gone))
	})
	w.change(id, false, func(r *run) { r.stages[0].dead = 77 })
	for range clients {
		pgtest.Receive(t, patient, seen, "a client that has seen the change")
	}
	if res, err := http.Get(s.URL + "?run=" + id.String()); err != nil || res.StatusCode != http.StatusServiceUnavailable { //nolint:noctx // the body is closed below
		t.Errorf("one more than there may be: %v, %v", res, err)
	} else {
		_ = res.Body.Close()
	}
	hangUp()
	for range clients {
		if err := pgtest.Receive(t, patient, gone, "a client that has gone"); err != nil {
			t.Error(err)
		}
	}
	transport.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	pgtest.Eventually(t, patient, func() (bool, string) {
		return s.hub.stats.Streams.Load() == 0, "streams are left"
	})
	if at, _ := w.read(); len(at) > 200 {
		t.Errorf("%d looks for a thousand clients", len(at))
	}
}
