package live

import "time"

// pace says when to look next: least after a look that found something or was asked for, ever later up to most while nothing changes.
type pace struct {
	least, most time.Duration
	last        time.Time // of the last look
	interval    time.Duration
	hurried     bool
}

// hurry asks for a look as soon as one may be.
func (p *pace) hurry() { p.hurried = true }

// began says that a look begins; what asks for another one from now on is not answered by it.
func (p *pace) began(at time.Time) { p.last, p.hurried = at, false }

// ended says what the look has found.
func (p *pace) ended(changed bool) {
	if changed {
		p.interval = p.least
	} else {
		p.interval = min(max(p.interval, p.least)*3/2, p.most)
	}
}

// failed says that the look could not be done.
func (p *pace) failed() { p.interval = p.most }

// next is when to look again.
func (p *pace) next() time.Time {
	if p.hurried {
		return p.last.Add(p.least)
	}
	return p.last.Add(max(p.interval, p.least))
}
