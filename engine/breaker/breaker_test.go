package breaker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"axflow/stage"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func worker(n int) uuid.UUID { return uuid.UUID{15: byte(n)} }

// bench feeds a circuit with outcomes, each reported at once, and counts as a worker does.
type bench struct {
	c   *Circuit
	now time.Time
	say [3]Counts
}

func newBench(cfg stage.Breaker) *bench {
	b := &bench{c: New(cfg, Snapshot{}), now: epoch}
	for w := range b.say {
		b.c.Report(epoch, worker(w), Counts{})
	}
	return b
}

func (b *bench) ok(w int) bool {
	b.say[w].OK++
	b.say[w].Streak = 0
	return b.c.Report(b.now, worker(w), b.say[w])
}

func (b *bench) fail(w int) bool {
	b.say[w].Fail++
	b.say[w].Streak++
	b.say[w].Error = fmt.Sprintf("refused %d", b.say[w].Fail)
	return b.c.Report(b.now, worker(w), b.say[w])
}

func (b *bench) pass(d time.Duration) bool {
	b.now = b.now.Add(d)
	return b.c.Tick(b.now)
}

var quick = stage.Breaker{Failures: 2, Window: time.Minute, MinSamples: 20, CoolDown: 30 * time.Second}

// TestEverySequence runs every sequence of six events of two workers, the clock and an operator, and compares with a model
// that looks at the whole history. A worker forgets its streak when it hears that the circuit has closed.
func TestEverySequence(t *testing.T) {
	events := []string{"ok 1", "fail 1", "ok 2", "fail 2", "cool down", "open", "close"}
	const length = 6
	total := 1
	for range length {
		total *= len(events)
	}
	for code := range total {
		b := newBench(quick)
		state, manual := Closed, false
		var history []string // outcomes since it closed last
		allFailed := func(list []string) bool {
			return len(list) >= quick.Failures && !strings.Contains(strings.Join(list[len(list)-quick.Failures:], " "), "ok")
		}
		for i, rest := 0, code; i < length; i, rest = i+1, rest/len(events) {
			e := events[rest%len(events)]
			before := state
			var moved bool
			switch e {
			case "cool down":
				if state == Open && !manual {
					state = HalfOpen
				}
				moved = b.pass(quick.CoolDown)
			case "open":
				state, manual = Open, true
				b.c.Open(b.now, "maintenance")
				moved = state != before
			case "close":
				state, manual = Closed, false
				b.c.Close(b.now, "repaired")
				moved = state != before
			default:
				w := int(e[len(e)-1] - '0')
				failed := strings.HasPrefix(e, "fail")
				switch state {
				case Closed:
					history = append(history, e)
					var own []string
					for _, h := range history {
						if h[len(h)-1] == e[len(e)-1] {
							own = append(own, h)
						}
					}
					if allFailed(history) || allFailed(own) {
						state = Open
					}
				case HalfOpen:
					if state = Closed; failed {
						state = Open
					}
				}
				if failed {
					moved = b.fail(w)
				} else {
					moved = b.ok(w)
				}
			}
			if state == Closed && (before != Closed || e == "close") {
				history = nil
				for w := range b.say {
					b.say[w].Streak = 0
				}
			}
			if b.c.State() != state || moved != (state != before) || b.c.Snapshot().Manual != manual {
				t.Fatalf("sequence %d, after event %d (%s): %v, moved=%v; want %v after %v", code, i, e, b.c.State(), moved, state, before)
			}
			if again := b.c.Report(b.now, worker(1), b.say[1]); again && b.say[1].OK+b.say[1].Fail > 0 && e[len(e)-1] == '1' {
				t.Fatalf("sequence %d: the same report moved it again", code)
			}
		}
	}
}

