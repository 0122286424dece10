package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/engine/advise"
	"axflow/engine/control"
	"axflow/engine/explain"
	"axflow/flow"
	"axflow/stage"
)

// paths are everything that can be asked about a run.
func paths(run string) []string {
	p := "/api/v1/runs/" + run
	return []string{p, p + "/params", p + "/result", p + "/failures", p + "/failures?stage=parts", p + "/journal", p + "/explain", p + "/explain?stage=parts",
		p + "/explain?stage=parts&shard=1", p + "/stages/parts", p + "/stages/report/output", p + "/stages/parts/output?shard=2", p + "/stages/parts/shards",
		p + "/stages/parts/shards/packed", p + "/stages/parts/shards/packed?fields=attempts", p + "/stages/parts/shards/1",
		p + "/usual", p + "/timeline", p + "/stages/parts/failures"}
}

func TestARunOfAnotherNamespaceIsLikeNone(t *testing.T) {
	s := newStand(t)
	theirs := s.begin("other", "test", control.Start{Version: s.registered("other", recon())})
	none := uuid.Must(uuid.NewV7())
	ofNone := paths(none.String())
	for i, path := range paths(theirs.String()) {
		status, body := s.call("GET", path, "")
		statusOfNone, bodyOfNone := s.call("GET", ofNone[i], "")
		var p, q gen.Problem
		if json.Unmarshal(body, &p) != nil || json.Unmarshal(bodyOfNone, &q) != nil || p.Detail == nil || q.Detail == nil {
			t.Fatalf("%s: %s and %s are no problems", path, body, bodyOfNone)
		}
		if status != http.StatusNotFound || statusOfNone != http.StatusNotFound || p.Code != q.Code ||
			strings.ReplaceAll(*p.Detail, theirs.String(), "RUN") != strings.ReplaceAll(*q.Detail, none.String(), "RUN") {
			t.Errorf("%s: %d %s, and of a run that does not exist %d %s: want the same 404", path, status, body, statusOfNone, bodyOfNone)
		}
	}
	if got := s.pages(theirs.String(), ""); len(got) != 0 {
		t.Errorf("found by its id: %v", got)
	}
	s.registered("other", plainFlow("secretive"))
	for _, path := range []string{"/api/v1/flows/secretive", "/api/v1/flows/secretive/versions", "/api/v1/flows/secretive/params-schema", "/api/v1/advice?flow=secretive"} {
		s.refused(http.StatusNotFound, gen.ProblemCodeNotFound, "GET", path, "")
	}
	if list := good[gen.FlowList](s, http.StatusOK, "GET", "/api/v1/flows?q=secret", ""); len(list.Items) != 0 {
		t.Errorf("listed: %+v", list.Items)
	}
}

func TestPathsOfOurRunAreAllAnswered(t *testing.T) {
	s := newStand(t)
	run := s.failed()
	for _, path := range paths(run.String()) {
		wantStatus := http.StatusOK
		if strings.Contains(path, "/output") {
			wantStatus = http.StatusNotFound // shard 2 died, and report has not run
		}
		if status, body := s.call("GET", path, ""); status != wantStatus {
			t.Errorf("%s: %d %s, want %d", path, status, body, wantStatus)
		}
	}
	for _, path := range []string{"/failures?stage=none", "/explain?stage=none", "/explain?stage=parts&shard=9", "/stages/none", "/stages/none/output", "/stages/parts/output?shard=9"} {
		s.refused(http.StatusNotFound, gen.ProblemCodeNotFound, "GET", "/api/v1/runs/"+run.String()+path, "")
	}
	s.refused(http.StatusUnprocessableEntity, gen.ProblemCodeInvalid, "GET", "/api/v1/runs/"+run.String()+"/explain?shard=1", "", "shard")
}

func TestParamsAndOutputsComeAsTheyAre(t *testing.T) {
	s := newStand(t)
	run := s.running()
	_, body := s.call("GET", "/api/v1/runs/"+run.String()+"/params", "")
	want(t, "params", strings.TrimSpace(string(body)), `{"date":"2026-11-29"}`)
	s.work(run, nil)
	_, body = s.call("GET", "/api/v1/runs/"+run.String()+"/stages/parts/output?shard=3", "")
	want(t, "output", strings.TrimSpace(string(body)), `1`)
	s.exec(`UPDATE ax.result SET output = NULL WHERE run_id = $1 AND shard = 3`, run)
	_, body = s.call("GET", "/api/v1/runs/"+run.String()+"/stages/parts/output?shard=3", "")
	want(t, "no output", strings.TrimSpace(string(body)), `null`)
}

