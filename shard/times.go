package shard

import (
	"fmt"
	"math/bits"
	"sort"
	"time"
	_ "time/tzdata" // a plan's zone must be found on every worker

	"axflow/stage"
)

// Step is a calendar step: so many months and days. Days have 23 or 25 hours where clocks change.
type Step struct{ months, days int }

// Days is a step of n days on the calendar.
func Days(n int) Step { return Step{days: n} }

// Weeks is a step of n weeks on the calendar.
func Weeks(n int) Step { return Step{days: 7 * n} }

// Months is a step of n months. Steps from the 31st fall on the last day of shorter months.
func Months(n int) Step { return Step{months: n} }

// Years is a step of n years. Steps from 29 February fall on 28 February in other years.
func Years(n int) Step { return Step{months: 12 * n} }

// TimeRange plans one shard a step of [from, to), the last one ending at to. step is a time.Duration or a
// calendar step such as Days(1). Shard.Times gives each shard its span, in from's zone, or in UTC if that zone
// is the machine's local one and the step a time.Duration.
//
// Calendar steps are counted from from, on the calendar of from's zone (change it with from.In): each starts
// at the same time of day as from. Where clocks were turned back and that time came twice, it is the first;
// where they were turned forward over it, it is the moment after the gap.
func TimeRange[S time.Duration | Step](from, to time.Time, step S) Plan {
	p := Plan{cut: stage.Cut{Kind: stage.CutTimes, From: from.UTC(), To: to.UTC()}}
	zone, zoneErr := zoneName(from)
	switch step := any(step).(type) {
	case time.Duration:
		if step <= 0 {
			return p.fail("TimeRange: the step is %v: give a positive one", step)
		}
		p.cut.Step = step
		if zoneErr != nil {
			zone = "UTC" // no matter where the steps are
		}
	case Step:
		if zoneErr != nil {
			return p.fail("TimeRange: %w", zoneErr)
		}
		if step.months < 0 || step.days < 0 || step.months+step.days <= 0 || step.months > maxStep || step.days > maxStep {
			return p.fail("TimeRange: the step is %d months and %d days: give 1 to %d", step.months, step.days, maxStep)
		}
		p.cut.Months, p.cut.Days = step.months, step.days
	}
	p.cut.Zone = zone
	if to.Before(from) {
		return p.fail("TimeRange: the time from %v to %v ends before it starts: swap its bounds", from, to)
	}
	for _, t := range []time.Time{p.cut.From, p.cut.To} {
		if y := t.Year(); y < 1 || y > 9998 {
			return p.fail("TimeRange: the year %d is out of range: use the years 1 to 9998", y)
		}
	}
	g, err := gridOf(p.cut)
	if err != nil {
		return p.fail("TimeRange: %w", err)
	}
	p.grid = g
	return p
}

// maxStep bounds calendar steps, so that the arithmetic on them cannot overflow.
const maxStep = 120_000

// zoneName returns the name by which another machine finds the zone of t.
func zoneName(t time.Time) (string, error) {
	switch name := t.Location().String(); name {
	case "Local":
		return "", fmt.Errorf("the zone of %v is this machine's local one, which differs elsewhere: name one, with from.In(zone) or from.UTC()", t)
	default:
		if name == "" {
			name = t.Format("-07:00")
		}
		loc, err := loadZone(name)
		if err != nil {
			return "", err
		}
		// A fixed zone may bear the name of another one, or have odd seconds.
		if _, want := t.Zone(); offsetAt(t, loc) != want {
			return "", fmt.Errorf("the zone %q of %v is not the one of that name: use time.LoadLocation", name, t)
		}
		return name, nil
	}
}

func loadZone(name string) (*time.Location, error) {
	if len(name) == len("+00:00") && (name[0] == '+' || name[0] == '-') {
		t, err := time.Parse("-07:00", name)
		if err != nil {
			return nil, fmt.Errorf("zone %q is unknown: use an IANA name such as Europe/Berlin", name)
		}
		_, offset := t.Zone()
		return time.FixedZone("", offset), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("zone %q is unknown: use an IANA name such as Europe/Berlin: %w", name, err)
	}
	return loc, nil
}

