package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"axflow/api/gen"
)

// What is wrong with a request is said by field, all at once, before anything is done.
func TestRequestsAreHeldAgainstTheDocument(t *testing.T) {
	h := newServer(t, nil).Handler()
	const run = "/api/v1/runs/01937f2e-5b7e-7cc3-98c4-dc0c0c07398f"
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	for name, c := range map[string]struct {
		method, target, body string
		header               []string
		status               int
		code                 gen.ProblemCode
		fields               string // with their details, or the problem's detail where there are none
	}{
		"an unknown parameter":         {"GET", "/api/v1/runs?limt=5", "", nil, 400, "invalid", "limt: there is no such parameter; there are cursor, limit, q"},
		"where there are none":         {"GET", "/api/v1/queues?limit=5", "", nil, 400, "invalid", "limit: there is no such parameter; the operation takes none"},
		"a long unknown parameter":     {"GET", "/api/v1/queues?" + strings.Repeat("x", 5000) + "=1", "", nil, 400, "invalid", strings.Repeat("x", 60) + "…: there is no such parameter; the operation takes none"},
		"no number":                    {"GET", "/api/v1/runs?limit=many", "", nil, 400, "invalid", "limit: must be a whole number"},
		"an exponent":                  {"GET", "/api/v1/runs?limit=1e2", "", nil, 400, "invalid", "limit: must be a whole number"},
		"an empty number":              {"GET", "/api/v1/runs?limit=", "", nil, 400, "invalid", "limit: must be a whole number"},
		"too small":                    {"GET", "/api/v1/runs?limit=0", "", nil, 422, "invalid", "limit: must be at least 1"},
		"too great":                    {"GET", "/api/v1/runs?limit=99999999999999999999999", "", nil, 422, "invalid", "limit: must be at most 1000"},
		"not a number":                 {"GET", run + "/result?wait_s=NaN", "", nil, 400, "invalid", "wait_s: must be a number"},
		"infinite":                     {"GET", run + "/result?wait_s=Inf", "", nil, 400, "invalid", "wait_s: must be a number"},
		"hexadecimal":                  {"GET", run + "/result?wait_s=0x1p-2", "", nil, 400, "invalid", "wait_s: must be a number"},
		"too long a wait":              {"GET", run + "/result?wait_s=30.5", "", nil, 422, "invalid", "wait_s: must be at most 30"},
		"no boolean":                   {"DELETE", "/api/v1/queues/q?dry_run=yes", "", nil, 400, "invalid", "dry_run: must be true or false"},
		"no UUID":                      {"GET", "/api/v1/runs/latest", "", nil, 400, "invalid", "run: must be a UUID, such as 01937f2e-5b7e-7cc3-98c4-dc0c0c07398f"},
		"a UUID in braces":             {"GET", "/api/v1/runs/%7B01937f2e-5b7e-7cc3-98c4-dc0c0c07398f%7D", "", nil, 400, "invalid", "run: must be a UUID, such as 01937f2e-5b7e-7cc3-98c4-dc0c0c07398f"},
		"no time":                      {"GET", "/api/v1/audit?since=yesterday", "", nil, 400, "invalid", "since: must be a time as RFC 3339 writes it, such as 2026-11-29T08:00:00Z"},
		"a day that is not":            {"GET", "/api/v1/audit?since=2026-02-30T00:00:00Z", "", nil, 400, "invalid", "since: must be a time as RFC 3339 writes it, such as 2026-11-29T08:00:00Z"},
		"no verb":                      {"POST", run + "/acts/explode", "", nil, 422, "invalid", "verb: must be one of cancel, pause, resume, retry, level, expedite, demote"},
		"twice":                        {"GET", "/api/v1/runs?limit=1&limit=1", "", nil, 400, "invalid", "limit: is there 2 times; give it once"},
		"a wrong escape":               {"GET", "/api/v1/runs?q=%zz", "", nil, 400, "invalid", "the query of the URL cannot be read: an escape is wrong, or it holds a semicolon"},
		"a semicolon":                  {"GET", "/api/v1/runs?q=a;limit=5", "", nil, 400, "invalid", "the query of the URL cannot be read: an escape is wrong, or it holds a semicolon"},
		"a NUL byte":                   {"GET", "/api/v1/runs?q=a%00b", "", nil, 400, "invalid", "q: is not text: it must be UTF-8 without NUL bytes"},
		"a NUL byte in the path":       {"GET", "/api/v1/queues/a%00b", "", nil, 400, "invalid", "queue: is not text: it must be UTF-8 without NUL bytes"},
		"no UTF-8":                     {"GET", "/api/v1/runs?q=%ff", "", nil, 400, "invalid", "q: is not text: it must be UTF-8 without NUL bytes"},
		"no UTF-8 in the path":         {"GET", "/api/v1/queues/%ff", "", nil, 400, "invalid", "queue: is not text: it must be UTF-8 without NUL bytes"},
		"too long a parameter":         {"GET", "/api/v1/runs?q=" + strings.Repeat("x", 2001), "", nil, 422, "invalid", "q: must have at most 2000 characters"},
		"a megabyte":                   {"GET", "/api/v1/runs?q=" + strings.Repeat("x", 1<<20), "", nil, 422, "invalid", "q: must have at most 2000 characters"},
		"several at once":              {"GET", "/api/v1/runs?limit=0&cursor=&x=1", "", nil, 400, "invalid", "cursor: must have at least 1 character|limit: must be at least 1|x: there is no such parameter; there are cursor, limit, q"},
		"an item":                      {"GET", "/api/v1/events?run=x", "", nil, 400, "invalid", "run: must be a UUID, such as 01937f2e-5b7e-7cc3-98c4-dc0c0c07398f"},
		"too many items":               {"GET", "/api/v1/events?flow=a" + strings.Repeat("&flow=a", 20), "", nil, 422, "invalid", "flow: must have at most 20 items"},
		"a list":                       {"GET", run + "/stages/s/shards/packed?fields=attempts,attempts", "", nil, 422, "invalid", "fields: names something twice"},
		"a header":                     {"GET", "/api/v1/events", "", []string{"Last-Event-ID", strings.Repeat("x", 101)}, 422, "invalid", "Last-Event-ID: must have at most 100 characters"},
		"an unknown field":             {"POST", "/api/v1/runs", `{"flow": "f", "parms": {}}`, nil, 400, "invalid", "/parms: there is no such field; there are delay_s, dry_run, flow, key, key_ttl_s, level, params, queue, start_at, tags, trigger, version"},
		"a field in another case":      {"POST", run + "/acts/cancel", `{"Force": true}`, nil, 400, "invalid", "/Force: there is no such field; there are declared, dry_run, force, level, reason"},
		"a missing field":              {"POST", "/api/v1/runs", `{}`, nil, 400, "invalid", "/flow: is required"},
		"a field of another type":      {"POST", "/api/v1/runs", `{"flow": 7}`, nil, 400, "invalid", "/flow: must be a string"},
		"null":                         {"POST", "/api/v1/runs", `{"flow": null}`, nil, 400, "invalid", "/flow: must not be null"},
		"a value deep inside":          {"POST", "/api/v1/bulk/cancel", `{"filter": {"states": ["failed", "lost"], "since": "now"}}`, nil, 400, "invalid", "/filter/since: must be a time as RFC 3339 writes it, such as 2026-11-29T08:00:00Z|/filter/states/1: must be one of running, cancelling, succeeded, failed, cancelled"},
		"only values":                  {"POST", "/api/v1/bulk/cancel", `{"filter": {"most": 0}}`, nil, 422, "invalid", "/filter/most: must be at least 1"},
		"a name with slashes":          {"POST", "/api/v1/runs", `{"flow": "f", "a/b~c": 1}`, nil, 400, "invalid", "/a~1b~0c: there is no such field; there are delay_s, dry_run, flow, key, key_ttl_s, level, params, queue, start_at, tags, trigger, version"},
		"a number without end":         {"POST", "/api/v1/runs", `{"flow": "f", "delay_s": 1e999}`, nil, 400, "invalid", "/delay_s: is too great a number"},
		"an integer like a float":      {"POST", "/api/v1/bulk/cancel", `{"filter": {"most": 1e2}}`, nil, 422, "invalid", "/filter/most: must be a whole number without exponent or fraction"},
		"a NUL character":              {"POST", "/api/v1/runs", `{"flow": "f", "tags": {"a": "x\u0000y"}}`, nil, 422, "invalid", "/tags/a: holds a NUL character"},
		"a NUL character in a name":    {"POST", "/api/v1/runs", `{"flow": "f", "params": {"a": [{"x\u0000": 1}]}}`, nil, 422, "invalid", "/params/a/0: holds a name with a NUL character"},
		"half a pair":                  {"POST", "/api/v1/runs", `{"flow": "f", "params": "\ud800"}`, nil, 400, "invalid", "the body is not text: line 1, column 26 holds half of a surrogate pair"},
		"the other half":               {"POST", "/api/v1/runs", `{"flow": "f", "params": "\udc00\ud800"}`, nil, 400, "invalid", "the body is not text: line 1, column 26 holds half of a surrogate pair"},
		"too deep":                     {"POST", "/api/v1/runs", `{"flow": "f", "params": ` + deep + `}`, nil, 422, "invalid", "/params" + strings.Repeat("/0", 500) + ": is nested deeper than 500"},
		"no JSON":                      {"POST", "/api/v1/runs", "{\n  \"flow\": oops}", nil, 400, "invalid", "the body is not JSON: at line 2, column 11: invalid character 'o' looking for beginning of value"},
		"half JSON":                    {"POST", "/api/v1/runs", `{"flow": "f"`, nil, 400, "invalid", "the body is not JSON: it ends too early, at line 1, column 13"},
		"two values":                   {"POST", "/api/v1/runs", `{"flow": "f"} {}`, nil, 400, "invalid", "the body is more than one JSON value: at line 1, column 15"},
		"no object":                    {"POST", "/api/v1/runs", `[]`, nil, 400, "invalid", ": must be an object"},
		"a body that is not UTF-8":     {"POST", "/api/v1/runs", "{\"flow\": \"\xff\"}", nil, 400, "invalid", "the body is not UTF-8"},
		"no body where one is needed":  {"POST", "/api/v1/runs", "", nil, 400, "invalid", "this operation needs a body of JSON; see the reference"},
		"a body where there is none":   {"DELETE", "/api/v1/queues/q", `{"dry_run": true}`, nil, 400, "invalid", "this operation takes no body"},
		"a form":                       {"POST", "/api/v1/runs", `flow=f`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "unsupported_media", "the body must be JSON in UTF-8: send it with the header Content-Type: application/json"},
		"another charset":              {"POST", "/api/v1/runs", `{}`, []string{"Content-Type", "application/json; charset=latin1"}, 415, "unsupported_media", "the body must be JSON in UTF-8: send it with the header Content-Type: application/json"},
		"an unknown path":              {"GET", "/api/v1/rums", "", nil, 404, "not_found", "there is nothing at this path; /api/docs says what there is"},
		"an empty part of a path":      {"GET", "/api/v1/flows/", "", nil, 404, "not_found", "there is nothing at this path; /api/docs says what there is"},
		"a slash at the end":           {"GET", "/api/v1/runs/", "", nil, 404, "not_found", "there is nothing at this path; /api/docs says what there is"},
		"another method":               {"PATCH", "/api/v1/runs", "", nil, 405, "method_not_allowed", "the path is right, the method is not; the header Allow names those that are"},
		"a method that nobody uses":    {"BREW", "/api/v1/runs", "", nil, 405, "method_not_allowed", "the path is right, the method is not; the header Allow names those that are"},
		"a percent sign in a name":     {"GET", "/api/v1/queues/100%25?x=1", "", nil, 400, "invalid", "x: there is no such parameter; the operation takes none"},
		"more faults than are told":    {"POST", "/api/v1/bulk/cancel", fmt.Sprintf(`{"filter": {"runs": [%s"x"]}}`, strings.Repeat(`"x",`, 99)), nil, 400, "invalid", "100 fields are wrong; these are the first 20"},
		"a path of another operation":  {"GET", "/api/v1/flows/f/pause", "", nil, 405, "method_not_allowed", "the path is right, the method is not; the header Allow names those that are"},
		"a semicolon in the path":      {"GET", "/api/v1/runs;x", "", nil, 404, "not_found", "there is nothing at this path; /api/docs says what there is"},
		"a body of spaces":             {"POST", run + "/acts/cancel", "  ", nil, 400, "invalid", "the body is not JSON: it ends too early, at line 1, column 3"},
		"two things wrong with a list": {"GET", run + "/stages/s/shards/packed?fields=a,b", "", nil, 422, "invalid", "fields: must be one of attempts, durations, started, workers"},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(t, h, c.method, c.target, c.body, c.header...)
			p := a.problem(t)
			var fields []string
			for _, f := range p.Errors {
				fields = append(fields, f.Field+": "+f.Detail)
			}
			got := strings.Join(fields, "|")
			if len(p.Errors) == 0 || len(p.Errors) == 20 {
				got = *p.Detail
			}
			if a.status != c.status || p.Status != c.status || p.Code != c.code || got != c.fields {
				t.Errorf("%.200s %.200s: %d %s\n got %q\nwant %d %s\n     %q", c.method, c.target, a.status, p.Code, got, c.status, c.code, c.fields)
			}
			if p.Instance == nil || *p.Instance != a.header.Get("X-Request-Id") || *p.Instance == "" {
				t.Errorf("instance is %v, the header %q", p.Instance, a.header.Get("X-Request-Id"))
			}
			if a.status == http.StatusMethodNotAllowed && a.header.Get("Allow") == "" {
				t.Error("no header Allow")
			}
		})
	}
}

