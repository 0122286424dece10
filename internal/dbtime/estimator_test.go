package dbtime_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"axflow/internal/dbtime"
)

const ms = time.Millisecond

var epoch = time.Date(2026, 10, 25, 0, 59, 0, 0, time.UTC)

// fake is a monotonic clock that a test moves.
type fake struct{ t time.Duration }

func (f *fake) read() time.Duration { return f.t }

func started(f *fake, cfg dbtime.Config) *dbtime.Estimator {
	cfg.Monotonic = f.read
	return dbtime.New(cfg, f.t, f.t, epoch) // an exact sample: now it is epoch
}

func TestEstimateRunsOnTheMonotonicClock(t *testing.T) {
	f := &fake{t: time.Hour}
	e := started(f, dbtime.Config{})
	f.t += 1500 * ms
	if got, want := e.Now(), epoch.Add(1500*ms); !got.Equal(want) {
		t.Fatalf("Now %v, want %v", got, want)
	}
	if got, want := e.Uncertainty(), 750*time.Microsecond; got != want { // 500 ppm of 1.5 s
		t.Fatalf("Uncertainty %v, want %v", got, want)
	}
}

func TestSamplesIntersect(t *testing.T) {
	f := &fake{}
	// Sent at 0, received at 10: the clock at 10 is between 100 and 110.
	e := dbtime.New(dbtime.Config{Monotonic: f.read, DriftPPM: 1}, 0, 10*ms, epoch.Add(100*ms))
	f.t = 10 * ms
	if got, want := e.Now(), epoch.Add(105*ms); !got.Equal(want) || (e.Uncertainty()-5*ms).Abs() > time.Microsecond {
		t.Fatalf("Now %v ± %v, want %v ± 5ms", got, e.Uncertainty(), want)
	}
	// Sent at 10, received at 18, says 108: the clock at 18 is between 108 and 116; the first sample says
	// 108 to 118, so nothing is excluded but the top.
	e.Sample(10*ms, 18*ms, epoch.Add(108*ms))
	f.t = 18 * ms
	if got, want := e.Now(), epoch.Add(112*ms); got.Sub(want).Abs() > time.Microsecond {
		t.Fatalf("Now %v, want %v", got, want)
	}
	// A very slow answer (20 s) that fits changes nothing.
	f.t += 20 * time.Second
	if _, jumped := e.Sample(18*ms, f.t, epoch.Add(3*time.Second)); jumped {
		t.Fatal("a slow answer passed for a jump")
	}
	if got, want := e.Now(), epoch.Add(20*time.Second+112*ms); got.Sub(want).Abs() > time.Microsecond {
		t.Fatalf("Now %v after a slow answer, want %v", got, want)
	}
}

func TestJumps(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour, 501 * ms, -501 * ms} {
		t.Run(step.String(), func(t *testing.T) {
			f := &fake{}
			e := started(f, dbtime.Config{DriftPPM: 1})
			jumps, stop := e.Subscribe()
			f.t = 100 * ms
			e.Now()
			j, jumped := e.Sample(f.t, f.t, epoch.Add(100*ms+step))
			want := dbtime.Jump{Count: 1, By: step, Now: epoch.Add(100*ms + step)}
			if !jumped || j != want || e.Jumps() != 1 {
				t.Fatalf("jumped %v: %+v, want %+v", jumped, j, want)
			}
			if got := e.Now(); !got.Equal(want.Now) {
				t.Fatalf("Now %v, want %v", got, want.Now)
			}
			if got := <-jumps; got != want {
				t.Fatalf("subscriber got %+v, want %+v", got, want)
			}
			// Back again, twice, unread: the subscriber sees the newest.
			e.Sample(f.t, f.t, epoch.Add(100*ms))
			e.Sample(f.t, f.t, epoch.Add(100*ms+step))
			if got := <-jumps; got.Count != 3 || got.By != step {
				t.Fatalf("subscriber got %+v, want the third jump", got)
			}
			stop()
			e.Sample(f.t, f.t, epoch.Add(100*ms))
			select {
			case got := <-jumps:
				t.Fatalf("got %+v after stop", got)
			default:
			}
		})
	}
}

