//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg

import (
	"context"
	"fmt"
	"syscall"
)

// Kill kills the server's main process with SIGKILL and waits until it is gone, as a crash of the machine's
// database would; Resume starts it again. For tests.
func (s *Server) Kill(ctx context.Context) error {
	return s.verb(ctx, func() error {
		if err := syscall.Kill(s.pid, syscall.SIGKILL); err != nil {
			return fmt.Errorf("killing PostgreSQL's process %d: %w", s.pid, err)
		}
		return waitGone(ctx, s.pid)
	})
}

// Resume starts the server again, on the same port, after Kill or after a crash; a server that runs is left alone.
func (s *Server) Resume(ctx context.Context) error {
	return s.verb(ctx, func() error { return s.resume(ctx) })
}

// ImmediateRestart stops the server the hard way (SIGQUIT: no checkpoint, every session cut off, crash recovery
// at the start) and starts it again on the same port. For tests.
func (s *Server) ImmediateRestart(ctx context.Context) error {
	return s.verb(ctx, func() error {
		if p, ok := s.readPostmaster(); ok && p.running(s.data()) {
			if err := s.end(ctx, p.pid, syscall.SIGQUIT); err != nil {
				return err
			}
		}
		return s.resume(ctx)
	})
}

func (s *Server) resume(ctx context.Context) error {
	if p, ok := s.readPostmaster(); ok && p.running(s.data()) {
		return nil
	}
	if s.bin.Dir == "" { // another process started it
		major, err := s.major()
		if err != nil {
			return err
		}
		if s.bin, err = s.binaries(ctx, major); err != nil {
			return err
		}
	}
	return s.launchServer(ctx)
}

func (s *Server) verb(ctx context.Context, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return ErrStopped
	}
	return s.locked(ctx, f)
}
