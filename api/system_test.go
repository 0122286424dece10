package api_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/api"
	"axflow/api/gen"
	"axflow/internal/pgtest"
)

// What the database does is told by what a client can do about it.
func TestFaultsOfTheDatabase(t *testing.T) {
	client, d := newClient(t)
	s, err := api.New(api.Config{Client: client, Local: admin(), Logger: slog.New(slog.DiscardHandler), Limits: api.Limits{Handle: 300 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	if a := ask(t, s.Handler(), "GET", "/readyz", ""); a.status != 200 || a.body != "ready\n" {
		t.Fatalf("readyz: %d %q", a.status, a.body)
	}
	ctx := pgtest.Context(t, patient)
	tx, err := d.Pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "LOCK TABLE ax.lease IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	if p := ask(t, s.Handler(), "GET", "/api/v1/server", "").problem(t); p.Code != gen.ProblemCodeTimeout || p.Status != 504 {
		t.Errorf("a question that takes too long: %+v", p)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	cfg := d.Pool.Config().ConnConfig.Copy()
	cfg.Database = "postgres"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, fmt.Sprintf("ALTER DATABASE %s ALLOW_CONNECTIONS false", d.Name)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", d.Name); err != nil {
		t.Fatal(err)
	}
	pgtest.Eventually(t, patient, func() (bool, string) {
		a := ask(t, s.Handler(), "GET", "/api/v1/server", "")
		p := a.problem(t)
		return p.Code == gen.ProblemCodeUnavailable && a.status == 503 && a.header.Get("Retry-After") == "2" && !strings.Contains(a.body, d.Name), a.body
	})
	pgtest.Eventually(t, patient, func() (bool, string) {
		a := ask(t, s.Handler(), "GET", "/readyz", "")
		return a.status == 503 && a.body == "the database does not answer\n", a.body
	})
	if a := ask(t, s.Handler(), "GET", "/healthz", ""); a.status != 200 {
		t.Errorf("healthz: %d: the process answers, whatever the database does", a.status)
	}
}

func TestServerTellsOfItself(t *testing.T) {
	client, d := newClient(t)
	s, err := api.New(api.Config{Client: client, Local: admin(), Version: "1.2.3", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	a := ask(t, s.Handler(), "GET", "/api/v1/server", "")
	if a.status != 200 || strings.Contains(a.body, "leader") || !strings.Contains(a.body, `"version":"1.2.3"`) || !strings.Contains(a.body, `"auth":"none"`) || !strings.Contains(a.body, `Z"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if _, err := d.Pool.Exec(t.Context(), "INSERT INTO ax.lease (name, epoch, holder, expires_at, renewed_at) VALUES ('leader', 7, 'host/1', now() + interval '15 s', now())"); err != nil {
		t.Fatal(err)
	}
	if a := ask(t, s.Handler(), "GET", "/api/v1/server", ""); !strings.Contains(a.body, `"epoch":7`) || !strings.Contains(a.body, `"holder":"host/1"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := ask(t, s.Handler(), "GET", "/api/v1/me", ""); !strings.Contains(a.body, `"actor":"local:test"`) || !strings.Contains(a.body, `"settings:admin"`) || !strings.Contains(a.body, `"via":"local"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	m := ask(t, s.Handler(), "GET", "/metrics", "")
	for _, want := range []string{`ax_http_requests_total{operation="getServer",status="200"} 2`, `ax_http_request_duration_seconds_count{operation="getMe"} 1`, "ax_http_requests_in_flight 1"} {
		if !strings.Contains(m.body, want) {
			t.Errorf("%s is not in the metrics:\n%s", want, m.body)
		}
	}
	if !strings.HasPrefix(m.header.Get("Content-Type"), "text/plain") {
		t.Errorf("metrics are %s", m.header.Get("Content-Type"))
	}
}
