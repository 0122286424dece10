package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/stage"
)

const runs = "/api/v1/runs"

func TestStartRun(t *testing.T) {
	s := newStand(t)
	res, err := s.ours.StartRunWithResponse(s.ctx, gen.NewRun{Flow: "recon", Params: raw(`{"date":"2026-11-29"}`)})
	if err != nil || res.JSON201 == nil {
		t.Fatalf("start: %v, %s", err, res.Body)
	}
	run := *res.JSON201.Run
	want(t, "existing", res.JSON201.Existing, false)
	want(t, "runs", s.count(`SELECT count(*) FROM ax.run WHERE run_id = $1 AND namespace = 'default' AND flow = 'recon' AND trigger = 'api' AND level = 2
		AND queue = 'default' AND params = '{"date":"2026-11-29"}' AND tags IS NULL`, run), 1)
	want(t, "ready plans", s.count(`SELECT count(*) FROM ax.ready WHERE run_id = $1 AND kind = 1 AND not_before <= now()`, run), 1)
	want(t, "audit", s.count(`SELECT count(*) FROM ax.audit WHERE namespace = 'default' AND actor = 'local:ada' AND verb = 'start' AND target = 'run/' || $1
		AND detail->>'flow' = 'recon' AND detail->>'trigger' = 'api'`, run.String()), 1)
	want(t, "audit in all", s.count(`SELECT count(*) FROM ax.audit`), 1)
}

func raw(text string) *gen.Json {
	j := json.RawMessage(text)
	return &j
}

func TestStartRunWithEverything(t *testing.T) {
	s := newStand(t)
	level, queue, key, delay := gen.LevelP1, "nightly", "k1", 60.0
	res, err := s.ours.StartRunWithResponse(s.ctx, gen.NewRun{Flow: "recon", Params: raw(`{"date":"2026-11-29","rows":3}`), Level: &level, Queue: &queue, Key: &key,
		DelayS: &delay, Tags: map[string]string{"team": "finance", "päivä/~": "yö"}})
	if err != nil || res.JSON201 == nil {
		t.Fatalf("start: %v, %s", err, res.Body)
	}
	run := *res.JSON201.Run
	want(t, "runs", s.count(`SELECT count(*) FROM ax.run WHERE run_id = $1 AND level = 1 AND queue = 'nightly' AND tags = '{"team":"finance","päivä/~":"yö"}'`, run), 1)
	want(t, "delayed", s.count(`SELECT count(*) FROM ax.ready WHERE run_id = $1 AND not_before - ready_at BETWEEN '59.9 s' AND '60.1 s'`, run), 1)
	want(t, "key", s.count(`SELECT count(*) FROM ax.run_key WHERE key = 'k1' AND run_id = $1 AND expires_at BETWEEN now() + '6 days' AND now() + '8 days'`, run), 1)
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	later := good[gen.StartedRun](s, http.StatusCreated, "POST", runs, `{"flow":"recon","params":{"date":"2026-11-29"},"start_at":"`+at.Format(time.RFC3339)+`"}`)
	want(t, "at its time", s.count(`SELECT count(*) FROM ax.ready WHERE run_id = $1 AND not_before = $2`, *later.Run, at), 1)
	past := good[gen.StartedRun](s, http.StatusCreated, "POST", runs, `{"flow":"recon","params":{"date":"2026-11-29"},"start_at":"2001-01-01T00:00:00Z"}`)
	want(t, "at once", s.count(`SELECT count(*) FROM ax.ready WHERE run_id = $1 AND not_before <= now()`, *past.Run), 1)
	byHand := good[gen.StartedRun](s, http.StatusCreated, "POST", runs, `{"flow":"recon","params":{"date":"2026-11-29"},"trigger":"cli"}`)
	want(t, "by hand", s.count(`SELECT count(*) FROM ax.run WHERE run_id = ANY(ARRAY[$1::uuid, $2::uuid]) AND trigger = CASE run_id WHEN $1 THEN 'cli' ELSE 'api' END`,
		*byHand.Run, *past.Run), 2)
}

