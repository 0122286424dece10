package live

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"axflow/api/gen"
	"axflow/stage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a source in memory, whose runs a test changes. Times are those of the test's bubble.
type world struct {
	mu      sync.Mutex
	runs    map[uuid.UUID]*run
	flows   map[uuid.UUID]string
	version map[uuid.UUID]int32
	looks   []time.Time // when it was read
	asked   [][]uuid.UUID
	fails   bool
	minted  uint16
	clock   func() time.Time
}

func newWorld() *world {
	return &world{clock: time.Now, runs: make(map[uuid.UUID]*run), flows: make(map[uuid.UUID]string), version: make(map[uuid.UUID]int32)}
}

// start makes a run with one stage of ten shards.
func (w *world) start(namespace, flow string) uuid.UUID {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := idAt(w.clock())
	w.minted++
	id[14], id[15] = byte(w.minted>>8), byte(w.minted)
	w.runs[id] = &run{id: id, namespace: namespace, state: stage.RunRunning, stages: []stageCounts{{name: "work", state: stage.StageRunning, generation: 1, total: 10, ready: 10}}}
	w.flows[id], w.version[id] = flow, 1
	return id
}

// change changes a run; a run's row has then changed if row says so.
func (w *world) change(id uuid.UUID, row bool, f func(r *run)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := *w.runs[id]
	next.stages = slices.Clone(next.stages)
	f(&next)
	w.runs[id] = &next
	if row {
		w.version[id]++
	}
}

// work finishes a shard, and the run with the last of them; it tells whether the run ended.
func (w *world) work(id uuid.UUID) (ended bool) {
	ended = w.runs[id].stages[0].ready == 1
	w.change(id, ended, func(r *run) {
		s := &r.stages[0]
		s.ready--
		s.succeeded++
		if ended {
			s.state, s.finishedAt = stage.StageSucceeded, pointer(w.clock())
			r.state, r.finishedAt = stage.RunSucceeded, pointer(w.clock())
		}
	})
	return ended
}

func (w *world) fail(fails bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fails = fails
}

// read is when the world was looked at so far, and for what.
func (w *world) read() (at []time.Time, ids [][]uuid.UUID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.looks), slices.Clone(w.asked)
}

// unused stands for the pool of a Hub whose source is a world.
var unused = new(pgxpool.Pool)

var errDown = errors.New("the database is down")

func (w *world) now(context.Context) (time.Time, error) { return w.clock(), nil }

func (w *world) look(_ context.Context, ids []uuid.UUID, q feedRequest) (sight, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks = append(w.looks, w.clock())
	w.asked = append(w.asked, ids)
	if w.fails {
		return sight{}, errDown
	}
	seen := sight{runs: make(map[uuid.UUID]*run), now: w.clock(), feed: feedAnswer{held: make(map[string][]hold)}}
	for _, id := range ids {
		if r := w.runs[id]; r != nil {
			seen.runs[id] = r
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(w.runs), compare) {
		r := w.runs[id]
		m := mark{id, r.namespace, w.flows[id], "default", w.version[id], !r.state.Ended()}
		watched := slices.Contains(q.namespaces, r.namespace)
		if watched && !less(id, q.since) && len(seen.feed.since) < page {
			seen.feed.since = append(seen.feed.since, m)
		}
		if watched && slices.Contains(q.ids, id) {
			seen.feed.marks = append(seen.feed.marks, m)
		}
		if r.namespace == q.sweep && m.open && less(id, q.before) {
			seen.feed.open = append(seen.feed.open, m)
		}
		if watched && r.paused {
			seen.feed.held[r.namespace] = append(seen.feed.held[r.namespace], hold{"run", id.String()})
		}
	}
	slices.Reverse(seen.feed.open) // newest first
	seen.feed.open = seen.feed.open[:min(page, len(seen.feed.open))]
	return seen, nil
}

func (w *world) rows(_ context.Context, namespace string, ids []uuid.UUID) ([]gen.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fails {
		return nil, errDown
	}
	var out []gen.Run
	for _, id := range ids {
		if r := w.runs[id]; r != nil && r.namespace == namespace {
			out = append(out, gen.Run{Id: id, Flow: w.flows[id], State: gen.RunState(r.state.String()), Etag: pointer(int(w.version[id])), Paused: &r.paused})
		}
	}
	return out, nil
}

// recorder is a client's side of an answer: it keeps what is written. block makes writes wait until it is closed.
type recorder struct {
	mu     sync.Mutex
	header http.Header
	status int
	text   []byte
	times  []time.Time // of the flushes
	block  chan struct{}
}

func newRecorder() *recorder { return &recorder{header: make(http.Header)} }

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) { r.status = status }

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	block := r.block
	r.mu.Unlock()
	if block != nil {
		<-block
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, b...)
	return len(b), nil
}

func (r *recorder) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times = append(r.times, time.Now())
}

// stall makes further writes wait until what it returns is called.
func (r *recorder) stall() (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	block := make(chan struct{})
	r.block = block
	return func() {
		r.mu.Lock()
		r.block = nil
		r.mu.Unlock()
		close(block)
	}
}

func (r *recorder) read() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.text)
}

func (r *recorder) flushes() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.times)
}
