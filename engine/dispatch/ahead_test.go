package dispatch

import (
	"testing"
	"time"

	"axflow/sql/span"
)

// What was written in the future waits from now on as long as it was to wait then; a wait for a time of day stays.
func TestEarly(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for _, test := range []struct {
		ready, wait time.Duration // of the row, from now; from then on
		moved       bool
	}{
		{-time.Minute, 0, false},
		{-time.Minute, time.Hour, false},
		{500 * time.Millisecond, 0, false}, // within what the estimate of the clock is good for
		{time.Hour, 0, true},
		{time.Hour, 30 * time.Second, true},
		{time.Hour, 6 * time.Hour, false},
	} {
		r := span.Ready{NotBefore: now.Add(test.ready + test.wait), Header: span.Header{ReadyAt: now.Add(test.ready)}}
		was := r
		if moved := early(&r, now); moved != test.moved {
			t.Errorf("%+v: moved %v, want %v", test, moved, test.moved)
			continue
		}
		if !test.moved {
			if !r.NotBefore.Equal(was.NotBefore) || !r.ReadyAt.Equal(was.ReadyAt) {
				t.Errorf("%+v: changed", test)
			}
		} else if !r.NotBefore.Equal(now.Add(test.wait)) || !r.ReadyAt.Equal(now) {
			t.Errorf("%+v: due in %v, want %v", test, r.NotBefore.Sub(now), test.wait)
		}
	}
}
