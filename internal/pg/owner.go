//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// owner is the unprivileged user that the server runs as when this process is root. A nil owner is this
// process's own user.
type owner struct {
	name     string
	userID   uint32
	groupIDs []uint32 // the primary group first
}

// chooseOwner picks who runs the server: nobody special unless this process is root.
func chooseOwner(name string) (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is this process's own user
	}
	names := []string{"postgres", "nobody"}
	if name != "" {
		names = []string{name}
	}
	var last error
	for _, n := range names {
		u, err := user.Lookup(n)
		if err != nil {
			last = err
			continue
		}
		o, err := newOwner(u)
		if err != nil {
			return nil, err
		}
		if o.userID == 0 {
			return nil, fmt.Errorf("system user %q is root: PostgreSQL refuses root, choose an unprivileged user", n)
		}
		return o, nil
	}
	return nil, fmt.Errorf("this process is root and PostgreSQL refuses root: no unprivileged system user among %q: %w", names, last)
}

func newOwner(u *user.User) (*owner, error) {
	id, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("reading the id of system user %q: %w", u.Username, err)
	}
	o := &owner{name: u.Username, userID: uint32(id)}
	groups, err := u.GroupIds()
	if err != nil {
		groups = nil // no group database: the primary group will do
	}
	for _, g := range append([]string{u.Gid}, groups...) {
		id, err := strconv.ParseUint(g, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("reading group %q of system user %q: %w", g, u.Username, err)
		}
		if len(o.groupIDs) == 0 || uint32(id) != o.groupIDs[0] {
			o.groupIDs = append(o.groupIDs, uint32(id))
		}
	}
	return o, nil
}

func (o *owner) uid() int {
	if o == nil {
		return os.Geteuid()
	}
	return int(o.userID)
}

// credential makes a child process run as o.
func (o *owner) credential() *syscall.Credential {
	if o == nil {
		return nil
	}
	return &syscall.Credential{Uid: o.userID, Gid: o.groupIDs[0], Groups: o.groupIDs}
}

// give hands one file or folder to o.
func (o *owner) give(path string) error {
	if o == nil {
		return nil
	}
	if err := os.Lchown(path, int(o.userID), int(o.groupIDs[0])); err != nil {
		return fmt.Errorf("giving %s to user %s: %w", path, o.name, err)
	}
	return nil
}

// reaches checks that o may pass every folder on the way to dir.
func (o *owner) reaches(dir string) error {
	if o == nil {
		return nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return fmt.Errorf("looking at %s: %w", at, err)
		}
		if !o.passes(info) {
			return fmt.Errorf("folder %s (mode %s) is closed to user %s, which the server must run as since PostgreSQL refuses root: "+
				"choose a data folder elsewhere, such as /var/lib/ax/pg, or open that folder (chmod o+x)", at, info.Mode().Perm(), o.name)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func (o *owner) passes(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	mode := info.Mode().Perm()
	if st.Uid == o.userID {
		return mode&0o100 != 0
	}
	for _, g := range o.groupIDs {
		if st.Gid == g {
			return mode&0o010 != 0
		}
	}
	return mode&0o001 != 0
}

// fingerprint is a short name for a path.
func fingerprint(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:6])
}
