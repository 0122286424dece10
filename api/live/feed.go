package live

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
)

const (
	// everyFlow names the topic of all runs of a namespace.
	everyFlow = ""
	// overlap is how long after its id was minted the start of a run may commit and still be told at once. A sweep finds later ones.
	overlap = 5 * time.Second
	// sweepEvery is how often the open runs are compared with what is known of them.
	sweepEvery = 2 * time.Second
	// page is how many runs one statement reads; a sweep has at most so many pages.
	page       = 1000
	sweepPages = 10
	// maxHeard and maxDue bound what waits for the next tick.
	maxHeard = 5000
	maxDue   = 5000
	// burst is how many runs a tick tells of.
	burst = 500
)

// mark is what tells whether a run has changed.
type mark struct {
	id        uuid.UUID
	namespace string
	flow      string
	queue     string
	version   int32
	open      bool
}

// hold is something that is paused: a run, a flow or a queue.
type hold struct{ kind, name string }

// seen is what is known of a run.
type seen struct {
	version     int32
	open        bool
	flow, queue string
}

// feedTopic is the runs of a flow, or of all, that come and change.
type feedTopic struct {
	flow     string
	ring     ring
	gap      frame
	watchers map[*client]struct{}
	idleFrom time.Time
}

// lost is the frame that says that frames are gone.
func (t *feedTopic) lost() frame {
	if t.gap == nil {
		said := struct {
			Flows []string `json:"flows,omitempty"`
		}{}
		if t.flow != everyFlow {
			said.Flows = []string{t.flow}
		}
		t.gap, _ = encode(eventLost, said) // strings always encode
	}
	return t.gap
}

// feed finds the runs of a namespace that come and change. New ones are found by their ids, which rise with time; ended ones by hint;
// and a sweep compares the newest open runs with what is known of them, which finds everything else, and these too when a hint was lost.
// What stays unseen is a run that was opened again and has ended between two sweeps while hints were lost, and changes of runs that
// are not among the newest 10,000 open ones, but for their ends.
type feed struct {
	namespace string
	topics    map[string]*feedTopic
	based     bool // what there was at the beginning is known
	known     map[uuid.UUID]seen
	held      map[hold]struct{}
	since     uuid.UUID              // where to look for new runs
	birth     uuid.UUID              // runs from before were there at the beginning
	heard     map[uuid.UUID]struct{} // to be looked at
	due       map[uuid.UUID]struct{} // to be told of

	sweepAt time.Time // when the next sweep begins
	before  uuid.UUID // where the sweep goes on; Max: at the beginning
	pages   int       // of the sweep so far
	swept   bool      // a whole sweep is done
}

func newFeed(namespace string) *feed {
	return &feed{namespace: namespace, topics: make(map[string]*feedTopic), known: make(map[uuid.UUID]seen), held: make(map[hold]struct{}),
		heard: make(map[uuid.UUID]struct{}), due: make(map[uuid.UUID]struct{}), before: uuid.Max}
}

func (f *feed) watched() bool {
	for _, t := range f.topics {
		if len(t.watchers) > 0 {
			return true
		}
	}
	return false
}

// hear notes that a run, perhaps of another namespace, has ended.
func (f *feed) hear(id uuid.UUID) bool {
	if !f.based || !f.watched() || len(f.heard) >= maxHeard {
		return false
	}
	f.heard[id] = struct{}{}
	return true
}

// feedRequest is what to read for all feeds.
type feedRequest struct {
	namespaces []string
	since      uuid.UUID   // new runs from here on
	ids        []uuid.UUID // marks of these
	sweep      string      // a page of the open runs of this namespace before this id; before is zero: of none
	before     uuid.UUID
}

// feedAnswer is what was read.
type feedAnswer struct {
	since, marks, open []mark
	held               map[string][]hold
}

// lookFor says what to read; false: nothing. dbNow is the database's time.
func (b *switchboard) lookFor(now, dbNow time.Time) (q feedRequest, ok bool) {
	q.since = uuid.Max
	var sweeps *feed
	for _, f := range b.feeds {
		if !f.watched() {
			continue
		}
		if f.since == uuid.Nil {
			f.since, f.birth = idAt(dbNow.Add(-overlap)), idAt(dbNow)
		}
		q.namespaces = append(q.namespaces, f.namespace)
		if less(f.since, q.since) {
			q.since = f.since
		}
		for id := range f.heard {
			q.ids = append(q.ids, id)
		}
		if (f.before != uuid.Max || !f.sweepAt.After(now)) && (sweeps == nil || f.sweepAt.Before(sweeps.sweepAt)) {
			sweeps = f
		}
	}
	if sweeps != nil {
		q.sweep, q.before = sweeps.namespace, sweeps.before
	}
	slices.Sort(q.namespaces)
	slices.SortFunc(q.ids, compare)
	q.ids = slices.Compact(q.ids)
	return q, len(q.namespaces) > 0
}

// unbased tells whether there is a feed that needs the database's time to begin.
func (b *switchboard) unbased() bool {
	for _, f := range b.feeds {
		if f.since == uuid.Nil && f.watched() {
			return true
		}
	}
	return false
}

