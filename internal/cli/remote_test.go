package cli_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"axflow"
	"axflow/api/gen"
	"axflow/flow"
	"axflow/internal/pgtest"
)

// server runs `server` on a free port until the test ends and returns its URL. Its clients need tokens.
func (x terminal) server() string {
	x.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var out text
	code := make(chan int, 1)
	go func() {
		code <- axflow.Run(ctx, []string{"--database-url", x.url, "server", "--no-engine", "--listen", "127.0.0.1:0"}, &out, &out)
	}()
	x.t.Cleanup(func() {
		cancel()
		if got := <-code; got != 0 {
			x.t.Errorf("server ended with %d:\n%s", got, out.String())
		}
	})
	var url string
	at := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	pgtest.Eventually(x.t, limit, func() (bool, string) {
		url = at.FindString(out.String())
		return url != "", out.String()
	})
	return url
}

// away runs a command against a server, with a file that holds a token ("": none), and fails the test unless it ends with the code.
func away(t *testing.T, code int, url, token string, args ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	all := []string{"--url", url}
	if token != "" {
		all = append(all, "--token-file", token)
	}
	var out, problems text
	if got := axflow.Run(ctx, append(all, args...), &out, &problems); got != code {
		t.Fatalf("ax %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), problems.String())
	}
	return out.String(), problems.String()
}

// token has a token made, and returns the file that holds it.
func (x terminal) token(name string, flags ...string) string {
	x.t.Helper()
	secret, notes := x.ax(0, append([]string{"token", "create", name}, flags...)...)
	if !strings.HasPrefix(secret, "ax_") || strings.Count(secret, "\n") != 1 {
		x.t.Fatalf("standard output has %q, want the secret alone", secret)
	}
	says(x.t, notes, name, "not shown again")
	file := filepath.Join(x.t.TempDir(), name)
	if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
		x.t.Fatal(err)
	}
	return file
}

// The same commands say the same from elsewhere, with what the token allows.
func TestFromElsewhere(t *testing.T) {
	t.Setenv("AX_TOKEN", "")
	x := terminal{t, pgtest.New(t).URL, []flow.Definition{daily()}}
	x.dev()
	url := x.server()
	operator, viewer := x.token("nightly"), x.token("looker", "--role", "viewer", "--expires", "1h")
	pgtest.Eventually(t, limit, func() (bool, string) { // the worker registers it
		stdout, _ := away(t, 0, url, viewer, "flow", "list")
		return strings.Contains(stdout, "daily-recon"), stdout
	})

	stdout, _ := away(t, 0, url, operator, "run", "start", "daily-recon", "--date", "2026-03-01", "--watch")
	says(t, stdout, "started run", "succeeded after", "shards 300 succeeded")
	var list gen.RunList
	stdout, _ = away(t, 0, url, viewer, "run", "list", "flow:daily-recon", "state:succeeded", "--json")
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || len(list.Items) != 1 {
		t.Fatalf("%v, %d runs in %s", err, len(list.Items), stdout)
	}
	id := list.Items[0].Id.String()
	stdout, _ = away(t, 0, url, viewer, "run", "result", id)
	says(t, stdout, "has succeeded", "report", `"done"`)
	stdout, _ = away(t, 0, url, viewer, "run", "output", id, "report")
	if strings.TrimSpace(stdout) != `"done"` {
		t.Errorf("the output is %s", stdout)
	}
	stdout, _ = away(t, 0, url, viewer, "flow", "show", "daily-recon")
	says(t, stdout, "● pull\n◆ reconcile  [sharded]\n● report", "date", "(required)")
	stdout, _ = away(t, 0, url, operator, "me")
	says(t, stdout, url, "token:nightly", "operator")
	stdout, _ = away(t, 0, url, operator, "doctor")
	says(t, stdout, "ok    leader", "note  history")

	_, stderr := away(t, 5, url, viewer, "run", "cancel", id)
	says(t, stderr, "runs:operate", "next: `ax me`")
	_, stderr = away(t, 5, url, "", "run", "list")
	says(t, stderr, "next: give a token", "AX_TOKEN")
	_, stderr = away(t, 2, url, operator, "--namespace", "other", "me")
	says(t, stderr, "--namespace is for a database")
	_, stderr = away(t, 1, url+"/wrong", operator, "me")
	says(t, stderr, "next: see that "+url+"/wrong is the server's URL")
	_, stderr = away(t, 1, strings.Replace(url, "http", "https", 1), operator, "me")
	says(t, stderr, "the server speaks plain HTTP")
	_, stderr = away(t, 1, "http://127.0.0.1:1", operator, "me")
	says(t, stderr, "asking http://127.0.0.1:1: ", "connection refused", "next: see that a server runs there")

	x.ax(0, "token", "revoke", "looker")
	_, stderr = away(t, 5, url, viewer, "run", "list")
	says(t, stderr, "revoked")
	if err := os.Chmod(operator, 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr = away(t, 2, url, operator, "run", "list")
	says(t, stderr, "may be read by others", "chmod 600")
}

// A credential is for the server that was named, wherever that may send it.
func TestRedirectsAreNotFollowed(t *testing.T) {
	asked := make(chan string, 1)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Authorization") }))
	defer elsewhere.Close()
	here := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/api/v1/me", http.StatusTemporaryRedirect))
	defer here.Close()
	t.Setenv("AX_TOKEN", "ax_secret")
	_, stderr := away(t, 1, here.URL, "", "me")
	says(t, stderr, "redirects to "+elsewhere.URL)
	select {
	case got := <-asked:
		t.Errorf("the other server was asked, with %q", got)
	default:
	}
}

// Who answers something else is no AX server, and what it says is cut.
func TestAnswersOfOthers(t *testing.T) {
	t.Setenv("AX_TOKEN", "ax_secret")
	for want, answer := range map[string]http.HandlerFunc{
		"something else than JSON": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>welcome</html>")) },
		"502 Bad Gateway: gone": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte("gone\x1b[31m"))
		},
		"try again in 20s": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"type":"x","title":"There is no room","status":429,"code":"overloaded","detail":"queue \"nightly\" is full","retry_after_s":20}`))
		},
	} {
		s := httptest.NewServer(answer)
		_, stderr := away(t, 1, s.URL, "", "me")
		says(t, stderr, want)
		if strings.Contains(stderr, "\x1b") {
			t.Errorf("a terminal would heed %q", stderr)
		}
		s.Close()
	}
}
