package pg

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	// EnvDatabase names the environment variable that points at a database to use instead of an embedded one.
	EnvDatabase = "AX_DATABASE_URL"
	// EnvBinaries names the environment variable with the folder that holds postgres and initdb.
	EnvBinaries = "AX_PG_BIN"
	// MinMajor is the oldest PostgreSQL that AX runs on.
	MinMajor = 15
	// User is the database's superuser in every server of this package.
	User = "ax"
)

// Config says which server to run. The zero value is a lasting server in the user's data folder.
type Config struct {
	// Dir is the folder that holds the data, the log and the socket. Empty means DefaultDir, or a fresh folder
	// under os.TempDir when Ephemeral is set. Two processes that start on one folder share one server.
	Dir string
	// Port is the loopback TCP port. 0 means the port of the last start when it is free, else any free one.
	Port int
	// Settings are server settings (postgresql.conf names) on top of the defaults; they win over them. They are
	// ignored when a running server is re-used.
	Settings map[string]string
	// Ephemeral is for tests: data may be lost in a crash (fsync off), the server stops without a checkpoint, and
	// its data and its folder are removed with it.
	Ephemeral bool
	// Binaries is the folder with postgres and initdb. Empty means: look for it (see Find).
	Binaries string
	// RunAs is the system user for the server when this process is root, since PostgreSQL refuses root. Empty
	// means "postgres" where it exists, else "nobody". Ignored when this process is not root.
	RunAs string
	// NoFetch forbids the download of binaries when none are found.
	NoFetch bool
	// StartTimeout bounds start-up, crash recovery included. 0 means 60 s.
	StartTimeout time.Duration
	// Logger receives what the package does. Nil means slog.Default().
	Logger *slog.Logger

	// seeded starts a lasting server from the ephemeral ones' seed; for this package's tests, in which initdb would
	// take most of the time.
	seeded bool
}

func (c Config) withDefaults() (Config, error) {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.StartTimeout == 0 {
		c.StartTimeout = time.Minute
	}
	if c.StartTimeout < 0 {
		return c, fmt.Errorf("start timeout %s is negative: use 0 for the default of 60s", c.StartTimeout)
	}
	if c.Port < 0 || c.Port > 65535 {
		return c, fmt.Errorf("port %d is outside 0..65535: use 0 for any free port", c.Port)
	}
	for name := range c.Settings {
		if name == "" || strings.ContainsAny(name, "= \t\n") {
			return c, fmt.Errorf("setting %q is no PostgreSQL setting's name", name)
		}
		if owned[name] {
			return c, fmt.Errorf("setting %q is this package's own: use Config.Dir and Config.Port", name)
		}
	}
	if c.Dir != "" {
		dir, err := filepath.Abs(c.Dir)
		if err != nil {
			return c, fmt.Errorf("finding the data folder %q: %w", c.Dir, err)
		}
		c.Dir = dir
		return c, nil
	}
	if c.Ephemeral {
		return c, nil
	}
	dir, err := DefaultDir()
	if err != nil {
		return c, err
	}
	c.Dir = dir
	return c, nil
}

// owned are the settings that this package sets itself: the rest of it relies on them.
var owned = map[string]bool{
	"data_directory": true, "listen_addresses": true, "port": true, "unix_socket_directories": true,
	"external_pid_file": true, "logging_collector": true,
}

// DefaultDir is the folder of the lasting server: $XDG_DATA_HOME/ax/pg or ~/.local/share/ax/pg, on macOS
// ~/Library/Application Support/ax/pg, and for root /var/lib/ax/pg (root's home is closed to the unprivileged
// user that the server must run as).
func DefaultDir() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/lib/ax/pg", nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ax", "pg"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding a folder for PostgreSQL's data: %w: set its folder, or set %s", err, EnvDatabase)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "ax", "pg"), nil
	}
	return filepath.Join(home, ".local", "share", "ax", "pg"), nil
}

// URLFromEnvOrStart gives the database to use: the one that AX_DATABASE_URL names, or database db of an embedded
// server, which is started (or re-used) and in which db is made when it is missing. stop is never nil; it
// stops the embedded server when no other process uses it.
func URLFromEnvOrStart(ctx context.Context, cfg Config, db string) (url string, stop func(context.Context) error, err error) {
	nothing := func(context.Context) error { return nil }
	if url := os.Getenv(EnvDatabase); url != "" {
		return url, nothing, nil
	}
	s, err := Start(ctx, cfg)
	if err != nil {
		return "", nothing, err
	}
	if err := s.CreateDatabase(ctx, db); err != nil {
		_ = s.Stop(context.WithoutCancel(ctx))
		return "", nothing, err
	}
	return s.URL(db), s.Stop, nil
}