// ended starts a run of an unsharded stage, after which comes another, and lets both succeed.
func (s *stand) ended(f flow.Definition) uuid.UUID {
	s.t.Helper()
	run := s.begin("default", "test", control.Start{Version: s.registered("default", f), Params: []byte(`{"date":"2026-11-29"}`)})
	for ord := range f.Graph().Stages {
		s.exec(`UPDATE ax.stage SET state = 10, shard_total = 1, succeeded = 1, finished_at = now() WHERE run_id = $1 AND ord = $2`, run, ord)
		s.exec(`INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord, generation, attempt, delivery, outcome, output)
			VALUES ($1, $2, gen_random_uuid(), now(), now(), now(), now() + interval '2 seconds', 0, 1, $3, 1, 1, 1, 10, $4)`, run, s.worker, ord, fmt.Sprintf(`"out %d"`, ord))
	}
	s.exec(`DELETE FROM ax.ready WHERE run_id = $1`, run)
	s.exec(`UPDATE ax.run SET state = 10, finished_at = now() WHERE run_id = $1`, run)
	return run
}

func TestResultHasTheOutputsOfTheLastStages(t *testing.T) {
	s := newStand(t)
	first := stage.New("first", once)
	left, right := stage.New("left", once).After(first), stage.New("right", once).After(first)
	clean := stage.New("clean", once).After(left)
	run := s.ended(flow.New("forked", first, left, right, clean))
	r := good[gen.RunResult](s, http.StatusOK, "GET", "/api/v1/runs/"+run.String()+"/result", "")
	want(t, "ended", r.Ended, true)
	want(t, "state", r.State, gen.RunStateSucceeded)
	var names []string
	for name, out := range r.Outputs {
		names = append(names, name+"="+string(out))
	}
	slices.Sort(names)
	g := s.registered("default", flow.New("forked", first, left, right, clean)).Graph
	c, _ := g.Ord("clean")
	e, _ := g.Ord("right")
	want(t, "outputs", strings.Join(names, " "), fmt.Sprintf(`clean="out %d" right="out %d"`, c, e))
}

func TestResultWaitsForTheEnd(t *testing.T) {
	s := newStand(t)
	run := s.failed()
	began := time.Now()
	r := good[gen.RunResult](s, http.StatusOK, "GET", "/api/v1/runs/"+run.String()+"/result?wait_s=0.2", "")
	if r.Ended || time.Since(began) < 200*time.Millisecond {
		t.Errorf("ended %v after %v, want false after a fifth of a second", r.Ended, time.Since(began))
	}
	if len(r.Failures) != 1 || r.Failures[0].Stage != "parts" || r.Failures[0].Shard != 2 || r.Failures[0].Failure.Message != "boom 17" {
		t.Errorf("failures %+v, want that of shard 2", r.Failures)
	}
	answered := make(chan gen.RunResult, 1)
	go func() {
		res, err := s.ours.GetRunResultWithResponse(s.ctx, run, &gen.GetRunResultParams{WaitS: ptr(30.0)})
		if err == nil && res.JSON200 != nil {
			answered <- *res.JSON200
		}
		close(answered)
	}()
	s.exec(`UPDATE ax.run SET state = 11, finished_at = now() WHERE run_id = $1`, run)
	select {
	case r, ok := <-answered:
		if !ok || !r.Ended || r.State != gen.RunStateFailed {
			t.Errorf("%+v, want a run that has failed", r)
		}
	case <-time.After(20 * time.Second):
		t.Error("no answer within 20 s of the end")
	}
}

func TestFailuresComeNewestFirstAndEachOnce(t *testing.T) {
	s := newStand(t)
	run := s.running()
	s.exec(`INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord, generation, attempt, delivery, outcome, error)
		SELECT $1, $2, gen_random_uuid(), now(), now(), now(), timestamptz '2026-11-29 00:00Z' + (i % 7) * interval '1 second', i % 20, 1, i % 2, 1, 1 + i / 20, 1,
		       CASE WHEN i % 5 = 0 THEN 10 ELSE 11 END, convert_to('{"code":"c","message":"m' || i || '"}', 'UTF8') FROM generate_series(0, 199) i`, run, s.worker)
	list := func(query string) (all []gen.Attempt) {
		cursor := ""
		for {
			p := good[gen.AttemptList](s, http.StatusOK, "GET", "/api/v1/runs/"+run.String()+"/failures?limit=7"+query+cursor, "")
			all = append(all, p.Items...)
			if p.NextCursor == nil {
				return all
			}
			cursor = "&cursor=" + url.QueryEscape(*p.NextCursor)
		}
	}
	for query, n := range map[string]int{"": 160, "&stage=parts": 80, "&stage=report": 80} {
		all := list(query)
		seen := make(map[string]bool)
		for i, a := range all {
			if i > 0 && a.FinishedAt.After(all[i-1].FinishedAt) {
				t.Fatalf("%q: %v comes after %v", query, a.FinishedAt, all[i-1].FinishedAt)
			}
			if query != "" && a.Stage != strings.TrimPrefix(query, "&stage=") || a.Outcome != gen.OutcomeFailed || a.Failure == nil {
				t.Fatalf("%q: %+v", query, a)
			}
			seen[a.Failure.Message] = true
		}
		if len(all) != n || len(seen) != n {
			t.Errorf("%q: %d failures, %d different, want %d", query, len(all), len(seen), n)
		}
	}
}

