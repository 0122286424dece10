package clock_test

import (
	"testing"
	"time"

	"axflow/engine/clock"
	"axflow/internal/pgtest"
)

// TestDatabase holds the estimate against the database's own clock: a question asked between two looks at
// the estimate is answered between them, give or take what the estimate admits to.
func TestDatabase(t *testing.T) {
	pg := pgtest.New(t)
	read := clock.Database(pg.Pool)
	c, err := clock.Open(t.Context(), clock.Config{Read: read})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		before := c.Now()
		db, err := read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		after, give := c.Now(), c.Uncertainty()+time.Millisecond
		if db.Before(before.Add(-give)) || db.After(after.Add(give)) {
			t.Fatalf("the database says %v, the estimate %v to %v, give or take %v", db, before, after, give)
		}
	}
}
