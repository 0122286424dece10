package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// lab is a scratch copy of the work tree in which mutants live.
type lab struct {
	root, dir string
	timeout   time.Duration
	race      bool
	progress  io.Writer
}

// openLab copies what git knows of, and what it does not ignore, as it is in the work tree.
func openLab(ctx context.Context, root string, timeout time.Duration, race bool, progress io.Writer) (*lab, error) {
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	names, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the work tree's files: %w", err)
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, fmt.Errorf("making the scratch folder: %w", err)
	}
	l := &lab{root: root, dir: dir, timeout: timeout, race: race, progress: progress}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if err := l.restore(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted but not committed
			l.close()
			return nil, fmt.Errorf("copying the work tree: %w", err)
		}
	}
	return l, nil
}

func (l *lab) close() { _ = os.RemoveAll(l.dir) }

// restore copies one file of the work tree into the lab.
func (l *lab) restore(name string) error {
	from := filepath.Join(l.root, filepath.FromSlash(name))
	info, err := os.Stat(from)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	to := filepath.Join(l.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// baseline runs every test command without a mutant: a test that fails anyway would kill all of them.
func (l *lab) baseline(ctx context.Context, mutants []mutant) error {
	var done []string
	for _, m := range mutants {
		command := strings.Join(m.test, " ")
		if slices.Contains(done, command) {
			continue
		}
		done = append(done, command)
		if _, err := fmt.Fprintf(l.progress, "without a mutant: go test %s\n", command); err != nil {
			return err
		}
		out, err := l.goTest(ctx, m.test)
		if err != nil {
			return fmt.Errorf("go test %s fails without a mutant: %w\n%s", command, err, tail(out))
		}
		if bytes.Contains(out, []byte("[no tests to run]")) || bytes.Contains(out, []byte("matched no packages")) {
			return fmt.Errorf("go test %s runs no test in some package:\n%s", command, tail(out))
		}
	}
	return nil
}

// result is what became of a mutant.
type result struct {
	mutant
	killer string // the first test that failed; "" means that the mutant survived
	took   time.Duration
}

func (r result) verdict() string {
	if r.killer == "" {
		return "SURVIVED"
	}
	return "killed by " + r.killer
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// try runs one mutant. The error is for what is not the tests' verdict: a mutant that does not compile, a lab that
// does not work.
func (l *lab) try(ctx context.Context, m mutant) (r result, err error) {
	path := filepath.Join(l.dir, filepath.FromSlash(m.file))
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	broken, err := m.apply(string(text))
	if err != nil {
		return r, err
	}
	if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
		return r, err
	}
	defer func() {
		if back := os.WriteFile(path, text, 0o600); err == nil {
			err = back
		}
	}()
	if strings.HasSuffix(m.file, ".sql") {
		defer func() {
			if out, back := l.sqlc(context.WithoutCancel(ctx), text, path); err == nil && back != nil {
				err = fmt.Errorf("generating the code without the mutant: %w\n%s", back, tail(out))
			}
		}()
		if out, err := l.sqlc(ctx, []byte(broken), path); err != nil {
			return r, fmt.Errorf("sqlc refuses it: %w\n%s", err, tail(out))
		}
	}
	if out, err := l.goTest(ctx, append([]string{"-run", "^$"}, packages(m.test)...)); err != nil {
		return r, fmt.Errorf("it does not compile: %w\n%s", err, tail(out))
	}
	start := time.Now()
	out, err := l.goTest(ctx, m.test)
	r = result{mutant: m, took: time.Since(start)}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case !errors.As(err, &exit):
		return r, fmt.Errorf("running its tests: %w", err)
	}
	r.killer = killer(out)
	return r, nil
}

// killer names what failed in go test's output: the innermost of the first failed tests, or how the binary died.
func killer(out []byte) string {
	name := ""
	for _, hit := range failed.FindAllSubmatch(out, -1) {
		if next := string(hit[1]); name == "" || strings.HasPrefix(next, name+"/") {
			name = next
		}
	}
	switch {
	case name != "":
		return name
	case bytes.Contains(out, []byte("panic: test timed out")):
		return "the deadline"
	case bytes.Contains(out, []byte("panic: ")):
		return "a panic"
	default:
		return "a failed test binary"
	}
}

// packages are the arguments that name packages.
func packages(args []string) []string {
	var found []string
	for _, a := range args {
		if strings.HasPrefix(a, "./") || a == "." {
			found = append(found, a)
		}
	}
	return found
}

func (l *lab) goTest(ctx context.Context, args []string) ([]byte, error) {
	args = append([]string{"test", "-count=1", "-failfast", "-timeout", l.timeout.String()}, args...)
	if l.race {
		args = slices.Insert(args, 1, "-race")
	}
	return l.command(ctx, "go", args...)
}

// sqlc writes an SQL file and generates sql/db anew.
func (l *lab) sqlc(ctx context.Context, text []byte, path string) ([]byte, error) {
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	name := "sqlc"
	if at := os.Getenv("SQLC"); at != "" {
		name = at
	}
	return l.command(ctx, name, "generate")
}

func (l *lab) command(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = l.dir
	cmd.WaitDelay = 10 * time.Second
	return cmd.CombinedOutput()
}

// tail is the end of a program's output.
func tail(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
