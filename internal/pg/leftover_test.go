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
	cfg = pg.Seeded(pg.Config{Dir: filepath.Join(folder(t), "pg")})
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

// unwatched makes the watcher of a server believe that it is not the current one.
func unwatched(t *testing.T, url string) {
	t.Helper()
	if err := os.Remove(filepath.Join(ask[string](t, url, "SHOW unix_socket_directories"), "current")); err != nil {
		t.Fatal(err)
	}
}

func TestServerWithoutWatcherIsStartedAnew(t *testing.T) {
	cfg := pg.Seeded(pg.Config{Dir: filepath.Join(folder(t), "pg")})
	p := spawn(t, cfg, 0)
	do(t, p.URL, "CREATE TABLE kept AS SELECT 7 AS n")
	unwatched(t, p.URL)
	p.kill(t) // and its server stays
	s := start(t, cfg)
	gone(t, p.report.PID)
	if n := ask[int](t, s.URL("postgres"), "SELECT n FROM kept"); n != 7 {
		t.Errorf("the row says %d, want 7", n)
	}
}

func TestServerWithoutWatcherIsLeftToItsUsers(t *testing.T) {
	cfg := pg.Config{Dir: filepath.Join(folder(t), "pg"), Ephemeral: true}
	p := spawn(t, cfg, 0)
	unwatched(t, p.URL)
	s := start(t, cfg)
	if s.PID() != p.report.PID {
		t.Fatalf("a server that another process uses was replaced")
	}
	if err := p.quit(); err != nil {
		t.Fatal(err)
	}
	if n := ask[int](t, s.URL("postgres"), "SELECT 1"); n != 1 {
		t.Errorf("SELECT 1 gives %d", n)
	}
	stop(t, s)
	gone(t, p.report.PID)
}

func TestEphemeralRemovesOnlyItsOwn(t *testing.T) {
	dir := folder(t)
	precious := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stop(t, start(t, pg.Config{Dir: dir, Ephemeral: true}))
	p := spawn(t, pg.Config{Dir: dir, Ephemeral: true}, 0)
	p.kill(t)
	until(t, "the killed process's server still has its data", func() bool {
		_, err := os.Stat(filepath.Join(dir, "data", "PG_VERSION"))
		return os.IsNotExist(err)
	})
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("a file that is not the server's is gone: %v", err)
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
