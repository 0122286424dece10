package worker

import (
	"fmt"
	"testing"
	"time"

	"axflow/sql/span"
)

// A worker that has tripped a circuit goes on when the leader has answered it, or for three beats has not.
func TestWhoClearsATrip(t *testing.T) {
	const beat = time.Second
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	for _, c := range []struct {
		name    string
		before  circuitSeen // what the worker knew when it tripped
		answers []circuitSeen
		off     bool
		shut    []bool // after each answer, a beat apart
		tripped []bool
	}{
		{"opened", circuitSeen{}, []circuitSeen{{}, {State: circuitOpen, Since: at(1)}, {}}, false, []bool{true, true, false}, []bool{true, false, false}},
		{"silence", circuitSeen{}, make([]circuitSeen, 5), false, []bool{true, true, true, false, false}, []bool{true, true, true, false, false}},
		{"a probe has failed, and the leader has not seen it yet", circuitSeen{State: circuitHalf, Since: at(1)},
			[]circuitSeen{{State: circuitHalf, Since: at(1)}, {State: circuitOpen, Since: at(2)}}, false, []bool{true, true}, []bool{true, false}},
		{"it was opened and half-opened between two beats", circuitSeen{}, []circuitSeen{{State: circuitHalf, Since: at(2)}}, false, []bool{true}, []bool{false}},
		{"switched off", circuitSeen{}, []circuitSeen{{}}, true, []bool{false}, []bool{false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &circuit{name: "downstream:x", seen: c.before}
			x.failures.Store(2)
			want(t, "the first failure is urgent", x.failed("no", true), false)
			want(t, "the second is", x.failed("no", true), true)
			for i, answer := range c.answers {
				x.say()
				x.hear(answer, c.off, time.Duration(i+1)*beat, beat)
				want(t, fmt.Sprint("shut after answer ", i), x.shut.Load(), c.shut[i])
				want(t, fmt.Sprint("tripped after answer ", i), x.tripped, c.tripped[i])
			}
		})
	}
}

// A trip that no heartbeat has told of yet is not answered by one that was under way.
func TestTripAfterTheBeatWasSent(t *testing.T) {
	x := &circuit{name: "downstream:x"}
	x.failures.Store(1)
	x.say()
	x.failed("no", true)
	for i := range 10 {
		x.hear(circuitSeen{}, false, time.Duration(i)*time.Second, time.Second)
	}
	want(t, "tripped", x.tripped, true)
}

// What may start while a circuit is not closed is what a leader has handed out that knew.
func TestWhatMayStart(t *testing.T) {
	since := time.Unix(1000, 0)
	flightAt := func(d time.Duration) *flight {
		return &flight{Assignment: span.Assignment{DispatchedAt: since.Add(d)}}
	}
	for _, c := range []struct {
		seen  circuitSeen
		after time.Duration
		may   bool
	}{
		{circuitSeen{}, -time.Hour, true},
		{circuitSeen{State: circuitOpen, Since: since}, -1, false},
		{circuitSeen{State: circuitOpen, Since: since}, 1, true},
		{circuitSeen{State: circuitHalf, Since: since}, -1, false},
		{circuitSeen{State: circuitHalf, Since: since}, 0, true},
		{circuitSeen{State: circuitOpen, Since: since, Manual: true}, time.Hour, false},
	} {
		x := &circuit{name: "downstream:x"}
		x.hear(c.seen, false, 0, time.Second)
		want(t, fmt.Sprintf("%+v, handed out %v later", c.seen, c.after), x.lets(flightAt(c.after)), c.may)
		want(t, "it goes back", x.refuses(flightAt(c.after)), !c.may)
	}
}
