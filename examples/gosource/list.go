package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"axflow/stage"
)

// Package is one folder with Go files. Its path and the names of its files are relative to the tree's root and to
// the folder.
type Package struct {
	Path  string   `json:"path"`
	Files []string `json:"files"`
}

// Listing is the output of the stage "list": what there is to do.
type Listing struct {
	Root     string    `json:"root"`
	Files    int       `json:"files"`
	Packages []Package `json:"packages"`
}

// listTree is the handler of the stage "list".
func listTree(ctx context.Context, p Params) (Listing, error) {
	root, err := rootOf(ctx, p)
	if err != nil {
		return Listing{}, err
	}
	l := Listing{Root: root}
	err = fs.WalkDir(os.DirFS(root), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular() || path.Ext(at) != ".go":
			return nil
		}
		l.add(path.Dir(at), d.Name())
		return ctx.Err()
	})
	if err != nil {
		return Listing{}, fmt.Errorf("listing %s: %w", root, err)
	}
	if l.Files == 0 {
		// A permanent error is not worth a retry: the run fails at once.
		return Listing{}, stage.Permanent(fmt.Errorf("there are no Go files under %s: name another root", root))
	}
	return l, nil
}

// add adds a file. A walk sees a folder's subfolders between its files, so the package may be an older one.
func (l *Listing) add(folder, file string) {
	l.Files++
	for i := len(l.Packages) - 1; i >= 0; i-- {
		if l.Packages[i].Path == folder {
			l.Packages[i].Files = append(l.Packages[i].Files, file)
			return
		}
	}
	l.Packages = append(l.Packages, Package{Path: folder, Files: []string{file}})
}

// skipped tells whether the go command ignores folders of this name too; test data need not even parse.
func skipped(folder string) bool {
	return folder == "testdata" || folder != "." && strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

// rootOf returns the tree to read: the one that the run names, or the Go toolchain's own.
func rootOf(ctx context.Context, p Params) (string, error) {
	if p.Root != "" {
		return filepath.Abs(p.Root)
	}
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("asking the go command for its GOROOT: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src"), nil
}
