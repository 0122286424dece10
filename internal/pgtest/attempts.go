package pgtest

import (
	"fmt"
	"testing"
)

// mostAttempts is how often a scenario is played at most: a machine that disturbs one in three disturbs all in one of
// 243 tests.
const mostAttempts = 5

// Attempt is one attempt at a scenario.
type Attempt struct {
	N int // from 1
}

// Void ends the attempt as Fatal does, without failing the test. It says what has happened instead of what the test was about
// to do.
func (*Attempt) Void(format string, args ...any) { panic(voided(fmt.Sprintf(format, args...))) }

// voided is why an attempt is void.
type voided string

// Attempts plays a scenario that a machine can disturb by standing still: a lease runs out, or a worker counts as dead,
// before the test has done anything to it. That is right of AX, and no proof of anything; such an attempt is void, and
// the scenario is played again from the start, up to five times. An attempt that is not void decides the test.
// A scenario must see that it was disturbed, never guess it from a failure.
func Attempts(t *testing.T, scenario func(t *testing.T, a *Attempt)) {
	t.Helper()
	for n := 1; n <= mostAttempts; n++ {
		var why voided
		t.Run(fmt.Sprintf("attempt %d", n), func(t *testing.T) {
			defer func() {
				said := recover()
				var void bool
				if why, void = said.(voided); said != nil && !void {
					panic(said)
				}
			}()
			scenario(t, &Attempt{N: n})
		})
		if why == "" || t.Failed() {
			return
		}
		t.Logf("attempt %d is void: %s", n, why)
	}
	t.Errorf("all %d attempts are void", mostAttempts)
}