func TestSmallStepsAreNoJumps(t *testing.T) {
	f := &fake{}
	e := started(f, dbtime.Config{DriftPPM: 1})
	f.t = 10 * ms
	if _, jumped := e.Sample(f.t, f.t, epoch.Add(510*ms)); jumped {
		t.Fatal("500 ms jumped at a threshold of 500 ms")
	}
	if got, want := e.Now(), epoch.Add(510*ms); !got.Equal(want) {
		t.Fatalf("Now %v, want %v", got, want)
	}
	// Back by 300 ms: the estimate stands still until the clock has caught up.
	if _, jumped := e.Sample(f.t, f.t, epoch.Add(210*ms)); jumped {
		t.Fatal("300 ms jumped")
	}
	for _, at := range []struct{ mono, want time.Duration }{{10 * ms, 510 * ms}, {310 * ms, 510 * ms}, {311 * ms, 511 * ms}} {
		f.t = at.mono
		if got, want := e.Now(), epoch.Add(at.want); !got.Equal(want) {
			t.Fatalf("at %v Now %v, want %v", at.mono, got, want)
		}
	}
}

func TestNonsenseIsIgnored(t *testing.T) {
	f := &fake{t: time.Second}
	e := started(f, dbtime.Config{})
	for _, s := range [][2]time.Duration{{2 * time.Second, time.Second}, {0, 999 * ms}} {
		if _, jumped := e.Sample(s[0], s[1], epoch.Add(time.Hour)); jumped {
			t.Fatalf("sample %v was taken", s)
		}
	}
	if got := e.Now(); !got.Equal(epoch) {
		t.Fatalf("Now %v, want %v", got, epoch)
	}
}

// TestTruth simulates a database clock that drifts and is stepped, and answers with random delays: the
// truth is within the stated uncertainty, no honest sample jumps, every step well beyond the threshold
// does, and Now goes back at jumps only.
func TestTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fake{}
		rate := 1 + float64(rapid.IntRange(-490, 490).Draw(t, "ppm"))/1e6
		var stepped time.Duration
		truth := func(mono time.Duration) time.Time {
			return epoch.Add(time.Duration(float64(mono)*rate) + stepped)
		}
		pass := func(limit time.Duration, label string) {
			f.t += time.Duration(rapid.Int64Range(0, int64(limit)).Draw(t, label))
		}
		sample := func() (sent, received time.Duration, db time.Time) {
			sent = f.t
			pass(200*ms, "request")
			db = truth(f.t)
			pass(200*ms, "answer")
			return sent, f.t, db
		}
		sent, received, db := sample()
		e := dbtime.New(dbtime.Config{Monotonic: f.read}, sent, received, db)
		last, lastLeast, jumps := e.Now(), e.Earliest(), uint64(0)
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			pass(5*time.Second, "pause")
			var step time.Duration
			if rapid.IntRange(0, 4).Draw(t, "step?") == 0 {
				step = time.Duration(rapid.SampledFrom([]int64{-1, 1}).Draw(t, "sign") *
					rapid.Int64Range(int64(2*time.Second), int64(48*time.Hour)).Draw(t, "step"))
				stepped += step
			}
			j, jumped := e.Sample(sample())
			if jumped != (step != 0) {
				t.Fatalf("jumped %v after a step of %v", jumped, step)
			}
			if jumped {
				jumps++
				if j.Count != jumps || (j.By > 0) != (step > 0) || (j.By-step).Abs() > 500*ms {
					t.Fatalf("%+v after a step of %v, the %d.", j, step, jumps)
				}
				last = j.Now
			}
			least := e.Earliest()
			if least.After(truth(f.t).Add(time.Microsecond)) {
				t.Fatalf("Earliest is %v ahead of the clock", least.Sub(truth(f.t)))
			}
			if d := truth(f.t).Sub(least); d > 2*e.Uncertainty()+time.Microsecond {
				t.Fatalf("Earliest is behind by %v, stated uncertainty %v", d, e.Uncertainty())
			}
			if least.Before(lastLeast) && !jumped {
				t.Fatalf("Earliest went back from %v to %v", lastLeast, least)
			}
			lastLeast = least
			now := e.Now()
			if now.Before(last) {
				t.Fatalf("Now went back from %v to %v", last, now)
			}
			// Standing still is the one reason to be further off.
			if off := now.Sub(truth(f.t)); off.Abs() > e.Uncertainty()+time.Microsecond && !now.Equal(last) {
				t.Fatalf("Now is off by %v, stated uncertainty %v", off, e.Uncertainty())
			}
			last = now
		}
	})
}

func BenchmarkNow(b *testing.B) {
	e := dbtime.New(dbtime.Config{Monotonic: dbtime.Since(time.Now())}, 0, 0, epoch)
	b.ReportAllocs()
	for b.Loop() {
		e.Now()
	}
}
