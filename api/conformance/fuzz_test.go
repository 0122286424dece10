package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"axflow/api"
	"axflow/stage"
)

// rounds is how many fitting and how many forbidden requests each operation gets.
const rounds = 40

// What the document allows never makes the server fail, what it forbids is refused, and every answer is one that the document
// knows: its status, its media type, its schema. The seed is fixed; a failure names the request.
func TestEveryOperationKeepsToTheDocument(t *testing.T) {
	l := newLab(t, admin("default"))
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(l.ctx); err != nil {
		t.Fatal(err)
	}
	good, bad := l.ended(Params{Rows: 9}, stage.RunSucceeded), l.ended(Params{Rows: 9, Fail: true}, stage.RunFailed)
	g := &generator{Rand: rand.New(rand.NewPCG(4, 2026)), pools: map[string][]any{
		"run": {good.String(), bad.String()}, "flow": {"sums"}, "stage": {"pull", "sum", "report"}, "queue": {"default", "etl"},
		"index": {0, 1, 2}, "shard": {0, 1}, "name": {"sums/sum"}, "setting": {"events", "aging"}, "q": {"flow:sums state:failed", "tag:by=lab since:24h"},
		"shards": {"0-1", "1"}, "indices": {"0-3"}, "state": {"dead", "succeeded"},
	}}
	for _, op := range operations(doc) {
		for range rounds {
			l.judge(g, g.fitting(op))
			if r, ok := g.breaking(op); ok {
				l.judge(g, r)
			}
		}
	}
}

// judge sends a request and holds the answer against the document.
func (l *lab) judge(g *generator, r request) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.ctx, 20*time.Second)
	defer cancel()
	rec := httptest.NewRecorder()
	var w http.ResponseWriter = rec
	if r.op.OperationID == "streamEvents" {
		w = begun{rec, cancel}
	}
	began := time.Now()
	l.handler.ServeHTTP(w, r.http().WithContext(ctx))
	res := rec.Result()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	_ = res.Body.Close()
	fail := func(format string, args ...any) {
		l.t.Helper()
		// One example of a kind is enough.
		kind, _, _ := strings.Cut(r.op.OperationID+": "+fmt.Sprintf(format, args...), "\n")
		if l.seen[kind]++; l.seen[kind] > 1 {
			return
		}
		l.t.Errorf("%s\n%s: %d %s\n%.1000s", r, fmt.Sprintf(format, args...), res.StatusCode, res.Header.Get("Content-Type"), body)
	}
	if took := time.Since(began); took > 15*time.Second {
		fail("it took %v", took)
	}
	if res.StatusCode >= 500 {
		fail("the server failed")
		return
	}
	if r.breach != "" && res.StatusCode/100 != 4 {
		fail("the document forbids it (%s), and it was not refused", r.breach)
		return
	}
	if why := misanswered(r.op, res, body); why != "" {
		fail("%s", why)
		return
	}
	g.learn(r.op, res.StatusCode, body)
}

// begun ends a request as soon as its answer begins: a stream has no end of its own.
type begun struct {
	*httptest.ResponseRecorder
	end context.CancelFunc
}

func (b begun) WriteHeader(status int) {
	b.ResponseRecorder.WriteHeader(status)
	b.end()
}

// misanswered says how an answer is none that the document knows; "": it is one.
func misanswered(op operation, res *http.Response, body []byte) string {
	answer := op.Responses.Status(res.StatusCode)
	if answer == nil {
		answer = op.Responses.Default()
	}
	if answer == nil {
		// Operations that need no credential know no problem but those before them.
		if res.StatusCode/100 == 4 {
			return ""
		}
		return "the document does not know this status"
	}
	if len(answer.Value.Content) == 0 {
		if len(body) > 0 {
			return "there should be no body"
		}
		return ""
	}
	media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		return "its media type: " + err.Error()
	}
	content := answer.Value.Content.Get(media)
	if content == nil {
		return "the document does not know this media type"
	}
	if !strings.HasSuffix(media, "json") {
		return ""
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return "no JSON: " + err.Error()
	}
	if err := content.Schema.Value.VisitJSON(v, openapi3.MultiErrors(), openapi3.EnableFormatValidation()); err != nil {
		return "its schema: " + err.Error()
	}
	if media == "application/problem+json" {
		return misjudged(v.(map[string]any), res)
	}
	return unknownIn(v, content.Schema.Value, "")
}

// misjudged says what is wrong with a problem beyond its schema.
func misjudged(p map[string]any, res *http.Response) string {
	if int(p["status"].(float64)) != res.StatusCode {
		return "the problem has another status than the answer"
	}
	detail, _ := p["detail"].(string)
	if detail == "" {
		return "the problem says nothing"
	}
	for _, leak := range []string{"SQLSTATE", "pgx", "goroutine", ".go:", "runtime error", "ax."} {
		if strings.Contains(detail, leak) {
			return "the problem tells of the server's inside"
		}
	}
	if _, waits := p["retry_after_s"]; waits != (res.Header.Get("Retry-After") != "") {
		return "retry_after_s and Retry-After do not agree"
	}
	return ""
}

// unknownIn names a field of an answer that the document does not have: clients of strict generators would trip over it.
func unknownIn(v any, s *openapi3.Schema, at string) string {
	switch v := v.(type) {
	case map[string]any:
		if len(s.Properties) == 0 {
			return ""
		}
		for _, name := range sorted(v) {
			p := s.Properties[name]
			if p == nil {
				if s.AdditionalProperties.Schema != nil {
					continue
				}
				return "the document does not know the field " + at + "/" + name
			}
			if why := unknownIn(v[name], p.Value, at+"/"+name); why != "" {
				return why
			}
		}
	case []any:
		for i, item := range v {
			if s.Items == nil {
				return ""
			}
			if why := unknownIn(item, s.Items.Value, fmt.Sprint(at, "/", i)); why != "" {
				return why
			}
		}
	}
	return ""
}

// learn keeps ids and cursors of an answer for later requests.
func (g *generator) learn(op operation, status int, body []byte) {
	if status/100 != 2 {
		return
	}
	var v map[string]any
	if json.Unmarshal(body, &v) != nil {
		return
	}
	keep := func(name string, id any) {
		if id != nil && !slices.Contains(g.pools[name], id) && len(g.pools[name]) < 20 {
			g.pools[name] = append(g.pools[name], id)
		}
	}
	keep("cursor", v["next_cursor"])
	switch op.OperationID {
	case "startRun":
		keep("run", v["run"])
	case "createToken":
		keep("token", v["token"].(map[string]any)["id"])
	case "createWebhook":
		keep("webhook", v["webhook"].(map[string]any)["id"])
	case "testWebhook":
		keep("delivery", v["id"])
	case "replayDeadLetters":
		keep("replay", v["id"])
	}
}
