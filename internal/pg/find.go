package pg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ErrNoBinaries says that no usable PostgreSQL was found on this machine.
var ErrNoBinaries = errors.New("no PostgreSQL binaries found")

// Binaries is an installed PostgreSQL.
type Binaries struct {
	Dir     string // the folder that holds postgres and initdb
	Major   int    // 15, 16, ...
	Version string // what `postgres --version` says
}

// searched are the usual folders of distributions, as glob patterns.
var searched = []string{
	"/usr/lib/postgresql/*/bin",                      // Debian, Ubuntu
	"/usr/pgsql-*/bin",                               // PGDG on Red Hat and its kin
	"/usr/lib64/pgsql/bin",                           // SUSE
	"/usr/lib/postgresql*/bin",                       // SUSE, Alpine
	"/usr/libexec/postgresql*",                       // Alpine
	"/opt/homebrew/opt/postgresql@*/bin",             // Homebrew on Apple silicon
	"/opt/homebrew/opt/postgresql/bin",               //
	"/usr/local/opt/postgresql@*/bin",                // Homebrew on Intel
	"/usr/local/opt/postgresql/bin",                  //
	"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin", // Homebrew on Linux
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	"/Library/PostgreSQL/*/bin", // EnterpriseDB's installer
	"/opt/local/lib/postgresql*/bin",
	"/usr/local/pgsql/bin", // built from source
	"/usr/local/bin",       // the BSDs, official container images
	"/nix/var/nix/profiles/default/bin",
}

// Find looks for PostgreSQL binaries: in the folder that AX_PG_BIN names (and then nowhere else), in PATH, and in
// the usual folders of distributions, where the newest wins. prefer is a major version to prefer, since a data
// folder belongs to one; 0 means none. The error is ErrNoBinaries (wrapped) with what was looked for and what to
// install.
func Find(ctx context.Context, prefer int) (Binaries, error) { return find(ctx, prefer, searched) }

func find(ctx context.Context, prefer int, patterns []string) (Binaries, error) {
	if dir := os.Getenv(EnvBinaries); dir != "" {
		b, err := inspect(ctx, dir)
		if err != nil {
			return Binaries{}, fmt.Errorf("%s=%s: %w", EnvBinaries, dir, err)
		}
		return b, nil
	}
	var (
		found  []Binaries
		tooOld []string
	)
	add := func(dir string) {
		b, err := inspect(ctx, dir)
		switch {
		case err == nil:
			found = append(found, b)
		case errors.Is(err, errTooOld):
			tooOld = append(tooOld, err.Error())
		}
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		add(filepath.Dir(path))
	}
	if len(found) == 1 && (prefer == 0 || found[0].Major == prefer) {
		return found[0], nil
	}
	for _, pattern := range patterns {
		dirs, _ := filepath.Glob(pattern) // the patterns are constants and well formed
		for _, dir := range dirs {
			add(dir)
		}
	}
	if len(found) == 0 {
		text := "looked in $" + EnvBinaries + ", PATH, " + strings.Join(patterns, ", ")
		if len(tooOld) > 0 {
			text += "; found but unusable: " + strings.Join(tooOld, "; ")
		}
		return Binaries{}, fmt.Errorf("%w: %s. Install PostgreSQL %d or newer (Debian, Ubuntu: apt-get install postgresql; "+
			"Fedora: dnf install postgresql-server; macOS: brew install postgresql), or set %s to its bin folder, "+
			"or set %s to a database that runs elsewhere", ErrNoBinaries, text, MinMajor, EnvBinaries, EnvDatabase)
	}
	return slices.MaxFunc(found, func(a, b Binaries) int {
		if (a.Major == prefer) != (b.Major == prefer) {
			if a.Major == prefer {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.Major, b.Major)
	}), nil
}

var (
	errTooOld      = fmt.Errorf("older than PostgreSQL %d", MinMajor)
	versionPattern = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)
)

// inspect looks at one folder.
func inspect(ctx context.Context, dir string) (Binaries, error) {
	for _, name := range []string{"postgres", "initdb"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return Binaries{}, fmt.Errorf("looking for %s: %w", name, err)
		}
		if info.IsDir() || info.Mode()&0o111 == 0 {
			return Binaries{}, fmt.Errorf("%s in %s is not executable", name, dir)
		}
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return Binaries{}, fmt.Errorf("asking %s/postgres for its version: %w", dir, err)
	}
	version := strings.TrimSpace(string(out))
	m := versionPattern.FindStringSubmatch(version)
	if m == nil {
		return Binaries{}, fmt.Errorf("%s/postgres --version says %q, which names no version", dir, version)
	}
	major, err := strconv.Atoi(m[1])
	if err != nil {
		return Binaries{}, fmt.Errorf("reading the version in %q: %w", version, err)
	}
	if major < MinMajor {
		return Binaries{}, fmt.Errorf("%s has %s, %w", dir, version, errTooOld)
	}
	return Binaries{Dir: dir, Major: major, Version: version}, nil
}
