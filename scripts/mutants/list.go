package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mutant is one place to break.
type mutant struct {
	name     string
	file     string   // below the root, with slashes
	test     []string // go test's arguments: packages and perhaps -run
	from, to string   // exact text, and what takes its place
	line     int      // in the list, for messages
}

// parse reads a list. A mutant is
//
//	name: the fence is not checked
//	file: sql/queries/lease.sql
//	test: ./sql/... ./engine/leader -run Fence
//	<<<<
//	the exact text, whole lines or part of one
//	====
//	what takes its place; nothing deletes it
//	>>>>
//
// with any number of empty lines and lines that begin with # between mutants. The text must be in its file exactly
// once. Newlines at the ends of both texts do not count, so part of a line can be named.
func parse(text string) ([]mutant, error) {
	var found []mutant
	var m mutant
	var into *[]string
	var from, to []string
	names := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		n := i + 1
		switch {
		case into != nil && line == "====" && into == &from:
			into = &to
		case into != nil && line == ">>>>" && into == &to:
			m.from, m.to = strings.Join(from, "\n"), strings.Join(to, "\n")
			if err := m.valid(); err != nil {
				return nil, fmt.Errorf("line %d: mutant %q: %w", n, m.name, err)
			}
			if names[m.name] {
				return nil, fmt.Errorf("line %d: a second mutant is named %q", n, m.name)
			}
			names[m.name] = true
			found = append(found, m)
			m, into, from, to = mutant{}, nil, nil, nil
		case into != nil:
			*into = append(*into, line)
		case line == "<<<<":
			into = &from
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		default:
			key, value, ok := strings.Cut(line, ":")
			value = strings.TrimSpace(value)
			switch {
			case ok && key == "name":
				m.name, m.line = value, n
			case ok && key == "file":
				m.file = value
			case ok && key == "test":
				m.test = strings.Fields(value)
			default:
				return nil, fmt.Errorf("line %d: %q is none of name:, file:, test:, <<<<, # and empty", n, line)
			}
		}
	}
	if into != nil || m.name != "" {
		return nil, fmt.Errorf("line %d: mutant %q has no end", m.line, m.name)
	}
	return found, nil
}

func (m mutant) valid() error {
	switch {
	case m.name == "":
		return errors.New("it has no name")
	case m.file == "" || !filepath.IsLocal(m.file):
		return fmt.Errorf("its file %q is not below the root", m.file)
	case len(m.test) == 0:
		return errors.New("it names no tests")
	case m.from == "":
		return errors.New("the text to replace is empty")
	case m.from == m.to:
		return errors.New("it changes nothing")
	}
	return nil
}

// apply gives the file's text with the mutant in it.
func (m mutant) apply(text string) (string, error) {
	if n := strings.Count(text, m.from); n != 1 {
		return "", fmt.Errorf("its text is %d times in %s, want once: %q", n, m.file, m.from)
	}
	return strings.Replace(text, m.from, m.to, 1), nil
}

// fit reports every mutant whose text is not in its file exactly once.
func fit(root string, mutants []mutant) error {
	var faults []error
	for _, m := range mutants {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
		if err == nil {
			_, err = m.apply(string(text))
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("line %d: mutant %q: %w", m.line, m.name, err))
		}
	}
	return errors.Join(faults...)
}
