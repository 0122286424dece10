package rest_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"axflow/api/gen"
)

// together sends one request from two operators at the same moment, and returns the answers in the order of their statuses.
func (s *stand) together(method, path, body string) (status [2]int, text [2][]byte) {
	s.t.Helper()
	_, second := s.serve("default", "local:eve")
	var ready, both sync.WaitGroup
	ready.Add(2)
	for i, trip := range []http.RoundTripper{s.raw, second} {
		both.Go(func() {
			ready.Done()
			ready.Wait()
			status[i], text[i] = s.callOn(trip, method, path, body)
		})
	}
	both.Wait()
	if status[0] > status[1] {
		status[0], status[1], text[0], text[1] = status[1], status[0], text[1], text[0]
	}
	return status, text
}

// One of two operators who do the same does it; the other learns that it is so already, or that it cannot be done any more.
func TestTwoOperatorsDoTheSame(t *testing.T) {
	s := newStand(t)
	running, failed := s.running, s.failed
	for _, x := range []struct {
		path, body string // {x}: the run
		make       func() uuid.UUID
		second     int // status of who comes second
	}{
		{"cancel", ``, running, 200},
		{"pause", ``, running, 200},
		{"level", `{"level":"P0"}`, running, 200},
		{"retry", ``, failed, 409},
		{"skip", ``, running, 200},
		{"mark-success", ``, running, 200},
		{"discard", ``, failed, 200},
		{"replay", ``, failed, 409},
		{"rerun", `{"shards":"0"}`, failed, 409},
	} {
		run := x.make()
		path := onRun(run, x.path)
		if slices.Contains([]string{"skip", "mark-success", "discard", "replay", "rerun"}, x.path) {
			path = onStage(run, "parts", x.path)
		}
		status, text := s.together("POST", path, x.body)
		want(t, x.path+": the first", status[0], 200)
		want(t, x.path+": the second", status[1], x.second)
		did := 0
		for i := range text {
			var a gen.ActResult
			if err := json.Unmarshal(text[i], &a); status[i] == 200 && err != nil {
				t.Fatal(err)
			}
			did += min(len(a.Touched), 1)
		}
		want(t, x.path+": who did it", did, 1)
		want(t, x.path+": audit", s.count(`SELECT count(*) FROM ax.audit WHERE starts_with(target, 'run/' || $1)`, run.String()), 1)
	}
}

// The same key at the same moment is one run, and both learn which.
func TestTwoStartsWithOneKey(t *testing.T) {
	s := newStand(t)
	for range 5 {
		key := uuid.NewString()
		status, text := s.together("POST", runs, `{"flow":"recon","params":{"date":"2026-11-29"},"key":"`+key+`"}`)
		want(t, "who comes second", status[0], 200)
		want(t, "who comes first", status[1], 201)
		var a, b gen.StartedRun
		if json.Unmarshal(text[0], &a) != nil || json.Unmarshal(text[1], &b) != nil || *a.Run != *b.Run || !a.Existing || b.Existing {
			t.Errorf("answers %s and %s", text[0], text[1])
		}
	}
	want(t, "runs", s.count(`SELECT count(*) FROM ax.run`), 5)
	want(t, "audit", s.count(`SELECT count(*) FROM ax.audit`), 5)
}

// Of two who change what they have both read, one is told that it is not so any more.
func TestTwoOperatorsSetAQueue(t *testing.T) {
	s := newStand(t)
	s.act("PUT", "/api/v1/queues/etl", `{"capacity":1}`)
	for version := range 5 {
		body, err := json.Marshal(map[string]int{"capacity": 10 + version, "version": version + 1})
		if err != nil {
			t.Fatal(err)
		}
		status, _ := s.together("PUT", "/api/v1/queues/etl", string(body))
		want(t, "who came first", status[0], 200)
		want(t, "who came second", status[1], 409)
	}
	want(t, "version", s.count(`SELECT version FROM ax.queue WHERE name = 'etl'`), 6)
}
