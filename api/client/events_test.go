package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"axflow/api/client"
	"axflow/api/gen"
)

var run = uuid.MustParse("01a3185c-5000-7000-8000-000000000001")

// script is a server that answers the n-th request with the n-th of its acts, and every later one with the last.
type script struct {
	acts []func(w http.ResponseWriter, r *http.Request)
	ids  []string // Last-Event-ID of each request
	at   []time.Time
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := min(len(s.ids), len(s.acts)-1)
	s.ids, s.at = append(s.ids, r.Header.Get("Last-Event-ID")), append(s.at, time.Now())
	s.acts[n](w, r)
}

func says(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	}
}

func refuses(status int, header ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		if len(header) > 0 {
			w.Header().Set("Retry-After", header[0])
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"type":"x","title":"no","status":%d,"code":"not_found"}`, status)
	}
}

func delta(succeeded int, id string) string {
	return fmt.Sprintf("event: delta\ndata: {\"id\":%q,\"stages\":{\"work\":{\"succeeded\":%d}}}\nid: %s\n\n", run, succeeded, id)
}

// follow reads events until most of them have come or the stream ends.
func follow(t *testing.T, s *script, most int) (events []client.Event, pauses []time.Duration, end error) {
	t.Helper()
	w := client.Watch{Runs: []uuid.UUID{run}, Rand: func() float64 { return 0.999 },
		Lost: func(_ error, pause time.Duration) { pauses = append(pauses, pause.Round(100*time.Millisecond)) }}
	for e, err := range client.Events(t.Context(), client.Config{URL: "http://ax", HTTP: &http.Client{Transport: client.Local(s)}}, w) {
		if err != nil {
			return events, pauses, err
		}
		if events = append(events, e); len(events) == most {
			break
		}
	}
	return events, pauses, nil
}

// A stream that breaks, or is ended by the server, goes on where it was.
func TestEventsGoOnWhereTheyWere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{acts: []func(http.ResponseWriter, *http.Request){
			says("retry: 1\nid: b-1\n\n: beat\n\n" + delta(1, "b-2") + delta(2, "b-3")[:30]),
			says(delta(2, "b-3") + "event: bye\ndata: {\"reason\":\"drain\"}\n\n" + delta(9, "b-9")),
			refuses(503, "7"),
			says("event: news\ndata: of a newer server\n\nevent: lost\ndata: {\"flows\":[\"a\"]}\nid: c-4\n\n" +
				"event: snapshot\r\ndata: {\"id\":\"" + run.String() + "\",\r\ndata: \"stages\":{}}\r\nid: c-5\r\n\r\n" +
				"event: run\ndata: {\"id\":\"" + run.String() + "\",\"flow\":\"a\"}\n\n"),
		}}
		began := time.Now()
		events, pauses, err := follow(t, s, 5)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []client.EventKind
		for _, e := range events {
			kinds = append(kinds, e.Kind)
		}
		if want := []client.EventKind{client.EventDelta, client.EventDelta, client.EventLost, client.EventSnapshot, client.EventRun}; !slices.Equal(kinds, want) {
			t.Errorf("events %v, want %v", kinds, want)
		}
		if n := *events[1].Live.Stages["work"].Succeeded; n != 2 {
			t.Errorf("the second delta says %d, want 2", n)
		}
		if events[2].Flows[0] != "a" || events[4].Run.Flow != "a" || events[3].Live.Id != run {
			t.Errorf("they hold %+v", events)
		}
		if want := []string{"", "b-2", "b-3", "b-3"}; !slices.Equal(s.ids, want) {
			t.Errorf("it came with %q, want %q", s.ids, want)
		}
		// A pause doubles while nothing comes, begins anew once something has, and is what the server asks for.
		if want := []time.Duration{500 * time.Millisecond, 500 * time.Millisecond, 7 * time.Second}; !slices.Equal(pauses, want) {
			t.Errorf("it paused %v, want %v", pauses, want)
		}
		if d := time.Since(began).Round(100 * time.Millisecond); d != 8*time.Second {
			t.Errorf("it took %s, want 8s", d)
		}
	})
}

func TestEventsEndWhereTryingAgainIsNoUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, err := follow(t, &script{acts: []func(http.ResponseWriter, *http.Request){says(delta(1, "b-2")), refuses(404)}}, 9)
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Status != 404 {
			t.Errorf("a run that has gone: %v, want the server's refusal", err)
		}
		s := &script{acts: []func(http.ResponseWriter, *http.Request){refuses(503)}}
		if _, _, err = follow(t, s, 9); err == nil || len(s.ids) != 1 {
			t.Errorf("a server that never served: %v after %d tries, want an error after one", err, len(s.ids))
		}
		_, pauses, err := follow(t, &script{acts: []func(http.ResponseWriter, *http.Request){
			says("id: b-1\n\n"), says(""), refuses(429), refuses(503), says(""), says(""), says(""), refuses(410)}}, 9)
		want := []time.Duration{time.Second / 2, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second}
		if err == nil || !slices.Equal(pauses, want) {
			t.Errorf("a server that says nothing: paused %v, want %v; %v", pauses, want, err)
		}
		_, _, err = follow(t, &script{acts: []func(http.ResponseWriter, *http.Request){says("event: delta\ndata: {\n\n"), refuses(404)}}, 9)
		if !errors.As(err, &refused) {
			t.Errorf("a frame that is no JSON: %v, want another try, and its error", err)
		}
	})
}

// A connection over which nothing comes, not even a beat, is given up; a reader that ends it ends at once.
func TestEventsNoticeSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{}, 2)
		silent := func(w http.ResponseWriter, r *http.Request) {
			for range 10 {
				_, _ = io.WriteString(w, ": beat\n\n")
				time.Sleep(15 * time.Second)
			}
			<-r.Context().Done()
			gone <- struct{}{}
		}
		s := &script{acts: []func(http.ResponseWriter, *http.Request){silent, says(delta(1, "b-2"))}}
		began := time.Now()
		if events, _, err := follow(t, s, 1); err != nil || len(events) != 1 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		<-gone
		if d := s.at[1].Sub(began).Round(100 * time.Millisecond); d != 3*time.Minute+500*time.Millisecond {
			t.Errorf("it came again after %s, want 135 s of beats, 45 s of silence and a pause", d)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		waits := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "id: b-1\n\n")
			<-r.Context().Done()
		})
		cfg := client.Config{URL: "http://ax", HTTP: &http.Client{Transport: client.Local(waits)}}
		for _, err := range client.Events(ctx, cfg, client.Watch{}) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after the context's end: %v", err)
			}
		}
	})
	for _, err := range client.Events(t.Context(), client.Config{}, client.Watch{}) {
		if err == nil || !strings.Contains(err.Error(), "URL is required") {
			t.Errorf("without a URL: %v", err)
		}
	}
}

// What is asked for arrives as it is written in the document.
func TestEventsAskForRunsAndFlows(t *testing.T) {
	var got *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		refuses(401)(w, r)
	}))
	defer server.Close()
	for _, err := range client.Events(t.Context(), client.Config{URL: server.URL + "/", Token: "secret"}, client.Watch{Runs: []uuid.UUID{run}, Flows: []string{"a", "b c"}}) {
		if err == nil {
			t.Error("a server that refuses has told something")
		}
	}
	if want := "/api/v1/events?run=" + run.String() + "&flow=a&flow=b+c"; got == nil || got.URL.RequestURI() != want && got.URL.RequestURI() != "/api/v1/events?flow=a&flow=b+c&run="+run.String() {
		t.Errorf("asked for %v, want %s", got.URL, want)
	}
	if got.Header.Get("Authorization") != "Bearer secret" {
		t.Errorf("with %q", got.Header.Get("Authorization"))
	}
}

func TestMergeKeepsWhatADeltaLeavesOut(t *testing.T) {
	state := gen.RunState("running")
	one, two := 1, 2
	var known gen.LiveRun
	client.Merge(&known, client.Event{Kind: client.EventSnapshot, Live: &gen.LiveRun{Id: run, State: &state, Stages: map[string]gen.LiveStage{"a": {Ready: &one}, "b": {Ready: &one}}}})
	client.Merge(&known, client.Event{Kind: client.EventDelta, Live: &gen.LiveRun{Id: run, Stages: map[string]gen.LiveStage{"a": {Dead: &two}}}})
	if a := known.Stages["a"]; *known.State != "running" || *a.Ready != 1 || *a.Dead != 2 || *known.Stages["b"].Ready != 1 {
		t.Errorf("merged to %+v", known)
	}
	client.Merge(&known, client.Event{Kind: client.EventSnapshot, Live: &gen.LiveRun{Id: run}})
	if known.State != nil || known.Stages != nil {
		t.Errorf("a snapshot left %+v", known)
	}
}
