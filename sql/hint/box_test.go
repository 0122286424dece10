package hint

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"axflow/internal/pgtest"
)

func box[T any]() *Box[T] { return newBox(func(*Box[T]) {}) }

func TestBoxKeepsOrder(t *testing.T) {
	b := box[int]()
	if got := b.Take(); got != nil {
		t.Errorf("an empty box: %v, want nil", got)
	}
	for round := range 3 {
		b.Put(round)
		b.Put(10 + round)
		<-b.C()
		if got, want := b.Take(), []int{round, 10 + round}; !slices.Equal(got, want) {
			t.Errorf("took %v, want %v", got, want)
		}
	}
	if got := b.Take(); got != nil {
		t.Errorf("nothing new: %v, want nil", got)
	}
}

func TestBoxClosed(t *testing.T) {
	left := 0
	b := newBox(func(*Box[int]) { left++ })
	b.Put(1)
	b.Close()
	b.Close()
	b.Put(2)
	if got := b.Take(); got != nil {
		t.Errorf("a closed box gave %v", got)
	}
	if left != 1 {
		t.Errorf("left %d times, want once", left)
	}
}

// A reader that only waits for signals gets everything of all writers, and of each in order.
func TestBoxManyWriters(t *testing.T) {
	const writers, each = 8, 2000
	b := box[[2]int]()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				b.Put([2]int{w, i})
			}
		})
	}
	var next [writers]int
	for n := 0; n < writers*each; {
		<-b.C()
		for _, x := range b.Take() {
			if x[1] != next[x[0]] {
				t.Fatalf("writer %d: got %d, want %d", x[0], x[1], next[x[0]])
			}
			next[x[0]]++
			n++
		}
	}
	wg.Wait()
}

func TestBoxAllocatesNothing(t *testing.T) {
	b := box[Engine]()
	n := testing.AllocsPerRun(100, func() {
		for range 10 {
			b.Put(lookEngine)
		}
		<-b.C()
		b.Take()
	})
	if n != 0 {
		t.Errorf("%v allocations for ten items, want 0", n)
	}
}

// What has been read is not held by the box, and neither is the memory of a burst.
func TestBoxLetsGo(t *testing.T) {
	b := box[*[1 << 20]byte]()
	freed := make(chan struct{})
	item := new([1 << 20]byte)
	runtime.AddCleanup(item, func(struct{}) { close(freed) }, struct{}{})
	b.Put(item)
	b.Take()
	b.Take()
	pgtest.Eventually(t, patient, func() (bool, string) {
		runtime.GC()
		select {
		case <-freed:
			return true, ""
		default:
			return false, "an item that was read is still held"
		}
	})
	for range maxKept + 1 {
		b.Put(nil)
	}
	b.Take()
	b.Put(nil)
	b.Take()
	if c := cap(b.items); c > maxKept {
		t.Errorf("a buffer for %d items was kept", c)
	}
}