// TestStragglersMoveNothing: what ends while the circuit is open had started before.
func TestStragglersMoveNothing(t *testing.T) {
	b := newBench(quick)
	b.fail(1)
	if !b.fail(2) || b.c.State() != Open {
		t.Fatal("two failures of two workers did not open it")
	}
	until, _ := b.c.Next()
	b.pass(time.Second)
	if b.ok(1) || b.fail(2) || b.c.State() != Open {
		t.Fatal("a straggler moved it")
	}
	if again, ok := b.c.Next(); !ok || !again.Equal(until) {
		t.Fatal("a straggler put the cool-down off")
	}
	if b.pass(28*time.Second) || !b.pass(time.Second) || b.c.State() != HalfOpen {
		t.Fatalf("the cool-down of 30 s ended wrongly: %v", b.c.State())
	}
	if b.c.Tick(b.now.Add(time.Hour)) {
		t.Fatal("a half-open circuit has nothing to wait for")
	}
	if !b.fail(1) || b.c.State() != Open || !b.c.Snapshot().Until.Equal(b.now.Add(30*time.Second)) {
		t.Fatalf("a failed probe: %+v", b.c.Snapshot())
	}
	if got := b.c.Why(); got != "until 12:01:00Z, the probe failed, last: refused 2" {
		t.Errorf("it says %q", got)
	}
	b.pass(30 * time.Second)
	if !b.ok(2) || b.c.State() != Closed || b.c.Snapshot().Failures != 0 {
		t.Fatalf("a good probe: %+v", b.c.Snapshot())
	}
}

// TestStreakOfOneWorker: one worker's failures in a row open the circuit although another one succeeds all the time.
func TestStreakOfOneWorker(t *testing.T) {
	b := newBench(stage.DefaultBreaker())
	for i := 1; i <= 5; i++ {
		b.ok(2)
		if moved := b.fail(1); moved != (i == 5) {
			t.Fatalf("failure %d: moved=%v", i, moved)
		}
	}
	if s := b.c.Snapshot(); s.Failures != 5 || s.Reason != "5 failures in a row" || s.LastError != "refused 5" || !s.OpenedAt.Equal(epoch) {
		t.Errorf("%+v", s)
	}
}

// TestFirstReport: a worker's report that a leader sees first opens a circuit that never moved by its streak; one that has moved,
// only if the worker has tripped.
func TestFirstReport(t *testing.T) {
	n := Counts{OK: 100, Fail: 7, Streak: 5, Error: "refused"}
	if c := New(stage.DefaultBreaker(), Snapshot{}); !c.Report(epoch, worker(1), n) {
		t.Error("a streak of 5 was ignored")
	}
	closed := Snapshot{Reason: "the probe succeeded"}
	c := New(stage.DefaultBreaker(), closed)
	if c.Report(epoch, worker(1), n) {
		t.Error("failures from before it closed opened it")
	}
	n.Fail, n.Streak, n.Tripped = 8, 6, true
	if !c.Report(epoch, worker(1), n) {
		t.Error("a worker that tripped was left waiting")
	}
	if c := New(stage.DefaultBreaker(), closed); !c.Report(epoch, worker(1), n) {
		t.Error("a worker that had tripped before the leader came was left waiting")
	}
	// Three workers with three failures each are nine in a row only if none of them has succeeded.
	c = New(stage.DefaultBreaker(), Snapshot{})
	if c.Report(epoch, worker(1), Counts{Fail: 3, Streak: 3}) || !c.Report(epoch, worker(2), Counts{Fail: 3, Streak: 3}) {
		t.Error("six in a row of two workers did not open it at once")
	}
	c = New(stage.DefaultBreaker(), Snapshot{})
	for w := range 3 {
		if c.Report(epoch, worker(w), Counts{OK: 5, Fail: 2, Streak: 2}) {
			t.Error("old streaks of three workers were added up")
		}
	}
	c.Forget(worker(1))
	if c.Report(epoch, worker(0), Counts{Fail: 1, Streak: 1}) {
		t.Error("a worker that started over opened it")
	}
}

