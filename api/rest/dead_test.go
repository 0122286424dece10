package rest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"axflow/api/gen"
)

const deadLetters = "/api/v1/dead-letters"

func TestListDeadLettersPageByPage(t *testing.T) {
	s := newStand(t)
	var failed []uuid.UUID
	for range 5 {
		failed = append(failed, s.failed())
	}
	var got []uuid.UUID
	cursor := ""
	for page := 0; ; page++ {
		list := good[gen.DeadLetterList](s, http.StatusOK, "GET", deadLetters+"?limit=2&flow=recon&stage=parts"+cursor, "")
		if page == 0 {
			l := list.Items[0]
			want(t, "flow", l.Flow, "recon")
			want(t, "stage", l.Stage, "parts")
			want(t, "shards", l.Shards, "2")
			want(t, "reason", l.Reason, gen.DeadLetterReasonDead)
			want(t, "fingerprint", *l.Fingerprint, "boom N")
			want(t, "message", l.Failure.Message, "boom 17")
			want(t, "attempt", l.Attempt, 1)
			s.failed() // newer than the first page: on none of the others
		}
		for _, l := range list.Items {
			got = append(got, l.Run)
		}
		if list.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(*list.NextCursor)
		s.refused(422, gen.ProblemCodeInvalid, "GET", deadLetters+"?limit=2"+cursor, "", "cursor") // of another list
	}
	want(t, "letters", len(got), 5)
	for i, run := range got {
		want(t, "newest first", run, failed[4-i])
	}
	for _, query := range []string{"?code=other", "?stage=report", "?fingerprint=x", "?run=" + uuid.NewString(), "?until=2001-01-01T00:00:00Z", "?since=2999-01-01T00:00:00Z", "?flow=nope"} {
		want(t, query, len(good[gen.DeadLetterList](s, http.StatusOK, "GET", deadLetters+query, "").Items), 0)
		want(t, "groups "+query, len(good[gen.DeadGroupList](s, http.StatusOK, "GET", deadLetters+"/groups"+query, "").Items), 0)
	}
	groups := good[gen.DeadGroupList](s, http.StatusOK, "GET", deadLetters+"/groups", "")
	want(t, "groups", len(groups.Items), 1)
	want(t, "count", groups.Items[0].Count, 6)
	want(t, "runs", groups.Items[0].Runs, 6)
	want(t, "example", groups.Items[0].Example.Code, "handler_error")
	theirs, err := s.theirs.ListDeadLettersWithResponse(s.ctx, nil)
	if err != nil || theirs.JSON200 == nil || len(theirs.JSON200.Items) != 0 {
		t.Errorf("dead letters of another namespace: %v, %s", err, theirs.Body)
	}
	s.refused(400, gen.ProblemCodeInvalid, "GET", deadLetters+"?flow=a%00b", "", "flow")
	s.refused(422, gen.ProblemCodeInvalid, "GET", deadLetters+"?cursor=nonsense", "", "cursor")
}

