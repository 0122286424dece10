package board

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Rate bounds starts: at most N in any window of length Per. The zero Rate bounds nothing.
//
// Time is counted in sixteenths of Per, rounded up to milliseconds, and a start is remembered for between 16 and 17 of them: the
// bound is exact, and what goes through in the long run is N in 17/16 of Per or more. An index counts as started when it is
// handed out, if a slot for it is idle, and else when a report (Left) shows that one became so; until then it
// counts against every window.
type Rate struct {
	N   int
	Per time.Duration
}

// clean is the rate, or zero when it bounds nothing.
func (r Rate) clean() Rate {
	if r.N <= 0 || r.Per <= 0 {
		return Rate{}
	}
	return r
}

// RateState is what the Board remembers of the starts under one name, as a row of the table rate. The names are "rate/" and
// Span.StageKey, "retry/" and Span.StageKey, and "key/", the namespace, "/" and Span.Key.
type RateState struct {
	Name string
	// WidthMs is the length of a slot in milliseconds, and Slot the number of the newest slot since 1970.
	WidthMs, Slot int64
	// Counts are the starts by slot, the newest last.
	Counts []int32
	// SavedAt is when the database wrote the row, by its clock: the starts of the newest slot came no later.
	SavedAt time.Time
	// Unstarted is how many indices are handed out and have not started.
	Unstarted int
}

func stageRateName(stageKey string) string     { return "rate/" + stageKey }
func retryRateName(stageKey string) string     { return "retry/" + stageKey }
func keyRateName(namespace, key string) string { return "key/" + namespace + "/" + key }

// rate is the starts under one name. Stages that share it may look at windows of different lengths: each has a ring, and every
// start counts in all of them.
type rate struct {
	name  string
	seq   uint64
	now   *int64 // Board.at
	rings []*ring
	// unstarted are indices handed out that have not started, begun those that have since the last round told the time.
	unstarted, begun int
	// doubt is what another Board called unstarted and no flight's waiting part accounts for. They may have started, or
	// wait in busy pools; they count until the flights from then, of which there are `inherited`, have ended.
	doubt, inherited int
	waiters
	opens            int64 // when the first waiter may go on
	pos              int   // in Board.opening, -1 when outside
	refs             int   // lanes, strands and flights that point here
	touched, changed bool
}

func (r *rate) place(i int) { r.pos = i }

// pending counts against every window.
func (r *rate) pending() int { return r.unstarted + r.begun + r.doubt }

func (r *rate) unused() bool {
	if r.refs > 0 || r.pending() > 0 || r.changed || r.touched {
		return false
	}
	return !slices.ContainsFunc(r.rings, func(g *ring) bool { return g.started(*r.now) > 0 })
}

// widest is the ring of the longest window: what is written down.
func (r *rate) widest() *ring {
	return slices.MaxFunc(r.rings, func(a, b *ring) int { return cmp.Compare(a.width, b.width) })
}

// ring finds or makes the ring with slots of a width.
func (r *rate) ring(widthMs int64) *ring {
	for _, g := range r.rings {
		if g.width == widthMs*int64(time.Millisecond) {
			return g
		}
	}
	g := newRing(widthMs)
	if len(r.rings) > 0 {
		g.merge(r.widest(), *r.now)
	}
	r.rings = append(r.rings, g)
	return g
}

// pass is a rate that a lane or a strand must keep to: n starts in the window of the ring.
type pass struct {
	rate *rate
	ring *ring
	n    int
	per  time.Duration
}

func (b *Board) pass(name string, of Rate) pass {
	r := b.rate(name)
	r.refs++
	return pass{r, r.ring(widthOf(of.Per)), of.N, of.Per}
}

func (b *Board) rate(name string) *rate {
	r := b.rates[name]
	if r == nil {
		b.seq++
		r = &rate{name: name, seq: b.seq, now: &b.at, pos: -1}
		b.rates[name] = r
	}
	return r
}

