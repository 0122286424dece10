package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/stage"
)

func (s *stand) runState(run uuid.UUID) stage.RunState {
	s.t.Helper()
	return stage.RunState(s.count(`SELECT state FROM ax.run WHERE run_id = $1`, run))
}

func (s *stand) stageState(run uuid.UUID, ord int) stage.StageState {
	s.t.Helper()
	return stage.StageState(s.count(`SELECT state FROM ax.stage WHERE run_id = $1 AND ord = $2`, run, ord))
}

func onRun(run uuid.UUID, verb string) string { return fmt.Sprintf("%s/%s/acts/%s", runs, run, verb) }

func onStage(run uuid.UUID, stageName, verb string) string {
	return fmt.Sprintf("%s/%s/stages/%s/acts/%s", runs, run, stageName, verb)
}

func TestActOnRun(t *testing.T) {
	s := newStand(t)
	run := s.running()
	dry := s.act("POST", onRun(run, "cancel"), `{"dry_run":true}`)
	want(t, "state after a question", s.runState(run), stage.RunRunning)
	s.handOut(run)
	paused := s.act("POST", onRun(run, "pause"), `{"reason":"look"}`)
	want(t, "touches", len(paused), 1)
	want(t, "run", *paused[0].Run, run)
	want(t, "paused again", len(s.act("POST", onRun(run, "pause"), ``)), 0)
	want(t, "holds", s.count(`SELECT count(*) FROM ax.hold WHERE kind = 'run' AND name = $1 AND actor = 'local:ada' AND reason = 'look'`, run.String()), 1)
	want(t, "resumed", len(s.act("POST", onRun(run, "resume"), `{}`)), 1)
	want(t, "resumed again", len(s.act("POST", onRun(run, "resume"), `{}`)), 0)
	s.act("POST", onRun(run, "level"), `{"level":"P4"}`)
	want(t, "level", s.count(`SELECT forced_level FROM ax.run WHERE run_id = $1`, run), 4)
	s.act("POST", onRun(run, "expedite"), ``)
	want(t, "level", s.count(`SELECT forced_level FROM ax.run WHERE run_id = $1`, run), 3)
	s.act("POST", onRun(run, "demote"), ``)
	want(t, "level", s.count(`SELECT forced_level FROM ax.run WHERE run_id = $1`, run), 4)
	s.refused(409, gen.ProblemCodeConflict, "POST", onRun(run, "retry"), ``)
	done := s.act("POST", onRun(run, "cancel"), `{}`)
	want(t, "state", s.runState(run), stage.RunCancelling)
	want(t, "touches of the question", len(dry) > 0 && len(done) > 0, true)
	want(t, "asks", s.count(`SELECT count(*) FROM ax.ask WHERE kind = 1`), 1)
	want(t, "cancelled again", len(s.act("POST", onRun(run, "cancel"), ``)), 0)
	forced := s.act("POST", onRun(run, "cancel"), `{"force":true}`)
	want(t, "shards cancelled by force", *forced[len(forced)-1].Shards, "0-3")
	want(t, "how many", *forced[len(forced)-1].Tasks, 4)
	want(t, "flights", s.count(`SELECT count(*) FROM ax.flight`), 0)
	s.exec(`UPDATE ax.run SET state = 12, finished_at = now() WHERE run_id = $1`, run)
	for _, verb := range []string{"cancel", "pause", "expedite", "retry"} {
		s.refused(409, gen.ProblemCodeConflict, "POST", onRun(run, verb), ``)
	}
}

