//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// pollEvery is how often a condition of another process (a lock, a pid file) is looked at.
const pollEvery = 5 * time.Millisecond

// layout names what is in a server's folder.
type layout struct {
	dir   string
	owner *owner // who runs the server; nil means this process's own user
	run   string // sockets, the FIFO, the watcher's acknowledgements; a short path
}

func (l layout) data() string     { return filepath.Join(l.dir, "data") }
func (l layout) log() string      { return filepath.Join(l.dir, "server.log") }
func (l layout) lock() string     { return filepath.Join(l.dir, "lock") }
func (l layout) users() string    { return filepath.Join(l.dir, "users") }
func (l layout) password() string { return filepath.Join(l.dir, "password") }
func (l layout) port() string     { return filepath.Join(l.dir, "port") }
func (l layout) current() string  { return filepath.Join(l.run, "current") }

// contents is all that is ever in a server's folder, but for data.new.*.
var contents = []string{"data", "run", "server.log", "server.log.old", "password", "port", "port.new", "password.new", "lock", "users"}

// maxRun bounds the socket folder's path: the kernel takes 103 bytes for a whole socket path (macOS), and
// "/.s.PGSQL.65535.lock" is 20 of them.
const maxRun = 80

// makeLayout makes the folders that exist before anything is locked.
func makeLayout(dir string, who *owner) (layout, error) {
	l := layout{dir: dir, owner: who}
	if err := makeDir(dir, who); err != nil {
		return l, err
	}
	if err := who.reaches(dir); err != nil {
		return l, err
	}
	l.run = filepath.Join(dir, "run")
	if len(l.run) <= maxRun {
		return l, makeDir(l.run, who)
	}
	l.run = filepath.Join(shortTemp(), fmt.Sprintf("ax-pg-%d-%s", who.uid(), fingerprint(dir)))
	if err := makeDir(l.run, who); err != nil {
		return l, err
	}
	// The place is open to all users, so the folder may be somebody's trap.
	info, err := os.Lstat(l.run)
	if err != nil {
		return l, fmt.Errorf("looking at the socket folder: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != who.uid() || info.Mode().Perm() != 0o700 {
		return l, fmt.Errorf("socket folder %s is not a folder of user %d with mode 0700: remove it, or use a shorter data folder than %s",
			l.run, who.uid(), dir)
	}
	return l, nil
}

// shortTemp is a temporary folder with a short path; macOS's own has 49 bytes.
func shortTemp() string {
	if t := os.TempDir(); len(t) < 30 {
		return t
	}
	return "/tmp"
}

// makeDir makes dir with mode 0700, its parents open to all; a folder that it makes belongs to who.
func makeDir(dir string, who *owner) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // only the last folder is private
		return fmt.Errorf("making the folder for PostgreSQL's data: %w: choose another folder or give the permission", err)
	}
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("PostgreSQL's folder %s is no folder: choose another one", dir)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("looking at PostgreSQL's folder: %w: choose another folder or give the permission", err)
	}
	// It gets its name when it has its owner: whoever starts at the same time must not find it closed.
	fresh, err := os.MkdirTemp(filepath.Dir(dir), ".ax-pg-new-")
	if err != nil {
		return fmt.Errorf("making PostgreSQL's folder: %w: choose another folder or give the permission", err)
	}
	if err = who.give(fresh); err == nil {
		err = os.Rename(fresh, dir)
	}
	if err == nil {
		return nil
	}
	_ = os.Remove(fresh)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return fmt.Errorf("making PostgreSQL's folder: %w: choose another folder or give the permission", err)
}

// flock takes a lock on f, asking again until ctx ends; the kernel drops it when the process dies.
func flock(ctx context.Context, f *os.File, how int) error {
	for {
		err := tryFlock(f, how)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// tryFlock asks once; EWOULDBLOCK says that somebody else has the lock.
func tryFlock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// pause waits for one poll's time or until ctx ends.
func pause(ctx context.Context) error {
	t := time.NewTimer(pollEvery)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// openLock opens a lock file without a lock on it.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w: the folder belongs to another user; choose another folder", path, err)
	}
	return f, nil
}

// locked runs f while this process alone may change the folder's server.
func (l layout) locked(ctx context.Context, f func() error) error {
	lock, err := openLock(l.lock())
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if err := flock(ctx, lock, syscall.LOCK_EX); err != nil {
		return fmt.Errorf("waiting for the lock on %s, which another process holds while it starts or stops the server: %w", l.dir, err)
	}
	defer func() { _ = syscall.Flock(int(lock.Fd()), syscall.LOCK_UN) }()
	return f()
}

// write puts text into a file in one step.
func write(path, text string) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// token is a name that nobody guesses or has used before.
func token() string { return rand.Text() }
