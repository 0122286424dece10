package faults

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is the beginning of the tests and of the processes that they start.
func TestMain(m *testing.M) {
	if text := os.Getenv(envRole); text != "" {
		os.Exit(play(text))
	}
	// The tests that may run beside each other wait for TTLs to run out; they hardly compute.
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
