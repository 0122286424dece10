package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"axflow/api"
	"axflow/api/gen"
	"axflow/api/live"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/stage"
)

// A stream outlives every time-out of requests, reaches its reader at once, and is told when the server ends.
func TestStreamsLastUntilTheServerEnds(t *testing.T) {
	s := run(t, func(c *api.Config) {
		withDatabase(t)(c)
		hub, err := live.New(live.Config{Pool: c.Client.Pool(), Beat: 50 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		c.Live, c.Limits = hub, api.Limits{Read: 100 * time.Millisecond, Handle: 100 * time.Millisecond}
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	res, err := s.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("Content-Encoding") != "" || res.Header.Get("Content-Security-Policy") == "" {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	lines := bufio.NewScanner(res.Body)
	for beats := 0; beats < 8; { // 400 ms
		if !lines.Scan() {
			t.Fatalf("the stream ended after %d beats: %v", beats, lines.Err())
		}
		if strings.HasPrefix(lines.Text(), ": beat") {
			beats++
		}
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	said := false
	for lines.Scan() {
		said = said || lines.Text() == "event: bye"
	}
	if lines.Err() != nil || !said {
		t.Errorf("the end was told: %t, and came with %v", said, lines.Err())
	}
	if err := pgtest.Receive(t, patient, stopped, "the end"); err != nil {
		t.Error(err)
	}
}

// Who waits for something is not kept waiting by a server that ends.
func TestWaitingEndsWithTheServer(t *testing.T) {
	client, _ := newClient(t)
	s := run(t, func(c *api.Config) { c.Client = client })
	ctx := pgtest.Context(t, patient)
	v, err := client.Register(ctx, flow.New("slow", stage.New("slow", func(context.Context, hidden) (string, error) { return "", nil })))
	if err != nil {
		t.Fatal(err)
	}
	started, err := client.Start(ctx, control.Batch{Trigger: "api"}, []control.Start{{Version: v, Params: json.RawMessage(`{}`)}})
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() {
		res, err := s.http.Get(s.URL() + "/api/v1/runs/" + started[0].Run.String() + "/result?wait_s=30")
		if err != nil {
			said <- err.Error()
			return
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		said <- string(text)
	}()
	pgtest.Eventually(t, patient, func() (bool, string) {
		_, _, m := s.get(t, "/metrics", "")
		return strings.Contains(m, "ax_http_requests_in_flight 2"), m // this one and that
	})
	began := time.Now()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	var p gen.Problem
	if text := pgtest.Receive(t, patient, said, "the answer"); json.Unmarshal([]byte(text), &p) != nil || p.Code != gen.ProblemCodeUnavailable || p.RetryAfterS == nil {
		t.Errorf("it is answered %s", text)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it took %s", took)
	}
}
