package pg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// fetched is the version that fetch downloads.
const fetched = embedded.V16

// fetch downloads PostgreSQL binaries into dir, once, and is the last resort: the library behind it has no way to
// only unpack, so this lets it start a throw-away server and judges by what is in the folder afterwards (as root
// its initdb refuses to run, after the unpacking).
func fetch(ctx context.Context, dir string, log *slog.Logger) (Binaries, error) {
	bin := filepath.Join(dir, "bin")
	if b, err := inspect(ctx, bin); err == nil {
		return b, nil
	}
	log.Info("no PostgreSQL found: fetching its binaries", "version", string(fetched), "dir", dir)
	scratch, err := os.MkdirTemp("", "ax-pg-fetch-")
	if err != nil {
		return Binaries{}, fmt.Errorf("making a folder for the download: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	port, err := freePort()
	if err != nil {
		return Binaries{}, err
	}
	done := make(chan error, 1)
	go func() {
		throwAway := embedded.NewDatabase(embedded.DefaultConfig().
			Version(fetched).
			Port(uint32(port)).
			CachePath(filepath.Join(dir, "download")).
			BinariesPath(dir).
			RuntimePath(filepath.Join(scratch, "run")).
			DataPath(filepath.Join(scratch, "data")).
			Logger(io.Discard))
		err := throwAway.Start()
		if err == nil {
			err = throwAway.Stop()
		}
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		// The library cannot be cancelled; it ends by itself, and its folder is swept by the next call.
		return Binaries{}, fmt.Errorf("fetching PostgreSQL: %w", context.Cause(ctx))
	}
	b, look := inspect(ctx, bin)
	if look != nil {
		return Binaries{}, fmt.Errorf("fetching PostgreSQL %s: %w", fetched, errors.Join(err, look))
	}
	return b, nil
}

// freePort asks the kernel for a loopback port that nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("looking for a free port: %s is no TCP address", l.Addr())
	}
	return addr.Port, nil
}
