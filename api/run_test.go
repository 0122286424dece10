package api_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"axflow/api"
	"axflow/api/gen"
	"axflow/internal/pgtest"
)

// running is a server that listens until stop, which tells how it ended.
type running struct {
	*api.Server
	stop func() error
	http *http.Client
}

func run(t *testing.T, tune func(*api.Config)) *running {
	t.Helper()
	s := newServer(t, func(c *api.Config) {
		c.Listen = "127.0.0.1:0"
		if tune != nil {
			tune(c)
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	if err := s.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	r := &running{Server: s, http: &http.Client{Transport: tr}}
	r.stop = func() error {
		cancel()
		tr.CloseIdleConnections()
		err := <-ended
		ended <- err
		return err
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return r
}

func (r *running) get(t *testing.T, path, host string) (status int, header http.Header, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	res, err := r.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(text)
}

func TestUnsafeServersAreRefused(t *testing.T) {
	client := noClient(t)
	for name, c := range map[string]struct {
		cfg  api.Config
		says string // "": it is allowed
	}{
		"the default":                     {api.Config{Local: admin()}, ""},
		"loopback":                        {api.Config{Listen: "127.0.0.2:0", Local: admin()}, ""},
		"localhost":                       {api.Config{Listen: "localhost:0", Local: admin()}, ""},
		"loopback of IPv6":                {api.Config{Listen: "[::1]:0", Local: admin()}, ""},
		"every address, nobody asked":     {api.Config{Listen: ":7780", Local: admin()}, "asks for no credential"},
		"another way to say every":        {api.Config{Listen: "0.0.0.0:7780", Local: admin(), InsecureHTTP: true}, "asks for no credential"},
		"every address of IPv6":           {api.Config{Listen: "[::]:7780", Local: admin(), CertFile: "c", KeyFile: "k"}, "asks for no credential"},
		"a name":                          {api.Config{Listen: "ax.example.com:7780", Local: admin()}, "asks for no credential"},
		"a name like localhost":           {api.Config{Listen: "localhost.example.com:7780", Local: admin()}, "asks for no credential"},
		"plain HTTP":                      {api.Config{Listen: "192.0.2.1:7780", Authenticator: book{}}, "plain HTTP"},
		"plain HTTP, allowed":             {api.Config{Listen: "192.0.2.1:7780", Authenticator: book{}, InsecureHTTP: true}, ""},
		"TLS":                             {api.Config{Listen: "192.0.2.1:7780", Authenticator: book{}, CertFile: "c", KeyFile: "k"}, ""},
		"half of TLS":                     {api.Config{Authenticator: book{}, CertFile: "c"}, "both a certificate and a key"},
		"neither credentials nor a local": {api.Config{}, "Authenticator is required"},
		"no port":                         {api.Config{Listen: "127.0.0.1", Local: admin()}, "host:port"},
		"a port by name":                  {api.Config{Listen: "127.0.0.1:http", Local: admin()}, "no number"},
		"too great a port":                {api.Config{Listen: "127.0.0.1:70000", Local: admin()}, "no number"},
	} {
		c.cfg.Client = client
		_, err := api.New(c.cfg)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := api.New(api.Config{Local: admin()}); err == nil {
		t.Error("a server without a client")
	}
}

func TestTakenPorts(t *testing.T) {
	first := run(t, nil)
	addr := strings.TrimPrefix(first.URL(), "http://")
	second := newServer(t, func(c *api.Config) { c.Listen = addr })
	if err := second.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "something else listens on "+addr) {
		t.Errorf("a taken port: %v", err)
	}
	third := run(t, func(c *api.Config) { c.Listen, c.AnyPort = addr, true })
	if status, _, _ := third.get(t, "/healthz", ""); status != 200 || third.URL() == first.URL() {
		t.Errorf("any port: %d at %s", status, third.URL())
	}
	fourth := newServer(t, func(c *api.Config) { c.Listen = "127.0.0.1:0" })
	if fourth.URL() != "" {
		t.Errorf("a server that does not listen has the URL %s", fourth.URL())
	}
	if err := fourth.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := fourth.Close(); err != nil { // it never ran
		t.Error(err)
	}
}

func TestOnlyItsOwnNamesAreAnsweredOnLoopback(t *testing.T) {
	plain := run(t, nil)
	named := run(t, func(c *api.Config) { c.Hosts = []string{"ax.example.com", "other.example.com:8443"} })
	for host, c := range map[string]struct{ plain, named bool }{
		"":                       {true, true}, // as the URL says
		"localhost:7780":         {true, true},
		"LOCALHOST":              {true, true},
		"127.0.0.1:1":            {true, true},
		"[::1]:7780":             {true, true},
		"evil.example:7780":      {false, false},
		"localhost.evil.example": {false, false},
		"127.0.0.1.evil.example": {false, false},
		"192.0.2.1":              {false, false},
		"AX.example.com":         {false, true},
		"ax.example.com:443":     {false, true},
		"other.example.com:8443": {false, true},
		"other.example.com:1":    {false, false},
	} {
		for s, want := range map[*running]bool{plain: c.plain, named: c.named} {
			status, header, body := s.get(t, "/api/v1/me", host)
			if (status == 200) != want || (status == 403) == want || header.Get("X-Frame-Options") == "" {
				t.Errorf("Host %q: %d %s, want it answered: %t", host, status, body, want)
			}
			if status, _, _ := s.get(t, "/healthz", host); status != 200 {
				t.Errorf("Host %q: healthz is %d", host, status)
			}
		}
	}
}

// A server whose clients dawdle does not wait for them.
func TestSlowClients(t *testing.T) {
	s := run(t, func(c *api.Config) {
		c.Limits = api.Limits{ReadHeader: 200 * time.Millisecond, Read: 400 * time.Millisecond, Header: 4096}
	})
	dial := func() (net.Conn, *bufio.Reader) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(patient)); err != nil {
			t.Fatal(err)
		}
		return conn, bufio.NewReader(conn)
	}
	head, in := dial()
	_, _ = io.WriteString(head, "GET /api/v1/me HTTP/1.1\r\nHost: local")
	if text, err := io.ReadAll(in); err != nil {
		t.Errorf("half a head: %q, %v; want the connection's end", text, err)
	}
	body, in := dial()
	_, _ = io.WriteString(body, "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(text), `"timeout"`) {
		t.Errorf("half a body: %d %s", res.StatusCode, text)
	}
	big, in := dial()
	_, _ = fmt.Fprintf(big, "GET /api/v1/runs?q=%s HTTP/1.1\r\nHost: localhost\r\n\r\n", strings.Repeat("x", 20_000))
	res, err = http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a great head: %d", res.StatusCode)
	}
}

// A question that takes longer than reading a request may is not cut off by it.
func TestReadingTimeOutDoesNotEndHandlers(t *testing.T) {
	asked := make(chan context.Context, 1)
	release := make(chan struct{})
	s := run(t, func(c *api.Config) {
		c.Limits.Read = 100 * time.Millisecond
		c.Local, c.Authenticator = nil, book{"a": user("a", gen.RoleAdmin)}
		c.Redact = nil
		c.AuthRoutes = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked <- r.Context()
			<-release
			w.WriteHeader(http.StatusNoContent)
		})
	})
	status := make(chan int, 1)
	go func() {
		res, err := s.http.Get(s.URL() + "/auth/slow")
		if err != nil {
			status <- -1
			return
		}
		_ = res.Body.Close()
		status <- res.StatusCode
	}()
	ctx := pgtest.Receive(t, patient, asked, "the request")
	select {
	case <-ctx.Done():
		t.Error("the time-out for reading has ended the request")
	case <-time.After(400 * time.Millisecond): // four times as long
	}
	close(release)
	if got := pgtest.Receive(t, patient, status, "the answer"); got != http.StatusNoContent {
		t.Errorf("status %d", got)
	}
}

