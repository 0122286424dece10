package api_test

import (
	"net/http"
	"testing"

	"axflow/api"
)

// The page gets what nothing else answers to, and needs no credential; nothing of the API's becomes a page.
func TestThePageIsWhatIsLeft(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic("a fault of the page")
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("page " + r.URL.Path))
	})
	h := newServer(t, func(c *api.Config) {
		c.Page, c.Local = page, nil
		c.Authenticator = book{}
	}).Handler()
	for _, c := range []struct {
		method, target string
		status         int
	}{
		{"GET", "/", 200}, {"HEAD", "/", 200}, {"GET", "/runs/x", 200}, {"GET", "/assets/a.js", 200}, {"GET", "/apis", 200}, {"GET", "/API/v1/me", 200},
		{"GET", "/panic", 500}, {"POST", "/", 404}, {"DELETE", "/runs/x", 404},
		{"GET", "/api", 404}, {"GET", "/api/", 404}, {"GET", "/api/v1/nothing", 404}, {"GET", "/api/v2/me", 404}, {"GET", "/auth/login", 404}, {"GET", "/auth", 404},
		{"GET", "/healthz", 200}, {"GET", "/healthz/x", 404}, {"GET", "/metrics", 401}, {"GET", "/api/v1/me", 401}, {"POST", "/api/v1/me", 405},
	} {
		a := ask(t, h, c.method, c.target, "")
		html := a.header.Get("Content-Type") == "text/html"
		if a.status != c.status || html != (c.status == 200 && c.target != "/healthz") {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.target, a.status, a.header.Get("Content-Type"), c.status)
		}
		if a.header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s %s has no policy", c.method, c.target)
		}
		if html && a.header.Get("Content-Encoding") != "" {
			t.Errorf("%s %s is compressed by the server", c.method, c.target)
		}
	}
}