// TestErrorRate compares the window with a list of all outcomes: it may remember up to a sixteenth longer than asked.
func TestErrorRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := stage.Breaker{Failures: 1000, ErrorRate: 0.5, Window: 16 * time.Second, MinSamples: 10, CoolDown: time.Second}
		b := newBench(cfg)
		type outcome struct {
			at     time.Time
			failed bool
		}
		var all []outcome
		rate := func(within time.Duration) bool {
			n, failed := 0, 0
			for _, o := range all {
				if o.at.After(b.now.Add(-within)) {
					n++
					if o.failed {
						failed++
					}
				}
			}
			return n >= cfg.MinSamples && 2*failed >= n
		}
		for range rapid.IntRange(1, 150).Draw(t, "outcomes") {
			b.pass(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			failed := rapid.IntRange(0, 2).Draw(t, "failed") == 0
			all = append(all, outcome{b.now, failed})
			w := rapid.IntRange(0, 2).Draw(t, "worker")
			var opened bool
			if failed {
				opened = b.fail(w)
			} else {
				opened = b.ok(w)
			}
			// Any length between the two may be measured; where all agree it is certain.
			exact := rate(16 * time.Second)
			certain := rate(17*time.Second) == exact
			for _, o := range all {
				if age := b.now.Sub(o.at); age > 16*time.Second && age < 17*time.Second {
					certain = certain && rate(age) == exact && rate(age+1) == exact
				}
			}
			if failed && certain && opened != exact || !failed && opened {
				t.Fatalf("opened=%v, should=%v", opened, exact)
			}
			if opened {
				return
			}
		}
	})
}

// TestSnapshot: a circuit made from a snapshot says and does what the one that it was taken from does, but for what workers
// have counted before.
func TestSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(quick)
		for range rapid.IntRange(0, 12).Draw(t, "events") {
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				b.ok(rapid.IntRange(0, 2).Draw(t, "worker"))
			case 1, 2:
				b.fail(rapid.IntRange(0, 2).Draw(t, "worker"))
			case 3:
				b.pass(time.Duration(rapid.IntRange(0, 40).Draw(t, "s")) * time.Second)
			case 4:
				b.c.Open(b.now, "maintenance")
			case 5:
				b.c.Close(b.now, "repaired")
			}
		}
		s := b.c.Snapshot()
		again := New(quick, s)
		if again.Snapshot() != s || again.Why() != b.c.Why() || again.State() != b.c.State() {
			t.Fatalf("%+v became %+v", s, again.Snapshot())
		}
		for range 3 {
			b.now = b.now.Add(20 * time.Second)
			if x, y := b.c.Tick(b.now), again.Tick(b.now); x != y || again.Snapshot() != b.c.Snapshot() {
				t.Fatalf("after a tick: %+v and %+v", b.c.Snapshot(), again.Snapshot())
			}
		}
		if b.c.State() == HalfOpen {
			b.ok(0)
			n := Counts{OK: 1}
			again.Report(b.now, worker(9), Counts{})
			again.Report(b.now, worker(9), n)
			if again.State() != Closed || b.c.State() != Closed {
				t.Fatalf("after a good probe: %v and %v", b.c.State(), again.State())
			}
		}
	})
}

func TestManual(t *testing.T) {
	b := newBench(quick)
	b.c.Open(b.now, "warehouse is moving")
	if _, ok := b.c.Next(); ok || b.pass(time.Hour) || b.ok(1) || b.fail(1) || b.c.State() != Open {
		t.Fatal("what an operator opened moved by itself")
	}
	if got := b.c.Why(); got != "by hand, until somebody closes it: warehouse is moving, last: refused 1" {
		t.Errorf("it says %q", got)
	}
	b.c.Close(b.now, "moved")
	if b.c.State() != Closed || b.c.Why() != "moved" {
		t.Errorf("%+v", b.c.Snapshot())
	}
	b.say = [3]Counts{}
	b.c.SetConfig(stage.DefaultBreaker())
	for i := 1; i <= 5; i++ {
		if moved := b.fail(2); moved != (i == 5) {
			t.Fatalf("failure %d by the new configuration: moved=%v", i, moved)
		}
	}
}

func TestStateNames(t *testing.T) {
	if got := fmt.Sprint(Closed, Open, HalfOpen, State(9)); got != "closed open half-open ?" {
		t.Error(got)
	}
}
