package api_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"axflow/api"
	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/problem"
)

// signIn stands for what is under /auth/: it does as the path says.
func signIn() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/auth/panic":
			panic("a fault that holds a secret")
		case "/auth/half":
			_, _ = io.WriteString(w, strings.Repeat("x", 5000))
			panic("late")
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
}

func TestHeadersAreOnEveryAnswer(t *testing.T) {
	h := newServer(t, func(c *api.Config) { c.AuthRoutes = signIn() }).Handler()
	for target, c := range map[string]struct {
		method string
		status int
		cache  string
	}{
		"/api/v1/me":            {"GET", 200, "no-store"},
		"/api/v1/runs?limit=x":  {"GET", 400, "no-store"},
		"/api/v1/nothing":       {"GET", 404, "no-store"},
		"/api/v1/me?":           {"POST", 405, "no-store"},
		"/healthz":              {"GET", 200, ""},
		"/metrics":              {"GET", 200, "no-store"},
		"/api/docs":             {"GET", 200, "no-cache"},
		"/api/docs/style.css":   {"GET", 200, "no-cache"},
		"/api/openapi.yaml":     {"GET", 200, "no-cache"},
		"/api/openapi.json":     {"GET", 200, "no-cache"},
		"/auth/login":           {"GET", 204, "no-store"},
		"/auth/panic":           {"GET", 500, "no-store"},
		"/":                     {"GET", 404, ""},
		"/api/v1/runs/%00":      {"GET", 400, "no-store"},
		"/api/v1/queues/a%2F..": {"PATCH", 405, "no-store"},
	} {
		a := ask(t, h, c.method, target, "")
		if a.status != c.status {
			t.Errorf("%s %s: %d, want %d", c.method, target, a.status, c.status)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy":      "default-src 'self'; img-src 'self' data:; worker-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; object-src 'none'",
			"X-Content-Type-Options":       "nosniff",
			"X-Frame-Options":              "DENY",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control":                c.cache,
			"Strict-Transport-Security":    "", // not without TLS
			"Access-Control-Allow-Origin":  "",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", c.method, target, name, got, want)
			}
		}
		if a.header.Get("X-Request-Id") == "" {
			t.Errorf("%s %s has no X-Request-Id", c.method, target)
		}
	}
}