func TestActOnRunRefusesWhatTheVerbDoesNotHave(t *testing.T) {
	s := newStand(t)
	run := s.running()
	for _, x := range []struct{ verb, body, fields string }{
		{"pause", `{"force":true}`, "/force"},
		{"retry", `{"force":true,"level":"P1"}`, "/force /level"},
		{"cancel", `{"level":"P1"}`, "/level"},
		{"expedite", `{"level":"P1"}`, "/level"},
		{"level", `{}`, "/level"},
		{"level", ``, "/level"},
		{"pause", `{"reason":"a\u0000b"}`, "/reason"},
	} {
		s.refused(422, gen.ProblemCodeInvalid, "POST", onRun(run, x.verb), x.body, strings.Fields(x.fields)...)
	}
	for _, x := range []struct{ verb, body string }{{"level", `{"level":"P9"}`}, {"pause", `{"shards":"1"}`}, {"pause", `[]`}, {"pause", `{`}, {"explode", `{}`}, {"pause", `{"dry_run":"yes"}`}} {
		if status, body := s.call("POST", onRun(run, x.verb), x.body); status < 400 || status >= 500 {
			t.Errorf("%s %s: %d %s, want a refusal", x.verb, x.body, status, body)
		}
	}
	s.act("POST", onRun(run, "pause"), `{"force":false}`) // as if it were not there
	want(t, "audit", s.count(`SELECT count(*) FROM ax.audit`), 1)
}

func TestActOnStage(t *testing.T) {
	s := newStand(t)
	run := s.failed()
	want(t, "parts", s.stageState(run, 0), stage.StageFailed)
	s.refused(409, gen.ProblemCodeConflict, "POST", onStage(run, "parts", "retry"), `{"shards":"0-1"}`)
	touched := s.act("POST", onStage(run, "parts", "retry"), `{"shards":"0-2"}`)
	want(t, "shards", *touched[0].Shards, "2")
	want(t, "what", touched[0].What, "runs again as attempt 2")
	want(t, "stage", *touched[0].Stage, "parts")
	s.work(run, nil)
	want(t, "parts", s.stageState(run, 0), stage.StageSucceeded)
	s.refused(422, gen.ProblemCodeInvalid, "POST", onStage(run, "parts", "rerun"), `{"shards":"3-4"}`, "/shards")
	touched = s.act("POST", onStage(run, "parts", "rerun"), `{"shards":"0,3"}`)
	want(t, "ready", s.count(`SELECT n FROM ax.ready WHERE run_id = $1`, run), 2)
	want(t, "shards", *touched[slices.IndexFunc(touched, func(x gen.Touch) bool { return x.Shards != nil })].Shards, "0,3")
	s.act("POST", onStage(run, "parts", "skip"), `{"shards":"0"}`)
	s.act("POST", onStage(run, "parts", "mark-success"), `{"shards":"3","output":{"by":"hand"}}`)
	want(t, "output", s.count(`SELECT count(*) FROM ax.result WHERE run_id = $1 AND shard = 3 AND attempt = 2 AND output = '{"by":"hand"}'`, run), 1)
	want(t, "parts", s.stageState(run, 0), stage.StageSucceeded)
	s.act("POST", onStage(run, "parts", "rerun"), ``)
	want(t, "generation", s.count(`SELECT generation FROM ax.stage WHERE run_id = $1 AND ord = 0`, run), 2)
	s.act("POST", onStage(run, "report", "level"), `{"level":"P0"}`)
	s.act("POST", onStage(run, "report", "demote"), `{}`)
	s.act("POST", onStage(run, "report", "demote"), `{}`)
	s.act("POST", onStage(run, "report", "expedite"), `{}`)
	want(t, "level", s.count(`SELECT level FROM ax.stage WHERE run_id = $1 AND ord = 1`, run), 1)
	s.act("POST", onStage(run, "report", "skip"), ``)
	want(t, "skipped again", len(s.act("POST", onStage(run, "report", "skip"), ``)), 0)
	want(t, "report", s.stageState(run, 1), stage.StageSkipped)
}

func TestReplayAndDiscardOfAStage(t *testing.T) {
	s := newStand(t)
	run := s.failed()
	s.act("POST", onStage(run, "parts", "discard"), `{"shards":"2"}`)
	want(t, "discarded again", len(s.act("POST", onStage(run, "parts", "discard"), `{"shards":"2"}`)), 0)
	s.refused(409, gen.ProblemCodeConflict, "POST", onStage(run, "parts", "replay"), ``)
	again := s.failed()
	touched := s.act("POST", onStage(again, "parts", "replay"), ``)
	want(t, "shards", *touched[0].Shards, "2")
	s.refused(409, gen.ProblemCodeConflict, "POST", onStage(again, "parts", "discard"), ``)
}

