package main

import (
	"context"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample has each construct at least once; the wanted numbers were counted by eye.
const sample = `// Package p is a sample.
package p

import "sync"

/* A block
   comment. */

type (
	pair   struct{ a, b int }
	opener interface{ Open() error }
)

func (p pair) sum() int { return p.a + p.b }

func run(ch chan<- int, stop <-chan struct{}) {
	var mu sync.Mutex
	mu.Lock()
	defer mu.Unlock()
	type local = map[string]chan int // an alias counts as a type
	go func() {
		defer close(ch)
		select {
		case ch <- 1:
		case <-stop:
		}
	}()
}

func any2(v interface{}) {}
`

var sampleCounts = Counts{
	files: 1, lines: 30, comments: 3, functions: 2, methods: 1, closures: 1, types: 3,
	structs:    2, // pair, and the element of stop
	interfaces: 2, // opener, and v's
	gos:        1, defers: 2, selects: 1,
	channels: 3, // ch, stop, and local's
}

func TestCountSource(t *testing.T) {
	got, err := countSource("sample.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(sampleCounts, got); diff != "" {
		t.Errorf("want and got differ: %s", diff)
	}
}

func TestLines(t *testing.T) {
	for src, want := range map[string]int64{"package p": 1, "package p\n": 1, "package p\n\n": 2, "package p\n\n// end": 3} {
		got, err := countSource("p.go", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		walked, err := recount(t.Context(), tree(t, map[string]string{"p.go": src}))
		if err != nil {
			t.Fatal(err)
		}
		if got[lines] != want || walked[lines] != want {
			t.Errorf("%q: counted %d lines, recounted %d, want %d", src, got[lines], walked[lines], want)
		}
	}
}

func TestCountSourceNamesTheBrokenFile(t *testing.T) {
	_, err := countSource("broken.go", []byte("package p\nfunc {"))
	if err == nil || !strings.Contains(err.Error(), "broken.go:2") {
		t.Errorf("got %v, want an error that names broken.go and line 2", err)
	}
}

// The keywords of a file are counted by the scanner, which knows nothing of syntax trees.
func TestCountsAgreeWithTheScanner(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	keywords := map[token.Token]string{token.GO: gos, token.DEFER: defers, token.SELECT: selects, token.CHAN: channels,
		token.STRUCT: structs, token.INTERFACE: interfaces, token.COMMENT: comments}
	sources := map[string][]byte{"sample": []byte(sample)}
	for _, path := range paths {
		if sources[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	for path, src := range sources {
		got, err := countSource(path, src)
		if err != nil {
			t.Fatal(err)
		}
		want := Counts{}
		maps.Copy(want, got)
		for _, construct := range keywords {
			delete(want, construct)
		}
		var s scanner.Scanner
		set := token.NewFileSet()
		s.Init(set.AddFile(path, -1, len(src)), src, nil, scanner.ScanComments)
		for _, tok, _ := s.Scan(); tok != token.EOF; _, tok, _ = s.Scan() {
			if construct, ok := keywords[tok]; ok {
				want[construct]++
			}
		}
		if diff := difference(want, got); diff != "" {
			t.Errorf("%s: want and got differ: %s", path, diff)
		}
	}
}

func TestCountPackageStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	root := tree(t, map[string]string{"a/a.go": "package a"})
	if _, err := countPackage(ctx, root, Package{Path: "a", Files: []string{"a.go"}}); err == nil {
		t.Error("a package is counted although its run was cancelled")
	}
}

// tree writes files below a folder of the test.
func tree(t *testing.T, sources map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for path, src := range sources {
		path = filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
