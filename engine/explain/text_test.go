package explain

import (
	"strings"
	"testing"
	"time"
)

func TestLasting(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0 s": -time.Second, "1 ms": 10 * time.Microsecond, "420 ms": 420 * time.Millisecond, "1 s": time.Second, "4.2 s": 4200 * time.Millisecond,
		"42 s": 42 * time.Second, "1 min": time.Minute, "3 min 12 s": 192 * time.Second, "2 h 5 min": 125 * time.Minute, "3 d 4 h": 76 * time.Hour,
		"10 s": 9960 * time.Millisecond, "1 h": 59*time.Minute + 59900*time.Millisecond,
	} {
		if got := lasting(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestIndices(t *testing.T) {
	for in, want := range map[string]string{
		"{[0,1)}":                     "0",
		"{[-1,0)}":                    "plan",
		"{[0,5),[7,8),[10,1000)}":     "0-4,7,10-999",
		"{}":                          "",
		"{[0,1),[2,3),[4,5),[6,7),[8": "0,2,4,...", // the last whole range may have lost digits too
		"{[0,1),[2,3),[4,5),[6,7),[8,9),[10,11),[12,13),[14,15),[16,17)}": "0,2,4,6,8,10,12,14,...",
	} {
		if got := indices(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestNumbersAndErrors(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := number(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	for in, want := range map[string]string{
		`{"code":"E1","message":"no\n  such  table"}`: "no such table (E1)",
		"plain":    "plain",
		"\xff bad": "\ufffd bad",
		"":         "",
	} {
		if got := errorText([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := errorText([]byte(strings.Repeat("é", 500))); len(got) > maxErrorText+3 || !strings.HasSuffix(got, "é...") {
		t.Errorf("a long error is cut to %q", got)
	}
}

// The most telling gate speaks; whose turn it is says nothing while another is closed.
func TestBecause(t *testing.T) {
	shut := func(name string) Gate { return Gate{Name: name, Reason: "<" + name + ">"} }
	open := Gate{Name: "limit", Open: true, Reason: "room"}
	for _, c := range []struct {
		gates []Gate
		want  string
	}{
		{nil, ""},
		{[]Gate{open}, ""},
		{[]Gate{shut("turn"), shut("capacity")}, "<capacity>"},
		{[]Gate{shut("turn"), open, shut("limit"), shut("paused")}, "<paused>; also: <limit>"},
		{[]Gate{shut("capacity"), shut("turn"), shut("rate")}, "<rate>"},
		{[]Gate{shut("something new"), shut("limit")}, "<something new>; also: <limit>"},
	} {
		if got := because(c.gates); got != c.want {
			t.Errorf("%+v: %q, want %q", c.gates, got, c.want)
		}
	}
}
