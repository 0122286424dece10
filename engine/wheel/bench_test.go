package wheel_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"axflow/engine/wheel"
)

const pending = 100_000

// filled is a wheel with 100,000 timers spread over a minute, and a pool of random distances.
func filled() (*wheel.Wheel[int], []wheel.Handle, []time.Duration) {
	rnd := rand.New(rand.NewPCG(3, 4))
	w := wheel.New[int](start)
	handles, ahead := make([]wheel.Handle, pending), make([]time.Duration, 1<<16)
	for i := range ahead {
		ahead[i] = time.Duration(rnd.Int64N(int64(time.Minute)))
	}
	for i := range handles {
		handles[i] = w.Add(start.Add(ahead[i%len(ahead)]), i)
	}
	return w, handles, ahead
}

// BenchmarkAddCancel is one Add and one Cancel beside 100,000 pending timers.
func BenchmarkAddCancel(b *testing.B) {
	w, handles, ahead := filled()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		k := i * 7919 % pending
		w.Cancel(handles[k])
		handles[k] = w.Add(start.Add(ahead[i&(1<<16-1)]), k)
	}
}

// BenchmarkFire is one timer that comes due and is added anew, beside 100,000 pending ones; Advance goes
// in steps of a millisecond.
func BenchmarkFire(b *testing.B) {
	w, _, ahead := filled()
	now := start
	var fired []wheel.Fired[int]
	b.ReportAllocs()
	for i := 0; b.Loop(); {
		now = now.Add(time.Millisecond)
		fired, _ = w.Advance(now, fired[:0])
		for _, f := range fired {
			w.Add(now.Add(ahead[i&(1<<16-1)]), f.Payload)
			i++
		}
	}
}

// BenchmarkNext is the worst case of Next: the earliest timer was just cancelled and the next one is a
// coarse block away.
func BenchmarkNext(b *testing.B) {
	w := wheel.New[int](start)
	for i := range pending / 60 {
		w.Add(start.Add(30*time.Second+time.Duration(i)*100*time.Microsecond), i)
	}
	b.ReportAllocs()
	for b.Loop() {
		w.Cancel(w.Add(start.Add(time.Second), 0))
		w.Next()
	}
}