func TestActOnStageRefusesWhatTheVerbDoesNotHave(t *testing.T) {
	s := newStand(t)
	run := s.failed()
	for _, x := range []struct{ verb, body, fields string }{
		{"level", `{"level":"P1","shards":"1"}`, "/shards"},
		{"level", `{}`, "/level"},
		{"demote", `{"shards":"1","level":"P1"}`, "/level /shards"},
		{"retry", `{"output":1}`, "/output"},
		{"skip", `{"output":null,"level":"P1"}`, "/level"},
		{"retry", `{"shards":"0-99,x"}`, "/shards"},
		{"retry", `{"shards":"3-1"}`, "/shards"},
		{"retry", `{"shards":","}`, "/shards"},
		{"retry", `{"shards":"-1"}`, "/shards"},
		{"retry", `{"shards":"99999999999999999999"}`, "/shards"},
		{"skip", `{"shards":"4"}`, "/shards"},
		{"mark-success", `{"shards":"0-4"}`, "/shards"},
	} {
		s.refused(422, gen.ProblemCodeInvalid, "POST", onStage(run, "parts", x.verb), x.body, strings.Fields(x.fields)...)
	}
	p := s.refused(422, gen.ProblemCodeInvalid, "POST", onStage(run, "parts", "retry"), `{"shards":"0-99,117,x"}`, "/shards")
	if !strings.Contains(*p.Detail, "character 10") {
		t.Errorf("detail %q does not name the position", *p.Detail)
	}
	s.refused(404, gen.ProblemCodeNotFound, "POST", onStage(run, "nope", "skip"), ``)
	s.refused(413, gen.ProblemCodeTooLarge, "POST", onStage(run, "parts", "mark-success"), `{"shards":"2","output":"`+strings.Repeat("x", 64<<10)+`"}`)
	want(t, "audit", s.count(`SELECT count(*) FROM ax.audit`), 0)
}

func TestActOnRuns(t *testing.T) {
	s := newStand(t)
	first, second, third := s.failed(), s.failed(), s.running()
	bulk := func(verb, body string) gen.BulkResult {
		t.Helper()
		return good[gen.BulkResult](s, http.StatusOK, "POST", "/api/v1/bulk/"+verb, body)
	}
	failed := `"filter":{"flows":["recon"],"runs":["` + first.String() + `","` + second.String() + `"]}`
	dry := bulk("retry", `{`+failed+`,"dry_run":true}`)
	want(t, "runs of the question", len(dry.Runs), 2)
	want(t, "audit after the question", s.count(`SELECT count(*) FROM ax.audit`), 0)
	one := bulk("retry", `{"filter":{"flows":["recon"],"tags":{"team":"blue"},"most":1},"stage":"parts","reason":"again"}`)
	want(t, "runs", len(one.Runs), 1)
	want(t, "more", one.More, true)
	want(t, "the oldest first", one.Runs[0].Run, first)
	want(t, "touched", len(one.Runs[0].Touched) > 0, true)
	all := bulk("retry", `{`+failed+`}`)
	want(t, "failed", all.Failed, 1)
	want(t, "code", all.Runs[0].Error.Code, gen.ProblemCodeConflict)
	want(t, "more", all.More, false)
	want(t, "audit", s.count(`SELECT count(*) FROM ax.audit WHERE verb = 'retry'`), 2)
	for _, x := range []struct{ verb, body string }{
		{"pause", ``}, {"resume", ``}, {"level", `,"level":"P1"`}, {"expedite", ``}, {"demote", `,"stage":"report"`},
		{"skip", `,"stage":"report"`}, {"rerun", `,"stage":"report"`}, {"mark-success", `,"stage":"report","output":1`}, {"cancel", `,"force":true`},
	} {
		got := bulk(x.verb, `{"filter":{"runs":["`+third.String()+`"]}`+x.body+`}`)
		if len(got.Runs) != 1 || got.Failed != 0 || len(got.Runs[0].Touched) == 0 {
			t.Errorf("%s: %+v", x.verb, got)
		}
	}
	none, err := s.theirs.ActOnRunsWithResponse(s.ctx, "cancel", gen.BulkAct{Filter: gen.RunFilter{Flows: []string{"recon"}, Runs: []uuid.UUID{first}}})
	if err != nil || none.JSON200 == nil || len(none.JSON200.Runs) != 0 {
		t.Errorf("from another namespace: %v, %s", err, none.Body)
	}
}

