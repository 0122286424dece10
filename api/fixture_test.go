package api_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"axflow/api"
	"axflow/api/access"
	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/internal/pgtest"
	"axflow/sql/hint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient is how long a test waits for what happens at once.
const patient = 30 * time.Second

// newClient makes a client of a new database's.
func newClient(t testing.TB) (*control.Client, *pgtest.DB) {
	t.Helper()
	d := pgtest.New(t)
	bus, err := hint.New(hint.Config{ConnConfig: d.Pool.Config().ConnConfig, PollOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := control.NewClient(pgtest.Context(t, patient), control.Config{Pool: d.Pool, Bus: bus})
	if err != nil {
		t.Fatal(err)
	}
	return c, d
}

// admin is somebody who may do everything.
func admin() *access.Principal {
	return &access.Principal{Actor: "local:test", Namespace: "default", Role: gen.RoleAdmin, Cluster: true, Via: gen.MeViaLocal}
}

// noClient makes a client without a database, for what never asks it.
func noClient(t testing.TB) *control.Client {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/nothing")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	bus, err := hint.New(hint.Config{ConnConfig: pool.Config().ConnConfig, PollOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := control.NewClient(t.Context(), control.Config{Pool: pool, Bus: bus, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newServer makes a server that asks for no credential, unless tune says otherwise, and that has no database.
func newServer(t testing.TB, tune func(*api.Config)) *api.Server {
	t.Helper()
	cfg := api.Config{Client: noClient(t), Local: admin(), Version: "test", Logger: slog.New(slog.DiscardHandler)}
	if tune != nil {
		tune(&cfg)
	}
	s, err := api.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// withDatabase gives a server one.
func withDatabase(t testing.TB) func(*api.Config) {
	client, _ := newClient(t)
	return func(c *api.Config) { c.Client = client }
}

// answer is what a server said.
type answer struct {
	status int
	header http.Header
	body   string
}

// problem is the answer as a problem.
func (a answer) problem(t testing.TB) gen.Problem {
	t.Helper()
	var p gen.Problem
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("status %d: not a problem: %s %q (%v)", a.status, a.header.Get("Content-Type"), a.body, err)
	}
	return p
}

// ask sends one request to a handler.
func ask(t testing.TB, h http.Handler, method, target, body string, header ...string) answer {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req := httptest.NewRequestWithContext(context.Background(), method, target, r)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return answer{w.Code, w.Header(), w.Body.String()}
}
