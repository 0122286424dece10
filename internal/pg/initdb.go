//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// initialise makes the data folder when it is missing. It is built beside its place and moved there in one
// step, so a half-done one is never taken for a whole one.
func (l layout) initialise(ctx context.Context, bin Binaries, cfg Config) error {
	_, err := os.Stat(filepath.Join(l.data(), "PG_VERSION"))
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking at the data folder: %w", err)
	}
	if entries, err := os.ReadDir(l.data()); err == nil && len(entries) > 0 {
		return fmt.Errorf("folder %s holds files but no PostgreSQL data: choose another folder or empty it", l.data())
	}
	fresh := filepath.Join(l.dir, "data.new."+token())
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(fresh) }() // nothing is there after the rename
	if err := l.owner.give(fresh); err != nil {
		return err
	}
	var password string
	if cfg.Ephemeral || cfg.seeded {
		password, err = l.sow(ctx, bin, fresh)
	} else {
		password, err = l.initdb(ctx, bin, fresh)
	}
	if err != nil {
		return err
	}
	if err := write(l.password(), password+"\n"); err != nil {
		return err
	}
	_ = os.Remove(l.data()) // an empty folder, or nothing
	if err := os.Rename(fresh, l.data()); err != nil {
		return fmt.Errorf("moving the new data folder into place: %w", err)
	}
	return nil
}

// initdb fills the empty folder fresh and returns the superuser's password.
func (l layout) initdb(ctx context.Context, bin Binaries, fresh string, more ...string) (string, error) {
	password := token()
	secret := filepath.Join(l.run, "secret."+token())
	if err := os.WriteFile(secret, []byte(password+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("writing the password for initdb: %w", err)
	}
	defer func() { _ = os.Remove(secret) }()
	if err := l.owner.give(secret); err != nil {
		return "", err
	}
	args := append([]string{
		"-D", fresh, "-U", User, "-E", "UTF8", "--locale=C", "--auth-local=trust", "--auth-host=scram-sha-256",
		"--pwfile=" + secret, "--no-instructions",
	}, more...)
	cmd := exec.CommandContext(ctx, filepath.Join(bin.Dir, "initdb"), args...)
	cmd.Env, cmd.Dir = environment(), l.run
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: l.owner.credential()}
	if out, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", fmt.Errorf("initdb in %s: %w: %s", fresh, err, lastLines(string(out), 5))
	}
	return password, nil
}

// major is the PostgreSQL version that the data folder belongs to; 0 means that there is none yet.
func (l layout) major() (int, error) {
	text, err := os.ReadFile(filepath.Join(l.data(), "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the data folder's version: %w", err)
	}
	var major int
	if _, err := fmt.Sscanf(string(text), "%d", &major); err != nil {
		return 0, fmt.Errorf("reading the data folder's version %q: %w", text, err)
	}
	return major, nil
}

// environment is this process's without what would steer PostgreSQL's programs elsewhere.
func environment() []string {
	env := []string{"LC_ALL=C"}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasPrefix(name, "PG") && !strings.HasPrefix(name, "LC_") &&
			name != "LANG" && name != "LANGUAGE" && name != "HOME" {
			env = append(env, kv)
		}
	}
	return env
}

// lastLines is the end of a log, on one line.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
