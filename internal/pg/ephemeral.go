//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ephemeralPrefix begins the name of every folder that makeEphemeral makes.
const ephemeralPrefix = "ax-pg-"

// makeEphemeral makes a fresh folder, its "users" file locked in shared mode by nobody yet but young enough that
// sweepAbandoned leaves it alone.
func makeEphemeral(who *owner) (string, error) {
	dir, err := os.MkdirTemp(os.TempDir(), ephemeralPrefix)
	if err != nil {
		return "", fmt.Errorf("making a folder for an ephemeral PostgreSQL: %w", err)
	}
	return dir, who.give(dir)
}

// sweepAge is how old an ephemeral folder must be before it can count as abandoned: its maker needs a moment to
// lock it.
const sweepAge = time.Minute

// sweepAbandoned removes the ephemeral folders whose processes were killed together with their watchers.
func sweepAbandoned(ctx context.Context, log *slog.Logger) {
	found, _ := filepath.Glob(filepath.Join(os.TempDir(), ephemeralPrefix+"*", "users")) // the pattern is well formed
	for _, users := range found {
		if info, err := os.Stat(users); err != nil || time.Since(info.ModTime()) < sweepAge {
			continue
		}
		if err := sweepOne(ctx, users); err != nil {
			log.Warn("an abandoned PostgreSQL could not be removed", "file", users, "error", err)
		}
	}
}

func sweepOne(ctx context.Context, users string) error {
	f, err := os.OpenFile(users, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if tryFlock(f, syscall.LOCK_EX) != nil {
		return nil // in use
	}
	dir := filepath.Dir(users)
	l := layout{dir: dir, run: filepath.Join(dir, "run")}
	if p, ok := l.readPostmaster(); ok && p.running(l.data()) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := (&Server{layout: l}).end(ctx, p.pid, syscall.SIGQUIT); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing %s: %w", dir, err)
	}
	return nil
}
