//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package pg

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

// Server is a running PostgreSQL server; on this system there never is one.
type Server struct{}

var errSystem = fmt.Errorf("embedded PostgreSQL does not run on %s: set %s to a database", runtime.GOOS, EnvDatabase)

// ErrStopped says that Stop was called on this Server before.
var ErrStopped = errors.New("this PostgreSQL server was stopped")

// Start fails on this system.
func Start(context.Context, Config) (*Server, error) { return nil, errSystem }

// URL is empty on this system.
func (*Server) URL(string) string { return "" }

// SocketURL is empty on this system.
func (*Server) SocketURL(string) string { return "" }

// Dir is empty on this system.
func (*Server) Dir() string { return "" }

// Port is 0 on this system.
func (*Server) Port() int { return 0 }

// LogFile is empty on this system.
func (*Server) LogFile() string { return "" }

// PID is 0 on this system.
func (*Server) PID() int { return 0 }

// CreateDatabase fails on this system.
func (*Server) CreateDatabase(context.Context, string) error { return errSystem }

// Stop does nothing on this system.
func (*Server) Stop(context.Context) error { return nil }

// Kill fails on this system.
func (*Server) Kill(context.Context) error { return errSystem }

// Resume fails on this system.
func (*Server) Resume(context.Context) error { return errSystem }

// ImmediateRestart fails on this system.
func (*Server) ImmediateRestart(context.Context) error { return errSystem }