// room is how many may start now.
func (p *pass) room() int { return p.n - p.ring.started(*p.rate.now) - p.rate.pending() }

// opens is when one may start; false when that is not a matter of time.
func (p *pass) opens() (int64, bool) {
	most := p.n - p.rate.pending() - 1
	if most < 0 {
		return 0, false
	}
	return p.ring.frees(*p.rate.now, most), true
}

// reopen works out anew when the first waiter of the rate may go on.
func (b *Board) reopen(r *rate) {
	first, ok := int64(0), false
	note := func(p *pass) {
		if at, can := p.opens(); can && (!ok || at < first) {
			first, ok = at, true
		}
	}
	for _, l := range r.lanes {
		note(&l.passes[l.parkBy-len(l.scopes)])
	}
	for _, s := range r.strands {
		note(&s.pass)
	}
	r.opens = first
	switch {
	case !ok && r.pos >= 0:
		b.opening.remove(r.pos)
	case ok && r.pos < 0:
		b.opening.push(first, r.seq, r)
	case ok:
		b.opening.fix(r.pos, first, r.seq)
	}
}

// touch notes that the rate has starts that the next round has to tell the time of.
func (b *Board) touch(r *rate) {
	if !r.touched {
		r.touched = true
		b.touched = append(b.touched, r)
	}
}

func (b *Board) change(r *rate) {
	if !r.changed {
		r.changed = true
		b.changed = append(b.changed, r)
	}
}

// tell lets time pass: starts get their time, and lanes whose rates leave room by now return to sight.
func (b *Board) tell(now int64) {
	switch {
	case b.at == 0:
		b.see(now)
	case now < b.at:
		for _, r := range b.rates {
			for _, g := range r.rings {
				g.setBack(b.at, now)
			}
			if r.pos >= 0 {
				b.touch(r)
			}
		}
	}
	b.at = now
	for _, r := range b.touched {
		r.touched = false
		if r.inherited == 0 {
			r.begun += r.doubt
			r.doubt = 0
		}
		if r.begun > 0 {
			for _, g := range r.rings {
				g.add(now, r.begun)
			}
			r.begun = 0
		}
		b.reopen(r)
	}
	clear(b.touched)
	b.touched = b.touched[:0]
	for !b.opening.empty() && b.opening.top().opens <= now {
		r := b.opening.top()
		b.opening.remove(0)
		b.wake(&r.waiters)
		b.reopen(r)
		b.woken = true
	}
}

// see sets the time when no round has told it yet. What another Board wrote down far ahead of it was written before the clock
// went back.
func (b *Board) see(now int64) {
	if b.at != 0 {
		return
	}
	b.at = now
	for _, r := range b.rates {
		for _, g := range r.rings {
			g.setBack(g.newest*g.width, now)
		}
	}
}

// charge books a flight's indices with its rates.
func (b *Board) charge(f *flight) {
	for _, r := range f.rates {
		r.refs++
		if f.begun > 0 {
			for _, g := range r.rings {
				g.add(f.since, f.begun)
			}
		}
		r.unstarted += f.size - f.begun
		b.change(r)
	}
}

// begin notes which of a flight's indices have started when so many are left: the finished ones and, behind them, one for
// each slot that was idle when it was handed out.
func (b *Board) begin(f *flight, left int) {
	begun := min(f.size, f.size-left+f.idle)
	if begun <= f.begun && left > 0 {
		return
	}
	for _, r := range f.rates {
		r.unstarted -= begun - f.begun
		r.begun += begun - f.begun
		b.touch(r)
		if left == 0 {
			r.refs--
			if f.inherited {
				r.inherited--
			}
		}
	}
	f.begun = begun
}

