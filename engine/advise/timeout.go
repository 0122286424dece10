package advise

import (
	"math"
	"time"
)

// MinSamples is how many attempts must have been seen before their P99 says anything.
const MinSamples = 100

// The shares of the P99 between which an Execution time-out should lie.
const (
	leastOfP99 = 1.5
	mostOfP99  = 2.0
)

// least is the shortest time-out that is suggested: what takes milliseconds may well wait a second for a lock.
const least = time.Second

// looseOfP99 is how many times the P99 a time-out may be before it is too loose: what hangs is then found late.
const looseOfP99 = 10

// Fit says how a time-out fits what was observed.
type Fit string

// The fits.
const (
	FitUnknown Fit = "unknown"   // too few samples
	FitGood    Fit = "good"      //
	FitTight   Fit = "too_tight" // below 1.5 times the P99: healthy attempts may be cut off
	FitLoose   Fit = "too_loose" // above 10 times the P99, and above a minute: what hangs is found late
)

// Timeout is advice on the Execution time-out of a stage.
type Timeout struct {
	Flow  string `json:"flow"`
	Stage string `json:"stage"`
	// Samples is how many attempts were looked at that succeeded or timed out; TimedOut is how many of them did, and Failed
	// counts failed attempts beside them.
	Samples  int `json:"samples"`
	TimedOut int `json:"timed_out"`
	Failed   int `json:"failed"`
	// Saved is how many tasks succeeded in a later attempt than their first.
	Saved   int           `json:"saved_by_retry"`
	P50     time.Duration `json:"-"`
	P99     time.Duration `json:"-"`
	Max     time.Duration `json:"-"`
	Current time.Duration `json:"-"`
	// From and To are 1.5 and 2 times the P99, rounded up; 0 with too few samples.
	From time.Duration `json:"-"`
	To   time.Duration `json:"-"`
	Fit  Fit           `json:"fit"`
}

// judge fills in what is suggested: 1.5 to 2 times the P99, from 100 samples on.
func (t *Timeout) judge() {
	t.Fit = FitUnknown
	if t.Samples < MinSamples {
		return
	}
	t.From, t.To = roundUp(scale(t.P99, leastOfP99)), roundUp(scale(t.P99, mostOfP99))
	switch {
	// A time-out cuts what it would have measured: what ran into it says that the P99 lies higher.
	case t.Current < t.From || t.TimedOut*100 > t.Samples:
		t.Fit = FitTight
	case t.Current > max(time.Minute, looseOfP99*t.P99, t.To):
		t.Fit = FitLoose
	default:
		t.Fit = FitGood
	}
}

func scale(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// roundUp gives a duration two significant digits in its largest unit, and at least a second.
func roundUp(d time.Duration) time.Duration {
	if d <= least {
		return least
	}
	unit := time.Second
	for _, u := range []time.Duration{time.Minute, time.Hour} {
		if d >= 10*u {
			unit = u
		}
	}
	step := unit
	if d < 10*unit {
		step = unit / 10
	} else {
		for d >= 100*step {
			step *= 10
		}
	}
	return time.Duration(math.Ceil(float64(d)/float64(step))) * step
}

// FailedShare is how many of all attempts fail or time out, 0 to 1.
func (t *Timeout) FailedShare() float64 {
	all := t.Samples + t.Failed
	if all == 0 {
		return 0
	}
	return float64(t.Failed+t.TimedOut) / float64(all)
}
