package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

var productModule = regexp.MustCompile(`(?m)^module axflow$`)

// productRoot is the nearest folder at or above dir that holds the product's go.mod.
func productRoot(dir string) (string, error) {
	for at := dir; ; {
		text, err := os.ReadFile(filepath.Join(at, "go.mod")) //nolint:gosec // a go.mod above us
		switch {
		case err == nil && productModule.Match(text):
			return at, nil
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return "", fmt.Errorf("looking for the product's go.mod: %w", err)
		}
		up := filepath.Dir(at)
		if up == at {
			return "", fmt.Errorf("no go.mod of module axflow at or above %s: run this inside the repository", dir)
		}
		at = up
	}
}

// build compiles the product's bench programs into dir, so that no turn pays for a compiler.
func build(ctx context.Context, dir string, programs ...string) error {
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("finding the working directory: %w", err)
	}
	root, err := productRoot(here)
	if err != nil {
		return err
	}
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	for _, p := range programs {
		args = append(args, "./bench/"+p)
	}
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // our own programs
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building AX's bench programs: %w\n%s", err, out)
	}
	return nil
}
