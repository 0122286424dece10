package board

import "time"

// slots is how many slots a ring has: a window of 16 and the one that is filling. A start at the end of its slot leaves the
// ring a whole window later, one at the beginning a sixteenth of a window after that.
const slots = 17

// ring counts starts by slots of time. A start is in it for at least a window's length, so that no window of that length, wherever
// it begins, sees more starts than the ring has held at once.
type ring struct {
	width  int64 // ns
	newest int64 // number of the newest slot since 1970
	counts [slots]int32
	total  int
}

// widthOf is the width in milliseconds of the slots of a window.
func widthOf(per time.Duration) int64 {
	const slot = (slots - 1) * time.Millisecond
	return int64((per + slot - 1) / slot)
}

func newRing(widthMs int64) *ring { return &ring{width: widthMs * int64(time.Millisecond)} }

func (r *ring) slot(now int64) int64 { return now / r.width }

// at is the place of a slot, which may lie up to a window before the first.
func at(slot int64) int { return int((slot + slots) % slots) }

// started is the number of starts in the window that ends now. When the clock is behind the newest slot, it is taken to
// stand still.
func (r *ring) started(now int64) int {
	q := r.slot(now)
	switch {
	case q <= r.newest:
		return r.total
	case q-r.newest >= slots:
		return 0
	}
	n := r.total
	for s := r.newest - slots + 1; s <= q-slots; s++ {
		n -= int(r.counts[at(s)])
	}
	return n
}

// add counts starts.
func (r *ring) add(now int64, n int) {
	q := r.slot(now)
	if r.total == 0 {
		r.newest = q
	}
	r.advance(q)
	r.counts[at(r.newest)] += int32(n)
	r.total += n
}

// advance makes q the newest slot, if it is not behind.
func (r *ring) advance(q int64) {
	if q-r.newest >= slots {
		r.counts, r.total, r.newest = [slots]int32{}, 0, q
	}
	for r.newest < q {
		r.newest++
		c := &r.counts[at(r.newest)]
		r.total -= int(*c)
		*c = 0
	}
}

// sub takes starts of that time out again.
func (r *ring) sub(then int64, n int) {
	q := min(r.slot(then), r.newest)
	if r.newest-q >= slots {
		return
	}
	c := &r.counts[at(q)]
	n = min(n, int(*c))
	*c -= int32(n)
	r.total -= n
}

// move makes starts of that time starts of a later one. They may have left the ring by then: they return.
func (r *ring) move(then, to int64, n int) {
	r.sub(then, n)
	r.add(to, n)
}

// frees is when at most `most` starts will be left in the window, which is now if they are no more already.
func (r *ring) frees(now int64, most int) int64 {
	left := r.started(now)
	if left <= most {
		return now
	}
	q := max(r.slot(now), r.newest)
	s := q - slots + 1
	for ; s < r.newest; s++ {
		if r.newest-s < slots {
			if left -= int(r.counts[at(s)]); left <= most {
				break
			}
		}
	}
	return (s + slots) * r.width
}

// setBack tells a ring that the clock went back. By more than a window, what the ring holds is moved along, so that it is as old
// as it was; a smaller step is waited out.
func (r *ring) setBack(was, now int64) {
	r.advance(r.slot(was))
	q := r.slot(now)
	if r.newest-q < slots {
		return
	}
	var moved [slots]int32
	for i := range int64(slots) {
		moved[at(q-i)] = r.counts[at(r.newest-i)]
	}
	r.counts, r.newest = moved, q
}

// merge adds what another ring holds, each slot's starts at its end, so that they stay long enough; but not later than now.
func (r *ring) merge(o *ring, now int64) {
	for i := int64(slots - 1); i >= 0; i-- {
		s := o.newest - i
		if n := o.counts[at(s)]; n > 0 {
			r.add(min((s+1)*o.width-1, max(now, s*o.width)), int(n))
		}
	}
}
