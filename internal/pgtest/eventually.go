package pgtest

import (
	"context"
	"testing"
	"time"
)

// Context gives a context that ends with the test and after d at the latest.
func Context(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// Eventually asks a condition until it holds and fails the test when it does not within timeout; what the
// condition last said goes into the failure. The condition is asked at once, then at growing distances of at
// most 50 ms, and one last time when the time is up.
func Eventually(t testing.TB, timeout time.Duration, condition func() (ok bool, state string)) {
	t.Helper()
	end := time.Now().Add(timeout)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		late := time.Now().After(end)
		ok, state := condition()
		if ok {
			return
		}
		if late {
			t.Fatalf("not within %s: %s", timeout, state)
		}
		timer := time.NewTimer(wait)
		<-timer.C
	}
}

// Receive takes a value from a channel and fails the test when none comes within timeout; what names the value in
// the failure.
func Receive[T any](t testing.TB, timeout time.Duration, from <-chan T, what string) T {
	t.Helper()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case v, ok := <-from:
		if !ok {
			t.Fatalf("%s: the channel was closed", what)
		}
		return v
	case <-timer.C:
		t.Fatalf("%s: nothing came within %s", what, timeout)
	}
	panic("not reached")
}