func TestJournalComesOldestFirstPageByPage(t *testing.T) {
	s := newStand(t)
	run := s.failed()
	want(t, "nothing was done", len(good[gen.JournalList](s, http.StatusOK, "GET", "/api/v1/runs/"+run.String()+"/journal", "").Items), 0)
	for i := range 5 {
		s.exec(`INSERT INTO ax.journal (run_id, id, ord, generation, kind, actor, detail) VALUES ($1, $2, $3, 1, $4, 'ada', '{"reason":"why"}')`, run, uuid.Must(uuid.NewV7()), i%2, fmt.Sprint("kind", i))
	}
	s.exec(`INSERT INTO ax.journal (run_id, id, kind, actor) VALUES ($1, $2, 'kind5', 'bob')`, run, uuid.Must(uuid.NewV7()))
	var got []string
	for cursor := ""; ; {
		p := good[gen.JournalList](s, http.StatusOK, "GET", "/api/v1/runs/"+run.String()+"/journal?limit=2"+cursor, "")
		for _, l := range p.Items {
			line := l.Kind + " " + l.Actor
			if l.Stage != nil {
				line += " " + *l.Stage
			}
			got = append(got, line)
		}
		if p.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(*p.NextCursor)
	}
	want(t, "lines", strings.Join(got, ", "), "kind0 ada parts, kind1 ada report, kind2 ada parts, kind3 ada report, kind4 ada parts, kind5 bob")
}

func TestStageTellsItsDurationsAndWhyShardsAreDead(t *testing.T) {
	s := newStand(t)
	run := s.failed()
	s.exec(`UPDATE ax.result SET finished_at = started_at + (shard + 1) * interval '1 second' WHERE run_id = $1 AND ord = 0 AND shard >= 0`, run)
	d := good[gen.StageDetail](s, http.StatusOK, "GET", "/api/v1/runs/"+run.String()+"/stages/parts", "")
	// Shards 0, 1 and 3 have succeeded, after 1, 2 and 4 seconds.
	want(t, "samples", d.Durations.Samples, 3)
	want(t, "median", *d.Durations.P50S, 2.0)
	want(t, "longest", *d.Durations.MaxS, 4.0)
	want(t, "95th percentile", *d.Durations.P95S, 3.8)
	if len(d.Failures) != 1 || d.Failures[0].Fingerprint != "boom N" || d.Failures[0].Count != 1 || *d.Failures[0].Shards != "2" || d.Failures[0].Example.Message != "boom 17" {
		t.Errorf("failures %+v, want one group, of shard 2", d.Failures)
	}
	want(t, "dead", d.Status.Dead, 1)
	d = good[gen.StageDetail](s, http.StatusOK, "GET", "/api/v1/runs/"+run.String()+"/stages/report", "")
	if d.Durations.Samples != 0 || d.Durations.P50S != nil || len(d.Failures) != 0 || d.Status.State != gen.StageStateWaiting {
		t.Errorf("a stage that waits: %+v", d)
	}
}

func TestExplainAndAdviceSpeakInSeconds(t *testing.T) {
	s := newStand(t)
	run := s.failed()
	r := good[explain.Report](s, http.StatusOK, "GET", "/api/v1/runs/"+run.String()+"/explain?stage=parts&shard=2", "")
	if r.State != "dead" || r.Past == nil || len(r.Past.Last) != 1 || r.Run != run {
		t.Errorf("%+v, want a dead task with one attempt", r)
	}
	_, body := s.call("GET", "/api/v1/advice?flow=recon&window_s=60", "")
	if strings.Contains(string(body), "_ns") || !strings.Contains(string(body), `"window_s":`) {
		t.Errorf("%s: want seconds", body)
	}
	a := good[advise.Advice](s, http.StatusOK, "GET", "/api/v1/advice?flow=recon&window_s=60", "")
	if len(a.Timeouts) != 2 || a.Timeouts[0].Current != time.Hour || a.Window > time.Minute {
		t.Errorf("%+v, want two stages with an hour each, and at most a minute's window", a)
	}
}

