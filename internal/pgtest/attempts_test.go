package pgtest_test

import (
	"testing"

	"axflow/internal/pgtest"
)

func TestAttempts(t *testing.T) {
	for _, voids := range []int{0, 1, 4} {
		var begun, cleaned, stood int
		pgtest.Attempts(t, func(t *testing.T, a *pgtest.Attempt) {
			if cleaned != begun {
				t.Errorf("attempt %d begins when %d are cleaned up", begun+1, cleaned)
			}
			begun++
			if a.N != begun {
				t.Errorf("attempt %d is the %dth", a.N, begun)
			}
			t.Cleanup(func() { cleaned++ })
			if begun <= voids {
				a.Void("disturbed %d", begun)
			}
			stood++
		})
		if begun != voids+1 || stood != 1 {
			t.Errorf("%d attempts after %d voids, and %d stood, want %d and 1", begun, voids, stood, voids+1)
		}
	}
}
