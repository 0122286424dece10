package cli

import (
	"strings"
	"testing"
	"time"

	"axflow/api/gen"
)

func TestReadShards(t *testing.T) {
	for text, want := range map[string]string{"": "", "3": "3", "3,7-9": "3,7-9", " 9 , 7-8, 7 ": "9,7-8,7", "0-999999": "0-999999"} {
		if got, err := readShards(text); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"a", "-1", "3-", "9-7", "1000000", "1,,2", "3--4", "99999999999999999999"} {
		if got, err := readShards(text); err == nil || !strings.Contains(err.Error(), "write them as 3,7-9") {
			t.Errorf("%q: %v, %v; want a refusal that says how to write them", text, got, err)
		}
	}
}

func TestShortShards(t *testing.T) {
	for text, want := range map[string]string{"-1": "plan", "0": "0", "1,3,5-7,90": "1,3,5-7,90", "0,2,4,6,8,10,12,14,16": "0,2,4,6,8,10,12,14,… (9)"} {
		if got := shortShards(text, 9); got != want {
			t.Errorf("%q is told as %q, want %q", text, got, want)
		}
	}
}

func TestReadTime(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                     {},
		"7d":                   time.Date(2026, 1, 24, 12, 0, 0, 0, time.UTC),
		"2h":                   time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC),
		"90m":                  time.Date(2026, 1, 31, 10, 30, 0, 0, time.UTC),
		"2026-01-30T08:00:00Z": time.Date(2026, 1, 30, 8, 0, 0, 0, time.UTC),
		"2026-01-30":           time.Date(2026, 1, 30, 0, 0, 0, 0, time.Local),
	} {
		if got, err := readTime("--since", text, now); err != nil || !value(got).Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "-2h", "2026-13-01"} {
		if _, err := readTime("--since", text, now); err == nil || !strings.Contains(err.Error(), `--since "`+text+`" is no time`) {
			t.Errorf("%q: the error is %v", text, err)
		}
	}
}

func TestReadFilter(t *testing.T) {
	f := filterFlags{flows: []string{"daily"}, states: []string{"failed", "running"}, tags: []string{"team=risk", "empty="}}
	got, err := f.read(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.States) != 2 || got.States[0] != gen.RunStateFailed || got.States[1] != gen.RunStateRunning || got.Tags["team"] != "risk" || len(got.Tags) != 2 {
		t.Errorf("the filter is %+v", got)
	}
	for _, bad := range []filterFlags{{states: []string{"ended"}}, {tags: []string{"team"}}, {tags: []string{"=risk"}}, {until: "soon"}} {
		if _, err := bad.read(time.Now()); err == nil {
			t.Errorf("%+v is read", bad)
		}
	}
	if (&filterFlags{most: 5}).given() {
		t.Error("a limit alone picks runs")
	}
}
