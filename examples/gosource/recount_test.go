package main

import "testing"

func TestRecount(t *testing.T) {
	root := tree(t, map[string]string{"a.go": sample, "sub/b.go": sample, "testdata/c.go": "broken", "sub/_x/d.go": "broken", "sub/.y/e.go": "broken"})
	got, err := recount(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	want := Counts{}
	want.Add(sampleCounts)
	want.Add(sampleCounts)
	if diff := difference(want, got); diff != "" {
		t.Errorf("want and got differ: %s", diff)
	}
}

func TestDifference(t *testing.T) {
	if got := difference(Counts{files: 1, lines: 2}, Counts{files: 1, lines: 3, gos: 1}); got != "go statements: 0 and 1, lines: 2 and 3" {
		t.Errorf("got %q", got)
	}
	if got := difference(Counts{files: 1, gos: 0}, Counts{files: 1}); got != "" {
		t.Errorf("got %q for equal counts", got)
	}
}
