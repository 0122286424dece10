package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestListTree(t *testing.T) {
	root := tree(t, map[string]string{
		"a/a.go": "package a", "a/z.go": "package a", "a/b/b.go": "package b", "a/README": "no Go",
		"a/testdata/broken.go": "broken", "_old/o.go": "broken", ".hidden/h.go": "broken", "c_test.go": "package c",
	})
	got, err := listTree(t.Context(), Params{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{}
	for _, p := range got.Packages {
		files[p.Path] = p.Files
	}
	want := map[string][]string{"a": {"a.go", "z.go"}, "a/b": {"b.go"}, ".": {"c_test.go"}}
	if got.Files != 4 || len(got.Packages) != 3 || !reflect.DeepEqual(files, want) {
		t.Errorf("got %d files of %v, want 4 of %v", got.Files, got.Packages, want)
	}
}

func TestListTreeOfNothing(t *testing.T) {
	root := t.TempDir()
	if _, err := listTree(t.Context(), Params{Root: root}); err == nil || !strings.Contains(err.Error(), root) {
		t.Errorf("got %v, want an error that names the root", err)
	}
}

func TestBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Listing{Root: "r"}
		most := 0
		for i, size := range rapid.SliceOfN(rapid.IntRange(1, 30), 1, 40).Draw(t, "sizes") {
			p := Package{Path: fmt.Sprint("p", i), Files: make([]string, size)}
			l.Packages = append(l.Packages, p)
			l.Files += size
			most = max(most, size)
		}
		n := rapid.IntRange(1, 50).Draw(t, "groups")
		groups := balance(l, n)
		if want := min(n, len(l.Packages)); len(groups) != want {
			t.Fatalf("got %d groups, want %d", len(groups), want)
		}
		seen := map[string]bool{}
		fewest, greatest := l.Files, 0
		for _, g := range groups {
			size := 0
			for _, p := range g.Packages {
				if seen[p.Path] {
					t.Fatalf("package %s is in two groups", p.Path)
				}
				seen[p.Path] = true
				size += len(p.Files)
			}
			if size != g.Files || size == 0 || g.Root != "r" {
				t.Fatalf("a group of %d files says %d and root %q", size, g.Files, g.Root)
			}
			fewest, greatest = min(fewest, size), max(greatest, size)
		}
		// The last package of the greatest group came when no group was smaller.
		if len(seen) != len(l.Packages) || greatest-fewest > most {
			t.Fatalf("%d of %d packages, groups of %d to %d files, the largest package has %d", len(seen), len(l.Packages), fewest, greatest, most)
		}
	})
}

func TestLargest(t *testing.T) {
	var sizes []Size
	for i := range 12 {
		sizes = append(sizes, Size{fmt.Sprint("p", i), int64(i / 2)})
	}
	got := largest(sizes)
	if len(got) != 10 || got[0] != (Size{"p10", 5}) || got[1] != (Size{"p11", 5}) || got[9] != (Size{"p3", 1}) {
		t.Errorf("got %v", got)
	}
}
