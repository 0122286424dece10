package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/api/problem"
)

// maxLingering bounds the topics that are kept for clients that may come back.
const maxLingering = 2000

// switchboard is who watches what, and what there is to tell. It has no clock and does no I/O; the Hub's mutex guards it.
type switchboard struct {
	boot    string
	linger  time.Duration // how long a topic is kept without clients
	reopen  time.Duration // how often ended runs are looked at; below 0 never
	fault   func(error)   // gets what cannot be encoded
	seq     uint64        // of the last tick that had something to tell
	runs    map[uuid.UUID]*runTopic
	feeds   map[string]*feed // by namespace
	clients map[*client]struct{}
	waiting map[*client]struct{} // those that do not know yet whether there is what they want
	idle    int                  // topics without clients
	tidyAt  time.Time            // when the next of them is dropped
}

func newSwitchboard(boot string, linger, reopen time.Duration, fault func(error)) *switchboard {
	return &switchboard{boot: boot, linger: linger, reopen: reopen, fault: fault, seq: 1, runs: make(map[uuid.UUID]*runTopic),
		feeds: make(map[string]*feed), clients: make(map[*client]struct{}), waiting: make(map[*client]struct{})}
}

// client is one stream.
type client struct {
	namespace  string
	credential uuid.UUID
	runs       []runPlace
	feeds      []feedPlace
	ready      chan error    // says once whether there is what it wants
	wake       chan struct{} // there may be something to take
	bye        chan string   // why the stream ends
}

func newClient(namespace string, credential uuid.UUID) *client {
	return &client{namespace: namespace, credential: credential, ready: make(chan error, 1), wake: make(chan struct{}, 1), bye: make(chan string, 1)}
}

// end asks the client's stream to say bye. The first reason counts.
func (c *client) end(reason string) {
	select {
	case c.bye <- reason:
	default:
	}
}

func (c *client) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// runPlace is how far a client has read a run: 0, nothing.
type runPlace struct {
	topic *runTopic
	at    uint64
}

// feedPlace is how far a client has read the runs of a flow. A new one begins when the client does.
type feedPlace struct {
	topic *feedTopic
	at    uint64
	fresh bool
}

// runTopic is a run that somebody watches, or did a moment ago.
type runTopic struct {
	id       uuid.UUID
	run      *run // nil: not read yet
	missing  bool // there is no such run
	current  bool // has been read since somebody watches it
	readAt   time.Time
	ring     ring
	whole    frame  // the snapshot
	wholeAt  uint64 // the change that the snapshot is of
	changed  uint64
	watchers map[*client]struct{}
	idleFrom time.Time
}

// join adds a client that wants runs and flows (neither: all runs of its namespace). resume is the id of the last event that it
// has, "" for none. The client is told through ready once it is known whether there is what it wants.
func (b *switchboard) join(c *client, runs []uuid.UUID, flows []string, resume string) {
	at, known := parseID(b.boot, resume)
	if !known || at > b.seq {
		at = 0
	}
	b.clients[c] = struct{}{}
	for _, id := range runs {
		t := b.runs[id]
		if t == nil {
			t = &runTopic{id: id, ring: ring{maxFrames: ringFrames, maxBytes: ringBytes}, watchers: make(map[*client]struct{})}
			b.runs[id] = t
		} else if len(t.watchers) == 0 {
			t.current, t.readAt = false, time.Time{}
			b.idle--
		}
		if _, twice := t.watchers[c]; !twice {
			t.watchers[c] = struct{}{}
			c.runs = append(c.runs, runPlace{t, at})
		}
	}
	if len(flows) > 0 || len(runs) == 0 {
		if len(flows) == 0 {
			flows = []string{everyFlow}
		}
		f := b.feeds[c.namespace]
		if f == nil {
			f = newFeed(c.namespace)
			b.feeds[c.namespace] = f
		}
		for _, flow := range flows {
			t := f.topics[flow]
			if t == nil {
				// Of what happened before nothing is known: a place from before has lost something.
				b.seq++
				t = &feedTopic{flow: flow, ring: ring{maxFrames: feedFrames, maxBytes: feedBytes, horizon: b.seq}, watchers: make(map[*client]struct{})}
				f.topics[flow] = t
			} else if len(t.watchers) == 0 {
				b.idle--
			}
			if _, twice := t.watchers[c]; !twice {
				t.watchers[c] = struct{}{}
				c.feeds = append(c.feeds, feedPlace{topic: t, at: at, fresh: resume == ""})
			}
		}
	}
	if !b.settle(c, false) {
		b.waiting[c] = struct{}{}
	}
}

