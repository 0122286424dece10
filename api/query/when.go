package query

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxAgo is the longest duration back from now.
const maxAgo = 100 * 365 * 24 * time.Hour

// units are those of durations, the greatest first. There are no months: they have no length.
var units = []struct {
	name   string
	length time.Duration
}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// String writes what parseWhen reads: a duration in whole units, or a time in UTC.
func (w When) String() string {
	if w.Ago == 0 {
		return w.At.UTC().Format(time.RFC3339Nano)
	}
	var b strings.Builder
	left := w.Ago
	for _, u := range units[1:] { // weeks are read, and written as days
		if n := left / u.length; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			left %= u.length
		}
	}
	return b.String()
}

// layouts are how times are written; without a zone they are in UTC.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", time.DateOnly}

// parseWhen reads a duration back from now (90m, 1h30m, 7d), a date or a time.
func parseWhen(text string) (When, error) {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			if year := at.UTC().Year(); year < 1970 || year > 9999 {
				return When{}, fmt.Errorf("%q is not between the years 1970 and 9999", text)
			}
			return When{At: at.UTC()}, nil
		}
	}
	ago, ok := parseAgo(text)
	switch {
	case !ok:
		return When{}, fmt.Errorf("%q is no time: write a duration back from now such as 90m, 24h or 7d, a date such as 2026-11-01, or a time such as 2026-11-01T06:00:00Z", text)
	case ago > maxAgo:
		return When{}, fmt.Errorf("%q is longer ago than 100 years", text)
	}
	return When{Ago: ago}, nil
}

// parseAgo reads numbers with units, the greater ones first, in whole seconds and at least one.
func parseAgo(text string) (ago time.Duration, ok bool) {
	from := 0
	for text != "" {
		digits := 0
		for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
			digits++
		}
		if digits == 0 || digits > 9 || digits == len(text) {
			return 0, false
		}
		n, err := strconv.ParseInt(text[:digits], 10, 64)
		if err != nil {
			return 0, false
		}
		unit := -1
		for i := from; i < len(units); i++ {
			if units[i].name == text[digits:digits+1] {
				unit = i
			}
		}
		if unit < 0 {
			return 0, false
		}
		if n > int64(maxAgo/units[unit].length) {
			return maxAgo + 1, true
		}
		ago += time.Duration(n) * units[unit].length
		from, text = unit+1, text[digits+1:]
	}
	return ago, ago > 0
}
