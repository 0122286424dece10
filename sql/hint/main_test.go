package hint

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"axflow/internal/pgtest"
)

// patient is generous: it is only ever used up by a fault.
const patient = 30 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newBus(t *testing.T, cfg Config) *Bus {
	t.Helper()
	b, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// on is a bus for a database, not running yet.
func on(t *testing.T, db *pgtest.DB, change ...func(*Config)) *Bus {
	t.Helper()
	cc, err := pgx.ParseConfig(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{ConnConfig: cc}
	for _, f := range change {
		f(&cfg)
	}
	return newBus(t, cfg)
}

// start runs a bus; the returned function ends it, and so does the end of the test.
func start(t *testing.T, b *Bus) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	done := false
	stop = func() {
		if done {
			return
		}
		done = true
		cancel()
		if err := pgtest.Receive(t, patient, ended, "the end of Run"); err != nil {
			t.Errorf("Run: %v, want nil", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// until reads a box until an item pleases and returns it; what came before is dropped.
func until[T any](t *testing.T, box *Box[T], what string, pleases func(T) bool) T {
	t.Helper()
	timer := time.NewTimer(patient)
	defer timer.Stop()
	for {
		for _, item := range box.Take() {
			if pleases(item) {
				return item
			}
		}
		select {
		case <-box.C():
		case <-timer.C:
			t.Fatalf("%s: nothing came within %s", what, patient)
		}
	}
}

func looks(n Engine) bool { return n.Look }

func asks(n Worker) bool { return n.Asks }
