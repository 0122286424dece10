package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/rest"
)

// log writes a line of a run as a worker does; of stage parts, which is number 0.
func (s *stand) log(run uuid.UUID, shard, level int, message, attrs string) {
	s.t.Helper()
	s.exec(`INSERT INTO ax.log (run_id, id, execution_id, worker_id, at, shard, seq, dropped, ord, generation, attempt, delivery, level, message, attributes)
		VALUES ($1, $2, $2, $3, now(), $4, 1, 5, 0, 1, 1, 1, $5, $6, nullif($7, ''))`, run, uuid.Must(uuid.NewV7()), s.worker, shard, level, message, attrs)
}

func messages(list gen.LogList) string {
	var all []string
	for _, l := range list.Items {
		all = append(all, l.Message)
	}
	return strings.Join(all, " ")
}

func TestListLogs(t *testing.T) {
	s := newStand(t)
	run := s.running()
	path := fmt.Sprintf("/api/v1/runs/%s/logs", run)
	list := good[gen.LogList](s, http.StatusOK, http.MethodGet, path, "")
	if len(list.Items) != 0 || list.NextCursor == "" || list.Ended != nil {
		t.Errorf("of a run that has logged nothing: %+v", list)
	}
	s.log(run, -1, 0, "planned", "")
	s.log(run, 1, -4, "debug", `{"order":9007199254740993,"in":{"x":[1]}}`)
	s.log(run, 1, 2, "custom", "")
	s.log(run, 2, 12, "fatal", "")
	for query, right := range map[string]string{
		"":                            "planned debug custom fatal",
		"?level=debug":                "planned debug custom fatal",
		"?level=info":                 "planned custom fatal",
		"?level=error":                "fatal",
		"?stage=parts&shard=-1":       "planned",
		"?stage=parts&shard=1":        "debug custom",
		"?stage=report":               "",
		"?q=ORDER":                    "debug",
		"?tail=2":                     "custom fatal",
		"?tail=1&stage=parts&shard=1": "custom",
		"?limit=1":                    "planned",
	} {
		list := good[gen.LogList](s, http.StatusOK, http.MethodGet, path+query, "")
		want(t, query, messages(list), right)
	}
	_, text := s.call(http.MethodGet, path+"?q=order", "")
	if !strings.Contains(string(text), `"attributes":{"in":{"x":[1]},"order":9007199254740993}`) {
		t.Errorf("the attributes are not as they were: %s", text)
	}
	debug := good[gen.LogList](s, http.StatusOK, http.MethodGet, path+"?q=order", "").Items[0]
	want(t, "level", debug.Level, gen.LogLineLevelDebug)
	want(t, "place", fmt.Sprint(debug.Stage, " ", debug.Shard, " ", debug.Attempt, " ", *debug.Generation, " ", *debug.Dropped, " ", *debug.Worker), fmt.Sprint("parts 1 1 1 5 ", s.worker))

	// Pages, and a follower.
	var all []string
	cursor := ""
	for range 6 {
		page := good[gen.LogList](s, http.StatusOK, http.MethodGet, path+"?limit=2"+cursor, "")
		all = append(all, messages(page))
		cursor = "&cursor=" + url.QueryEscape(page.NextCursor)
	}
	want(t, "pages", strings.Join(all, "|"), "planned debug|custom fatal||||")
	s.log(run, 3, 0, "late", "")
	want(t, "then", messages(good[gen.LogList](s, http.StatusOK, http.MethodGet, path+"?limit=2"+cursor, "")), "late")

	s.refused(http.StatusUnprocessableEntity, gen.ProblemCodeInvalid, http.MethodGet, path+"?shard=1", "", "shard")
	s.refused(http.StatusUnprocessableEntity, gen.ProblemCodeInvalid, http.MethodGet, path+"?stage=parts&attempt=1", "", "attempt")
	s.refused(http.StatusUnprocessableEntity, gen.ProblemCodeInvalid, http.MethodGet, path+"?tail=1"+cursor, "", "tail")
	s.refused(http.StatusUnprocessableEntity, gen.ProblemCodeInvalid, http.MethodGet, path+"?cursor=abc", "", "cursor")
	s.refused(http.StatusUnprocessableEntity, gen.ProblemCodeInvalid, http.MethodGet, path+"?level=error"+cursor, "", "cursor") // of another list
	s.refused(http.StatusNotFound, gen.ProblemCodeNotFound, http.MethodGet, path+"?stage=nope", "")
}

