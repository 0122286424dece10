package board

import (
	"math"
	"slices"
	"time"
)

// mrate is the starts under a name: each with the number of the sixteenth of the window that it fell into.
type mrate struct {
	width  time.Duration
	newest int64
	starts []int64
	fresh  int // started since time was told last
}

func ratesOf(s *Span) map[string]Rate {
	all := map[string]Rate{}
	if !s.Plan {
		all["rate/"+s.StageKey] = s.StageRate
		if s.Attempt > 1 {
			all["retry/"+s.StageKey] = s.RetryWindow
		}
		if s.Key != "" {
			all["key/"+s.Namespace+"/"+s.Key] = s.KeyRate
		}
	}
	for name, r := range all {
		if r == (Rate{}) {
			delete(all, name)
		}
	}
	return all
}

func (m *model) rate(name string, r Rate) *mrate {
	x := m.rates[name]
	if x == nil {
		x = &mrate{width: r.Per / 16}
		m.rates[name] = x
	}
	return x
}

func (r *mrate) slot(t time.Time) int64 { return t.UnixNano() / int64(r.width) }

func (r *mrate) expire(q int64) {
	r.starts = slices.DeleteFunc(r.starts, func(s int64) bool { return s <= q-17 })
}

func (r *mrate) add(now time.Time, n int) {
	if r.expire(r.newest); len(r.starts) == 0 {
		r.newest = 0
	}
	r.newest = max(r.newest, r.slot(now))
	for range n {
		r.starts = append(r.starts, r.newest)
	}
}

func (r *mrate) refund(then time.Time, n int) {
	q := min(r.slot(then), r.newest)
	for ; n > 0; n-- {
		if i := slices.Index(r.starts, q); i >= 0 {
			r.starts = slices.Delete(r.starts, i, i+1)
		}
	}
}

// tell gives what has started since the last time its time, and minds a clock that was set back.
func (m *model) tell() {
	for _, r := range m.rates {
		if m.now.Before(m.told) {
			r.expire(r.slot(m.told))
			r.newest = max(r.newest, r.slot(m.told))
		}
		if back := r.newest - r.slot(m.now); back >= 17 {
			for i := range r.starts {
				r.starts[i] -= back
			}
			r.newest -= back
		}
		if r.fresh > 0 {
			r.add(m.now, r.fresh)
			r.fresh = 0
		}
	}
	m.told = m.now
}

// starts is how many indices of the span may start now by its rates.
func (m *model) starts(s *Span) int {
	least := math.MaxInt
	for name, of := range ratesOf(s) {
		r := m.rate(name, of)
		used := r.fresh
		for _, q := range r.starts {
			if q > r.slot(m.now)-17 && q > r.newest-17 {
				used++
			}
		}
		for _, f := range m.flights {
			if _, in := ratesOf(&f.of)[name]; in {
				used += f.size - f.started()
			}
		}
		least = min(least, of.N-used)
	}
	return least
}

// left books a report of a flight; 0 takes it away.
func (m *model) left(f *mflight, left int) {
	before := f.started()
	f.Left = left
	for name, r := range ratesOf(&f.of) {
		m.rate(name, r).fresh += f.started() - before
	}
	if left == 0 {
		m.flights = slices.DeleteFunc(m.flights, func(x *mflight) bool { return x == f })
	}
}
