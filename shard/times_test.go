package shard_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"axflow/shard"
	"axflow/stage"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// starts returns where each shard of a plan starts, in UTC, and where the last one ends.
func starts(t interface{ Fatal(...any) }, p shard.Plan) []string {
	var all []string
	n := total(t, p)
	for i := range n {
		from, to := at(t, p, i).Times()
		all = append(all, from.UTC().Format(time.RFC3339))
		if i == n-1 {
			all = append(all, to.UTC().Format(time.RFC3339))
		}
	}
	return all
}

func TestTimeRange(t *testing.T) {
	berlin, saoPaulo, apia, beirut := zone(t, "Europe/Berlin"), zone(t, "America/Sao_Paulo"), zone(t, "Pacific/Apia"), zone(t, "Asia/Beirut")
	utc := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	india, err := time.Parse(time.RFC3339, "2026-01-01T00:00:00+05:30")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		plan shard.Plan
		want string
	}{
		"nothing": {shard.TimeRange(utc(2026, 1, 1), utc(2026, 1, 1), time.Hour), ""},
		"hours, the last one short": {
			shard.TimeRange(utc(2026, 1, 1), utc(2026, 1, 1).Add(150*time.Minute), time.Hour),
			"2026-01-01T00:00:00Z 2026-01-01T01:00:00Z 2026-01-01T02:00:00Z 2026-01-01T02:30:00Z",
		},
		"days over the turn forward, 29 March 2026 in Berlin": {
			shard.TimeRange(time.Date(2026, 3, 28, 0, 0, 0, 0, berlin), time.Date(2026, 3, 31, 0, 0, 0, 0, berlin), shard.Days(1)),
			"2026-03-27T23:00:00Z 2026-03-28T23:00:00Z 2026-03-29T22:00:00Z 2026-03-30T22:00:00Z",
		},
		"days over the turn back, 25 October 2026 in Berlin": {
			shard.TimeRange(time.Date(2026, 10, 24, 0, 0, 0, 0, berlin), time.Date(2026, 10, 27, 0, 0, 0, 0, berlin), shard.Days(1)),
			"2026-10-23T22:00:00Z 2026-10-24T22:00:00Z 2026-10-25T23:00:00Z 2026-10-26T23:00:00Z",
		},
		"24 hours are no days": {
			shard.TimeRange(time.Date(2026, 3, 28, 0, 0, 0, 0, berlin), time.Date(2026, 3, 30, 0, 0, 0, 0, berlin), 24*time.Hour),
			"2026-03-27T23:00:00Z 2026-03-28T23:00:00Z 2026-03-29T22:00:00Z",
		},
		"from 02:30, which 29 March skips: 03:00 summer time": {
			shard.TimeRange(time.Date(2026, 3, 28, 2, 30, 0, 0, berlin), time.Date(2026, 3, 30, 2, 30, 0, 0, berlin), shard.Days(1)),
			"2026-03-28T01:30:00Z 2026-03-29T01:00:00Z 2026-03-30T00:30:00Z",
		},
		"from 02:30, which 25 October has twice: the first": {
			shard.TimeRange(time.Date(2026, 10, 24, 2, 30, 0, 0, berlin), time.Date(2026, 10, 26, 2, 30, 0, 0, berlin), shard.Days(1)),
			"2026-10-24T00:30:00Z 2026-10-25T00:30:00Z 2026-10-26T01:30:00Z",
		},
		"a midnight that does not exist, 4 November 2018 in São Paulo": {
			shard.TimeRange(time.Date(2018, 11, 3, 0, 0, 0, 0, saoPaulo), time.Date(2018, 11, 6, 0, 0, 0, 0, saoPaulo), shard.Days(1)),
			"2018-11-03T03:00:00Z 2018-11-04T03:00:00Z 2018-11-05T02:00:00Z 2018-11-06T02:00:00Z",
		},
		"23:30 twice on 17 February 2018 in São Paulo": {
			shard.TimeRange(time.Date(2018, 2, 16, 23, 30, 0, 0, saoPaulo), time.Date(2018, 2, 18, 23, 30, 0, 0, saoPaulo), shard.Days(1)),
			"2018-02-17T01:30:00Z 2018-02-18T01:30:00Z 2018-02-19T02:30:00Z",
		},
		"midnight skipped in Beirut, 29 March 2026": {
			shard.TimeRange(time.Date(2026, 3, 28, 0, 0, 0, 0, beirut), time.Date(2026, 3, 30, 0, 0, 0, 0, beirut), shard.Days(1)),
			"2026-03-27T22:00:00Z 2026-03-28T22:00:00Z 2026-03-29T21:00:00Z",
		},
		"30 December 2011, which Samoa skipped, is empty": {
			shard.TimeRange(time.Date(2011, 12, 29, 0, 0, 0, 0, apia), time.Date(2012, 1, 1, 0, 0, 0, 0, apia), shard.Days(1)),
			"2011-12-29T10:00:00Z 2011-12-30T10:00:00Z 2011-12-30T10:00:00Z 2011-12-31T10:00:00Z",
		},
		"noon of that day too": {
			shard.TimeRange(time.Date(2011, 12, 29, 12, 0, 0, 0, apia), time.Date(2011, 12, 31, 18, 0, 0, 0, apia), shard.Days(1)),
			"2011-12-29T22:00:00Z 2011-12-30T10:00:00Z 2011-12-30T22:00:00Z 2011-12-31T04:00:00Z",
		},
		"months from the 31st": {
			shard.TimeRange(utc(2026, 1, 31), utc(2026, 5, 31), shard.Months(1)),
			"2026-01-31T00:00:00Z 2026-02-28T00:00:00Z 2026-03-31T00:00:00Z 2026-04-30T00:00:00Z 2026-05-31T00:00:00Z",
		},
		"years from 29 February": {
			shard.TimeRange(utc(2024, 2, 29), utc(2028, 3, 1), shard.Years(1)),
			"2024-02-29T00:00:00Z 2025-02-28T00:00:00Z 2026-02-28T00:00:00Z 2027-02-28T00:00:00Z 2028-02-29T00:00:00Z 2028-03-01T00:00:00Z",
		},
		"weeks": {
			shard.TimeRange(utc(2026, 1, 5), utc(2026, 1, 20), shard.Weeks(1)),
			"2026-01-05T00:00:00Z 2026-01-12T00:00:00Z 2026-01-19T00:00:00Z 2026-01-20T00:00:00Z",
		},
		"an offset for a zone": {
			shard.TimeRange(india, india.AddDate(0, 0, 2), shard.Days(1)),
			"2025-12-31T18:30:00Z 2026-01-01T18:30:00Z 2026-01-02T18:30:00Z",
		},
	} {
		if got := strings.Join(starts(t, tc.plan), " "); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tc.want)
		}
	}
}

