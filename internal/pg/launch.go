//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// defaults are the settings of every server of this package.
var defaults = map[string]string{
	"max_connections": "200", "timezone": "UTC", "log_timezone": "UTC", "jit": "off",
	"wal_level": "minimal", "max_wal_senders": "0", "log_checkpoints": "off", "lc_messages": "C",
	"log_line_prefix": "%m [%p] %q%u@%d %a ",
}

// ephemeral are the settings that trade the data's safety for speed.
var ephemeral = map[string]string{
	"fsync": "off", "full_page_writes": "off", "max_wal_size": "4GB", "checkpoint_timeout": "1h",
}

// errSharedMemory says that the processes of a server that died are still ending.
var errSharedMemory = errors.New("the last server's processes are still ending")

// errPort says that somebody took the port between its choice and the server's start.
var errPort = errors.New("port taken")

// launchServer starts the server process and waits until it accepts connections. The caller holds the lock, and no
// server runs on the folder.
func (s *Server) launchServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.StartTimeout,
		fmt.Errorf("PostgreSQL did not accept connections within %s; its log is %s", s.cfg.StartTimeout, s.log()))
	defer cancel()
	for {
		if err := s.sweepStale(); err != nil {
			return err
		}
		port, err := s.choosePort()
		if err != nil {
			return err
		}
		err = s.launchOn(ctx, port)
		switch {
		case errors.Is(err, errSharedMemory), errors.Is(err, errPort) && s.cfg.Port == 0:
			s.port = 0
			s.cfg.Logger.Debug("starting PostgreSQL again", "error", err)
			if err := pause(ctx); err != nil {
				return fmt.Errorf("starting PostgreSQL: %w", err)
			}
		default:
			return err
		}
	}
}

// choosePort takes the configured port, or the last one if it is free, so that addresses survive a restart, or
// any free one.
func (s *Server) choosePort() (int, error) {
	if s.cfg.Port != 0 {
		if !portFree(s.cfg.Port) {
			return 0, fmt.Errorf("port %d on 127.0.0.1 is taken by another program: stop it, or use port 0 for any free port", s.cfg.Port)
		}
		return s.cfg.Port, nil
	}
	last := s.port
	if last == 0 {
		if text, err := os.ReadFile(s.layout.port()); err == nil {
			last, _ = strconv.Atoi(strings.TrimSpace(string(text))) // a damaged file only costs the old port
		}
	}
	if last > 0 && last < 65536 && portFree(last) {
		return last, nil
	}
	return freePort()
}

// portFree tells whether a server could listen there.
func portFree(port int) bool {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func (s *Server) launchOn(ctx context.Context, port int) error {
	log, err := s.openLog()
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	logStart, err := log.Seek(0, 2)
	if err != nil {
		return fmt.Errorf("opening the server's log: %w", err)
	}
	h, watch, name, err := s.newHold()
	if err != nil {
		return err
	}
	defer func() { _ = watch.Close() }()
	signal, remove := "INT", ""
	if s.cfg.Ephemeral {
		signal, remove = "QUIT", s.dir
	}
	args := []string{"-c", launch, "ax-pg", s.data(), signal, name, remove, strings.Join(contents, " "), filepath.Join(s.bin.Dir, "postgres"), "-D", s.data()}
	settings := maps.Clone(defaults)
	if s.cfg.Ephemeral {
		maps.Copy(settings, ephemeral)
	}
	maps.Copy(settings, s.cfg.Settings)
	maps.Copy(settings, map[string]string{
		"listen_addresses": "127.0.0.1", "port": strconv.Itoa(port), "unix_socket_directories": s.run,
		"logging_collector": "off",
	})
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	cmd := exec.Command("/bin/sh", args...)
	cmd.Env, cmd.Dir = environment(), s.run
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{watch}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: s.owner.credential()}
	if err := cmd.Start(); err != nil {
		h.release()
		return fmt.Errorf("starting PostgreSQL: %w", err)
	}
	pid := cmd.Process.Pid
	_ = cmd.Process.Release() // alive collects it
	if err := s.awaitReady(ctx, pid, port); err != nil {
		_ = syscall.Kill(pid, syscall.SIGQUIT)
		gone, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if waitGone(gone, pid) != nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		h.release()
		return s.explain(err, logStart)
	}
	s.held.release()
	s.held, s.port, s.pid = h, port, pid
	return write(s.layout.port(), strconv.Itoa(port)+"\n")
}

// awaitReady waits until the server with that process id accepts connections.
func (s *Server) awaitReady(ctx context.Context, pid, port int) error {
	for {
		if !alive(pid) {
			return errors.New("PostgreSQL ended while it was starting")
		}
		if p, ok := s.readPostmaster(); ok && p.pid == pid && p.ready {
			return ping(ctx, socketURL(s.run, port, "postgres"), s.data())
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// explain adds what the server's log says, and recognises what is worth another try.
func (s *Server) explain(err error, from int64) error {
	text := ""
	if f, openErr := os.Open(s.log()); openErr == nil {
		defer func() { _ = f.Close() }()
		buf := make([]byte, 16<<10)
		n, _ := f.ReadAt(buf, from) // a short read is all there is
		text = string(buf[:n])
	}
	switch {
	case strings.Contains(text, "shared memory block") && strings.Contains(text, "still in use"):
		return errSharedMemory
	case strings.Contains(text, "could not create any TCP/IP sockets"), strings.Contains(text, "could not bind"):
		return fmt.Errorf("%w: %s", errPort, lastLines(text, 4))
	case text == "":
		return err
	}
	return fmt.Errorf("%w: %s", err, lastLines(text, 6))
}

// maxLog bounds the log; a longer one is set aside at the next start.
const maxLog = 16 << 20

func (s *Server) openLog() (*os.File, error) {
	if info, err := os.Stat(s.log()); err == nil && info.Size() > maxLog {
		if err := os.Rename(s.log(), s.log()+".old"); err != nil {
			return nil, fmt.Errorf("setting the server's old log aside: %w", err)
		}
	}
	f, err := os.OpenFile(s.log(), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the server's log: %w", err)
	}
	return f, nil
}