// What is right gets through to its handler.
func TestRightRequestsPass(t *testing.T) {
	h := newServer(t, withDatabase(t)).Handler()
	const run = "/api/v1/runs/01937f2e-5b7e-7cc3-98c4-dc0c0c07398f"
	for name, c := range map[string]struct{ method, target, body, contentType string }{
		"no body where it is optional":    {"POST", run + "/acts/cancel", "", ""},
		"an empty form, as curl sends it": {"POST", run + "/acts/cancel", "", "application/x-www-form-urlencoded"},
		"a body with its charset":         {"POST", run + "/acts/cancel", `{"reason": "x"}`, "application/json; charset=UTF-8"},
		"an escaped backslash":            {"POST", run + "/acts/cancel", `{"reason": "\\ud800 \\u0000 \ud83d\ude00"}`, "application/json"},
		"any JSON, null too":              {"POST", run + "/stages/s/acts/mark-success", `{"output": null}`, "application/json"},
		"a percent sign in a name":        {"GET", "/api/v1/flows/100%25", "", ""},
		"a slash in a name":               {"GET", "/api/v1/flows/a%2Fb", "", ""},
		"upper case in a UUID":            {"GET", "/api/v1/runs/01937F2E-5B7E-7CC3-98C4-DC0C0C07398F", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(t, h, c.method, c.target, c.body, "Content-Type", c.contentType)
			if p := a.problem(t); p.Code != gen.ProblemCodeNotFound {
				t.Errorf("%s %s: %d %s, want not_found", c.method, c.target, a.status, a.body)
			}
		})
	}
}
