package breaker

import "time"

// parts is how many parts a window is counted in: what leaves it leaves by parts.
const parts = 16

// window counts successes and failures over a length of time, up to a sixteenth of it more.
type window struct {
	width  int64 // ns of a part
	newest int64 // number of the newest part since 1970
	counts [parts + 1][2]int64
}

func newWindow(length time.Duration) window { return window{width: max(1, int64(length)/parts)} }

func (w *window) advance(now time.Time) {
	q := now.UnixNano() / w.width
	if q-w.newest > parts || w.newest-q > parts { // all is old, or the clock was set back
		w.counts, w.newest = [parts + 1][2]int64{}, q
	}
	for w.newest < q {
		w.newest++
		w.counts[w.newest%(parts+1)] = [2]int64{}
	}
}

func (w *window) add(now time.Time, ok, fail int64) {
	w.advance(now)
	c := &w.counts[w.newest%(parts+1)]
	c[0] += ok
	c[1] += fail
}

func (w *window) sum(now time.Time) (ok, fail int64) {
	w.advance(now)
	for _, c := range w.counts {
		ok += c[0]
		fail += c[1]
	}
	return ok, fail
}