// settle tells a client that all it wants is there, or after a look that something is not; false: it is not known yet. A refusal
// waits for a look even where it is known before, so that its time tells nothing.
func (b *switchboard) settle(c *client, looked bool) bool {
	var wrong uuid.UUID
	for i := range c.runs {
		t := c.runs[i].topic
		switch {
		case t.missing, t.run != nil && t.run.namespace != c.namespace:
			wrong = t.id
		case !t.current:
			return false
		}
	}
	for i := range c.feeds {
		if !b.feeds[c.namespace].based {
			return false
		}
		if c.feeds[i].fresh {
			c.feeds[i].at, c.feeds[i].fresh = b.seq, false
		}
	}
	if wrong != uuid.Nil {
		if !looked {
			return false
		}
		c.ready <- problem.New(gen.ProblemCodeNotFound, "there is no run %s here", wrong)
		return true
	}
	c.ready <- nil
	return true
}

// settleAll settles those that wait, after a look.
func (b *switchboard) settleAll() {
	for c := range b.waiting {
		if b.settle(c, true) {
			delete(b.waiting, c)
		}
	}
	for id, t := range b.runs {
		if t.missing {
			delete(b.runs, id)
		}
	}
}

// leave forgets a client. What it alone has watched stays for a while.
func (b *switchboard) leave(c *client, now time.Time) {
	if _, here := b.clients[c]; !here {
		return
	}
	delete(b.clients, c)
	delete(b.waiting, c)
	for _, p := range c.runs {
		delete(p.topic.watchers, c)
		if len(p.topic.watchers) == 0 {
			p.topic.idleFrom = now
			b.idle++
		}
	}
	for _, p := range c.feeds {
		delete(p.topic.watchers, c)
		if len(p.topic.watchers) == 0 {
			p.topic.idleFrom = now
			b.idle++
		}
	}
	switch until := now.Add(b.linger); {
	case b.idle > maxLingering:
		b.tidy(until)
	case b.idle > 0 && (b.tidyAt.IsZero() || until.Before(b.tidyAt)):
		b.tidyAt = until
	}
}

// tidy drops what nobody has watched for long.
func (b *switchboard) tidy(now time.Time) {
	kept, next := 0, time.Time{}
	keep := func(watchers int, from time.Time) bool {
		if watchers > 0 {
			return true
		}
		until := from.Add(b.linger)
		if !until.After(now) {
			return false
		}
		kept++
		if next.IsZero() || until.Before(next) {
			next = until
		}
		return true
	}
	for id, t := range b.runs {
		if !keep(len(t.watchers), t.idleFrom) {
			delete(b.runs, id)
		}
	}
	for namespace, f := range b.feeds {
		for flow, t := range f.topics {
			if !keep(len(t.watchers), t.idleFrom) {
				delete(f.topics, flow)
			}
		}
		if len(f.topics) == 0 {
			delete(b.feeds, namespace)
		}
	}
	b.idle, b.tidyAt = kept, next
}

// wanted are the runs to read now.
func (b *switchboard) wanted(now time.Time) []uuid.UUID {
	var ids []uuid.UUID
	for id, t := range b.runs {
		if len(t.watchers) > 0 && (!t.current || !t.ended() || b.reopen >= 0 && now.Sub(t.readAt) >= b.reopen) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, compare)
	return ids
}

