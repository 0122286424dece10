//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"axflow/internal/pg"
)

// crashed makes a folder whose server was killed.
func crashed(t *testing.T) (cfg pg.Config, run string) {
	t.Helper()
	cfg = pg.Config{Dir: filepath.Join(folder(t), "pg")}
	s := start(t, cfg)
	do(t, s.URL("postgres"), "CREATE TABLE kept AS SELECT 7 AS n")
	run = ask[string](t, s.URL("postgres"), "SHOW unix_socket_directories")
	if err := s.Kill(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	return cfg, run
}

func TestLeftoversAreRemoved(t *testing.T) {
	cfg, run := crashed(t)
	data := filepath.Join(cfg.Dir, "data")
	left, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		t.Fatalf("a killed server leaves its pid file: %v", err)
	}
	// The id has gone to a program that runs: this one. PostgreSQL alone would refuse to start.
	lines := strings.SplitN(string(left), "\n", 2)
	for path, text := range map[string]string{
		filepath.Join(data, "postmaster.pid"):          fmt.Sprintf("%d\n%s", os.Getpid(), lines[1]),
		filepath.Join(run, ".s.PGSQL.1"):               "",
		filepath.Join(run, ".s.PGSQL.1.lock"):          fmt.Sprintf("%d\n", os.Getpid()),
		filepath.Join(run, "hold.OLD"):                 "",
		filepath.Join(cfg.Dir, "data.new.OLD", "base"): "",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, cfg)
	if n := ask[int](t, s.URL("postgres"), "SELECT n FROM kept"); n != 7 {
		t.Errorf("the committed row says %d, want 7", n)
	}
	for _, path := range []string{filepath.Join(run, ".s.PGSQL.1"), filepath.Join(run, "hold.OLD"), filepath.Join(cfg.Dir, "data.new.OLD")} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("the leftover %s is still there (%v)", path, err)
		}
	}
}

func TestHalfWrittenPidFile(t *testing.T) {
	cfg, _ := crashed(t)
	if err := os.WriteFile(filepath.Join(cfg.Dir, "data", "postmaster.pid"), []byte("12"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, cfg)
	if n := ask[int](t, s.URL("postgres"), "SELECT n FROM kept"); n != 7 {
		t.Errorf("the committed row says %d, want 7", n)
	}
}

func TestServerWithoutWatcherIsStartedAnew(t *testing.T) {
	cfg := pg.Config{Dir: filepath.Join(folder(t), "pg"), Ephemeral: true}
	first := start(t, cfg)
	run := ask[string](t, first.URL("postgres"), "SHOW unix_socket_directories")
	if err := os.Remove(filepath.Join(run, "current")); err != nil {
		t.Fatal(err)
	}
	second := start(t, cfg)
	gone(t, first.PID())
	if n := ask[int](t, second.URL("postgres"), "SELECT 1"); n != 1 {
		t.Errorf("SELECT 1 gives %d", n)
	}
}

func TestLongFolderHasAShortSocket(t *testing.T) {
	dir := filepath.Join(folder(t), strings.Repeat("long/", 30), "pg")
	s := start(t, pg.Config{Dir: dir, Ephemeral: true})
	if n := ask[int](t, s.SocketURL("postgres"), "SELECT 1"); n != 1 {
		t.Errorf("SELECT 1 gives %d", n)
	}
	run := ask[string](t, s.SocketURL("postgres"), "SHOW unix_socket_directories")
	if len(run) > 80 {
		t.Errorf("the socket folder %s has %d bytes, more than 80", run, len(run))
	}
	stop(t, s)
	if _, err := os.Lstat(run); !os.IsNotExist(err) {
		t.Errorf("the ephemeral server's socket folder %s outlived it", run)
	}
}
