//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// install puts a make-believe PostgreSQL of some version into a folder.
func install(t *testing.T, dir, version string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho 'postgres (PostgreSQL) %s'\n", version)
	for _, name := range []string{"postgres", "initdb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	for _, v := range []string{"9.6.24", "14.11", "15.6 (Debian 15.6-1)", "18beta1", "16.2"} {
		major, _, _ := strings.Cut(v, ".")
		install(t, filepath.Join(root, "lib", strings.TrimSuffix(major, "beta1"), "bin"), v)
	}
	if err := os.MkdirAll(filepath.Join(root, "lib", "99", "bin"), 0o755); err != nil { // a folder with nothing in it
		t.Fatal(err)
	}
	patterns := []string{filepath.Join(root, "lib", "*", "bin")}
	onPath := filepath.Join(root, "path")
	install(t, onPath, "17.1")
	empty := t.TempDir()
	for name, c := range map[string]struct {
		path   string
		prefer int
		want   int
	}{
		"the newest of the usual folders":      {empty, 0, 18},
		"the preferred one":                    {empty, 15, 15},
		"the newest when the preferred is old": {empty, 14, 18},
		"PATH before the usual folders":        {onPath, 0, 17},
		"the preferred one before PATH":        {onPath, 16, 16},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", c.path)
			t.Setenv(EnvBinaries, "")
			b, err := find(context.Background(), c.prefer, patterns)
			if err != nil {
				t.Fatal(err)
			}
			if b.Major != c.want {
				t.Errorf("found %d in %s, want %d", b.Major, b.Dir, c.want)
			}
		})
	}
	t.Run("the variable before all", func(t *testing.T) {
		t.Setenv(EnvBinaries, filepath.Join(root, "lib", "15", "bin"))
		if b, err := find(context.Background(), 16, patterns); err != nil || b.Major != 15 {
			t.Errorf("found %d, %v, want 15", b.Major, err)
		}
	})
	t.Run("the variable names an old one", func(t *testing.T) {
		t.Setenv(EnvBinaries, filepath.Join(root, "lib", "14", "bin"))
		_, err := find(context.Background(), 0, patterns)
		if err == nil || !strings.Contains(err.Error(), "14.11") || !strings.Contains(err.Error(), "older than PostgreSQL 15") {
			t.Errorf("got %v, want the version and the limit", err)
		}
	})
	t.Run("none", func(t *testing.T) {
		t.Setenv("PATH", empty)
		t.Setenv(EnvBinaries, "")
		_, err := find(context.Background(), 0, []string{filepath.Join(root, "lib", "14", "bin")})
		if !errors.Is(err, ErrNoBinaries) {
			t.Fatalf("got %v, want ErrNoBinaries", err)
		}
		for _, word := range []string{"14.11", "PATH", filepath.Join(root, "lib", "14", "bin"), "apt-get install postgresql", EnvBinaries, EnvDatabase} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("the error does not say %q: %v", word, err)
			}
		}
	})
}
