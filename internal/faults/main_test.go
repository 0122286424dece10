package faults

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is the beginning of the tests and of the processes that they start.
func TestMain(m *testing.M) {
	if text := os.Getenv(envRole); text != "" {
		os.Exit(play(text))
	}
	goleak.VerifyTestMain(m)
}
