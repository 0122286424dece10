package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/internal/pgtest"
	"axflow/stage"
)

// arrival is a process at a gate. It waits there until it is let pass, its context ends, or it dies.
type arrival struct {
	Process   string
	Point     string
	Run       uuid.UUID
	Index     int
	Attempt   int
	Delivery  int
	Execution uuid.UUID
	Worker    uuid.UUID

	conn net.Conn
}

// pass lets the process go on. One that is stopped goes on when it is continued; a dead one is not missed.
func (a *arrival) pass() {
	_, _ = a.conn.Write([]byte("go\n"))
	_ = a.conn.Close()
}

// gates is the test's side: it holds whom hold says, and counts everybody.
type gates struct {
	t      *testing.T
	path   string
	listen net.Listener
	wg     sync.WaitGroup
	check  func() // called at every wait that is not over

	mu      sync.Mutex
	hold    func(*arrival) bool
	held    []*arrival
	arrived []*arrival
}

// newGates opens the gates' socket, holding everybody.
func newGates(t *testing.T) *gates {
	t.Helper()
	dir, err := os.MkdirTemp("", "axg") // t.TempDir is too long for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	g := &gates{t: t, path: filepath.Join(dir, "s"), hold: func(*arrival) bool { return true }, check: func() {}}
	if g.listen, err = net.Listen("unix", g.path); err != nil {
		t.Fatal(err)
	}
	g.wg.Go(g.accept)
	t.Cleanup(func() {
		_ = g.listen.Close()
		g.wg.Wait()
		g.mu.Lock()
		for _, a := range g.held {
			_ = a.conn.Close()
		}
		g.mu.Unlock()
		_ = os.RemoveAll(dir)
	})
	return g
}

func (g *gates) accept() {
	for {
		conn, err := g.listen.Accept()
		if err != nil {
			return
		}
		g.wg.Go(func() { g.receive(conn) })
	}
}

func (g *gates) receive(conn net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	a := &arrival{conn: conn}
	if err := json.NewDecoder(conn).Decode(a); err != nil {
		_ = conn.Close() // it was killed as it arrived
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arrived = append(g.arrived, a)
	if g.hold(a) {
		g.held = append(g.held, a)
		return
	}
	a.pass()
}

// keep holds from now on only whom hold says, and lets the others pass.
func (g *gates) keep(hold func(*arrival) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold = hold
	g.held = slices.DeleteFunc(g.held, func(a *arrival) bool {
		stay := hold(a)
		if !stay {
			a.pass()
		}
		return !stay
	})
}

// open lets everybody pass.
func (g *gates) open() { g.keep(func(*arrival) bool { return false }) }

// seen are the arrivals so far that match.
func (g *gates) seen(match func(*arrival) bool) []*arrival {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []*arrival
	for _, a := range g.arrived {
		if match(a) {
			all = append(all, a)
		}
	}
	return all
}

// await waits for n arrivals that match, and returns all there are.
func (g *gates) await(n int, what string, match func(*arrival) bool) []*arrival {
	g.t.Helper()
	var all []*arrival
	pgtest.Eventually(g.t, patience, func() (bool, string) {
		all = g.seen(match)
		if len(all) < n {
			g.check()
		}
		return len(all) >= n, fmt.Sprintf("%s: %d arrivals, want %d", what, len(all), n)
	})
	return all
}

// at matches the arrivals of a process at a point.
func at(process, point string) func(*arrival) bool {
	return func(a *arrival) bool { return a.Process == process && a.Point == point }
}

// doorway is the process's side of the gates.
type doorway struct{ process, socket string }

var errNoGates = errors.New("this process has no gates")

// wait reports the process at a point and waits to be let pass; ctx may be a handler's.
func (d *doorway) wait(ctx context.Context, point string) error {
	if d == nil || d.socket == "" {
		return errNoGates
	}
	a := arrival{Process: d.process, Point: point}
	if i, ok := stage.InfoFrom(ctx); ok {
		a.Run, a.Index, a.Attempt, a.Delivery, a.Execution, a.Worker = i.Run, i.Index, i.Attempt, i.Delivery, i.Execution, i.Worker
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", d.socket)
	if err != nil {
		return fmt.Errorf("reaching the gate %s: %w", point, err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := json.NewEncoder(conn).Encode(a); err != nil {
		return fmt.Errorf("arriving at the gate %s: %w", point, err)
	}
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		return fmt.Errorf("waiting at the gate %s: %w", point, errors.Join(context.Cause(ctx), err))
	}
	return nil
}
