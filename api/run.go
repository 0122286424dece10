package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// Listen opens the address of Config, so that URL is known and what is wrong with it is known before anything runs. Run does it
// otherwise. Close gives it back if Run never runs.
func (s *Server) Listen(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != nil {
		return nil
	}
	if s.cfg.CertFile != "" {
		var err error
		if s.cert, err = openCertificate(s.cfg.CertFile, s.cfg.KeyFile, s.cfg.Logger); err != nil {
			return err
		}
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.cfg.Listen)
	if errors.Is(err, syscall.EADDRINUSE) && s.cfg.AnyPort {
		host, _, _ := net.SplitHostPort(s.cfg.Listen)
		l, err = lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("something else listens on %s already: end it, or listen elsewhere: %w", s.cfg.Listen, err)
	}
	if err != nil {
		return fmt.Errorf("listening on %s: %w", s.cfg.Listen, err)
	}
	// localhost is a name, and this machine's hosts file may say anything.
	host, _, _ := net.SplitHostPort(s.cfg.Listen)
	if isLoopback(host) && !s.loopback(l) {
		return errors.Join(fmt.Errorf("%s is %s here, which is not loopback", host, l.Addr()), l.Close())
	}
	s.listener = l
	return nil
}

// Close gives back what Listen has opened. It does not end Run.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return nil
	}
	err := s.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// URL is where the server listens; "" before Listen and Run.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return ""
	}
	scheme := "http"
	if s.cfg.CertFile != "" {
		scheme = "https"
	}
	return scheme + "://" + s.listener.Addr().String()
}

func (s *Server) loopback(l net.Listener) bool {
	addr, ok := l.Addr().(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}

// Run listens and serves until ctx ends. Then /readyz says no, streams say goodbye, and requests in flight get their grace; Run returns
// when the last of them is over. A server runs once.
func (s *Server) Run(ctx context.Context) error {
	if err := s.Listen(ctx); err != nil {
		return err
	}
	base, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	g, gctx := errgroup.WithContext(ctx)
	if s.cfg.Live != nil {
		g.Go(func() error { return s.cfg.Live.Run(base) })
	}
	g.Go(func() error {
		defer cutOff()
		return s.serve(gctx, base, cutOff)
	})
	return g.Wait()
}

// serve serves until ctx ends. base is what requests live in.
func (s *Server) serve(ctx, base context.Context, cutOff func()) error {
	l := s.listener
	srv := &http.Server{
		Handler:           s.counted(s.atListener(s.loopback(l))),
		ReadHeaderTimeout: s.cfg.Limits.ReadHeader,
		ReadTimeout:       s.cfg.Limits.Read,
		IdleTimeout:       s.cfg.Limits.Idle,
		MaxHeaderBytes:    s.cfg.Limits.Header,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	if s.cert == nil {
		go func() { ended <- srv.Serve(l) }()
	} else {
		srv.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.cert.get}
		go func() { ended <- srv.ServeTLS(l, "", "") }()
	}
	s.cfg.Logger.Debug("the API is served", "url", s.URL())
	select {
	case err := <-ended:
		s.drain()
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	s.drain()
	wait(base, s.cfg.DrainDelay)
	if s.cfg.Live != nil {
		s.cfg.Live.Drain()
	}
	grace, cancel := context.WithTimeout(base, s.cfg.DrainGrace)
	defer cancel()
	err := srv.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		s.cfg.Logger.Warn("requests were cut off: they took longer than the grace", "grace", s.cfg.DrainGrace)
		err = srv.Close()
	}
	cutOff()
	s.inFlight.Wait()
	if served := <-ended; err == nil && !errors.Is(served, http.ErrServerClosed) {
		err = served
	}
	if err != nil {
		return fmt.Errorf("ending the server: %w", err)
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// counted lets Run wait for the handlers that a closed connection leaves behind.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.inFlight.Add(1)
		defer s.inFlight.Done()
		// A handler that sets no deadline of its own must not wait for ever for a client that does not read.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.cfg.Limits.Handle + s.cfg.Limits.Read))
		next.ServeHTTP(w, r)
	})
}
