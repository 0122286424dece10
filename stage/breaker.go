package stage

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// The circuit breaker of a stage or a downstream that says nothing else.
const (
	DefaultBreakerFailures   = 5
	DefaultBreakerWindow     = time.Minute
	DefaultBreakerMinSamples = 20
	DefaultBreakerCoolDown   = 30 * time.Second
)

// MaxDownstreams is how many downstreams one stage may name.
const MaxDownstreams = 16

// Breaker gives the stage's handler a circuit breaker, and is an Option. While the circuit is open, the stage's work waits
// and costs no attempts; after the cool-down one task is let through to probe, and its success closes the circuit. Without
// a Breaker a stage has none of its own, since a stage that fails by a fault of its own should come to its end.
//
// Failures and time-outs of attempts count; what is Permanent or listed in Retry.NonRetryable does not, since it says
// nothing of the handler's health. Nor does what was interrupted or lost.
type Breaker struct {
	// Failures is how many failures in a row open the circuit. Default 5.
	Failures int `json:"failures"`
	// ErrorRate is the share of failures in Window, above 0 and up to 1, that opens the circuit too. Default 0: not by
	// rate.
	ErrorRate float64 `json:"error_rate,omitempty"`
	// Window is the time over which ErrorRate is measured. Default 1 min.
	Window time.Duration `json:"window_ns"`
	// MinSamples is how many attempts the window must hold before ErrorRate says anything. Default 20.
	MinSamples int `json:"min_samples"`
	// CoolDown is how long the circuit stays open before a task may probe. Default 30 s.
	CoolDown time.Duration `json:"cool_down_ns"`
}

// DefaultBreaker is the breaker of a named downstream, and of a Breaker without fields.
func DefaultBreaker() Breaker { return Breaker{}.normal() }

func (b Breaker) apply(d *Def) {
	b = b.normal()
	d.Faults = append(d.Faults, b.Check()...)
	d.Breaker = &b
}

func (b Breaker) normal() Breaker {
	if b.Failures == 0 {
		b.Failures = DefaultBreakerFailures
	}
	if b.Window == 0 {
		b.Window = DefaultBreakerWindow
	}
	if b.MinSamples == 0 {
		b.MinSamples = DefaultBreakerMinSamples
	}
	if b.CoolDown == 0 {
		b.CoolDown = DefaultBreakerCoolDown
	}
	return b
}

// Check returns every fault of a breaker in normal form.
func (b Breaker) Check() []error {
	var faults []error
	if b.Failures < 1 {
		faults = append(faults, fmt.Errorf("Breaker.Failures is %d: use 1 or more, or 0 for the default of %d", b.Failures, DefaultBreakerFailures))
	}
	if !(b.ErrorRate >= 0 && b.ErrorRate <= 1) || math.IsNaN(b.ErrorRate) {
		faults = append(faults, fmt.Errorf("Breaker.ErrorRate is %v: use a share above 0 and up to 1, or 0 for none", b.ErrorRate))
	}
	if b.MinSamples < 1 {
		faults = append(faults, fmt.Errorf("Breaker.MinSamples is %d: use 1 or more, or 0 for the default of %d", b.MinSamples, DefaultBreakerMinSamples))
	}
	for _, t := range []struct {
		name  string
		value time.Duration
	}{{"Breaker.Window", b.Window}, {"Breaker.CoolDown", b.CoolDown}} {
		if t.value < MinWindow || t.value > MaxWindow {
			faults = append(faults, fmt.Errorf("%s is %v: use %v to %v", t.name, t.value, MinWindow, MaxWindow))
		}
	}
	return faults
}

// Downstream names systems that the stage's handler depends on, such as "warehouse". Each has one circuit breaker in a
// namespace, whatever stages name it, with DefaultBreaker's settings: when it opens, all of them wait, and none of their
// attempts is burnt. An error counts against every downstream of its stage unless DownstreamError says which one failed.
// Calls add up.
func Downstream(names ...string) Option {
	return option(func(d *Def) {
		for _, name := range names {
			if err := CheckName("downstream", name); err != nil {
				d.Faults = append(d.Faults, err)
			}
		}
		d.Downstreams = sorted(append(slices.Clone(d.Downstreams), names...))
		if len(d.Downstreams) > MaxDownstreams {
			d.fault("the stage names %d downstreams, at most %d are allowed: split it", len(d.Downstreams), MaxDownstreams)
		}
	})
}

type downstreamError struct {
	name string
	err  error
}

func (e downstreamError) Error() string { return e.err.Error() }
func (e downstreamError) Unwrap() error { return e.err }

// DownstreamError marks err as the named downstream's, so that it does not count against others that the stage names.
// DownstreamError(name, nil) is nil.
func DownstreamError(name string, err error) error {
	if err == nil {
		return nil
	}
	return downstreamError{name, err}
}

// DownstreamOf returns the downstream that err was marked with, or "".
func DownstreamOf(err error) string {
	e, _ := errors.AsType[downstreamError](err)
	return e.name
}
