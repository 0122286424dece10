package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"time"

	"axflow"
	"axflow/api"
	"axflow/bench/measure"
)

// serveVariable names the environment variable that makes this program the server of a database, until its standard input ends.
const serveVariable = "AX_BENCH_API_SERVE"

// serveMain is the server's process. Its first line of output is its address.
func serveMain(url string) int {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, err := axflow.Open(ctx, axflow.Config{DatabaseURL: url, Logger: log, API: &api.Config{Listen: "127.0.0.1:0", Limits: api.Limits{Rate: -1}}})
	if err != nil {
		log.Error("opening the server", "error", err)
		return 1
	}
	defer p.Close()
	fmt.Println(p.Server().URL())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if err := p.Run(ctx); err != nil {
		log.Error("serving", "error", err)
		return 1
	}
	return 0
}

// served is a server in a process of its own.
type served struct {
	url string
	pid int
	end func() error
}

// serve starts a server of a database.
func serve(ctx context.Context, database string) (*served, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("looking for this program: %w", err)
	}
	cmd := exec.Command(self) //nolint:noctx // it is this program; it ends with its input
	cmd.Env = append(os.Environ(), serveVariable+"="+database)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	s := &served{pid: cmd.Process.Pid, end: func() error { return errors.Join(in.Close(), cmd.Wait()) }}
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(out).ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	select {
	case s.url = <-line:
	case <-ctx.Done():
	}
	if s.url == "" {
		return nil, errors.Join(errors.New("the server has not started"), ctx.Err(), s.end())
	}
	return s, nil
}

// load is what a process uses from begin on.
type load struct {
	pid     int
	at      time.Time
	began   measure.Usage
	highest int64
	seen    bool
}

func watchLoad(pid int) *load {
	l := &load{pid: pid, at: time.Now()}
	l.began, l.seen = measure.UsageOf(pid)
	l.highest = l.began.Resident
	return l
}

// look notes how much memory is used.
func (l *load) look() {
	if u, ok := measure.UsageOf(l.pid); ok {
		l.highest = max(l.highest, u.Resident)
	}
}

// end is the share of one CPU in percent, and the most memory in megabytes; 0 where they cannot be seen.
func (l *load) end() (cpu, mb float64) {
	u, ok := measure.UsageOf(l.pid)
	if !ok || !l.seen {
		return 0, 0
	}
	l.highest = max(l.highest, u.Resident)
	return 100 * (u.CPU - l.began.CPU).Seconds() / time.Since(l.at).Seconds(), float64(l.highest) / (1 << 20)
}