// A request that waits answers when there is something, at the end, or when its time is over.
func TestListLogsWaits(t *testing.T) {
	s := newStand(t)
	run := s.running()
	path := fmt.Sprintf("/api/v1/runs/%s/logs?wait_s=", run)
	begun := time.Now()
	first := good[gen.LogList](s, http.StatusOK, http.MethodGet, path+"0.3", "")
	if waited := time.Since(begun); waited < 300*time.Millisecond || len(first.Items) != 0 {
		t.Errorf("it waited %v for %d lines, want 300 ms for none", waited, len(first.Items))
	}
	got := make(chan gen.LogList, 1)
	go func() {
		res, err := s.ours.ListLogsWithResponse(s.ctx, run, &gen.ListLogsParams{WaitS: ptr(gen.Wait(30)), Cursor: &first.NextCursor, Level: ptr(gen.ListLogsParamsLevelDebug)})
		if err != nil || res.JSON200 == nil {
			t.Errorf("waiting: %v", err)
			got <- gen.LogList{}
			return
		}
		got <- *res.JSON200
	}()
	s.log(run, 0, 0, "news", "")
	list := <-got
	want(t, "news", messages(list), "news")
	s.exec(`UPDATE ax.run SET state = 10, finished_at = clock_timestamp() - interval '1 min' WHERE run_id = $1`, run)
	begun = time.Now()
	list = good[gen.LogList](s, http.StatusOK, http.MethodGet, path+"30&cursor="+url.QueryEscape(list.NextCursor), "")
	if list.Ended == nil || !*list.Ended || len(list.Items) != 0 || time.Since(begun) > 20*time.Second {
		t.Errorf("of an ended run: %+v after %v, want the end at once", list, time.Since(begun))
	}
	ctx, cancel := context.WithTimeout(s.ctx, 200*time.Millisecond)
	defer cancel()
	if _, err := s.ours.ListLogsWithResponse(ctx, s.start(), &gen.ListLogsParams{WaitS: ptr(gen.Wait(30))}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a client that goes away: %v", err)
	}
}

// Another namespace's run answers as one that does not exist.
func TestLogsOfAnotherNamespace(t *testing.T) {
	s := newStand(t)
	run, nobody := s.running(), uuid.Must(uuid.NewV7())
	s.log(run, 0, 0, "secret", "")
	said := func(id uuid.UUID, what string) string {
		t.Helper()
		var status int
		var body []byte
		switch what {
		case "logs":
			res, err := s.theirs.ListLogsWithResponse(s.ctx, id, &gen.ListLogsParams{Stage: ptr("nope"), Tail: ptr(3)})
			if err != nil {
				t.Fatal(err)
			}
			status, body = res.StatusCode(), res.Body
		default:
			res, err := s.theirs.ListRunningWithResponse(s.ctx, id, &gen.ListRunningParams{Stage: ptr("nope")})
			if err != nil {
				t.Fatal(err)
			}
			status, body = res.StatusCode(), res.Body
		}
		var p gen.Problem
		if err := json.Unmarshal(body, &p); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(fmt.Sprint(status, p.Code, p.Title, *p.Detail, len(p.Errors)), id.String(), "ID")
	}
	for _, what := range []string{"logs", "progress"} {
		there, not := said(run, what), said(nobody, what)
		if there != not || !strings.HasPrefix(there, "404") {
			t.Errorf("%s: %q and %q, want the same", what, there, not)
		}
	}
}

