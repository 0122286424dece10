//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/internal/pg"
)

// The tests run this binary again as other processes: a child starts a server, says so on its standard output, and
// stops it when its standard input ends.
func TestMain(m *testing.M) {
	if config := os.Getenv("AX_PG_TEST_CHILD"); config != "" {
		os.Exit(child(config))
	}
	os.Exit(m.Run())
}

// report is what a child says.
type report struct {
	PID  int
	URL  string
	Dir  string
	UID  int
	Fail string
}

func child(config string) int {
	var cfg pg.Config
	if err := json.Unmarshal([]byte(config), &cfg); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	r := report{UID: os.Getuid()}
	s, err := pg.Start(ctx, pg.Seeded(cfg))
	if err == nil {
		r.PID, r.URL, r.Dir = s.PID(), s.SocketURL("postgres"), s.Dir()
	} else {
		r.Fail = err.Error()
	}
	line, _ := json.Marshal(r)
	fmt.Println(string(line))
	if err != nil {
		return 1
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if err := s.Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// process is a running child.
type process struct {
	report
	cmd  *exec.Cmd
	quit func() error // ends it in good order
}

// spawn runs a child and waits for its report. as is a user id to run it as; 0 means this process's own.
func spawn(t testing.TB, cfg pg.Config, as uint32) *process {
	t.Helper()
	return begin(t, cfg, as)()
}

// begin runs a child; the function that it returns waits for its report.
func begin(t testing.TB, cfg pg.Config, as uint32) func() *process {
	t.Helper()
	config, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var cred *syscall.Credential
	if as != 0 {
		cred = &syscall.Credential{Uid: as, Gid: as}
		exe = publicCopy(t, exe)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "AX_PG_TEST_CHILD="+string(config))
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, quit: func() error { return firstOf(in.Close(), cmd.Wait()) }}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.quit()
		}
	})
	return func() *process {
		t.Helper()
		line, err := bufio.NewReader(out).ReadBytes('\n')
		if err != nil {
			t.Fatalf("the child said nothing: %v", err)
		}
		if err := json.Unmarshal(line, &p.report); err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// kill ends a child as a crash would.
func (p *process) kill(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // says "killed"
}

// publicCopy puts the test binary where every user may run it: go test's own folder is private.
func publicCopy(t testing.TB, exe string) string {
	t.Helper()
	to := filepath.Join(folder(t), "pg.test")
	text, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

// folder makes a folder that every user may enter, with a short path; t.TempDir is private.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "axt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func start(t testing.TB, cfg pg.Config) *pg.Server {
	t.Helper()
	s, err := pg.Start(within(t, 2*time.Minute), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t testing.TB, s *pg.Server) {
	t.Helper()
	if err := s.Stop(within(t, time.Minute)); err != nil {
		t.Error(err)
	}
}

func ask[T any](t testing.TB, url, sql string, args ...any) T {
	t.Helper()
	ctx := within(t, time.Minute)
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

func do(t testing.TB, url, sql string) {
	t.Helper()
	ctx := within(t, time.Minute)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatalf("connecting to %s: %v", url, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// gone waits until a process has ended; one that nobody collects counts as ended.
func gone(t testing.TB, pid int) {
	t.Helper()
	until(t, fmt.Sprintf("process %d still runs", pid), func() bool {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		return err != nil || len(state) > 0 && state[0] == 'Z'
	})
}

func until(t testing.TB, otherwise string, holds func() bool) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(end) {
			t.Fatal(otherwise)
		}
		<-tick.C
	}
}
