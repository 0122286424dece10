package cli

import (
	"strings"
	"testing"
	"time"

	"axflow/shard"
	"axflow/stage"
)

func TestReadShards(t *testing.T) {
	for text, want := range map[string]shard.Set{
		"":             {},
		"3":            shard.Of(3),
		"3,7-9":        shard.Of(3, 7, 8, 9),
		" 9 , 7-8, 7 ": shard.Of(7, 8, 9),
		"0-999999":     shard.Span(0, 1_000_000),
	} {
		got, err := readShards(text)
		if err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"a", "-1", "3-", "9-7", "1000000", "1,,2", "3--4", "99999999999999999999"} {
		if got, err := readShards(text); err == nil || !strings.Contains(err.Error(), "write them as 3,7-9") {
			t.Errorf("%q: %v, %v; want a refusal that says how to write them", text, got, err)
		}
	}
}

// What is told of shards can be given back to --shards.
func TestShardsTextReadsBack(t *testing.T) {
	for _, set := range []shard.Set{shard.Of(0), shard.Of(1, 2, 3), shard.Of(1, 3, 5, 6, 7, 90)} {
		got, err := readShards(shardsText(set))
		if err != nil || !got.Equal(set) {
			t.Errorf("%v is told as %q, read back as %v, %v", set, shardsText(set), got, err)
		}
	}
	if got, want := shardsText(shard.Span(-1, 0)), "plan"; got != want {
		t.Errorf("the plan is told as %q, want %q", got, want)
	}
	var many []int
	for i := range 100 {
		many = append(many, 2*i)
	}
	if got, want := shardsText(shard.Of(many...)), "0,2,4,6,8,10,12,14,… (100)"; got != want {
		t.Errorf("many ranges are told as %q, want %q", got, want)
	}
}

func TestReadTime(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                     {},
		"2h":                   time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC),
		"90m":                  time.Date(2026, 1, 31, 10, 30, 0, 0, time.UTC),
		"2026-01-30T08:00:00Z": time.Date(2026, 1, 30, 8, 0, 0, 0, time.UTC),
		"2026-01-30":           time.Date(2026, 1, 30, 0, 0, 0, 0, time.Local),
	} {
		if got, err := readTime("--since", text, now); err != nil || !got.Equal(want) {
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
	if len(got.States) != 2 || got.States[0] != stage.RunFailed || got.States[1] != stage.RunRunning || got.Tags["team"] != "risk" || len(got.Tags) != 2 {
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