// Nobody is there who could run it: it is started all the same.
func TestStartRunWithoutAWorker(t *testing.T) {
	s := newStand(t)
	s.exec(`DELETE FROM ax.worker`)
	good[gen.StartedRun](s, http.StatusCreated, "POST", runs, `{"flow":"recon","params":{"date":"2026-11-29"}}`)
}

func TestStartRunPinsTheVersion(t *testing.T) {
	s := newStand(t)
	old, err := s.client.Newest(s.ctx, "recon")
	if err != nil {
		t.Fatal(err)
	}
	changed, err := s.client.Register(s.ctx, flow.New("recon", stage.New("only", once)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.In("other").Register(s.ctx, flow.New("theirs", stage.New("only", once))); err != nil {
		t.Fatal(err)
	}
	start := func(version string) uuid.UUID {
		return *good[gen.StartedRun](s, http.StatusCreated, "POST", runs, `{"flow":"recon","params":{"date":"2026-11-29"}`+version+`}`).Run
	}
	versionOf := func(run uuid.UUID) int { return s.count(`SELECT version_id FROM ax.run WHERE run_id = $1`, run) }
	want(t, "newest", versionOf(start(``)), int(changed.ID))
	want(t, "pinned", versionOf(start(`,"version":"`+old.Hash+`"`)), int(old.ID))
	s.refused(404, gen.ProblemCodeNotFound, "POST", runs, `{"flow":"recon","version":"nope","params":{"date":"2026-11-29"}}`, "/version")
	s.refused(404, gen.ProblemCodeNotFound, "POST", runs, `{"flow":"nope","version":"nope"}`)
	mine := s.refused(404, gen.ProblemCodeNotFound, "POST", runs, `{"flow":"nope"}`)
	theirs := s.refused(404, gen.ProblemCodeNotFound, "POST", runs, `{"flow":"theirs","params":{"date":"2026-11-29"}}`)
	want(t, "what is told of another namespace's flow", strings.ReplaceAll(*theirs.Detail, "theirs", "nope"), *mine.Detail)
}

func TestStartRunRefusesWrongParamsFieldByField(t *testing.T) {
	s := newStand(t)
	for body, fields := range map[string][]string{
		`{"flow":"recon"}`:                                        {"/params/date"},
		`{"flow":"recon","params":{}}`:                            {"/params/date"},
		`{"flow":"recon","params":{"date":"yesterday","rows":0}}`: {"/params/date", "/params/rows"},
		`{"flow":"recon","params":{"date":"2026-11-29","a/b":1}}`: {"/params/a~1b"},
		`{"flow":"recon","params":[1]}`:                           {"/params"},
		`{"flow":"recon","params":{"date":"2026-11-29"},"delay_s":1,"start_at":"2026-11-29T00:00:00Z"}`:   {"/start_at"},
		`{"flow":"recon","params":{"date":"2026-11-29"},"key_ttl_s":60}`:                                  {"/key_ttl_s"},
		`{"flow":"recon","params":{"date":"2026-11-29"},"queue":"a b"}`:                                   {"/queue"},
		`{"flow":"recon","params":{"date":"2026-11-29"},"tags":{"a/b":"x\u0000"}}`:                        {"/tags/a~1b"},
		`{"flow":"recon","params":{"date":"2026-11-29"},"tags":{"":"x"}}`:                                 {"/tags"},
		`{"flow":"recon","params":{"date":"2026-11-29"},"key":"a\u0000b"}`:                                {"/key"},
		`{"flow":"recon","params":{"date":"2026-11-29"},"tags":{"` + strings.Repeat("é", 51) + `":"x"}}`:  {"/tags/" + strings.Repeat("é", 51)},
		`{"flow":"recon","params":{"date":"2026-11-29"},"tags":{"x":"` + strings.Repeat("é", 101) + `"}}`: {"/tags/x"},
	} {
		s.refused(422, gen.ProblemCodeInvalid, "POST", runs, body, fields...)
	}
	big := fmt.Sprintf(`{"flow":"recon","params":{"date":"%s"}}`, strings.Repeat("x", control.MaxParams))
	s.refused(413, gen.ProblemCodeTooLarge, "POST", runs, big)
	want(t, "runs", s.count(`SELECT count(*) FROM ax.run`), 0)
	want(t, "audit", s.count(`SELECT count(*) FROM ax.audit`), 0)
}

// NUL characters and broken UTF-8 in params would fail later, where nobody can mend them.
func TestStartRunRefusesParamsThatCannotBeStored(t *testing.T) {
	s := newStand(t)
	if _, err := s.client.Register(s.ctx, flow.New("free", stage.New("only", func(context.Context, map[string]string) (string, error) { return "", nil }))); err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{`"\u0000"`: false, `"a\\\u0000"`: false, `"\\u0000"`: true, "\"\xff\"": false, `"\u00e9\uD83D\uDE00"`: true} {
		status, body := s.call("POST", runs, `{"flow":"free","params":{"x":`+text+`}}`)
		if good != (status == http.StatusCreated) || !good && status != 422 && status != 400 {
			t.Errorf("params %q: %d %s", text, status, body)
		}
	}
}

func TestStartRunIsIdempotentByKey(t *testing.T) {
	s := newStand(t)
	body := `{"flow":"recon","params":{"date":"2026-11-29"},"key":"day","key_ttl_s":3600}`
	first := good[gen.StartedRun](s, http.StatusCreated, "POST", runs, body)
	again := good[gen.StartedRun](s, http.StatusOK, "POST", runs, body)
	want(t, "existing", again.Existing, true)
	want(t, "run", *again.Run, *first.Run)
	dry := good[gen.StartedRun](s, http.StatusOK, "POST", runs, strings.Replace(body, "{", `{"dry_run":true,`, 1))
	want(t, "existing, dry", dry.Existing, true)
	want(t, "run of a dry start", dry.Run, nil)
	theirs, err := s.theirs.StartRunWithResponse(s.ctx, gen.NewRun{Flow: "recon", Params: raw(`{"date":"2026-11-29"}`), Key: ptr("day")})
	if err != nil || theirs.JSON201 == nil {
		t.Fatalf("the same key in another namespace: %v, %s", err, theirs.Body)
	}
	want(t, "audit", s.count(`SELECT count(*) FROM ax.audit WHERE namespace = 'default'`), 1)
	s.exec(`UPDATE ax.run_key SET expires_at = now() - interval '1 s'`)
	late := good[gen.StartedRun](s, http.StatusCreated, "POST", runs, body)
	want(t, "another run once the key does not bind", *late.Run != *first.Run, true)
}

func ptr[T any](v T) *T { return &v }

func TestStartRunDry(t *testing.T) {
	s := newStand(t)
	out := good[gen.StartedRun](s, http.StatusOK, "POST", runs, `{"flow":"recon","params":{"date":"2026-11-29"},"key":"k","dry_run":true}`)
	want(t, "dry", out.DryRun, true)
	want(t, "existing", out.Existing, false)
	want(t, "run", out.Run, nil)
	s.refused(422, gen.ProblemCodeInvalid, "POST", runs, `{"flow":"recon","dry_run":true}`, "/params/date")
	for _, table := range []string{"run", "stage", "ready", "run_key", "audit"} {
		want(t, table, s.count(`SELECT count(*) FROM ax.`+table), 0)
	}
}

func TestStartRunWhereThereIsNoRoom(t *testing.T) {
	s := newStand(t)
	s.act("PUT", "/api/v1/queues/nightly", `{"capacity":10}`)
	s.exec(`UPDATE ax.queue SET depth = 10, pressure = 3, published_at = now()`)
	for _, dry := range []string{"", `,"dry_run":true`} {
		body := `{"flow":"recon","queue":"nightly","key":"k","params":{"date":"2026-11-29"}` + dry + `}`
		p := s.refused(429, gen.ProblemCodeOverloaded, "POST", runs, body)
		if p.RetryAfterS == nil || *p.RetryAfterS <= 0 {
			t.Errorf("retry_after_s: %v", p.RetryAfterS)
		}
		res, err := s.ours.StartRunWithBodyWithResponse(s.ctx, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		want(t, "Retry-After", res.HTTPResponse.Header.Get("Retry-After"), "15")
	}
	want(t, "keys", s.count(`SELECT count(*) FROM ax.run_key`), 0)
	want(t, "audit of starts", s.count(`SELECT count(*) FROM ax.audit WHERE verb = 'start'`), 0)
}