func TestActOnRunsRefusesFiltersThatSayNothing(t *testing.T) {
	s := newStand(t)
	run := s.running()
	for _, x := range []struct{ verb, body, fields string }{
		{"cancel", `{"filter":{}}`, "/filter"},
		{"cancel", `{"filter":{"most":5}}`, "/filter"},
		{"cancel", `{"filter":{"runs":[]}}`, "/filter/runs"},
		{"cancel", `{"filter":{"flows":[],"queues":["a"]}}`, "/filter/flows"},
		{"cancel", `{"filter":{"flows":["a\u0000"]}}`, "/filter/flows/0"},
		{"cancel", `{"filter":{"flows":["recon"]},"stage":"parts"}`, "/stage"},
		{"pause", `{"filter":{"flows":["recon"]},"force":true}`, "/force"},
		{"skip", `{"filter":{"flows":["recon"]}}`, "/stage"},
		{"level", `{"filter":{"flows":["recon"]}}`, "/level"},
		{"retry", `{"filter":{"flows":["recon"]},"output":1}`, "/output"},
	} {
		s.refused(422, gen.ProblemCodeInvalid, "POST", "/api/v1/bulk/"+x.verb, x.body, strings.Fields(x.fields)...)
	}
	want(t, "state", s.runState(run), stage.RunRunning)
	want(t, "audit", s.count(`SELECT count(*) FROM ax.audit`), 0)
}

func TestHoldFlow(t *testing.T) {
	s := newStand(t)
	want(t, "touches", len(s.act("POST", "/api/v1/flows/recon/pause", `{"reason":"r"}`)), 1)
	want(t, "touches of the second", len(s.act("POST", "/api/v1/flows/recon/pause", ``)), 0)
	holds := good[gen.HoldList](s, http.StatusOK, "GET", "/api/v1/holds", "")
	want(t, "holds", len(holds.Items), 1)
	want(t, "name", holds.Items[0].Name, "recon")
	theirs, err := s.theirs.ListHoldsWithResponse(s.ctx)
	if err != nil || len(theirs.JSON200.Items) != 0 {
		t.Errorf("holds in another namespace: %v, %s", err, theirs.Body)
	}
	want(t, "touches", len(s.act("POST", "/api/v1/flows/recon/resume", ``)), 1)
	want(t, "touches of the second", len(s.act("POST", "/api/v1/flows/recon/resume", ``)), 0)
	for _, verb := range []string{"pause", "resume"} {
		s.refused(404, gen.ProblemCodeNotFound, "POST", "/api/v1/flows/nope/"+verb, ``)
	}
}

// A fault in the middle of a verb by filter does not hide what was done until then.
func TestActOnRunsTellsWhatItDidBeforeAFault(t *testing.T) {
	s := newStand(t)
	first, second := s.running(), s.running()
	s.exec(`ALTER TABLE ax.audit ADD CONSTRAINT only_one CHECK (target = 'run/` + first.String() + `') NOT VALID`)
	body := `{"filter":{"runs":["` + first.String() + `","` + second.String() + `"]}}`
	got := good[gen.BulkResult](s, http.StatusOK, "POST", "/api/v1/bulk/pause", body)
	want(t, "runs", len(got.Runs), 1)
	want(t, "run", got.Runs[0].Run, first)
	want(t, "more", got.More, true)
	want(t, "holds", s.count(`SELECT count(*) FROM ax.hold WHERE name = $1`, second.String()), 0)
}
