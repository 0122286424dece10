package live

import (
	"testing"
	"time"
)

func TestPaceSlowsDownUntilSomethingHappens(t *testing.T) {
	p := pace{least: 250 * time.Millisecond, most: 2 * time.Second}
	at := time.Unix(1000, 0)
	look := func(changed bool) time.Duration {
		p.began(at)
		p.ended(changed)
		wait := p.next().Sub(at)
		at = p.next()
		return wait
	}
	for i, want := range []int64{375, 562, 843, 1265, 1898, 2000, 2000} {
		if got := look(false); got.Milliseconds() != want {
			t.Errorf("look %d that finds nothing: the next after %s, want %dms", i, got, want)
		}
	}
	if got := look(true); got != p.least {
		t.Errorf("after a change: %s, want %s", got, p.least)
	}
	look(false)
	p.hurry()
	if got := p.next().Sub(p.last); got != p.least {
		t.Errorf("in a hurry: %s after the last look, want %s", got, p.least)
	}
	p.began(at)
	p.hurry() // while it looks: what came is not seen by this look
	p.ended(false)
	if got := p.next().Sub(at); got != p.least {
		t.Errorf("asked for during a look: %s, want %s", got, p.least)
	}
	p.began(at)
	p.failed()
	if got := p.next().Sub(at); got != p.most {
		t.Errorf("after a failure: %s, want %s", got, p.most)
	}
}
