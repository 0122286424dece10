package stage

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// The retry policy of a stage that says nothing else.
const (
	DefaultMaxAttempts        = 3
	DefaultInitialInterval    = 2 * time.Second
	DefaultBackoffCoefficient = 2.0
	DefaultMaximumInterval    = 30 * time.Second
	DefaultJitter             = 2 * time.Second
)

// MaxAttemptsLimit is the greatest Retry.MaxAttempts.
const MaxAttemptsLimit = 10_000

// NoJitter is the Retry.Jitter that turns jitter off.
const NoJitter time.Duration = -1

// Retry is a stage's retry policy, and an Option. A zero field takes its default. Attempts are counted per
// task (each shard has its own); what was interrupted or lost with its worker costs no attempt.
type Retry struct {
	// MaxAttempts is how often a task may be tried at all: 1 means no retry. Default 3.
	MaxAttempts int `json:"max_attempts"`
	// InitialInterval is the wait after the first failed attempt. Default 2 s.
	InitialInterval time.Duration `json:"initial_ns"`
	// BackoffCoefficient is what each further wait is multiplied by, at least 1. Default 2.
	BackoffCoefficient float64 `json:"coefficient"`
	// MaximumInterval caps the wait, jitter not counted. Default 30 s, or InitialInterval where that is longer.
	MaximumInterval time.Duration `json:"maximum_ns"`
	// Jitter is the greatest random time added to a wait, evenly distributed. Default 2 s; NoJitter for none.
	Jitter time.Duration `json:"jitter_ns"`
	// NonRetryable lists errors that are not worth a retry: an error's Code, or its Go type as "pkg.Type" or
	// "Type". An error matches if any error that it wraps matches.
	NonRetryable []string `json:"non_retryable,omitempty"`
}

func (r Retry) apply(d *Def) {
	d.Faults = append(d.Faults, r.faults()...)
	d.Retry = r.normal()
}

// normal returns r in normal form: every default filled in, NoJitter as 0, names sorted.
func (r Retry) normal() Retry {
	if r.MaxAttempts == 0 {
		r.MaxAttempts = DefaultMaxAttempts
	}
	if r.InitialInterval == 0 {
		r.InitialInterval = DefaultInitialInterval
	}
	if r.BackoffCoefficient == 0 {
		r.BackoffCoefficient = DefaultBackoffCoefficient
	}
	if r.MaximumInterval == 0 {
		r.MaximumInterval = max(DefaultMaximumInterval, r.InitialInterval)
	}
	switch r.Jitter {
	case 0:
		r.Jitter = DefaultJitter
	case NoJitter:
		r.Jitter = 0
	}
	r.NonRetryable = sorted(r.NonRetryable)
	return r
}

func (r Retry) faults() []error {
	var faults []error
	if r.MaxAttempts < 0 || r.MaxAttempts > MaxAttemptsLimit {
		faults = append(faults, fmt.Errorf("Retry.MaxAttempts is %d: use 1 (no retry) to %d, or 0 for the default of %d",
			r.MaxAttempts, MaxAttemptsLimit, DefaultMaxAttempts))
	}
	if r.InitialInterval < 0 {
		faults = append(faults, fmt.Errorf("Retry.InitialInterval is %v: use a positive time, or 0 for the default of %v",
			r.InitialInterval, DefaultInitialInterval))
	}
	if c := r.BackoffCoefficient; c != 0 && (!(c >= 1) || math.IsInf(c, 0)) {
		faults = append(faults, fmt.Errorf("Retry.BackoffCoefficient is %v: use 1 or more, or 0 for the default of %v",
			c, DefaultBackoffCoefficient))
	}
	switch m := r.MaximumInterval; {
	case m < 0:
		faults = append(faults, fmt.Errorf("Retry.MaximumInterval is %v: use a positive time, or 0 for the default of %v",
			m, DefaultMaximumInterval))
	case m > 0 && m < r.normal().InitialInterval:
		faults = append(faults, fmt.Errorf("Retry.MaximumInterval is %v, less than InitialInterval, which is %v: raise the one or lower the other",
			m, r.normal().InitialInterval))
	}
	if r.Jitter < 0 && r.Jitter != NoJitter {
		faults = append(faults, fmt.Errorf("Retry.Jitter is %v: use a positive time, 0 for the default of %v, or NoJitter",
			r.Jitter, DefaultJitter))
	}
	if slices.Contains(r.NonRetryable, "") {
		faults = append(faults, errors.New("Retry.NonRetryable has an empty name: use an error's code or its Go type"))
	}
	return faults
}

// Check returns every fault of a policy in normal form, as read from a stored graph.
func (r Retry) Check() []error {
	if r.Jitter == 0 {
		r.Jitter = NoJitter
	}
	faults := r.faults()
	if r.MaxAttempts == 0 || r.InitialInterval == 0 || r.BackoffCoefficient == 0 || r.MaximumInterval == 0 {
		faults = append(faults, fmt.Errorf("Retry.MaxAttempts is %d, InitialInterval %v, BackoffCoefficient %v, MaximumInterval %v: a stored policy has all of them",
			r.MaxAttempts, r.InitialInterval, r.BackoffCoefficient, r.MaximumInterval))
	}
	return faults
}

// Delay returns how long to wait after the failure of the given attempt, counted from 1:
//
//	min(InitialInterval × BackoffCoefficient^(attempt-1), MaximumInterval) + rnd × Jitter
//
// rnd is a random number of [0, 1). r is in normal form, as Def.Retry and a graph's are.
func (r Retry) Delay(attempt int, rnd float64) time.Duration {
	wait := float64(r.InitialInterval) * math.Pow(r.BackoffCoefficient, float64(max(attempt, 1)-1))
	base := r.MaximumInterval
	if wait < float64(r.MaximumInterval) {
		base = time.Duration(wait)
	}
	jitter := time.Duration(min(max(rnd, 0), 1) * float64(r.Jitter))
	if base > math.MaxInt64-jitter {
		return math.MaxInt64
	}
	return base + jitter
}

// Retryable tells whether err is worth another attempt: it is not Permanent and nothing in its chain is
// listed in NonRetryable.
func (r Retry) Retryable(err error) bool {
	if IsPermanent(err) {
		return false
	}
	return len(r.NonRetryable) == 0 || !anyInChain(err, r.lists)
}

func (r Retry) lists(err error) bool {
	if c, ok := err.(Coded); ok && slices.Contains(r.NonRetryable, c.Code()) {
		return true
	}
	t := reflect.TypeOf(err)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return slices.ContainsFunc(r.NonRetryable, func(name string) bool {
		name = strings.TrimPrefix(name, "*")
		return name == t.String() || name == t.Name() && name != ""
	})
}

// anyInChain tells whether f holds for err or for any error that it wraps.
func anyInChain(err error, f func(error) bool) bool {
	if err == nil {
		return false
	}
	if f(err) {
		return true
	}
	switch e := err.(type) { //nolint:errorlint // this is the walk through what is wrapped
	case interface{ Unwrap() error }:
		return anyInChain(e.Unwrap(), f)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), func(err error) bool { return anyInChain(err, f) })
	}
	return false
}