func TestReplayDeadLetters(t *testing.T) {
	s := newStand(t)
	s.failed()
	s.failed()
	s.refused(422, gen.ProblemCodeInvalid, "POST", deadLetters+"/replay", `{"filter":{}}`, "/filter")
	s.refused(404, gen.ProblemCodeNotFound, "POST", deadLetters+"/replay", `{"filter":{"flow":"nope"}}`)
	s.refused(422, gen.ProblemCodeInvalid, "POST", deadLetters+"/replay", `{"filter":{"flow":"re\u0000con"}}`, "/filter/flow")
	dry := good[gen.Replay](s, http.StatusOK, "POST", deadLetters+"/replay", `{"filter":{"flow":"recon"},"canary":1,"dry_run":true}`)
	want(t, "total", dry.Total, 2)
	want(t, "id of a question", dry.Id, nil)
	want(t, "state", dry.State, gen.ReplayStateCanary)
	job := good[gen.Replay](s, http.StatusCreated, "POST", deadLetters+"/replay", `{"filter":{"flow":"recon","code":"handler_error"},"canary":1,"per_second":5,"reason":"fixed"}`)
	want(t, "actor", *job.Actor, "local:ada")
	want(t, "reason", *job.Reason, "fixed")
	want(t, "per second", *job.PerSecond, 5)
	one := good[gen.Replay](s, http.StatusOK, "GET", "/api/v1/replays/"+job.Id.String(), "")
	want(t, "code", *one.Filter.Code, "handler_error")
	want(t, "canary", *one.Canary, 1)
	second := good[gen.Replay](s, http.StatusCreated, "POST", deadLetters+"/replay", `{"filter":{"flow":"recon"}}`)
	page := good[gen.ReplayList](s, http.StatusOK, "GET", "/api/v1/replays?limit=1", "")
	want(t, "newest", *page.Items[0].Id, *second.Id)
	next := good[gen.ReplayList](s, http.StatusOK, "GET", "/api/v1/replays?limit=5&cursor="+url.QueryEscape(*page.NextCursor), "")
	want(t, "the rest", len(next.Items), 1)
	want(t, "older", *next.Items[0].Id, *job.Id)
	want(t, "next cursor", next.NextCursor, nil)

	cancel := "/api/v1/replays/" + job.Id.String() + "/cancel"
	want(t, "touches of a question", len(s.act("POST", cancel, `{"dry_run":true}`)), 1)
	want(t, "touches", len(s.act("POST", cancel, `{"reason":"no"}`)), 1)
	want(t, "touches of the second", len(s.act("POST", cancel, ``)), 0)
	want(t, "state", good[gen.Replay](s, http.StatusOK, "GET", "/api/v1/replays/"+job.Id.String(), "").State, gen.ReplayStateCancelled)
	s.exec(`UPDATE ax.replay SET state = 'done', finished_at = now() WHERE id = $1`, *second.Id)
	s.refused(409, gen.ProblemCodeConflict, "POST", "/api/v1/replays/"+second.Id.String()+"/cancel", ``)

	for _, id := range []uuid.UUID{*job.Id, uuid.New()} {
		got, err := s.theirs.GetReplayWithResponse(s.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		p := problemOf(t, got.HTTPResponse, got.Body)
		want(t, "code in another namespace", p.Code, gen.ProblemCodeNotFound)
		acted, err := s.theirs.CancelReplayWithResponse(s.ctx, id, gen.Act{})
		if err != nil {
			t.Fatal(err)
		}
		want(t, "code in another namespace", problemOf(t, acted.HTTPResponse, acted.Body).Code, gen.ProblemCodeNotFound)
	}
	list, err := s.theirs.ListReplaysWithResponse(s.ctx, nil)
	if err != nil || len(list.JSON200.Items) != 0 {
		t.Errorf("replays of another namespace: %v, %s", err, list.Body)
	}
}

func TestDiscardDeadLetters(t *testing.T) {
	s := newStand(t)
	first, second := s.failed(), s.failed()
	s.refused(422, gen.ProblemCodeInvalid, "POST", deadLetters+"/discard", `{"filter":{}}`, "/filter")
	body := `{"filter":{"run":"` + first.String() + `"},"reason":"gone"`
	dry := good[gen.BulkResult](s, http.StatusOK, "POST", deadLetters+"/discard", body+`,"dry_run":true}`)
	want(t, "runs", len(dry.Runs), 1)
	want(t, "audit after the question", s.count(`SELECT count(*) FROM ax.audit`), 0)
	theirs, err := s.theirs.DiscardDeadLettersWithResponse(s.ctx, gen.DiscardDead{Filter: gen.DeadFilter{Run: &first}})
	if err != nil || len(theirs.JSON200.Runs) != 0 {
		t.Errorf("from another namespace: %v, %s", err, theirs.Body)
	}
	got := good[gen.BulkResult](s, http.StatusOK, "POST", deadLetters+"/discard", body+`}`)
	want(t, "runs", len(got.Runs), 1)
	want(t, "run", got.Runs[0].Run, first)
	want(t, "shards", *got.Runs[0].Touched[0].Shards, "2")
	again := good[gen.BulkResult](s, http.StatusOK, "POST", deadLetters+"/discard", body+`}`)
	want(t, "runs of the second", len(again.Runs), 0)
	left := good[gen.DeadLetterList](s, http.StatusOK, "GET", deadLetters, "")
	want(t, "letters left", len(left.Items), 1)
	want(t, "of the other run", left.Items[0].Run, second)
	want(t, "audit", s.count(`SELECT count(*) FROM ax.audit WHERE verb = 'discard' AND reason = 'gone' AND target = 'run/' || $1`, first.String()), 1)
}

func TestAudit(t *testing.T) {
	s := newStand(t)
	for _, name := range strings.Fields("a b c d e") {
		s.act("PUT", "/api/v1/queues/"+name, `{"concurrency":3,"reason":"why `+name+`"}`)
	}
	s.act("POST", "/api/v1/queues/a/pause", ``)
	page := good[gen.AuditList](s, http.StatusOK, "GET", "/api/v1/audit?target=queue/&verb=set_queue&actor=local:ada&limit=2", "")
	want(t, "lines", len(page.Items), 2)
	l := page.Items[0]
	want(t, "target", l.Target, "queue/e")
	want(t, "verb", l.Verb, "set_queue")
	want(t, "actor", l.Actor, "local:ada")
	want(t, "reason", *l.Reason, "why e")
	want(t, "detail", strings.Contains(string(*l.Detail), `"concurrency":3`), true)
	rest := good[gen.AuditList](s, http.StatusOK, "GET", "/api/v1/audit?target=queue/&verb=set_queue&actor=local:ada&limit=50&cursor="+url.QueryEscape(*page.NextCursor), "")
	want(t, "the rest", len(rest.Items), 3)
	want(t, "next cursor", rest.NextCursor, nil)
	for query, n := range map[string]int{"": 6, "?target=queue/a": 2, "?verb=pause": 1, "?actor=nobody": 0, "?since=2999-01-01T00:00:00Z": 0, "?until=2001-01-01T00:00:00Z": 0} {
		want(t, query, len(good[gen.AuditList](s, http.StatusOK, "GET", "/api/v1/audit"+query, "").Items), n)
	}
	s.refused(400, gen.ProblemCodeInvalid, "GET", "/api/v1/audit?actor=a%00", "", "actor")
	theirs, err := s.theirs.ListAuditWithResponse(s.ctx, nil)
	if err != nil || len(theirs.JSON200.Items) != 0 {
		t.Errorf("the audit of another namespace: %v, %s", err, theirs.Body)
	}
}
