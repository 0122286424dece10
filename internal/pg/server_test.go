//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/internal/pg"
)

func deadline(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func query[T any](t testing.TB, url, sql string, args ...any) T {
	t.Helper()
	ctx := deadline(t, time.Minute)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatalf("connecting to %s: %v", url, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var v T
	if err := conn.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func TestStartStop(t *testing.T) {
	ctx := deadline(t, 2*time.Minute)
	t0 := time.Now()
	s, err := pg.Start(ctx, pg.Config{Ephemeral: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("start", time.Since(t0))
	t.Log(s.URL("postgres"), s.SocketURL("postgres"))
	t.Log(query[string](t, s.URL("postgres"), "select version()"))
	t.Log(query[string](t, s.SocketURL("postgres"), "select version()"))
	t0 = time.Now()
	if err := s.Kill(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	t.Log("kill, resume", time.Since(t0))
	t0 = time.Now()
	if err := s.ImmediateRestart(ctx); err != nil {
		t.Fatal(err)
	}
	t.Log("restart", time.Since(t0))
	t0 = time.Now()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	t.Log("stop", time.Since(t0))
}
