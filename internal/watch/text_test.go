package watch

import (
	"math"
	"testing"
	"time"

	"axflow/stage"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0.0s", 0: "0.0s", 49 * time.Millisecond: "0.0s", 3240 * time.Millisecond: "3.2s", 9949 * time.Millisecond: "9.9s",
		9950 * time.Millisecond: "10s", 59499 * time.Millisecond: "59s", 59500 * time.Millisecond: "1m00s", 192 * time.Second: "3m12s",
		2*time.Hour + 5*time.Minute: "2h05m", 76 * time.Hour: "3d04h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int][2]string{
		0: {"0", "0"}, 999: {"999", "999"}, 1000: {"1,000", "1.0k"}, 9949: {"9,949", "9.9k"}, 9950: {"9,950", "10k"},
		912_345: {"912,345", "912k"}, 999_499: {"999,499", "999k"}, 999_500: {"999,500", "1.0M"}, 1_000_000: {"1,000,000", "1.0M"},
		12_000_000: {"12,000,000", "12M"}, -1234: {"-1,234", "-1234"},
	} {
		if got := Count(n); got != want[0] {
			t.Errorf("Count(%d) = %q, want %q", n, got, want[0])
		}
		if got := short(n); got != want[1] {
			t.Errorf("short(%d) = %q, want %q", n, got, want[1])
		}
	}
	for r, want := range map[float64]string{0: "", 0.05: "3.0/min", 0.5: "0.5/s", 9.94: "9.9/s", 9.96: "10/s", 45321.4: "45,321/s"} {
		if got := pace(r); got != want {
			t.Errorf("pace(%v) = %q, want %q", r, got, want)
		}
	}
	if got := percent(999_999, 1_000_000); got != "99%" {
		t.Errorf("percent of all but one = %q, want 99%%", got)
	}
}

func TestAverageOfASteadyRateIsTheRate(t *testing.T) {
	var a average
	for range 50 {
		a.add(20, 200*time.Millisecond, shownTau)
		if got := a.perSecond(); math.Abs(got-100) > 1e-9 {
			t.Fatalf("20 every 0.2 s = %v/s, want 100 from the first on", got)
		}
	}
	for range 30 { // 6 s, two time constants, of silence: e^-2 of it is left
		a.add(0, 200*time.Millisecond, shownTau)
	}
	// num = 100·W·e^-2, weight = W·e^-2 + (1-e^-2)·S, with W and S the sums of 10 s and of 6 s.
	if got := a.perSecond(); got < 5 || got > 20 {
		t.Errorf("after two time constants of silence: %v/s, want about 13", got)
	}
}

func TestRateStartsOverWithAGeneration(t *testing.T) {
	first := sharded("s", 1000, 900, 0, 0)
	again := sharded("s", 1000, 10, 0, 0)
	again.Generation = 2
	v := views(
		progress(1*time.Second, stage.RunRunning, sharded("s", 1000, 800, 0, 0)),
		progress(2*time.Second, stage.RunRunning, first),
		progress(3*time.Second, stage.RunRunning, again))
	if r := v.rows[0]; r.perSecond != 0 || r.remaining != unknown {
		t.Errorf("rate %v, remaining %v right after a rerun; want none", r.perSecond, r.remaining)
	}
}

func TestEstimate(t *testing.T) {
	v := views(
		progress(0, stage.RunRunning, sharded("s", 1000, 0, 0, 0)),
		progress(10*time.Second, stage.RunRunning, sharded("s", 1000, 90, 10, 50)))
	// 100 ended in 10 s; 900 are left.
	if r := v.rows[0]; math.Abs(r.perSecond-10) > 1e-9 || r.remaining.Round(time.Millisecond) != 90*time.Second {
		t.Errorf("rate %v, remaining %v; want 10/s and 90s", r.perSecond, r.remaining)
	}
}

func TestAlignedShardsThatWaitAreLeft(t *testing.T) {
	aligned := func(done, parked int) view {
		s := sharded("s", 100, done, 0, 0)
		s.Ready, s.Parked = 0, parked
		return views(progress(0, stage.RunRunning, sharded("s", 100, 0, 0, 0)), progress(10*time.Second, stage.RunRunning, s))
	}
	v := aligned(50, 50)
	if got := v.rows[0].remaining.Round(time.Millisecond); got != 10*time.Second {
		t.Errorf("remaining %v, want 10s", got)
	}
}
