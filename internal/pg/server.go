//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a running PostgreSQL server that this process uses, and perhaps others as well. Its methods are safe
// for concurrent use.
type Server struct {
	layout
	cfg      Config
	bin      Binaries
	password string
	users    *os.File // holds the shared lock that counts this process

	mu      sync.Mutex // guards the fields below and makes the verbs take turns
	pid     int
	port    int
	held    *hold
	stopped bool
}

// ErrStopped says that Stop was called on this Server before.
var ErrStopped = errors.New("this PostgreSQL server was stopped")

// Start starts a server, or joins the one that runs on the same folder. It returns once the server accepts
// connections. The server stops with the last process that uses it, however that ends; Stop stops it in good order.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	who, err := chooseOwner(cfg.RunAs)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg}
	made := cfg.Dir == ""
	if made {
		sweepAbandoned(ctx, cfg.Logger)
		if cfg.Dir, err = makeEphemeral(who); err != nil {
			return nil, err
		}
		s.cfg.Dir = cfg.Dir
	}
	if s.layout, err = makeLayout(cfg.Dir, who); err != nil {
		return nil, err
	}
	if s.users, err = openLock(s.layout.users()); err != nil {
		return nil, err
	}
	err = s.locked(ctx, func() error {
		if err := flock(ctx, s.users, syscall.LOCK_SH); err != nil {
			return fmt.Errorf("counting this process as a user of %s: %w", s.dir, err)
		}
		if joined, err := s.join(ctx); joined || err != nil {
			return err
		}
		return s.begin(ctx)
	})
	if err != nil {
		_ = s.users.Close()
		s.held.release()
		if made {
			_ = os.RemoveAll(s.dir)
		}
		return nil, fmt.Errorf("embedded PostgreSQL in %s: %w", s.dir, err)
	}
	return s, nil
}

// join uses the server that runs on the folder, if one does. A server without a watcher that nobody else uses is
// stopped instead: nothing would ever end it, or its watcher is about to.
func (s *Server) join(ctx context.Context) (bool, error) {
	p, ok := s.readPostmaster()
	if !ok || !p.running(s.data()) {
		return false, nil
	}
	wait, cancel := context.WithTimeoutCause(ctx, s.cfg.StartTimeout,
		fmt.Errorf("the server that runs in %s as process %d did not answer within %s", s.dir, p.pid, s.cfg.StartTimeout))
	defer cancel()
	probe, cancelProbe := context.WithTimeout(wait, 10*time.Second)
	defer cancelProbe()
	h, err := s.layout.join(probe)
	if err != nil {
		if ctx.Err() != nil {
			return false, err
		}
		alone := tryFlock(s.users, syscall.LOCK_EX) == nil
		if err := flock(ctx, s.users, syscall.LOCK_SH); err != nil {
			return false, fmt.Errorf("counting this process as a user of %s: %w", s.dir, err)
		}
		s.cfg.Logger.Info("PostgreSQL runs with no watcher", "dir", s.dir, "pid", p.pid, "others", !alone, "error", err)
		if alone {
			return false, s.end(wait, p.pid, syscall.SIGINT)
		}
	}
	for {
		p, ok = s.readPostmaster()
		if !ok || !p.running(s.data()) {
			h.release()
			return false, nil // it ended meanwhile
		}
		if p.ready {
			if err = ping(wait, socketURL(p.socket, p.port, "postgres"), s.data()); err == nil {
				break
			}
		}
		if waitErr := pause(wait); waitErr != nil {
			h.release()
			return false, errors.Join(waitErr, err)
		}
	}
	password, err := os.ReadFile(s.layout.password())
	if err != nil {
		h.release()
		return false, fmt.Errorf("reading the server's password: %w", err)
	}
	if s.cfg.Port != 0 && s.cfg.Port != p.port {
		s.cfg.Logger.Warn("the running PostgreSQL listens on another port than asked for", "port", p.port, "asked", s.cfg.Port)
	}
	s.held, s.pid, s.port, s.run, s.password = h, p.pid, p.port, p.socket, strings.TrimSpace(string(password))
	return true, nil
}

// begin makes the data folder when it is missing and starts the server on it.
func (s *Server) begin(ctx context.Context) error {
	if err := s.sweepStale(); err != nil {
		return err
	}
	major, err := s.major()
	if err != nil {
		return err
	}
	if s.bin, err = s.binaries(ctx, major); err != nil {
		return err
	}
	if major != 0 && major != s.bin.Major {
		return fmt.Errorf("the data folder belongs to PostgreSQL %d, but only PostgreSQL %d was found (%s): "+
			"install PostgreSQL %d, set %s, or choose another folder", major, s.bin.Major, s.bin.Dir, major, EnvBinaries)
	}
	if err := s.initialise(ctx, s.bin, s.cfg); err != nil {
		return err
	}
	password, err := os.ReadFile(s.layout.password())
	if err != nil {
		return fmt.Errorf("reading the server's password: %w", err)
	}
	s.password = strings.TrimSpace(string(password))
	return s.launchServer(ctx)
}