// Handed notes when a grant was handed out, which is later than the Round that granted it: what begins to run at once starts then.
// Without it a hand-out that took long would count as early as a swift one, and the windows after it would open too soon.
func (b *Board) Handed(id uuid.UUID, at time.Time) {
	f := b.flights[id]
	if f == nil || at.UnixNano() <= f.since {
		return
	}
	for _, r := range f.rates {
		for _, g := range r.rings {
			g.move(f.since, at.UnixNano(), f.begun)
		}
		b.touch(r)
	}
	f.since = at.UnixNano()
}

// uncharge takes back what charge did: the flight never was.
func (b *Board) uncharge(f *flight) {
	for _, r := range f.rates {
		for _, g := range r.rings {
			g.sub(f.since, f.idle)
		}
		r.unstarted -= f.size - f.begun
		r.refs--
		b.change(r)
		b.wake(&r.waiters)
		b.touch(r)
	}
	f.rates = nil
}

// adopt books a flight from the database. Before the first round it is one that the Board before this one has handed out and
// counted; later it is one of this Board's that was taken for failed, and counts as if handed out just now.
func (b *Board) adopt(f *flight) {
	for _, r := range f.rates {
		r.refs++
		r.unstarted += f.size - f.begun
		if b.running {
			r.begun += f.begun
			b.touch(r)
			continue
		}
		f.inherited = true
		r.inherited++
		r.doubt -= min(r.doubt, f.size-f.begun)
	}
}

// SetRate restores what another Board had written of a rate, after a take-over and before the first Round; in whatever order with
// AddFlight. What had not started by then and is in no flight's waiting part now counts as started when the flights
// that were there have ended.
func (b *Board) SetRate(s RateState) {
	if s.WidthMs <= 0 || s.Slot < 0 {
		return
	}
	r := b.rate(s.Name)
	g := r.ring(s.WidthMs)
	*g = *newRing(s.WidthMs)
	g.newest = s.Slot
	for i := range min(len(s.Counts), slots, int(s.Slot)+1) {
		n := max(0, s.Counts[len(s.Counts)-1-i])
		g.counts[at(s.Slot-int64(i))] = n
		g.total += int(n)
	}
	if saved := s.SavedAt.UnixNano(); !s.SavedAt.IsZero() && g.slot(saved) > g.newest {
		g.move(g.newest*g.width, saved, int(g.counts[at(g.newest)]))
	}
	for _, o := range r.rings {
		if o != g {
			o.merge(g, b.at)
		}
	}
	r.doubt = max(0, s.Unstarted-r.unstarted)
	b.touch(r)
}

// TakeRates returns the rates that changed by grants or rejects since the last call, by name. Write them in the transaction
// that writes the grants.
func (b *Board) TakeRates() []RateState {
	if len(b.changed) == 0 {
		return nil
	}
	list := make([]RateState, len(b.changed))
	counts := make([]int32, 0, slots*len(b.changed))
	for i, r := range b.changed {
		r.changed = false
		g := r.widest()
		from := len(counts)
		for s := g.newest - slots + 1; s <= g.newest; s++ {
			if n := g.counts[at(s)]; n > 0 || len(counts) > from || s == g.newest {
				counts = append(counts, n)
			}
		}
		list[i] = RateState{Name: r.name, WidthMs: g.width / int64(time.Millisecond), Slot: g.newest,
			Counts: counts[from:len(counts):len(counts)], Unstarted: r.pending()}
	}
	clear(b.changed)
	b.changed = b.changed[:0]
	slices.SortFunc(list, func(x, y RateState) int { return cmp.Compare(x.Name, y.Name) })
	return list
}

// NextRate tells when the first lane that waits for a rate may go on by the passing of time, if there is one: now, when one has
// come to be so since the last Round. Ask it after Round.
func (b *Board) NextRate(now time.Time) (time.Time, bool) {
	if b.tell(now.UnixNano()); b.woken {
		return now, true
	}
	if b.opening.empty() {
		return time.Time{}, false
	}
	return time.Unix(0, b.opening.top().opens), true
}
