package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"axflow/web"
)

// vite stands for a Vite server: it tells what it was asked, and echoes what comes through an upgraded connection.
func vite(t *testing.T) *url.URL {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = fmt.Fprintf(w, "%s %s host=%s cookie=%q authorization=%q", r.Method, r.URL, r.Host, r.Header.Get("Cookie"), r.Header.Get("Authorization"))
			return
		}
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		line, _ := rw.ReadString('\n')
		_, _ = io.WriteString(conn, "heard "+line)
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestProxyAsksVite(t *testing.T) {
	u := vite(t)
	h, err := web.Handler(web.Config{Proxy: u})
	if err != nil {
		t.Fatal(err)
	}
	w := ask(h, "GET", "/src/main.tsx?t=1", "Cookie", "__Host-ax-session=secret", "Authorization", "Bearer ax_secret")
	if got, want := w.Body.String(), fmt.Sprintf(`GET /src/main.tsx?t=1 host=%s cookie="" authorization=""`, u.Host); got != want {
		t.Errorf("Vite was asked %s, want %s", got, want)
	}
	if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self' 'unsafe-inline'") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("the policy is %q", policy)
	}
}

func TestProxySaysThatViteIsGone(t *testing.T) {
	h, err := web.Handler(web.Config{Proxy: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	if w := ask(h, "GET", "/"); w.Code != 502 || !strings.Contains(w.Body.String(), "npm run dev") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestProxyPassesWebsockets(t *testing.T) {
	h, err := web.Handler(web.Config{Proxy: vite(t)})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	res, err := http.ReadResponse(r, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v %v", res, err)
	}
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := r.ReadString('\n'); err != nil || line != "heard hello\n" {
		t.Errorf("%q %v", line, err)
	}
	_ = res.Body.Close()
}