// binaries finds PostgreSQL, or fetches it.
func (s *Server) binaries(ctx context.Context, major int) (Binaries, error) {
	if s.cfg.Binaries != "" {
		return inspect(ctx, s.cfg.Binaries)
	}
	bin, err := Find(ctx, major)
	if !errors.Is(err, ErrNoBinaries) || s.cfg.NoFetch {
		return bin, err
	}
	dir := filepath.Join(filepath.Dir(s.dir), "postgresql-"+string(fetched))
	if s.cfg.Ephemeral {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("ax-postgresql-%s-%d", fetched, os.Geteuid()))
	}
	bin, fetchErr := fetch(ctx, dir, s.cfg.Logger)
	if fetchErr != nil {
		return bin, errors.Join(err, fetchErr)
	}
	return bin, nil
}

// URL is the address of a database over loopback TCP. It holds the password: keep it out of logs.
func (s *Server) URL(db string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(User, s.password), Host: "127.0.0.1:" + strconv.Itoa(s.Port()),
		Path: "/" + db, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// SocketURL is the address of a database over the unix socket: faster than TCP, no password, and only for
// processes of this process's user and of root.
func (s *Server) SocketURL(db string) string { return socketURL(s.run, s.Port(), db) }

func socketURL(run string, port int, db string) string {
	q := url.Values{"host": {run}, "port": {strconv.Itoa(port)}, "user": {User}, "sslmode": {"disable"}}
	u := url.URL{Scheme: "postgres", Path: "/" + db, RawQuery: q.Encode()}
	return "postgres://" + u.RequestURI()
}

// Dir is the server's folder.
func (s *Server) Dir() string { return s.dir }

// Port is the loopback TCP port.
func (s *Server) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.port
}

// LogFile is the path of the server's log.
func (s *Server) LogFile() string { return s.log() }

// PID is the process id of the server's main process.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pid
}

// CreateDatabase makes a database when it is missing.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, s.SocketURL("postgres"))
	if err != nil {
		return fmt.Errorf("connecting to make database %q: %w", name, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there); err != nil {
		return fmt.Errorf("looking for database %q: %w", name, err)
	}
	if there {
		return nil
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && (pgErr.Code == "42P04" || pgErr.Code == "23505") { // another process made it just now
		return nil
	}
	if err != nil {
		return fmt.Errorf("making database %q: %w", name, err)
	}
	return nil
}

// Stop ends this process's use of the server and, when no other process uses it, stops the server (its clients
// are cut off, its data is safe) and waits until it is gone. When ctx ends first the server is stopped the hard
// way. A second call does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	s.stopped = true
	defer func() {
		s.held.release()
		_ = s.users.Close()
	}()
	// A server must not outlive its users because their time was up.
	lockCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	err := s.locked(lockCtx, func() error {
		if alone := tryFlock(s.users, syscall.LOCK_EX) == nil; !alone {
			return nil
		}
		signal := syscall.SIGINT
		if s.cfg.Ephemeral {
			signal = syscall.SIGQUIT
		}
		p, ok := s.readPostmaster()
		if !ok || !p.running(s.data()) {
			alive(s.pid) // collects it
			return s.removeEphemeral()
		}
		return errors.Join(s.end(ctx, p.pid, signal), s.removeEphemeral())
	})
	if err != nil {
		return fmt.Errorf("stopping embedded PostgreSQL in %s: %w", s.dir, err)
	}
	return nil
}

func (s *Server) removeEphemeral() error {
	if !s.cfg.Ephemeral {
		return nil
	}
	if s.run != filepath.Join(s.dir, "run") {
		_ = os.RemoveAll(s.run)
	}
	for _, name := range contents {
		if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
			return fmt.Errorf("removing what was in the folder: %w", err)
		}
	}
	_ = os.Remove(s.dir) // unless something else is in it
	return nil
}

// end sends a stop signal and waits for the end; when ctx ends first it says QUIT, then KILL.
func (s *Server) end(ctx context.Context, pid int, signal syscall.Signal) error {
	var err error
	for _, sig := range []syscall.Signal{signal, syscall.SIGQUIT, syscall.SIGKILL} {
		if kill := syscall.Kill(pid, sig); kill != nil && !errors.Is(kill, syscall.ESRCH) {
			return fmt.Errorf("sending %s to process %d: %w", sig, pid, kill)
		}
		if err = waitGone(ctx, pid); err == nil {
			return nil
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
	}
	return err
}