func TestDrain(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	s := run(t, func(c *api.Config) {
		c.DrainDelay = 300 * time.Millisecond
		c.AuthRoutes = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked <- struct{}{}
			<-release
			w.WriteHeader(http.StatusNoContent)
		})
	})
	status := make(chan int, 1)
	go func() {
		res, err := s.http.Get(s.URL() + "/auth/slow")
		if err != nil {
			status <- -1
			return
		}
		_ = res.Body.Close()
		status <- res.StatusCode
	}()
	pgtest.Receive(t, patient, asked, "the request")
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	pgtest.Eventually(t, patient, func() (bool, string) {
		status, _, body := s.get(t, "/readyz", "")
		return status == 503 && body == "the server drains\n", body
	})
	if status, _, _ := s.get(t, "/healthz", ""); status != 200 {
		t.Errorf("healthz while it drains: %d", status)
	}
	pgtest.Eventually(t, patient, func() (bool, string) { // the listener is closed
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil, "it still listens"
	})
	select {
	case err := <-stopped:
		t.Fatalf("the server ended (%v) before its last request", err)
	default:
	}
	close(release)
	if got := pgtest.Receive(t, patient, status, "the answer"); got != http.StatusNoContent {
		t.Errorf("a request in flight was answered with %d", got)
	}
	if err := pgtest.Receive(t, patient, stopped, "the end"); err != nil {
		t.Error(err)
	}
}

func TestDrainDoesNotWaitForEver(t *testing.T) {
	asked := make(chan struct{})
	s := run(t, func(c *api.Config) {
		c.DrainGrace = 50 * time.Millisecond
		c.AuthRoutes = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked <- struct{}{}
			<-r.Context().Done()
		})
	})
	failed := make(chan error, 1)
	go func() {
		res, err := s.http.Get(s.URL() + "/auth/slow")
		if err == nil {
			_ = res.Body.Close()
		}
		failed <- err
	}()
	pgtest.Receive(t, patient, asked, "the request")
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if err := pgtest.Receive(t, patient, failed, "the answer"); err == nil {
		t.Error("a request that was cut off looks answered")
	}
}

// keyPair writes a certificate of a name, and its key.
func keyPair(t *testing.T, dir, name string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

func TestTLS(t *testing.T) {
	cert, key := keyPair(t, t.TempDir(), "ax.example.com")
	s := run(t, func(c *api.Config) { c.CertFile, c.KeyFile = cert, key })
	status, header, _ := s.get(t, "/api/v1/me", "")
	if status != 200 || header.Get("Strict-Transport-Security") != "max-age=31536000" || !strings.HasPrefix(s.URL(), "https://") {
		t.Errorf("%d at %s, %v", status, s.URL(), header)
	}
	addr := strings.TrimPrefix(s.URL(), "https://")
	for version, allowed := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: version, NextProtos: []string{"h2"}})
		if (err == nil) != allowed {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			if p := conn.ConnectionState().NegotiatedProtocol; p != "h2" {
				t.Errorf("protocol %q", p)
			}
			_ = conn.Close()
		}
	}
	missing := newServer(t, func(c *api.Config) { c.Listen, c.CertFile, c.KeyFile = "127.0.0.1:0", cert+"x", key })
	if err := missing.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "reading the certificate") {
		t.Errorf("a missing certificate: %v", err)
	}
}
