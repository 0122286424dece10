//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// launch is the shell program that becomes the server. Before that it leaves a watcher behind, outside the
// server's own children, that reads the FIFO (descriptor 3): a line is the name of a file to make, which proves
// to a newcomer that the watcher still watches; the end of the file means that no process uses the server any
// more. A watcher acts only while it is the current one, and only on the process that it was made for.
// Arguments: data folder, signal, FIFO's name, folder to remove or "", what to remove in it, then the server's
// command line.
const launch = `
data=$1 signal=$2 me=$3 remove=$4 contents=$5
shift 5
umask 077
(
  (
    trap '' INT TERM HUP
    while IFS= read -r ack; do [ -z "$ack" ] || true >"$ack"; done <&3
    exec 3<&-
    read -r now <current || exit 0
    [ "$now" = "$me" ] || exit 0
    if read -r pid <"$data/postmaster.pid" && [ "$pid" = "$$" ]; then
      kill -s "$signal" "$pid"
      n=0
      while [ -e "$data/postmaster.pid" ] && [ $n -lt 300 ]; do sleep 0.1; n=$((n+1)); done
    fi
    if [ -n "$remove" ] && cd "$remove"; then
      rm -rf $contents
      cd / && rmdir "$remove"
    fi
  ) 2>/dev/null &
)
exec 3<&-
exec "$@"
`

// hold is this process's end of the FIFO: while it is open, the watcher lets the server be.
type hold struct{ fifo *os.File }

func (h *hold) release() {
	if h != nil && h.fifo != nil {
		_ = h.fifo.Close()
	}
}

// newHold makes a FIFO for a server that is about to start. watch is the end for the watcher.
func (l layout) newHold() (h *hold, watch *os.File, name string, err error) {
	name = "hold." + token()
	path := filepath.Join(l.run, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, nil, "", fmt.Errorf("making the FIFO %s: %w", path, err)
	}
	watch, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, "", fmt.Errorf("opening the FIFO to read: %w", err)
	}
	fifo, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		_ = watch.Close()
		return nil, nil, "", fmt.Errorf("opening the FIFO to write: %w", err)
	}
	// It was opened without waiting for a writer; the watcher's reads must wait for one.
	if err := syscall.SetNonblock(int(watch.Fd()), false); err != nil {
		_, _ = watch.Close(), fifo.Close()
		return nil, nil, "", fmt.Errorf("preparing the FIFO: %w", err)
	}
	if err := write(l.current(), name+"\n"); err != nil {
		_, _ = watch.Close(), fifo.Close()
		return nil, nil, "", err
	}
	if err := l.owner.give(l.current()); err != nil {
		_, _ = watch.Close(), fifo.Close()
		return nil, nil, "", err
	}
	return &hold{fifo: fifo}, watch, name, nil
}

// errUnwatched says that a running server has no watcher, or one that has begun to stop it.
var errUnwatched = errors.New("the server has no watcher")

// join opens the FIFO of a running server and waits until its watcher has answered.
func (l layout) join(ctx context.Context) (*hold, error) {
	text, err := os.ReadFile(l.current())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnwatched, err)
	}
	path := filepath.Join(l.run, filepath.Base(strings.TrimSpace(string(text))))
	fifo, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnwatched, err)
	}
	h := &hold{fifo: fifo}
	ack := "ack." + token()
	if _, err := fifo.WriteString(ack + "\n"); err != nil {
		h.release()
		return nil, fmt.Errorf("%w: %w", errUnwatched, err)
	}
	for {
		if err := os.Remove(filepath.Join(l.run, ack)); err == nil {
			return h, nil
		}
		// The watcher cannot be seen to die while this end is open, except by writing: an empty line is harmless.
		if err := pause(ctx); err != nil {
			h.release()
			return nil, fmt.Errorf("waiting for the server's watcher: %w: %w", errUnwatched, err)
		}
		if _, err := fifo.WriteString("\n"); err != nil {
			h.release()
			return nil, fmt.Errorf("%w: %w", errUnwatched, err)
		}
	}
}