func (t *runTopic) ended() bool { return t.run != nil && t.run.state.Ended() }

// watched tells whether something that somebody watches may change, and whether ended runs are watched.
func (b *switchboard) watched() (open, ended bool) {
	for _, t := range b.runs {
		if len(t.watchers) == 0 {
			continue
		}
		if t.ended() && t.current {
			ended = true
		} else {
			open = true
		}
	}
	for _, f := range b.feeds {
		open = open || f.watched()
	}
	return open || len(b.waiting) > 0, ended
}

// told takes what was read of the runs asked for, and says whether any of them has changed.
func (b *switchboard) told(asked []uuid.UUID, read map[uuid.UUID]*run, now time.Time) (changed bool) {
	seq := b.seq + 1
	for _, id := range asked {
		t := b.runs[id]
		if t == nil {
			continue
		}
		next := read[id]
		if next == nil { // there is none, or it went with its partition
			t.missing = t.run == nil
			if t.run != nil {
				t.current, t.readAt = true, now
			}
			continue
		}
		was := t.run
		t.run, t.current, t.readAt = next, true, now
		if was != nil {
			delta, differs, whole := was.diff(next)
			if !differs {
				continue
			}
			f, err := encode(eventDelta, delta)
			if err != nil {
				b.fault(err)
			}
			if whole || err != nil {
				t.ring.reset(seq)
			} else {
				t.ring.add(seq, f)
			}
		} else {
			t.ring.reset(seq)
		}
		t.changed, b.seq, changed = seq, seq, true
		for c := range t.watchers {
			c.signal()
		}
	}
	return changed
}

// snapshot is the run's frame in full, encoded once for each change.
func (t *runTopic) snapshot() (frame, error) {
	if t.wholeAt != t.changed {
		f, err := encode(eventSnapshot, t.run.snapshot())
		if err != nil {
			return nil, err
		}
		t.whole, t.wholeAt = f, t.changed
	}
	return t.whole, nil
}

// take gives a client what it has not read, in order, and the id of where it is then.
func (b *switchboard) take(c *client) (frames []frame, id string) {
	var entries []entry
	topics := 0
	add := func(more ...entry) {
		if len(more) > 0 {
			entries = append(entries, more...)
			topics++
		}
	}
	for i := range c.runs {
		p := &c.runs[i]
		if p.topic.run == nil {
			continue
		}
		after, ok := p.topic.ring.since(p.at)
		if !ok {
			f, err := p.topic.snapshot()
			if err != nil {
				b.fault(err)
				continue
			}
			after = []entry{{p.topic.changed, f}}
		}
		add(after...)
		p.at = b.seq
	}
	for i := range c.feeds {
		p := &c.feeds[i]
		after, ok := p.topic.ring.since(p.at)
		if !ok {
			after = []entry{{b.seq, p.topic.lost()}}
		}
		add(after...)
		p.at = b.seq
	}
	if topics > 1 {
		slices.SortStableFunc(entries, func(x, y entry) int { return cmp.Compare(x.seq, y.seq) })
	}
	frames = make([]frame, len(entries))
	for i, e := range entries {
		frames[i] = e.frame
	}
	return frames, formatID(b.boot, b.seq)
}

// heard notes that runs have ended, and says whether that is news for anybody. None: news were lost.
func (b *switchboard) heard(ids []uuid.UUID) (news bool) {
	if len(ids) == 0 {
		for _, f := range b.feeds {
			f.sweepAt = time.Time{}
		}
		return true
	}
	for _, id := range ids {
		if t := b.runs[id]; t != nil && len(t.watchers) > 0 && !t.ended() {
			news = true
		}
		for _, f := range b.feeds {
			news = f.hear(id) || news
		}
	}
	return news
}
