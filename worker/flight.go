package worker

import (
	"time"

	"axflow/shard"
	"axflow/sql/span"
	"axflow/stage"

	"github.com/google/uuid"
)

// flight is work that was handed to this worker: some indices of one stage, under one execution id.
type flight struct {
	span.Assignment
	worker uuid.UUID // the id that the worker had when it was handed over
	seq    uint64    // of its arrival; guarded by Worker.mu
	h      *handling // nil while it is being loaded
	pool   *pool     // likewise
	c      *committer
	count  *queueCount
	total  int
	// attempts is how many the tasks have: the policy's, or more if an operator has raised it.
	attempts int
	cut      *stage.Cut
	items    items
	raw      []byte // JSON params
	corrupt  error  // what is wrong with the sealed params
	params   any    // decoded, when one value may serve all
	expires  time.Duration

	// What follows is guarded by pool.mu.

	prev, next *flight // in the pool's queue
	queued     bool
	ranges     []shard.Range // not started, in order
	unstarted  int
	running    int // handlers that have not returned
	open       int // started and not ended
	done       []span.Result
	bytes      int       // of outputs and errors in done
	back       shard.Set // to be given back
	retire     bool      // an InTx transaction has emptied the row
	owed       int       // indices whose fate is not committed
	told       int       // what the leader believes owed to be
	ended      int       // results committed since the leader was told
	busy       time.Duration
	dirty      bool // the committer knows that there is something
	gone       bool // taken away: nothing counts any more
	cancelled  bool
}

// load makes everything of it unstarted.
func (f *flight) load() {
	f.ranges = f.Set.Ranges()
	f.unstarted = f.Set.Len()
	f.owed, f.told = f.unstarted, f.unstarted
}

// take is the next index to start; there is one.
func (f *flight) take() int32 {
	r := &f.ranges[0]
	i := r.Lo
	if r.Lo++; r.Lo == r.Hi {
		f.ranges = f.ranges[1:]
	}
	f.unstarted--
	return i
}

// rest takes everything that has not started.
func (f *flight) rest() shard.Set {
	s := shard.OfRanges(f.ranges...)
	f.ranges, f.unstarted = nil, 0
	return s
}

// holds tells whether the worker has still to end some of it.
func (f *flight) holds() bool { return f.unstarted > 0 || f.open > 0 }

// alone tells whether results of it are waited for one by one.
func (f *flight) alone() bool { return f.h.origin < 0 || f.Kind == span.Plan }

// queue is a list of flights with something to start, in the order of their arrival.
type queue struct{ first, last *flight }

func (q *queue) pushBack(f *flight) {
	f.queued, f.prev, f.next = true, q.last, nil
	if q.last == nil {
		q.first = f
	} else {
		q.last.next = f
	}
	q.last = f
}

func (q *queue) pushFront(f *flight) {
	f.queued, f.prev, f.next = true, nil, q.first
	if q.first == nil {
		q.last = f
	} else {
		q.first.prev = f
	}
	q.first = f
}

func (q *queue) remove(f *flight) {
	if f.prev == nil {
		q.first = f.next
	} else {
		f.prev.next = f.next
	}
	if f.next == nil {
		q.last = f.prev
	} else {
		f.next.prev = f.prev
	}
	f.queued, f.prev, f.next = false, nil, nil
}
