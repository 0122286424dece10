//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// postmaster is what postmaster.pid says about a server.
type postmaster struct {
	pid    int
	data   string
	port   int
	socket string // the folder
	ready  bool
}

// readPostmaster reads postmaster.pid; ok is false when there is none or it is half written.
func (l layout) readPostmaster() (p postmaster, ok bool) {
	text, err := os.ReadFile(filepath.Join(l.data(), "postmaster.pid"))
	if err != nil {
		return p, false
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 5 {
		return p, false
	}
	if p.pid, err = strconv.Atoi(strings.TrimSpace(lines[0])); err != nil || p.pid <= 1 {
		return p, false
	}
	p.data = lines[1]
	if p.port, err = strconv.Atoi(strings.TrimSpace(lines[3])); err != nil {
		return p, false
	}
	p.socket = lines[4]
	p.ready = len(lines) > 7 && strings.TrimSpace(lines[7]) == "ready"
	return p, true
}

// running tells whether p's process exists and is a server on data: the id may have gone to another program, or
// to a zombie that nobody collects.
func (p postmaster) running(data string) bool {
	if p.pid <= 1 || !alive(p.pid) {
		return false
	}
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	if err != nil {
		args, err = exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(p.pid)).Output()
	}
	if err != nil {
		return true // it exists, and nothing on this system tells what it is: PostgreSQL would refuse the folder as well
	}
	return bytes.Contains(args, []byte(data))
}

// alive tells whether a process exists and is no zombie. It collects the process when it is this one's child.
func alive(pid int) bool {
	var status syscall.WaitStatus
	if got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil); err == nil && got == pid {
		return false
	}
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return syscall.Kill(pid, 0) == nil // a system without /proc, or gone just now
	}
	if err != nil {
		return true
	}
	_, rest, found := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte(") "))
	return !found || len(rest) == 0 || rest[0] != 'Z'
}

// waitGone waits until a process has ended.
func waitGone(ctx context.Context, pid int) error {
	for alive(pid) {
		if err := pause(ctx); err != nil {
			return fmt.Errorf("waiting for process %d to end: %w", pid, err)
		}
	}
	return nil
}

// ping makes a new connection through the socket and checks that the server behind it is the one on data.
func ping(ctx context.Context, socketURL, data string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, socketURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var has string
	if err := conn.QueryRow(ctx, "SELECT current_setting('data_directory')").Scan(&has); err != nil {
		return err
	}
	if !same(has, data) {
		return fmt.Errorf("the server on that socket has its data in %s, not in %s", has, data)
	}
	return nil
}

func same(a, b string) bool {
	if a == b {
		return true
	}
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// sweepStale removes what a server that died has left behind. The caller holds the lock and knows that no server
// is running.
func (l layout) sweepStale() error {
	stale := []string{filepath.Join(l.data(), "postmaster.pid")}
	for _, pattern := range []string{
		filepath.Join(l.run, ".s.PGSQL.*"), filepath.Join(l.run, "hold.*"), filepath.Join(l.run, "ack.*"), filepath.Join(l.run, "secret.*"),
		filepath.Join(l.dir, "data.new.*"),
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return fmt.Errorf("looking for leftovers %s: %w", pattern, err)
		}
		stale = append(stale, found...)
	}
	for _, path := range stale {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("removing a leftover: %w", err)
		}
	}
	return nil
}
