package pgtest

import (
	"fmt"
	"testing"
)

// mostAttempts is how often a scenario is played at most: a machine that disturbs one in three disturbs all in one of
// 243 tests.
const mostAttempts = 5

// Void ends an attempt as Fatal does, without failing the test. It says what has happened instead of what the test
// was about to do.
type Void func(format string, args ...any)

// Attempts plays a scenario that a machine can disturb by standing still: a lease runs out, or a worker counts as dead,
// before the test has done anything to it. That is right of AX, and no proof of anything; such an attempt calls void, and
// the scenario is played again from the start, up to five times. An attempt that is not void decides the test.
// It must see that it was disturbed, never guess it from a failure.
func Attempts(t *testing.T, scenario func(t *testing.T, void Void)) {
	t.Helper()
	for n := 1; n <= mostAttempts; n++ {
		var why voided
		t.Run(fmt.Sprintf("attempt %d", n), func(t *testing.T) {
			defer func() {
				t.Helper()
				said := recover()
				var void bool
				if why, void = said.(voided); said != nil && !void {
					panic(said)
				}
			}()
			scenario(t, func(format string, args ...any) { panic(voided(fmt.Sprintf(format, args...))) })
		})
		if why == "" || t.Failed() {
			return
		}
		t.Logf("attempt %d is void: %s", n, why)
	}
	t.Errorf("all %d attempts are void", mostAttempts)
}

// voided is why an attempt is void.
type voided string