func TestFlowsAreListedWithTheirNewestRun(t *testing.T) {
	s := newStand(t)
	s.registered("default", searched())
	for _, name := range []string{"b-1", "b-2", "b-3"} {
		s.registered("default", plainFlow(name))
	}
	old, newer := s.start(), s.failed()
	s.exec(`UPDATE ax.run SET state = 11, finished_at = now() WHERE run_id = $1`, old)
	s.act("POST", "/api/v1/flows/recon/pause", "{}")
	var names []string
	for cursor := ""; ; {
		p := good[gen.FlowList](s, http.StatusOK, "GET", "/api/v1/flows?limit=2"+cursor, "")
		for _, f := range p.Items {
			names = append(names, f.Name)
			switch f.Name {
			case "recon":
				if f.LastRun == nil || f.LastRun.Id != newer || f.LastRun.State != gen.RunStateRunning || *f.OpenRuns != 1 || !f.Paused || f.Stages != 2 {
					t.Errorf("recon: %+v, want the newer run, one open, paused, two stages", f)
				}
			case "found":
				if f.LastRun != nil || *f.OpenRuns != 0 || f.Paused || *f.Owner != "team blue" || *f.Description != "what is found" {
					t.Errorf("found: %+v", f)
				}
			}
		}
		if p.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(*p.NextCursor)
	}
	want(t, "names", strings.Join(names, " "), "b-1 b-2 b-3 found recon")
	list := good[gen.FlowList](s, http.StatusOK, "GET", "/api/v1/flows?q=B-", "")
	want(t, "those with b-", len(list.Items), 3)
	s.refused(http.StatusBadRequest, gen.ProblemCodeInvalid, "GET", "/api/v1/flows?q=%00", "", "q")
}

func TestAFlowTellsItsGraphByNamesAndInSeconds(t *testing.T) {
	s := newStand(t)
	first := stage.New("first", once, stage.Retry{MaxAttempts: 5, InitialInterval: time.Second}, stage.Timeout{Execution: 90 * time.Second}, stage.Priority(stage.P1),
		stage.Rate{Starts: 100, Per: time.Minute}, stage.Key{From: "params.date", Limit: 3})
	old := s.registered("default", flow.New("shown", first))
	newer := s.registered("default", flow.New("shown", stage.New("first", once), stage.New("second", once)))
	f := good[gen.Flow](s, http.StatusOK, "GET", "/api/v1/flows/shown?version="+old.Hash, "")
	g := f.Graph.Stages[0]
	want(t, "newest", f.Newest, false)
	want(t, "stages", len(f.Graph.Stages), 1)
	want(t, "attempts", g.Retry.MaxAttempts, 5)
	want(t, "first wait", *g.Retry.InitialIntervalS, 1.0)
	want(t, "time-out", *g.Timeout.ExecutionS, 90.0)
	want(t, "level", *g.Level, gen.LevelP1)
	want(t, "rate", *g.Rate, "100 every 1m0s")
	want(t, "key", *g.Key, "params.date")
	f = good[gen.Flow](s, http.StatusOK, "GET", "/api/v1/flows/shown", "")
	want(t, "the newest", f.Version+fmt.Sprint(f.Newest, len(f.Graph.Stages)), newer.Hash+"true 2")
	found := s.registered("default", searched())
	f = good[gen.Flow](s, http.StatusOK, "GET", "/api/v1/flows/found", "")
	want(t, "searchable", strings.Join(f.Searchable, " "), "date customer")
	want(t, "version", f.Version, found.Hash)
	recon := good[gen.Flow](s, http.StatusOK, "GET", "/api/v1/flows/recon", "")
	want(t, "upstreams", strings.Join(recon.Graph.Stages[1].Upstreams, " "), "parts")
	want(t, "kind", recon.Graph.Stages[0].Kind, gen.StageKindSharded)
	versions := good[gen.FlowVersionList](s, http.StatusOK, "GET", "/api/v1/flows/shown/versions?limit=1", "")
	if len(versions.Items) != 1 || versions.Items[0].Version != newer.Hash || !versions.Items[0].Newest || versions.NextCursor == nil {
		t.Fatalf("%+v, want the newer of two versions", versions)
	}
	versions = good[gen.FlowVersionList](s, http.StatusOK, "GET", "/api/v1/flows/shown/versions?limit=1&cursor="+url.QueryEscape(*versions.NextCursor), "")
	if len(versions.Items) != 1 || versions.Items[0].Version != old.Hash || versions.Items[0].Newest || versions.NextCursor != nil {
		t.Errorf("%+v, want the older of two versions, and no more", versions)
	}
	schema := good[map[string]any](s, http.StatusOK, "GET", "/api/v1/flows/recon/params-schema", "")
	if properties, ok := schema["properties"].(map[string]any); !ok || properties["date"] == nil {
		t.Errorf("schema %v, want one with the property date", schema)
	}
	s.refused(http.StatusNotFound, gen.ProblemCodeNotFound, "GET", "/api/v1/flows/shown?version=0000000000000000", "")
	s.refused(http.StatusNotFound, gen.ProblemCodeNotFound, "GET", "/api/v1/flows/none", "")
}