// marked takes what was read, and notes what has to be told.
func (b *switchboard) marked(q feedRequest, a feedAnswer, now, dbNow time.Time) {
	last := uuid.Nil
	if len(a.since) == page {
		last = a.since[page-1].id
	}
	for _, namespace := range q.namespaces {
		f := b.feeds[namespace]
		if f == nil {
			continue
		}
		for _, m := range a.since {
			if m.namespace == namespace && !less(m.id, f.since) {
				f.see(m, !f.based)
			}
		}
		for _, m := range a.marks {
			if m.namespace == namespace {
				f.see(m, false)
			}
		}
		f.found(q, a.marks)
		if q.sweep == namespace && q.before != uuid.Nil {
			f.sweep(a.open, now)
		}
		f.hold(a.held[namespace])
		f.based = true
		next := idAt(dbNow.Add(-overlap))
		if last != uuid.Nil && less(last, next) {
			next = last
		}
		if less(f.since, next) {
			f.since = next
		}
		b.overflow(f)
	}
}

// see compares a run with what is known of it.
func (f *feed) see(m mark, silent bool) {
	is := seen{m.version, m.open, m.flow, m.queue}
	if was, known := f.known[m.id]; known && was == is {
		return
	}
	f.known[m.id] = is
	if !silent {
		f.tell(m.id, m.flow)
	}
}

// tell notes a run that somebody wants to know of.
func (f *feed) tell(id uuid.UUID, flow string) {
	if f.topics[everyFlow] != nil || f.topics[flow] != nil {
		f.due[id] = struct{}{}
	}
}

// found forgets what was asked for, and those of it that are no more.
func (f *feed) found(q feedRequest, marks []mark) {
	there := make(map[uuid.UUID]struct{}, len(marks))
	for _, m := range marks {
		there[m.id] = struct{}{}
	}
	for _, id := range q.ids {
		delete(f.heard, id)
		if _, ok := there[id]; !ok {
			delete(f.known, id)
		}
	}
}

// sweep compares a page of the open runs, newest first, with what is known. What was open and is not in it has ended.
func (f *feed) sweep(open []mark, now time.Time) {
	lowest := uuid.Nil
	if len(open) == page {
		lowest = open[page-1].id
	}
	there := make(map[uuid.UUID]struct{}, len(open))
	for _, m := range open {
		there[m.id] = struct{}{}
		f.see(m, !f.swept && less(m.id, f.birth))
	}
	for id, s := range f.known {
		if _, ok := there[id]; s.open && !ok && less(id, f.before) && !less(id, lowest) && len(f.heard) < maxHeard {
			f.heard[id] = struct{}{}
		}
	}
	f.pages++
	if lowest != uuid.Nil && f.pages < sweepPages {
		f.before = lowest
		return
	}
	f.before, f.pages, f.swept, f.sweepAt = uuid.Max, 0, true, now.Add(sweepEvery)
	for id, s := range f.known {
		if s.open && less(id, lowest) || !s.open && less(id, f.since) {
			delete(f.known, id)
		}
	}
}

// hold compares what is paused with what was.
func (f *feed) hold(held []hold) {
	is := make(map[hold]struct{}, len(held))
	for _, h := range held {
		is[h] = struct{}{}
		if _, was := f.held[h]; !was {
			f.turned(h)
		}
	}
	for h := range f.held {
		if _, still := is[h]; !still {
			f.turned(h)
		}
	}
	f.held = is
}

// turned tells of the open runs that were paused, or are no more.
func (f *feed) turned(h hold) {
	if !f.based {
		return
	}
	for id, s := range f.known {
		if s.open && (h.kind == "flow" && h.name == s.flow || h.kind == "queue" && h.name == s.queue || h.kind == "run" && h.name == id.String()) {
			f.tell(id, s.flow)
		}
	}
}

// overflow gives up telling of more than can be told: the clients must list.
func (b *switchboard) overflow(f *feed) {
	if len(f.due) <= maxDue {
		return
	}
	clear(f.due)
	b.seq++
	for _, t := range f.topics {
		t.ring.reset(b.seq)
		for c := range t.watchers {
			c.signal()
		}
	}
}

// dues are the runs to read and tell of, by namespace, at most burst of each.
func (b *switchboard) dues() map[string][]uuid.UUID {
	all := make(map[string][]uuid.UUID)
	for _, f := range b.feeds {
		if !f.watched() || len(f.due) == 0 {
			continue
		}
		ids := slices.SortedFunc(maps.Keys(f.due), compare)
		all[f.namespace] = ids[:min(len(ids), burst)]
	}
	return all
}

// tell makes a frame of each of the runs of a namespace that were due, for all who want it.
func (b *switchboard) tell(namespace string, asked []uuid.UUID, runs []gen.Run) {
	feed := b.feeds[namespace]
	if feed == nil {
		return
	}
	byID := make(map[uuid.UUID]*gen.Run, len(runs))
	for i := range runs {
		byID[runs[i].Id] = &runs[i]
	}
	seq := b.seq + 1
	for _, id := range asked {
		delete(feed.due, id)
		r := byID[id]
		if r == nil {
			continue
		}
		f, err := encode(eventRun, r)
		if err != nil {
			b.fault(err)
			continue
		}
		for _, flow := range [...]string{everyFlow, r.Flow} {
			t := feed.topics[flow]
			if t == nil {
				continue
			}
			t.ring.add(seq, f)
			b.seq = seq
			for c := range t.watchers {
				c.signal()
			}
		}
	}
}

// idAt is the smallest id that is minted at t.
func idAt(t time.Time) (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[:8], uint64(max(0, t.UnixMilli()))<<16)
	id[6] = 7 << 4
	return id
}

func compare(x, y uuid.UUID) int { return slices.Compare(x[:], y[:]) }

func less(x, y uuid.UUID) bool { return compare(x, y) < 0 }