// grid is a row of bounds in time: bound(0) is from, the last one is to.
type grid struct {
	cut      stage.Cut
	loc      *time.Location
	from, to time.Time // in loc
}

func gridOf(cut stage.Cut) (*grid, error) {
	loc, err := loadZone(cut.Zone)
	if err != nil {
		return nil, err
	}
	return &grid{cut: cut, loc: loc, from: cut.From.In(loc), to: cut.To.In(loc)}, nil
}

// bound returns where step i starts, to at most.
func (g *grid) bound(i int) time.Time {
	if i <= 0 {
		return g.from
	}
	t := g.start(i)
	if t.After(g.to) {
		return g.to
	}
	return t
}

func (g *grid) start(i int) time.Time {
	if g.cut.Step > 0 {
		return addSteps(g.from, g.cut.Step, i)
	}
	y, m, d := g.from.Date()
	months := int(m) - 1 + i*g.cut.Months
	y, m = y+months/12, time.Month(months%12+1)
	d = min(d, daysIn(y, m)) + i*g.cut.Days
	h, mi, s := g.from.Clock()
	return wall(y, m, d, h, mi, s, g.from.Nanosecond(), g.loc)
}

// count returns how many steps there are.
func (g *grid) count(limit int) uint64 {
	if !g.from.Before(g.to) {
		return 0
	}
	if g.cut.Step > 0 {
		secs := uint64(g.to.Unix() - g.from.Unix())
		high, low := bits.Mul64(secs, 1e9)
		low, borrow := bits.Sub64(low, uint64(g.from.Nanosecond()), 0)
		high -= borrow
		low, carry := bits.Add64(low, uint64(g.to.Nanosecond()), 0)
		high += carry
		// ceil(n/step) = floor((n-1)/step) + 1
		low, borrow = bits.Sub64(low, 1, 0)
		high -= borrow
		step := uint64(g.cut.Step)
		if high >= step {
			return 1 << 63 // beyond counting; any limit is less
		}
		q, _ := bits.Div64(high, low, step)
		return q + 1
	}
	// No calendar has more steps than days, plus one for the zones' changes at either end.
	days := int(g.to.Unix()/86400-g.from.Unix()/86400) + 3
	most := days/max(g.cut.Days+28*g.cut.Months, 1) + 2
	return uint64(1 + sort.Search(most, func(i int) bool { return !g.start(i + 1).Before(g.to) }))
}

// addSteps returns t + i × step, which may be far more than a time.Duration holds.
func addSteps(t time.Time, step time.Duration, i int) time.Time {
	high, low := bits.Mul64(uint64(step), uint64(i))
	if high >= 1e9 {
		return time.Unix(1<<60, 0).In(t.Location())
	}
	secs, nanos := bits.Div64(high, low, 1e9)
	if secs > 1<<60 {
		return time.Unix(1<<60, 0).In(t.Location())
	}
	return time.Unix(t.Unix()+int64(secs), int64(t.Nanosecond())+int64(nanos)).In(t.Location())
}

// wall returns the first moment at which the clocks of loc show the given time or, if they skip it, the
// moment at which they skip it. time.Date leaves both cases open; this is monotone in its arguments.
func wall(y int, m time.Month, d, h, mi, s, ns int, loc *time.Location) time.Time {
	want := time.Date(y, m, d, h, mi, s, ns, time.UTC)
	t := time.Date(y, m, d, h, mi, s, ns, loc)
	start, end := t.ZoneBounds()
	switch shown := local(t); {
	case shown.Before(want):
		return end
	case shown.After(want):
		return start
	case start.IsZero():
		return t
	}
	before := start.Add(-time.Nanosecond)
	earlier := t.Add(time.Duration(offsetAt(t, loc)-offsetAt(before, loc)) * time.Second)
	if earlier.Before(start) {
		return earlier
	}
	return t
}

// local returns the time that the clocks show at t, as if it were UTC.
func local(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

func offsetAt(t time.Time, loc *time.Location) int {
	_, offset := t.In(loc).Zone()
	return offset
}

func daysIn(y int, m time.Month) int { return time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day() }
