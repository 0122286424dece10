//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// sow fills the empty folder fresh of an ephemeral server from the seed: what initdb made the first time, kept in
// the temporary folder, since initdb costs a second or more and a copy a tenth of it.
func (l layout) sow(ctx context.Context, bin Binaries, fresh string) (string, error) {
	seed := filepath.Join(os.TempDir(), fmt.Sprintf("ax-pgseed-%d-%s", l.owner.uid(), fingerprint(bin.Dir+bin.Version)))
	if password, ok := readSeed(seed); ok {
		if err := l.copyTree(ctx, filepath.Join(seed, "data"), fresh); err != nil {
			return "", fmt.Errorf("copying the seed: %w: remove %s", err, seed)
		}
		return password, nil
	}
	password, err := l.initdb(ctx, bin, fresh, "--no-sync")
	if err != nil {
		return "", err
	}
	keepSeed(ctx, fresh, seed, password)
	return password, nil
}

// readSeed gives the seed's password, if there is a seed and it is this user's own: the temporary folder is open to
// all users.
func readSeed(seed string) (password string, ok bool) {
	info, err := os.Lstat(seed)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return "", false
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return "", false
	}
	text, err := os.ReadFile(filepath.Join(seed, "password"))
	return strings.TrimSpace(string(text)), err == nil
}

// keepSeed stores a copy of data for the next time. Nothing depends on it, so nothing is said when it fails; of two
// processes at once the first wins.
func keepSeed(ctx context.Context, data, seed, password string) {
	tmp, err := os.MkdirTemp(filepath.Dir(seed), "ax-pgseed-new-")
	if err != nil {
		return
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	var mine layout
	if os.Mkdir(filepath.Join(tmp, "data"), 0o700) == nil && mine.copyTree(ctx, data, filepath.Join(tmp, "data")) == nil &&
		write(filepath.Join(tmp, "password"), password+"\n") == nil {
		_ = os.Rename(tmp, seed)
	}
}

// copyTree copies the folders and files below from into the folder to, for the user that the server runs as.
func (l layout) copyTree(ctx context.Context, from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rel, err := filepath.Rel(from, path)
		if err != nil || rel == "." {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			err = os.Mkdir(target, 0o700)
		case d.Type().IsRegular():
			err = copyFile(path, target)
		default:
			return fmt.Errorf("%s is neither a file nor a folder", path)
		}
		if err != nil {
			return err
		}
		return l.owner.give(target)
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
