package measure

import (
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	// proc(5): utime 250, stime 50, cutime 7, cstime 3 ticks of 10 ms; the name holds what may confuse.
	const text = "42 (postgres: a) (b) S 7 42 42 0 -1 4194560 100 200 0 0 250 50 7 3 20 0 1 0 12345 1 1"
	got, ok := parseStat(text)
	want := procStat{name: "postgres: a) (b", parent: 7, own: 3 * time.Second, waited: 100 * time.Millisecond}
	if !ok || got != want {
		t.Fatalf("parseStat = %+v, %v, want %+v", got, ok, want)
	}
	for _, bad := range []string{"", "42 (x", "42 (x) S 1 2", "42 (x) S a 42 42 0 -1 4194560 100 200 0 0 250 50 7 3 20"} {
		if _, ok := parseStat(bad); ok {
			t.Errorf("parseStat took %q", bad)
		}
	}
}

func TestWithDatabase(t *testing.T) {
	for _, c := range [][2]string{
		{"postgres://u:p@h:1/db?sslmode=disable", "postgres://u:p@h:1/x?sslmode=disable"},
		{"postgres:///db?host=%2Frun%2Fs&port=5", "postgres:///x?host=%2Frun%2Fs&port=5"},
		{"postgres://ax@/db?host=/run/s&port=5", "postgres://ax@/x?host=/run/s&port=5"},
	} {
		if got, err := withDatabase(c[0], "x"); err != nil || got != c[1] {
			t.Errorf("withDatabase(%q) = %q, %v, want %q", c[0], got, err, c[1])
		}
	}
	if _, err := withDatabase("host=h dbname=d", "x"); err == nil {
		t.Error("withDatabase took key=value words")
	}
}
