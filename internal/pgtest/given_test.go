package pgtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"axflow/internal/pg"
)

func TestGivenServer(t *testing.T) {
	ctx := Context(t, 2*time.Minute)
	running, err := pg.Start(ctx, pg.Config{Ephemeral: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := running.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Setenv(EnvDatabase, running.URL("postgres"))
	s, err := open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.PG != nil {
		t.Error("a server was started although one was given")
	}
	d := s.New(t, Empty())
	var port int
	if err := d.Pool.QueryRow(ctx, "SELECT current_setting('port')::int").Scan(&port); err != nil {
		t.Fatal(err)
	}
	if port != running.Port() {
		t.Errorf("the database is on the server at port %d, want %d", port, running.Port())
	}
}

func TestManyAtOnce(t *testing.T) {
	var mu sync.Mutex
	names := map[string]bool{}
	t.Run("group", func(t *testing.T) {
		for range 8 {
			t.Run("one", func(t *testing.T) {
				t.Parallel()
				d := New(t)
				var name string
				if err := d.Pool.QueryRow(Context(t, time.Minute), "SELECT current_database()::text").Scan(&name); err != nil {
					t.Fatal(err)
				}
				mu.Lock()
				defer mu.Unlock()
				names[name] = true
			})
		}
	})
	if len(names) != 8 {
		t.Errorf("8 tests at once have %d databases", len(names))
	}
}

func TestEventuallyAsksALastTime(t *testing.T) {
	asked := 0
	Eventually(t, 0, func() (bool, string) { // the time is up at once, and yet it is asked
		asked++
		return true, ""
	})
	if asked != 1 {
		t.Errorf("asked %d times, want 1", asked)
	}
}
