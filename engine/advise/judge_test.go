package advise

import (
	"testing"
	"time"
)

func TestTimeoutSuggestion(t *testing.T) {
	const s, m, h = time.Second, time.Minute, time.Hour
	for _, c := range []struct {
		name              string
		p99, current      time.Duration
		samples, timedOut int
		from, to          time.Duration
		fit               Fit
	}{
		{"too few", 2 * s, h, 99, 0, 0, 0, FitUnknown},
		{"good", 40 * s, 75 * s, 100, 0, 60 * s, 80 * s, FitGood},
		{"tight", 40 * s, 59 * s, 100, 0, 60 * s, 80 * s, FitTight},
		{"at 1.5", 40 * s, 60 * s, 100, 0, 60 * s, 80 * s, FitGood},
		{"cut off", 40 * s, 75 * s, 1000, 11, 60 * s, 80 * s, FitTight},
		{"loose", 40 * s, 401 * s, 100, 0, 60 * s, 80 * s, FitLoose},
		{"at 10", 40 * s, 400 * s, 100, 0, 60 * s, 80 * s, FitGood},
		{"a minute is never loose", 10 * time.Millisecond, m, 100, 0, s, s, FitGood},
		{"default of an hour", 10 * time.Millisecond, h, 100, 0, s, s, FitLoose},
		{"hours", 3 * h, 5 * h, 100, 0, 270 * m, 360 * m, FitGood},
		{"rounded up", 3333 * time.Millisecond, 8 * s, 100, 0, s * 5, 6700 * time.Millisecond, FitGood},
	} {
		x := Timeout{Samples: c.samples, TimedOut: c.timedOut, P99: c.p99, Current: c.current}
		x.judge()
		if x.From != c.from || x.To != c.to || x.Fit != c.fit {
			t.Errorf("%s: %v to %v, %s; want %v to %v, %s", c.name, x.From, x.To, x.Fit, c.from, c.to, c.fit)
		}
	}
	x := Timeout{Samples: 80, TimedOut: 5, Failed: 20}
	if got := x.FailedShare(); got != 0.25 {
		t.Errorf("failed share %v, want 25 of 100", got)
	}
}

func TestCapacity(t *testing.T) {
	for _, c := range []struct {
		name              string
		perSecond         float64
		wait, exec        time.Duration
		slots, workers    int
		needed, backlog   float64
		from, to          int
		wFrom, wTo, perWk int
		short             bool
	}{
		// 10 a second that take 2 s each need 20 at once; 30 to 50 % more is 26 to 30: with 8 slots each, 4 workers.
		{"enough", 10, 3 * time.Second, 2 * time.Second, 32, 4, 20, 30, 26, 30, 4, 4, 8, false},
		{"short", 10, 30 * time.Second, 2 * time.Second, 16, 2, 20, 300, 26, 30, 4, 4, 8, true},
		{"nobody", 1, 0, 4 * time.Second, 0, 0, 4, 0, 6, 6, 0, 0, 0, true},
		{"nothing", 0, 0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 8, false},
		{"a little", 0.01, time.Second, time.Second, 8, 1, 0.01, 0.01, 1, 1, 1, 1, 8, false},
	} {
		h := Handler{Load: Load{PerSecond: c.perSecond, Wait: c.wait, Exec: c.exec}, Slots: c.slots, Workers: c.workers}
		h.judge()
		if h.Needed != c.needed || h.Expected != c.backlog || h.SlotsFrom != c.from || h.SlotsTo != c.to || h.WorkersFrom != c.wFrom ||
			h.WorkersTo != c.wTo || h.Each != c.perWk || h.Short != c.short {
			t.Errorf("%s: %+v", c.name, h)
		}
	}
	limit, capacity := 10, 100
	q := Queue{Load: Load{PerSecond: 10, Wait: 5 * time.Second, Exec: 2 * time.Second}, Limit: &limit, Capacity: &capacity}
	q.judge()
	if !q.Short || !q.Small { // 20 at once do not fit a limit of 10; 50 waiting and 20 running are over 60 of 100
		t.Errorf("%+v, want a limit that is short and a capacity that is small", q)
	}
}

func TestLoadsAddUp(t *testing.T) {
	l := Load{PerSecond: 1, Wait: time.Second, Exec: 2 * time.Second, Waiting: 3, Running: 1, Samples: 10}
	l.add(Load{PerSecond: 2, Wait: 4 * time.Second, Exec: 8 * time.Second, Waiting: 1, Running: 4, Samples: 20})
	want := Load{PerSecond: 3, Wait: 3 * time.Second, Exec: 6 * time.Second, Waiting: 4, Running: 5, Samples: 30}
	if l != want {
		t.Errorf("%+v, want %+v", l, want)
	}
}
