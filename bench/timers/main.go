// Timers measures the timing wheel with 100,000 pending timers.
//
// First the operations alone, in virtual time: timers spread over a minute are added, half of them are
// cancelled in random order and the rest fire as a virtual clock goes on by a millisecond at a time; done
// once to warm up and then measured. Then the wheel as an engine drives it, in real time: a loop sleeps until
// the next timer is due, but two milliseconds at least (most of the CPU goes into waking up), fires what is
// due and adds as many anew, so that the same number stays pending.
//
// The last line of the output is JSON:
//
//	pending                             timers pending, all the time
//	add_ns cancel_ns fire_ns            mean time of one operation; fire_ns includes the clock's steps
//	add_allocs cancel_allocs fire_allocs  mean heap allocations of one operation
//	fired                               timers fired in real time
//	lag_p50_ms lag_p99_ms lag_max_ms    from a timer's due time to the moment the loop has it
//	cpu_pct                             this process's CPU time (user + system) in the real-time phase, as a
//	                                    share of one core
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"axflow/engine/wheel"
)

func main() {
	pending := flag.Int("pending", 100_000, "timers pending at any time")
	spread := flag.Duration("spread", time.Minute, "virtual time over which the timers are due")
	length := flag.Duration("real", 20*time.Second, "length of the real-time phase, and how far ahead its timers are due")
	floor := flag.Duration("floor", 2*time.Millisecond, "least sleep of the driving loop")
	seed := flag.Uint64("seed", 1, "seed of the due times")
	flag.Parse()
	if *pending < 2 || *spread < time.Millisecond || *length <= 0 {
		fmt.Fprintln(os.Stderr, "timers: -pending must be at least 2, -spread at least 1ms, -real above 0")
		os.Exit(2)
	}

	out := map[string]any{"bench": "timers", "pending": *pending}
	rnd := rand.New(rand.NewPCG(*seed, 0))
	operations(*pending, *spread, rnd, out)
	drive(*pending, *length, *floor, rnd, out)
	line, err := json.Marshal(out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "timers:", err)
		os.Exit(1)
	}
	fmt.Println(string(line))
}

// cost is the mean time and heap allocations of one of n operations done by f.
func cost(n int, f func()) (ns, allocs float64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begin := time.Now()
	f()
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	return float64(took.Nanoseconds()) / float64(n), float64(after.Mallocs-before.Mallocs) / float64(n)
}

// operations measures add, cancel and fire on a virtual clock.
func operations(pending int, spread time.Duration, rnd *rand.Rand, out map[string]any) {
	now := time.Unix(1_800_000_000, 0)
	w := wheel.New[int](now)
	handles, due := make([]wheel.Handle, pending), make([]time.Time, pending)
	fired := make([]wheel.Fired[int], 0, pending)
	for round := range 2 {
		for i := range due {
			due[i] = now.Add(1 + time.Duration(rnd.Int64N(int64(spread))))
		}
		victims := rnd.Perm(pending)[:pending/2]
		addNs, addAllocs := cost(pending, func() {
			for i, at := range due {
				handles[i] = w.Add(at, i)
			}
		})
		cancelNs, cancelAllocs := cost(len(victims), func() {
			for _, i := range victims {
				w.Cancel(handles[i])
			}
		})
		rest := w.Len()
		fireNs, fireAllocs := cost(rest, func() {
			for end := now.Add(spread + time.Second); now.Before(end); {
				now = now.Add(time.Millisecond)
				fired, _ = w.Advance(now, fired[:0])
			}
		})
		if rest != pending-len(victims) || w.Len() != 0 {
			fmt.Fprintf(os.Stderr, "timers: %d were left to fire, want %d; %d did not\n", rest, pending-len(victims), w.Len())
			os.Exit(1)
		}
		if round == 0 {
			continue
		}
		out["add_ns"], out["add_allocs"] = rounded(addNs), rounded(addAllocs)
		out["cancel_ns"], out["cancel_allocs"] = rounded(cancelNs), rounded(cancelAllocs)
		out["fire_ns"], out["fire_allocs"] = rounded(fireNs), rounded(fireAllocs)
	}
}

// drive runs a wheel in real time and measures lag and CPU.
func drive(pending int, length, floor time.Duration, rnd *rand.Rand, out map[string]any) {
	var fired []wheel.Fired[int64]
	lags := make([]time.Duration, 0, 2*pending)
	runtime.GC()
	begin := time.Now()
	w := wheel.New[int64](begin)
	// The payload is the exact due time, as nanoseconds after begin: the wheel reports it rounded up.
	add := func(after time.Duration) {
		after += time.Duration(rnd.Int64N(int64(length)))
		w.Add(begin.Add(after), int64(after))
	}
	for range pending {
		add(time.Since(begin))
	}
	cpu := processCPU()
	// The loop's clock is monotonic, like the engine's estimate of the database's.
	start := time.Since(begin)
	sleep := time.NewTimer(0)
	<-sleep.C
	for now := start; now-start < length; now = time.Since(begin) {
		fired, _ = w.Advance(begin.Add(now), fired[:0])
		now = time.Since(begin)
		for _, f := range fired {
			lags = append(lags, now-time.Duration(f.Payload))
			add(now)
		}
		next, _ := w.Next()
		sleep.Reset(max(floor, next.Sub(begin.Add(time.Since(begin)))))
		<-sleep.C
	}
	took := time.Since(begin) - start
	cpu = processCPU() - cpu
	slices.Sort(lags)
	at := func(q float64) float64 {
		return rounded(float64(lags[int(q*float64(len(lags)-1))]) / float64(time.Millisecond))
	}
	out["fired"] = len(lags)
	out["lag_p50_ms"], out["lag_p99_ms"], out["lag_max_ms"] = at(0.5), at(0.99), at(1)
	out["cpu_pct"] = rounded(100 * float64(cpu) / float64(took))
}

func processCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fmt.Fprintln(os.Stderr, "timers: reading the CPU time:", err)
		os.Exit(1)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rounded keeps three digits after the point; what the runtime allocates meanwhile is below that.
func rounded(x float64) float64 { return float64(int64(x*1e3+0.5)) / 1e3 }
