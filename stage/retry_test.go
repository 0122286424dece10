package stage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"axflow/stage"
)

func TestRetryDefaults(t *testing.T) {
	got := define().Retry
	want := stage.Retry{MaxAttempts: 3, InitialInterval: 2 * time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second, Jitter: 2 * time.Second}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the policy is %+v, want %+v", got, want)
	}
	if got := define(stage.Retry{MaxAttempts: 5}).Retry; got.MaxAttempts != 5 || got.InitialInterval != 2*time.Second {
		t.Errorf("the policy is %+v, want 5 attempts and defaults", got)
	}
	if got := define(stage.Retry{Jitter: stage.NoJitter}).Retry.Jitter; got != 0 {
		t.Errorf("the jitter is %v, want none", got)
	}
	if got := define(stage.Retry{InitialInterval: time.Hour}).Retry.MaximumInterval; got != time.Hour {
		t.Errorf("the greatest wait is %v, want the first one's hour", got)
	}
	for _, fault := range define(stage.Retry{Jitter: stage.NoJitter}).Retry.Check() {
		t.Errorf("a policy in normal form: %v", fault)
	}
	if len(stage.Retry{}.Check()) == 0 {
		t.Error("a policy without its defaults passes as stored")
	}
}

func TestRetryDelay(t *testing.T) {
	r := define().Retry
	for attempt, want := range map[int]time.Duration{
		0: 2 * time.Second, 1: 2 * time.Second, 2: 4 * time.Second, 3: 8 * time.Second, 4: 16 * time.Second,
		5: 30 * time.Second, 6: 30 * time.Second, 10_000: 30 * time.Second,
	} {
		if got := r.Delay(attempt, 0); got != want {
			t.Errorf("after attempt %d the wait is %v, want %v", attempt, got, want)
		}
		if got := r.Delay(attempt, 0.5); got != want+time.Second {
			t.Errorf("after attempt %d with half the jitter the wait is %v, want %v", attempt, got, want+time.Second)
		}
	}
	r = define(stage.Retry{InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 1.5, MaximumInterval: time.Second, Jitter: stage.NoJitter}).Retry
	for attempt, want := range []time.Duration{100 * time.Millisecond, 150 * time.Millisecond, 225 * time.Millisecond} {
		if got := r.Delay(attempt+1, 0.9); got != want {
			t.Errorf("after attempt %d the wait is %v, want %v", attempt+1, got, want)
		}
	}
	r = define(stage.Retry{InitialInterval: math.MaxInt64, Jitter: math.MaxInt64}).Retry
	if got := r.Delay(7, 0.99); got != math.MaxInt64 {
		t.Errorf("the longest wait is %v, want the longest time there is", got)
	}
}

type notFound struct{}

func (*notFound) Error() string { return "not found" }

type coded string

func (c coded) Error() string { return "error " + string(c) }
func (c coded) Code() string  { return string(c) }

func TestRetryable(t *testing.T) {
	r := stage.Retry{NonRetryable: []string{"quota", "stage_test.notFound"}}
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{io.EOF, true},
		{coded("busy"), true},
		{coded("quota"), false},
		{fmt.Errorf("calling: %w", coded("quota")), false},
		{&notFound{}, false},
		{errors.Join(io.EOF, fmt.Errorf("reading: %w", &notFound{})), false},
		{stage.Permanent(io.EOF), false},
		{fmt.Errorf("reading: %w", stage.Permanent(io.EOF)), false},
		{context.DeadlineExceeded, true},
	} {
		if got := r.Retryable(tc.err); got != tc.want {
			t.Errorf("%v is retryable: %v, want %v", tc.err, got, tc.want)
		}
	}
	for _, name := range []string{"notFound", "*stage_test.notFound"} {
		if (stage.Retry{NonRetryable: []string{name}}).Retryable(&notFound{}) {
			t.Errorf("%q does not match its type", name)
		}
	}
}

func TestPermanent(t *testing.T) {
	err := stage.Permanent(fmt.Errorf("reading: %w", io.EOF))
	if err.Error() != "reading: EOF" || !errors.Is(err, io.EOF) || !stage.IsPermanent(err) {
		t.Errorf("the marked error is %v", err)
	}
	if stage.Permanent(nil) != nil || stage.IsPermanent(nil) || stage.IsPermanent(io.EOF) {
		t.Error("an error is permanent that nobody marked")
	}
}

func TestCodeOf(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{io.EOF, ""},
		{coded("quota"), "quota"},
		{errors.Join(io.EOF, stage.Permanent(coded("quota"))), "quota"},
	} {
		if got := stage.CodeOf(tc.err); got != tc.want {
			t.Errorf("the code of %v is %q, want %q", tc.err, got, tc.want)
		}
	}
}
