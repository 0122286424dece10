package uuid7_test

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"axflow/internal/uuid7"
)

// TestRFCExample mints the example of RFC 9562, appendix A.6: its time 0x017F22E279B0, its rand_a 0xCC3 as
// a fraction of the millisecond, its rand_b 0x18C4DC0C0C07398F.
func TestRFCExample(t *testing.T) {
	at := time.Date(2022, 2, 22, 19, 22, 22, 0, time.UTC).Add(797_608 * time.Nanosecond) // 0xCC3/4096 ms is 797,607.4 ns
	m := uuid7.New(func() time.Time { return at }, func() uint64 { return 0x18C4DC0C0C07398F << 2 })
	if got, want := m.Mint().String(), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"; got != want {
		t.Fatalf("minted %s, want %s", got, want)
	}
}

// TestRises: whatever the clock does, ids rise, are of version 7 and the RFC's variant, and bear the
// highest time seen.
func TestRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "start"))
		m := uuid7.New(func() time.Time { return now }, nil)
		highest := now
		var last uuid.UUID
		for range rapid.IntRange(1, 50).Draw(t, "n") {
			now = now.Add(time.Duration(rapid.Int64Range(-5e6, 5e6).Draw(t, "step")))
			if now.After(highest) {
				highest = now
			}
			id := m.Mint()
			if bytes.Compare(id[:], last[:]) <= 0 {
				t.Fatalf("%s follows %s", id, last)
			}
			if id.Version() != 7 || id.Variant() != uuid.RFC4122 {
				t.Fatalf("%s: version %d, variant %d", id, id.Version(), id.Variant())
			}
			// Fifty ids may run ahead by fifty ticks of 1/4096 ms.
			if got := uuid7.Time(id); got.Before(now.Truncate(time.Millisecond)) || got.After(highest.Add(13*time.Microsecond)) {
				t.Fatalf("%s bears %v; now %v, highest %v", id, got, now, highest)
			}
			last = id
		}
	})
}

func TestConcurrentIdsDiffer(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	m := uuid7.New(func() time.Time { return now }, func() uint64 { return 0 }) // only the ticks tell ids apart
	ids := make([][]uuid.UUID, 8)
	var wg sync.WaitGroup
	for g := range ids {
		wg.Go(func() {
			for range 5000 {
				ids[g] = append(ids[g], m.Mint())
			}
		})
	}
	wg.Wait()
	seen := map[uuid.UUID]bool{}
	for _, own := range ids {
		if !slices.IsSortedFunc(own, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }) {
			t.Fatal("one goroutine's ids do not rise")
		}
		for _, id := range own {
			seen[id] = true
		}
	}
	if len(seen) != 8*5000 {
		t.Fatalf("%d different ids, want %d", len(seen), 8*5000)
	}
}

func TestBeforeTheEpoch(t *testing.T) {
	m := uuid7.New(nil, func() uint64 { return 1<<64 - 1 })
	if got, want := m.MintAt(time.Time{}).String(), "00000000-0000-7001-bfff-ffffffffffff"; got != want {
		t.Fatalf("minted %s, want %s", got, want)
	}
}

func BenchmarkMint(b *testing.B) {
	m := uuid7.New(time.Now, nil)
	b.ReportAllocs()
	for b.Loop() {
		m.Mint()
	}
}
