package leader_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/engine/leader"
	"axflow/internal/pgtest"
)

func TestNewNamesEveryFault(t *testing.T) {
	_, err := leader.New(leader.Config{Name: strings.Repeat("x", 33), TTL: 9 * time.Second, Renew: 3100 * time.Millisecond})
	if err == nil {
		t.Fatal("New accepted nonsense")
	}
	for _, want := range []string{"ConnConfig is nil", `"` + strings.Repeat("x", 33) + `" is not 1 to 32`, "renew 3.1s is not between 0 and a third of TTL 9s", "lead is nil"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	cc, err := pgx.ParseConfig("postgres://localhost/none")
	if err != nil {
		t.Fatal(err)
	}
	lead := func(context.Context, leader.Term) error { return nil }
	for _, cfg := range []leader.Config{{Name: "main"}, {Name: "a.B_c-9", TTL: 9 * time.Second}, {Name: "main", Renew: 5 * time.Second}} {
		cfg.ConnConfig, cfg.Lead = cc, lead
		if _, err := leader.New(cfg); err != nil {
			t.Errorf("New(%+v): %v", cfg, err)
		}
	}
}

func TestTermConfiguresSessions(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	a := start(t, pg, "a", func(cfg *leader.Config) { cfg.TTL, cfg.Renew = 45*time.Second, 3*time.Second })
	r := within(t, a.terms, "a's term")
	cc, err := pgx.ParseConfig(pg.URL)
	if err != nil {
		t.Fatal(err)
	}
	r.Configure(cc)
	conn, err := pgx.ConnectConfig(t.Context(), cc)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for setting, want := range map[string]string{
		"application_name":                    "ax-leader-main-1",
		"statement_timeout":                   "15s",
		"idle_in_transaction_session_timeout": "15s",
	} {
		var got string
		if err := conn.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", setting, got, err, want)
		}
	}
}