func TestTimesKeepTheZone(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	p := shard.TimeRange(time.Date(2026, 7, 1, 0, 0, 0, 0, berlin), time.Date(2026, 7, 3, 0, 0, 0, 0, berlin), shard.Days(1))
	l, err := p.Layout(shard.MaxShards)
	if err != nil {
		t.Fatal(err)
	}
	// The cut goes through the database as JSON.
	b, err := json.Marshal(l.Cut)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"kind":"times","from":"2026-06-30T22:00:00Z","to":"2026-07-02T22:00:00Z","days":1,"zone":"Europe/Berlin"}`; string(b) != want {
		t.Errorf("the cut is %s, want %s", b, want)
	}
	var cut stage.Cut
	if err := json.Unmarshal(b, &cut); err != nil {
		t.Fatal(err)
	}
	from, to := shard.FromCall(stage.Call{Index: 1, Total: 2, Cut: &cut}).Times()
	if got := from.String() + " " + to.String(); got != "2026-07-02 00:00:00 +0200 CEST 2026-07-03 00:00:00 +0200 CEST" {
		t.Errorf("the second day is %s", got)
	}
}

func TestTimesCoverTheWholeOnce(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Pacific/Apia", "Australia/Lord_Howe",
		"Africa/Cairo", "Asia/Kathmandu", "Africa/Casablanca", "Antarctica/Troll"}
	rapid.Check(t, func(t *rapid.T) {
		loc, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		from := time.Unix(rapid.Int64Range(0, 1<<31).Draw(t, "from"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanos")).In(loc)
		if rapid.Bool().Draw(t, "at midnight") {
			from = time.Date(from.Year(), from.Month(), from.Day(), 0, 0, 0, 0, loc)
		}
		to := from.Add(time.Duration(rapid.Int64Range(0, 400*24*3600).Draw(t, "seconds")) * time.Second)
		var p shard.Plan
		var longest time.Duration
		switch n := rapid.IntRange(1, 9).Draw(t, "step"); rapid.SampledFrom([]string{"duration", "days", "months"}).Draw(t, "kind") {
		case "duration":
			longest = time.Duration(n)*time.Hour + time.Nanosecond
			p = shard.TimeRange(from, to, longest)
		case "days":
			longest = time.Duration(24*n+25) * time.Hour
			p = shard.TimeRange(from, to, shard.Days(n))
		case "months":
			longest = time.Duration(31*24*n+25) * time.Hour
			p = shard.TimeRange(from, to, shard.Months(n))
		}
		next := from
		n := total(t, p)
		for i := range n {
			a, b := at(t, p, i).Times()
			if !a.Equal(next) || b.Before(a) || b.Sub(a) > longest || a.Location().String() != loc.String() {
				t.Fatalf("shard %d of %d goes from %v to %v after %v", i, n, a, b, next)
			}
			next = b
		}
		if !next.Equal(to) {
			t.Fatalf("the %d shards end at %v, want %v", n, next, to)
		}
	})
}

func TestTimeRangeExtremes(t *testing.T) {
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9998, 12, 31, 0, 0, 0, 0, time.UTC)
	if got := total(t, shard.TimeRange(first, last, time.Duration(math.MaxInt64))); got != 35 { // steps of 292.47 years
		t.Errorf("the longest time in the longest steps has %d shards, want 35", got)
	}
	if got := total(t, shard.TimeRange(first, last, shard.Years(1))); got != 9998 {
		t.Errorf("the longest time has %d years, want 9998", got)
	}
	second := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if got := total(t, shard.TimeRange(second, second.Add(1_000_000), time.Nanosecond)); got != 1_000_000 {
		t.Errorf("a millisecond has %d nanoseconds", got)
	}
	for want, p := range map[string]shard.Plan{
		"the plan has 1000001 shards, at most 1000000 are allowed: use a longer step, or a shorter time": shard.TimeRange(second, second.Add(1_000_001), time.Nanosecond),
		"the plan has 9223372036854775808 shards, at most":                                               shard.TimeRange(first, last, time.Nanosecond),
		"the plan has 3651693 shards, at most":                                                           shard.TimeRange(first, last, shard.Days(1)),
	} {
		if _, err := p.Layout(shard.MaxShards); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

func TestBadTimeRanges(t *testing.T) {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	local := time.Date(2026, 1, 1, 0, 0, 0, 0, time.Local)
	for want, p := range map[string]shard.Plan{
		"TimeRange: the step is 0s: give a positive one":                         shard.TimeRange(day, day.Add(1), time.Duration(0)),
		"TimeRange: the step is -1s: give a positive one":                        shard.TimeRange(day, day.Add(1), -time.Second),
		"TimeRange: the step is 0 months and 0 days: give 1 to 120000":           shard.TimeRange(day, day.Add(1), shard.Step{}),
		"TimeRange: the step is 0 months and -1 days: give 1 to 120000":          shard.TimeRange(day, day.Add(1), shard.Days(-1)),
		"TimeRange: the step is 0 months and 120001 days: give 1 to 120000":      shard.TimeRange(day, day.Add(1), shard.Days(120_001)),
		"TimeRange: the time from 2026-01-01 00:00:00 +0000 UTC to 2025-12-31 2": shard.TimeRange(day, day.Add(-1), shard.Days(1)),
		"TimeRange: the year 10000 is out of range":                              shard.TimeRange(day, day.AddDate(7974, 0, 0), shard.Days(1)),
		"TimeRange: the zone of 2026-01-01 00:00:00":                             shard.TimeRange(local, local.Add(1), shard.Days(1)),
		`TimeRange: zone "Mars/Olympus" is unknown`:                              shard.TimeRange(day.In(time.FixedZone("Mars/Olympus", 3600)), day.AddDate(0, 0, 1), shard.Days(1)),
		`TimeRange: the zone "Europe/Berlin" of 2026-01-01 09:00:00`:             shard.TimeRange(day.In(time.FixedZone("Europe/Berlin", 9*3600)), day.AddDate(0, 0, 1), shard.Days(1)),
		`TimeRange: the zone "+00:53" of`:                                        shard.TimeRange(day.In(time.FixedZone("", 53*60+28)), day.AddDate(0, 0, 1), shard.Days(1)),
	} {
		if _, err := p.Layout(shard.MaxShards); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	// Steps of fixed length do not care about the zone.
	p := shard.TimeRange(local, local.Add(3*time.Hour), time.Hour)
	if from, _ := at(t, p, 1).Times(); !from.Equal(local.Add(time.Hour)) || from.Location() != time.UTC {
		t.Errorf("the second hour starts at %v", from)
	}
}
