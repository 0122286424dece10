//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/internal/pg"
)

func TestDataOutlivesStop(t *testing.T) {
	cfg := pg.Config{Dir: filepath.Join(folder(t), "pg")}
	first := start(t, cfg)
	do(t, first.URL("postgres"), "CREATE TABLE kept AS SELECT 7 AS n")
	pid, port := first.PID(), first.Port()
	stop(t, first)
	gone(t, pid)
	second := start(t, cfg)
	if n := ask[int](t, second.SocketURL("postgres"), "SELECT n FROM kept"); n != 7 {
		t.Errorf("the row says %d after a stop and a start, want 7", n)
	}
	if second.Port() != port {
		t.Errorf("the port changed from %d to %d over a restart with nobody on the old one", port, second.Port())
	}
	// A stop in good order leaves nothing to recover.
	log, err := os.ReadFile(second.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(log), "not properly shut down") {
		t.Error("the server had to recover after a stop in good order")
	}
}

func TestServerIsAsDocumented(t *testing.T) {
	s := start(t, pg.Config{Ephemeral: true, Settings: map[string]string{"work_mem": "7MB"}})
	url := s.SocketURL("postgres")
	for sql, want := range map[string]string{
		"SHOW server_encoding":      "UTF8",
		"SHOW lc_collate":           "C",
		"SHOW listen_addresses":     "127.0.0.1",
		"SHOW work_mem":             "7MB",
		"SHOW fsync":                "off",
		"SELECT current_user::text": "ax",
	} {
		if got := ask[string](t, url, sql); got != want {
			t.Errorf("%s says %q, want %q", sql, got, want)
		}
	}
	info, err := os.Stat(ask[string](t, url, "SHOW unix_socket_directories"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the socket folder's mode is %o, want 700: the socket asks for no password", info.Mode().Perm())
	}
	if uid := ask[string](t, s.URL("postgres"), "SELECT inet_server_addr()::text"); uid != "127.0.0.1/32" {
		t.Errorf("URL goes to %s, want loopback", uid)
	}
}

func TestLoopbackWantsThePassword(t *testing.T) {
	s := start(t, pg.Config{Ephemeral: true})
	cfg, err := pgx.ParseConfig(s.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Password += "x"
	conn, err := pgx.ConnectConfig(within(t, time.Minute), cfg)
	if err == nil {
		_ = conn.Close(within(t, time.Minute))
		t.Fatal("a wrong password was let in")
	}
	if !strings.Contains(err.Error(), "28P01") {
		t.Errorf("got %v, want SQLSTATE 28P01 (invalid_password)", err)
	}
}

func TestSecondUserJoins(t *testing.T) {
	cfg := pg.Config{Dir: filepath.Join(folder(t), "pg"), Ephemeral: true}
	first := start(t, cfg)
	second := start(t, cfg)
	other := spawn(t, cfg, 0)
	if first.PID() != second.PID() || first.PID() != other.report.PID {
		t.Fatalf("three users of one folder have the servers %d, %d and %d", first.PID(), second.PID(), other.report.PID)
	}
	if first.URL("x") != second.URL("x") {
		t.Error("two users of one server have different addresses")
	}
	stop(t, first)
	if n := ask[int](t, second.URL("postgres"), "SELECT 1"); n != 1 {
		t.Errorf("SELECT 1 gives %d", n)
	}
	stop(t, second)
	if n := ask[int](t, other.URL, "SELECT 1"); n != 1 { // from another process
		t.Errorf("SELECT 1 gives %d", n)
	}
	if err := other.quit(); err != nil {
		t.Fatal(err)
	}
	gone(t, other.report.PID)
	if _, err := os.Stat(cfg.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the ephemeral server's folder outlived it: %v", err)
	}
}

func TestConcurrentStarts(t *testing.T) {
	cfg := pg.Config{Dir: filepath.Join(folder(t), "pg"), Ephemeral: true}
	var waits []func() *process
	for range 3 {
		waits = append(waits, begin(t, cfg, 0))
	}
	servers := make([]*pg.Server, 3)
	errs := make([]error, len(servers))
	var group sync.WaitGroup
	for i := range servers {
		group.Go(func() { servers[i], errs[i] = pg.Start(within(t, 2*time.Minute), cfg) })
	}
	group.Wait()
	pids := map[int]bool{}
	for i, s := range servers {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		defer stop(t, s)
		pids[s.PID()] = true
	}
	for _, wait := range waits {
		p := wait()
		if p.Fail != "" {
			t.Fatal(p.Fail)
		}
		pids[p.report.PID] = true
	}
	if len(pids) != 1 {
		t.Errorf("six starts at once made the servers %v, want one", pids)
	}
}

func TestServerEndsWithItsKilledUsers(t *testing.T) {
	dir := folder(t)
	lasting := pg.Seeded(pg.Config{Dir: filepath.Join(dir, "lasting")})
	p := spawn(t, lasting, 0)
	do(t, p.URL, "CREATE TABLE kept AS SELECT 7 AS n")
	p.kill(t)
	gone(t, p.report.PID)
	s := start(t, lasting)
	if n := ask[int](t, s.URL("postgres"), "SELECT n FROM kept"); n != 7 {
		t.Errorf("the row says %d after its user was killed, want 7", n)
	}
	log, err := os.ReadFile(s.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(log), "not properly shut down") {
		t.Error("the server of a killed process was not shut down in good order")
	}

	p = spawn(t, pg.Config{Ephemeral: true}, 0)
	p.kill(t)
	gone(t, p.report.PID)
	until(t, "the folder "+p.Dir+" of a killed process's ephemeral server is still there", func() bool {
		_, err := os.Stat(p.Dir)
		return errors.Is(err, os.ErrNotExist)
	})
}

func TestKilledUserLeavesTheOthersTheirServer(t *testing.T) {
	cfg := pg.Config{Dir: filepath.Join(folder(t), "pg"), Ephemeral: true}
	starter := spawn(t, cfg, 0)
	s := start(t, cfg)
	starter.kill(t)
	for range 3 { // each over a new connection
		if n := ask[int](t, s.URL("postgres"), "SELECT 1"); n != 1 {
			t.Fatalf("SELECT 1 gives %d", n)
		}
	}
	if s.PID() != starter.report.PID {
		t.Errorf("joined server %d, not the starter's %d", s.PID(), starter.report.PID)
	}
}

func TestKilledServerStartsAgain(t *testing.T) {
	cfg := pg.Seeded(pg.Config{Dir: filepath.Join(folder(t), "pg")})
	first := start(t, cfg)
	do(t, first.URL("postgres"), "CREATE TABLE kept AS SELECT 7 AS n")
	if err := syscall.Kill(first.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// While the first user is still there, and with its own children perhaps not yet gone.
	second := start(t, cfg)
	if second.PID() == first.PID() {
		t.Fatal("the server that was killed is taken for running")
	}
	if n := ask[int](t, second.URL("postgres"), "SELECT n FROM kept"); n != 7 {
		t.Errorf("the committed row says %d after a kill, want 7", n)
	}
}

func TestFaultVerbs(t *testing.T) {
	s := start(t, pg.Config{Ephemeral: true})
	ctx := within(t, 2*time.Minute)
	url := s.URL("postgres")
	do(t, url, "CREATE TABLE kept AS SELECT 7 AS n")
	for name, verb := range map[string]func() error{
		"kill, resume":      func() error { return firstOf(s.Kill(ctx), s.Resume(ctx)) },
		"immediate restart": func() error { return s.ImmediateRestart(ctx) },
		"resume a live one": func() error { return s.Resume(ctx) },
	} {
		if err := verb(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.URL("postgres") != url {
			t.Fatalf("%s: the address changed", name)
		}
		if n := ask[int](t, url, "SELECT n FROM kept"); n != 7 {
			t.Errorf("%s: the committed row says %d, want 7", name, n)
		}
	}
	stop(t, s)
	if err := s.Resume(ctx); !errors.Is(err, pg.ErrStopped) {
		t.Errorf("Resume after Stop says %v, want ErrStopped", err)
	}
	stop(t, s) // does nothing
}

func TestCreateDatabase(t *testing.T) {
	s := start(t, pg.Config{Ephemeral: true})
	ctx := within(t, time.Minute)
	for range 2 {
		if err := s.CreateDatabase(ctx, `my "db"`); err != nil {
			t.Fatal(err)
		}
	}
	if name := ask[string](t, s.SocketURL(`my "db"`), "SELECT current_database()::text"); name != `my "db"` {
		t.Errorf("the socket's address of the database leads to %q", name)
	}
	if name := ask[string](t, s.URL(`my "db"`), "SELECT current_database()::text"); name != `my "db"` {
		t.Errorf("the database's address leads to %q", name)
	}
}

func TestURLFromEnv(t *testing.T) {
	t.Setenv(pg.EnvDatabase, "postgres://elsewhere/x")
	url, stop, err := pg.URLFromEnvOrStart(within(t, time.Minute), pg.Config{Dir: "/nowhere"}, "ax")
	if err != nil || url != "postgres://elsewhere/x" {
		t.Errorf("got %q, %v, want the variable's value", url, err)
	}
	if err := stop(within(t, time.Minute)); err != nil {
		t.Error(err)
	}
	t.Setenv(pg.EnvDatabase, "")
	url, stop, err = pg.URLFromEnvOrStart(within(t, 2*time.Minute), pg.Config{Ephemeral: true}, "ax")
	if err != nil {
		t.Fatal(err)
	}
	if name := ask[string](t, url, "SELECT current_database()::text"); name != "ax" {
		t.Errorf("the address leads to database %q, want ax", name)
	}
	if err := stop(within(t, time.Minute)); err != nil {
		t.Error(err)
	}
}