func TestOtherSitesCannotAct(t *testing.T) {
	h := newServer(t, withDatabase(t)).Handler()
	const act = "/api/v1/runs/01937f2e-5b7e-7cc3-98c4-dc0c0c07398f/acts/cancel"
	for name, c := range map[string]struct {
		method string
		header []string
		passes bool
	}{
		"curl":                      {"POST", nil, true},
		"a page of this server's":   {"POST", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://example.com"}, true},
		"a page of another site":    {"POST", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, false},
		"a sister site":             {"POST", []string{"Sec-Fetch-Site", "same-site", "Origin", "https://other.example.com"}, false},
		"an old browser, elsewhere": {"POST", []string{"Origin", "https://evil.example"}, false},
		"an old browser, here":      {"POST", []string{"Origin", "http://example.com"}, true},
		"a sandbox":                 {"POST", []string{"Origin", "null"}, false},
	} {
		a := ask(t, h, c.method, "http://example.com"+act, "", c.header...)
		if p := a.problem(t); (p.Code == gen.ProblemCodeNotFound) != c.passes || (p.Code == gen.ProblemCodeCrossOrigin && a.status == 403) == c.passes {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

func TestPanicsTellNothing(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, func(c *api.Config) {
		c.AuthRoutes = signIn()
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	a := ask(t, s.Handler(), "GET", "/auth/panic", "")
	p := a.problem(t)
	if a.status != 500 || p.Code != gen.ProblemCodeInternal || strings.Contains(a.body, "secret") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if line := log.String(); !strings.Contains(line, "a fault that holds a secret") || !strings.Contains(line, "guard_test.go") || !strings.Contains(line, *p.Instance) {
		t.Errorf("the log does not say where the fault with id %s is: %s", *p.Instance, line)
	}
	log.Reset()
	srv := httptest.NewServer(s.Handler())
	defer srv.Close()
	res, err := srv.Client().Get(srv.URL + "/auth/half")
	if err == nil {
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	if err == nil {
		t.Error("half an answer looks like a whole one")
	}
}

// book is an authenticator of tokens that a test makes up.
type book map[string]access.Principal

func (b book) Authenticate(r *http.Request) (access.Principal, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return access.Principal{}, access.ErrNoCredential
	}
	if token == "broken" {
		return access.Principal{}, errors.New("the table of tokens is gone")
	}
	p, ok := b[token]
	if !ok {
		return p, problem.New(gen.ProblemCodeUnauthenticated, "the token is unknown, expired or revoked")
	}
	return p, nil
}

func user(name string, role gen.Role) access.Principal {
	return access.Principal{Actor: "token:" + name, Namespace: "default", Role: role, Via: gen.MeViaToken, Credential: uuid.NewSHA1(uuid.Nil, []byte(name))}
}

func TestRatesAreLimitedByCredential(t *testing.T) {
	s := newServer(t, func(c *api.Config) {
		c.Local, c.Authenticator = nil, book{"a": user("a", gen.RoleViewer), "b": user("b", gen.RoleViewer)}
		c.Limits = api.Limits{Rate: 0.001, Burst: 3}
	})
	me := func(token string, status int) answer {
		t.Helper()
		a := ask(t, s.Handler(), "GET", "/api/v1/me", "", "Authorization", "Bearer "+token)
		if a.status != status {
			t.Fatalf("token %s: %d %s, want %d", token, a.status, a.body, status)
		}
		return a
	}
	for range 3 {
		me("a", 200)
	}
	a := me("a", 429)
	if p := a.problem(t); p.Code != gen.ProblemCodeRateLimited || p.RetryAfterS == nil || *p.RetryAfterS < 900 || *p.RetryAfterS > 1000 || a.header.Get("Retry-After") == "" {
		t.Errorf("%s, Retry-After %q", a.body, a.header.Get("Retry-After"))
	}
	for range 3 {
		me("b", 200) // another one's requests are another's
	}
	for range 3 {
		me("garbage", 401)
	}
	me("rubbish", 429) // by address, whatever it is that fails
	me("b", 429)
	if a := ask(t, s.Handler(), "GET", "/healthz", ""); a.status != 200 {
		t.Errorf("healthz: %d", a.status) // nobody's
	}
}

func TestWhoAsksIsToldWhatIsMissing(t *testing.T) {
	narrow := user("narrow", gen.RoleAdmin)
	narrow.Scopes = []gen.Permission{gen.PermissionFlowsRead}
	nobody := access.Principal{Role: gen.RoleAdmin, Cluster: true}
	s := newServer(t, func(c *api.Config) {
		c.Local, c.Authenticator = nil, book{"viewer": user("viewer", gen.RoleViewer), "narrow": narrow, "admin": user("admin", gen.RoleAdmin), "nobody": nobody}
	})
	for name, c := range map[string]struct {
		method, target, token string
		status                int
		says, challenge       string
	}{
		"no credential":           {"GET", "/api/v1/runs", "", 401, "the request has no credential: send the header Authorization: Bearer <token>; `ax token create` makes one", `Bearer realm="ax"`},
		"an unknown one":          {"GET", "/api/v1/runs", "x", 401, "the token is unknown, expired or revoked", `Bearer realm="ax", error="invalid_token"`},
		"before anything is read": {"POST", "/api/v1/runs?x=1", "", 401, "the request has no credential: send the header Authorization: Bearer <token>; `ax token create` makes one", `Bearer realm="ax"`},
		"a role that lacks it":    {"POST", "/api/v1/runs?x=1", "viewer", 403, "this needs the permission runs:start, which token:viewer lacks: the role viewer does not have it", ""},
		"scopes that lack it":     {"GET", "/api/v1/runs", "narrow", 403, "this needs the permission runs:read, which token:narrow lacks: its scopes leave it out", ""},
		"not of the cluster":      {"PUT", "/api/v1/settings/breaker", "admin", 403, "this needs the permission settings:admin, which token:admin lacks: it was not made for the cluster", ""},
		"nobody":                  {"GET", "/api/v1/runs", "nobody", 500, "see the server's log", ""},
		"a broken authenticator":  {"GET", "/api/v1/runs", "broken", 500, "see the server's log", ""},
	} {
		var header []string
		if c.token != "" {
			header = []string{"Authorization", "Bearer " + c.token}
		}
		a := ask(t, s.Handler(), c.method, c.target, "", header...)
		if p := a.problem(t); a.status != c.status || *p.Detail != c.says || a.header.Get("WWW-Authenticate") != c.challenge {
			t.Errorf("%s: %d %q %q, want %d %q %q", name, a.status, *p.Detail, a.header.Get("WWW-Authenticate"), c.status, c.says, c.challenge)
		}
	}
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestSecretsStayOutOfLogs(t *testing.T) {
	var log lockedBuffer
	s := newServer(t, func(c *api.Config) {
		c.Local, c.Authenticator = nil, book{"hush-token": user("a", gen.RoleAdmin)}
		c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	for _, token := range []string{"hush-token", "hush-wrong", "broken"} {
		for _, c := range [][3]string{
			{"GET", "/api/v1/me?token=hush-query", ""},
			{"GET", "/api/v1/me", ""},
			{"GET", "/api/v1/queues/hush-path", ""},
			{"GET", "/hush-path", ""},
			{"POST", "/api/v1/runs", `{"flow": "f", "params": {"password": "hush-param"}, "hush": "hush-field"}`},
			{"POST", "/api/v1/runs", `{"flow": "f", "params": {"password": "hush-param"}, `},
		} {
			ask(t, s.Handler(), c[0], c[1], c[2], "Authorization", "Bearer "+token, "Cookie", "__Host-ax-session=hush-cookie")
		}
	}
	text := log.String()
	if strings.Contains(text, "hush") {
		t.Errorf("a secret is in the log:\n%s", text)
	}
	for _, want := range []string{"route=/api/v1/queues/:queue", "operation=getQueue", "actor=token:a", "namespace=default", "status=400", "took="} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in the log:\n%s", want, text)
		}
	}
}

func TestAnswersAreCompressedIfAskedFor(t *testing.T) {
	h := newServer(t, nil).Handler()
	a := ask(t, h, "GET", "/api/openapi.json", "", "Accept-Encoding", "gzip")
	if a.header.Get("Content-Encoding") != "gzip" || !strings.Contains(a.header.Get("Vary"), "Accept-Encoding") {
		t.Fatalf("headers %v", a.header)
	}
	r, err := gzip.NewReader(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil || !bytes.Contains(text, []byte(`"openapi": "3.0.3"`)) {
		t.Errorf("%v: %.100s", err, text)
	}
	for _, c := range [][]string{{"/api/openapi.json", ""}, {"/api/openapi.json", "gzip;q=0"}, {"/api/v1/me", "gzip"}} {
		if a := ask(t, h, "GET", c[0], "", "Accept-Encoding", c[1]); a.header.Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed for %q", c[0], c[1])
		}
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	srv := httptest.NewServer(newServer(t, nil).Handler())
	defer srv.Close()
	for path, status := range map[string]int{"/healthz": 200, "/api/v1/me": 200, "/api/docs": 200, "/api/v1/rums": 404, "/api/v1/events": 405} {
		res, err := srv.Client().Head(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != status || len(text) > 0 {
			t.Errorf("HEAD %s: %d, %d bytes; want %d", path, res.StatusCode, len(text), status)
		}
	}
}

func TestRequestsHaveAnID(t *testing.T) {
	h := newServer(t, nil).Handler()
	if a := ask(t, h, "GET", "/api/v1/nothing", "", "X-Request-Id", "proxy-12345"); a.header.Get("X-Request-Id") != "proxy-12345" || *a.problem(t).Instance != "proxy-12345" {
		t.Errorf("a proxy's id is not kept: %v %s", a.header, a.body)
	}
	for _, odd := range []string{"x", strings.Repeat("x", 65), "a b c d e f g", "evil\nline-of-log"} {
		if a := ask(t, h, "GET", "/api/v1/nothing", "", "X-Request-Id", odd); a.header.Get("X-Request-Id") == odd {
			t.Errorf("id %q is kept", odd)
		}
	}
}

func TestBodiesAreLimited(t *testing.T) {
	srv := httptest.NewServer(newServer(t, func(c *api.Config) { c.Limits.Body = 1000 }).Handler())
	defer srv.Close()
	big := `{"flow": "` + strings.Repeat("x", 1000) + `"}`
	for name, body := range map[string]io.Reader{"with its length": strings.NewReader(big), "in chunks": io.MultiReader(strings.NewReader(big))} {
		res, err := srv.Client().Post(srv.URL+"/api/v1/runs", "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(text), `"too_large"`) {
			t.Errorf("%s: %d %s", name, res.StatusCode, text)
		}
	}
}