// The redaction hook sees message and attributes; what it cannot do is withheld.
func TestLogsAreRedacted(t *testing.T) {
	s := newStand(t)
	run := s.running()
	s.log(run, 0, 0, "card 4111", `{"card":"4111","n":1}`)
	s.log(run, 0, 0, "fails", "")
	s.log(run, 0, 0, "not an object", "17")
	var seen []string
	h := rest.New(rest.Config{Client: s.client, Logger: slog.New(slog.DiscardHandler), Redact: func(_ context.Context, p rest.Payload) json.RawMessage {
		seen = append(seen, p.Kind+" "+p.Flow+" "+p.Stage)
		if strings.Contains(string(p.JSON), "fails") {
			panic("the hook")
		}
		return json.RawMessage(strings.ReplaceAll(string(p.JSON), "4111", "****"))
	}})
	ctx := access.With(s.ctx, access.Principal{Actor: "local:ada", Namespace: "default", Role: gen.RoleViewer})
	res, err := h.ListLogs(ctx, gen.ListLogsRequestObject{Run: run})
	if err != nil {
		t.Fatal(err)
	}
	list, ok := res.(gen.ListLogs200JSONResponse)
	if !ok || len(list.Items) != 3 {
		t.Fatalf("%+v", res)
	}
	text, err := json.Marshal(list.Items[0].Attributes)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "redacted", list.Items[0].Message+string(text), `card ****{"card":"****","n":1}`)
	if m := list.Items[1].Message; strings.Contains(m, "fails") || !strings.Contains(m, "withheld") {
		t.Errorf("what the hook fails on is %q", m)
	}
	want(t, "attributes that are none", len(list.Items[2].Attributes), 0)
	if !slices.Equal(seen, []string{"log recon parts", "log recon parts", "log recon parts"}) {
		t.Errorf("the hook saw %q", seen)
	}
}

func TestListRunning(t *testing.T) {
	s := newStand(t)
	run := s.running()
	path := fmt.Sprintf("/api/v1/runs/%s/progress", run)
	f := s.handOut(run)[0]
	s.exec(`UPDATE ax.worker SET running = jsonb_build_array(
		jsonb_build_object('execution', $1::uuid, 'index', 1, 'started', '2026-11-29T10:00:00Z', 'done', 3, 'total', 10, 'detail', 'page 3', 'at', '2026-11-29T10:00:05Z'),
		jsonb_build_object('execution', $1::uuid, 'index', 2, 'started', '2026-11-29T09:00:00Z'))`, f.id)
	list := good[gen.RunningList](s, http.StatusOK, http.MethodGet, path, "")
	if len(list.Items) != 2 {
		t.Fatalf("%+v, want two tasks", list)
	}
	longest, second := list.Items[0], list.Items[1]
	if longest.Shard != 2 || longest.Done != nil || longest.Total != nil || longest.Detail != nil || longest.ReportedAt != nil {
		t.Errorf("of a handler that says nothing: %+v", longest)
	}
	if second.Stage != "parts" || second.Shard != 1 || second.Attempt != 1 || second.Worker != s.worker || second.Execution != f.id || *second.Done != 3 || *second.Total != 10 ||
		*second.Detail != "page 3" || second.ReportedAt == nil {
		t.Errorf("of one that does: %+v", second)
	}
	want(t, "of one stage", len(good[gen.RunningList](s, http.StatusOK, http.MethodGet, path+"?stage=report", "").Items), 0)
	want(t, "the longest", len(good[gen.RunningList](s, http.StatusOK, http.MethodGet, path+"?limit=1", "").Items), 1)
	s.refused(http.StatusNotFound, gen.ProblemCodeNotFound, http.MethodGet, path+"?stage=nope", "")
}
