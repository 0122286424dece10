package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/stage"
)

// bubble runs a Hub on a world in virtual time.
func bubble(t *testing.T, tune func(*Config), f func(t *testing.T, h *Hub, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Logger: slog.New(slog.DiscardHandler)}
		if tune != nil {
			tune(&cfg)
		}
		cfg.Pool = unused
		if err := cfg.complete(); err != nil {
			t.Fatal(err)
		}
		w := newWorld()
		h := newHub(cfg, w)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		f(t, h, w)
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

var local = access.Principal{Actor: "local", Namespace: "default"}

// visit opens a stream and serves it to what it returns, until hang up.
func visit(t *testing.T, h *Hub, p access.Principal, w Watch) (r *recorder, hangUp func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := h.Subscribe(ctx, p, w)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	r = newRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.VisitStreamEventsResponse(r); err != nil {
			t.Errorf("the stream: %v", err)
		}
	}()
	synctest.Wait()
	return r, func() { cancel(); <-done }
}

// refusal is the code of the problem that an error is.
func refusal(t *testing.T, err error) gen.ProblemCode {
	t.Helper()
	var p *problem.Error
	if !errors.As(err, &p) {
		t.Fatalf("%v, want a problem", err)
	}
	return p.Code
}

// Nobody watches: nothing is read. Somebody does: at most four times a second, ever slower while nothing changes, and no more
// than once in a while after the end.
func TestHubReadsOnlyWhatItMust(t *testing.T) {
	bubble(t, nil, func(t *testing.T, h *Hub, w *world) {
		id := w.start("default", "a")
		time.Sleep(time.Hour)
		if at, _ := w.read(); len(at) != 0 {
			t.Errorf("with no clients it was read %d times", len(at))
		}
		_, hangUp := visit(t, h, local, Watch{Runs: []uuid.UUID{id}})
		time.Sleep(20 * time.Second)
		at, _ := w.read()
		if n := len(at); n < 10 || n > 17 {
			t.Errorf("in 20 s in which nothing happened it was read %d times, want about 14: 250 ms, growing to 2 s", n)
		}
		for range 9 {
			w.work(id)
			time.Sleep(100 * time.Millisecond)
		}
		before, _ := w.read()
		for range 40 {
			w.change(id, false, func(r *run) { r.stages[0].inFlight++ })
			time.Sleep(100 * time.Millisecond)
		}
		at, _ = w.read()
		if n := len(at) - len(before); n < 10 || n > 17 {
			t.Errorf("in 4 s in which much happened it was read %d times, want about 16", n)
		}
		for i := 1; i < len(at); i++ {
			if d := at[i].Sub(at[i-1]); d < 250*time.Millisecond {
				t.Errorf("read again after %s, want 250ms at least", d)
			}
		}
		w.change(id, false, func(r *run) { r.stages[0].ready = 1 })
		w.work(id)
		time.Sleep(3 * time.Second)
		before, _ = w.read()
		time.Sleep(time.Minute)
		at, _ = w.read()
		if n := len(at) - len(before); n > 12 {
			t.Errorf("in a minute after the end it was read %d times, want 12 at most", n)
		}
		hangUp()
		before, _ = w.read()
		time.Sleep(time.Hour)
		if at, _ = w.read(); len(at) != len(before) {
			t.Errorf("after the last client it was read %d times", len(at)-len(before))
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if n := len(h.board.runs); n != 0 {
			t.Errorf("%d topics are left", n)
		}
	})
}

// A hint ends the waiting of an idle Hub; without one an end is found by looking.
func TestHubHearsOfEnds(t *testing.T) {
	bubble(t, nil, func(t *testing.T, h *Hub, w *world) {
		one, other := w.start("default", "a"), w.start("default", "a")
		r, hangUp := visit(t, h, local, Watch{Runs: []uuid.UUID{one}})
		feed, hangUpFeed := visit(t, h, local, Watch{Flows: []string{"a"}})
		time.Sleep(time.Minute)
		for _, id := range []uuid.UUID{one, other} {
			w.change(id, false, func(r *run) { r.stages[0].ready = 1 })
			w.work(id)
		}
		h.hear([][]uuid.UUID{{one, other, uuid.Max}})
		h.wake()
		time.Sleep(600 * time.Millisecond)
		if !strings.Contains(r.read(), `"state":"succeeded"`) {
			t.Errorf("600 ms after the hint: %q", r.read())
		}
		read := newReading()
		read.take(t, feed.read(), math.MaxInt)
		if len(read.told) != 2 || read.told[one].State != gen.RunStateSucceeded || read.told[other].State != gen.RunStateSucceeded {
			t.Errorf("of the flow's runs it told %v, want two ends", read.told)
		}
		third := w.start("default", "a")
		time.Sleep(5 * time.Second)
		w.change(third, false, func(r *run) { r.stages[0].ready = 1 })
		w.work(third)
		time.Sleep(5 * time.Second)
		read.take(t, feed.read(), math.MaxInt)
		if read.told[third].State != gen.RunStateSucceeded {
			t.Errorf("of an end without a hint it told %v", read.told[third])
		}
		hangUp()
		hangUpFeed()
	})
}

// A client gets at most one batch a tick, beats when it is quiet, and after the end what an operator makes of it.
func TestStreamIsCoalescedAndBeats(t *testing.T) {
	bubble(t, nil, func(t *testing.T, h *Hub, w *world) {
		id := w.start("default", "a")
		r, hangUp := visit(t, h, local, Watch{Runs: []uuid.UUID{id}})
		for range 300 {
			w.change(id, false, func(r *run) { r.stages[0].inFlight++ })
			time.Sleep(10 * time.Millisecond)
		}
		at := r.flushes()[1:] // the first is the header's
		for i := 1; i < len(at); i++ {
			if d := at[i].Sub(at[i-1]); d < 250*time.Millisecond {
				t.Errorf("batch %d comes %s after the one before, want 250ms at least", i, d)
			}
		}
		if len(at) < 10 {
			t.Errorf("%d batches in 3 s, want about 12", len(at))
		}
		time.Sleep(5 * time.Second)
		before := strings.Count(r.read(), ": beat\n\n")
		time.Sleep(time.Minute)
		if n := strings.Count(r.read(), ": beat\n\n") - before; n != 4 {
			t.Errorf("%d beats in a quiet minute, want 4", n)
		}
		w.change(id, true, func(r *run) { r.state, r.finishedAt = stage.RunFailed, pointer(time.Now()) })
		time.Sleep(3 * time.Second)
		w.change(id, true, func(r *run) { r.state, r.finishedAt = stage.RunRunning, nil })
		time.Sleep(6 * time.Second)
		read := newReading()
		read.take(t, r.read(), math.MaxInt)
		if got, want := asJSON(t, read.runs[id]), asJSON(t, w.runs[id].snapshot()); got != want {
			t.Errorf("after it was opened again: %s, want %s", got, want)
		}
		if n := len(read.kinds); read.kinds[0] != eventSnapshot || read.kinds[n-1] != eventSnapshot || slices.Contains(read.kinds[1:n-1], eventSnapshot) {
			t.Errorf("frames %v, want snapshots at the beginning and where an end was taken back, deltas between", read.kinds)
		}
		if r.header.Get("Content-Type") != "text/event-stream" || r.status != http.StatusOK {
			t.Errorf("status %d, header %v", r.status, r.header)
		}
		hangUp()
	})
}

// A client that comes again, to this Hub or to another one, continues.
func TestStreamResumes(t *testing.T) {
	bubble(t, nil, func(t *testing.T, h *Hub, w *world) {
		id := w.start("default", "a")
		watch := Watch{Runs: []uuid.UUID{id}, Flows: []string{"a"}}
		read := newReading()
		come := func(d time.Duration) (kinds []string) {
			watch.LastEventID = read.last
			r, hangUp := visit(t, h, local, watch)
			time.Sleep(d)
			hangUp()
			n := len(read.kinds)
			read.take(t, r.read(), math.MaxInt)
			return read.kinds[n:]
		}
		if got := come(time.Second); !slices.Equal(got, []string{eventSnapshot}) {
			t.Errorf("at first %v, want a snapshot", got)
		}
		if got := come(time.Second); len(got) != 0 {
			t.Errorf("nothing happened, but it got %v", got)
		}
		w.work(id)
		two := w.start("default", "a")
		if got := come(time.Second); !slices.Equal(got, []string{eventDelta, eventRun}) && !slices.Equal(got, []string{eventRun, eventDelta}) {
			t.Errorf("after a while away %v, want a delta and a run", got)
		}
		if read.told[two].Id != two {
			t.Errorf("it was told of %v, want %s", read.told, two)
		}
		time.Sleep(2 * time.Minute) // longer than what it watched is kept
		w.work(id)
		if got := come(time.Second); !slices.Equal(got, []string{eventSnapshot, eventLost}) {
			t.Errorf("after a long while away %v, want a snapshot, and that runs of the flow were missed", got)
		}
		read.last = strings.Replace(read.last, "-", "x-", 1)
		if got := come(time.Second); !slices.Equal(got, []string{eventSnapshot, eventLost}) {
			t.Errorf("with the id of another server %v, want the same", got)
		}
		read.last = h.board.boot + "-" + fmt.Sprint(uint64(math.MaxUint64))
		if got := come(time.Second); !slices.Equal(got, []string{eventSnapshot, eventLost}) {
			t.Errorf("with an id of the future %v, want the same", got)
		}
		if got, want := asJSON(t, read.runs[id]), asJSON(t, w.runs[id].snapshot()); got != want {
			t.Errorf("in the end %s, want %s", got, want)
		}
	})
}

// What does not exist and what another namespace has are answered alike, and both after a look.
func TestStreamsStayInTheirNamespace(t *testing.T) {
	bubble(t, nil, func(t *testing.T, h *Hub, w *world) {
		mine, theirs := w.start("default", "a"), w.start("other", "a")
		other := access.Principal{Namespace: "other"}
		r, hangUp := visit(t, h, other, Watch{Runs: []uuid.UUID{theirs}}) // it is watched already
		feed, hangUpFeed := visit(t, h, local, Watch{})
		flow, hangUpFlow := visit(t, h, local, Watch{Flows: []string{"a"}})
		time.Sleep(time.Minute)
		var looks []int
		var texts []string
		for _, id := range []uuid.UUID{theirs, uuid.Must(uuid.Parse("01a3185c-5000-7000-8000-000000000001"))} {
			before, _ := w.read()
			_, err := h.Subscribe(t.Context(), local, Watch{Runs: []uuid.UUID{mine, id}})
			if code := refusal(t, err); code != gen.ProblemCodeNotFound {
				t.Errorf("run %s: %s, want not_found", id, code)
			}
			after, _ := w.read()
			looks = append(looks, len(after)-len(before))
			texts = append(texts, strings.ReplaceAll(err.Error(), id.String(), "ID"))
			time.Sleep(time.Minute)
		}
		if looks[0] != 1 || looks[1] != 1 || texts[0] != texts[1] {
			t.Errorf("another namespace's run and one that does not exist: %v looks, want one each; %q", looks, texts)
		}
		w.start("other", "a")
		w.work(theirs)
		last := w.start("default", "a")
		time.Sleep(5 * time.Second)
		for _, text := range []string{feed.read(), flow.read()} {
			read := newReading()
			read.take(t, text, math.MaxInt)
			if len(read.told) != 1 || read.told[last].Id != last {
				t.Errorf("told of %v, want %s alone", read.told, last)
			}
		}
		if !strings.Contains(r.read(), `"succeeded":1`) {
			t.Errorf("the other namespace's own client got %q", r.read())
		}
		hangUp()
		hangUpFeed()
		hangUpFlow()
		if n := h.stats.Streams.Load(); n != 0 {
			t.Errorf("%d streams are left", n)
		}
	})
}

func TestStreamsAreLimited(t *testing.T) {
	bubble(t, func(c *Config) { c.Clients, c.PerCredential = 5, 2 }, func(t *testing.T, h *Hub, w *world) {
		id := w.start("default", "a")
		one := access.Principal{Namespace: "default", Credential: uuid.New()}
		_, hangUp := visit(t, h, one, Watch{Runs: []uuid.UUID{id}})
		_, hangUpToo := visit(t, h, one, Watch{})
		_, err := h.Subscribe(t.Context(), one, Watch{Runs: []uuid.UUID{id}})
		if p := problem.From(err); p.Code != gen.ProblemCodeRateLimited || p.HTTPStatus() != http.StatusTooManyRequests || p.RetryAfter() == "" {
			t.Errorf("a third stream of one credential: %v, want 429 and when to try again", err)
		}
		hangUp()
		_, hangUp = visit(t, h, one, Watch{Runs: []uuid.UUID{id}})
		var all []func()
		for range 3 { // who needs no credential is not counted by it
			_, more := visit(t, h, local, Watch{Runs: []uuid.UUID{id}})
			all = append(all, more)
		}
		_, err = h.Subscribe(t.Context(), local, Watch{Runs: []uuid.UUID{id}})
		if p := problem.From(err); p.Code != gen.ProblemCodeUnavailable || p.HTTPStatus() != http.StatusServiceUnavailable || p.RetryAfter() == "" {
			t.Errorf("a sixth stream: %v, want 503 and when to try again", err)
		}
		for _, hangUp := range append(all, hangUp, hangUpToo) {
			hangUp()
		}
		if _, err := h.Subscribe(t.Context(), local, Watch{Runs: make([]uuid.UUID, MaxRuns+1)}); refusal(t, err) != gen.ProblemCodeInvalid {
			t.Errorf("21 runs: %v", err)
		}
		if _, err := h.Subscribe(t.Context(), local, Watch{Flows: make([]string, MaxFlows+1)}); refusal(t, err) != gen.ProblemCodeInvalid {
			t.Errorf("21 flows: %v", err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if n := len(h.perCredential); n != 0 {
			t.Errorf("%d credentials are counted, but nobody is there", n)
		}
	})
}

func TestStreamsEndWithTheirCredential(t *testing.T) {
	revoked := uuid.New()
	var doubt atomic.Bool
	bubble(t, func(c *Config) {
		c.Valid = func(_ context.Context, p access.Principal) (bool, error) {
			if doubt.Load() {
				return false, errDown
			}
			return p.Credential != revoked, nil
		}
	}, func(t *testing.T, h *Hub, w *world) {
		id := w.start("default", "a")
		watch := Watch{Runs: []uuid.UUID{id}}
		doubt.Store(true)
		good, hangUp := visit(t, h, access.Principal{Namespace: "default", Credential: uuid.New()}, watch)
		bad, hangUpBad := visit(t, h, access.Principal{Namespace: "default", Credential: revoked}, watch)
		short, hangUpShort := visit(t, h, access.Principal{Namespace: "default", Credential: uuid.New(), ExpiresAt: time.Now().Add(10 * time.Second)}, watch)
		time.Sleep(9 * time.Second)
		ends := func(r *recorder) string {
			read := newReading()
			read.take(t, r.read(), math.MaxInt)
			return read.bye
		}
		if ends(short) != "" {
			t.Error("it ended before its credential")
		}
		time.Sleep(2 * time.Second)
		if ends(short) != byeCredential {
			t.Errorf("a credential that has expired: bye %q", ends(short))
		}
		time.Sleep(time.Minute)
		if ends(bad) != "" || ends(good) != "" {
			t.Error("streams ended although it was not known whether they must")
		}
		doubt.Store(false)
		time.Sleep(time.Minute)
		if ends(bad) != byeCredential || ends(good) != "" {
			t.Errorf("byes of the revoked and the valid: %q, %q", ends(bad), ends(good))
		}
		h.Drain()
		h.Drain()
		synctest.Wait()
		if ends(good) != byeDrain {
			t.Errorf("when the server drains: bye %q", ends(good))
		}
		if _, err := h.Subscribe(t.Context(), local, watch); refusal(t, err) != gen.ProblemCodeUnavailable {
			t.Errorf("while it drains: %v", err)
		}
		hangUp()
		hangUpBad()
		hangUpShort()
	})
}

// A client that reads slowly is told goodbye, and holds up nobody.
func TestSlowClientIsDropped(t *testing.T) {
	bubble(t, nil, func(t *testing.T, h *Hub, w *world) {
		id := w.start("default", "a")
		slow, hangUpSlow := visit(t, h, local, Watch{Runs: []uuid.UUID{id}})
		quick, hangUp := visit(t, h, local, Watch{Runs: []uuid.UUID{id}})
		release := slow.stall()
		for range 60 {
			w.change(id, false, func(r *run) { r.stages[0].inFlight++ })
			time.Sleep(100 * time.Millisecond)
		}
		read := newReading()
		read.take(t, quick.read(), math.MaxInt)
		if n := *read.runs[id].Stages["work"].InFlight; n < 55 {
			t.Errorf("beside a slow client another one has seen %d of 60 changes", n)
		}
		release()
		time.Sleep(time.Second)
		read = newReading()
		read.take(t, slow.read(), math.MaxInt)
		if read.bye != byeSlow || h.stats.Slow.Load() != 1 {
			t.Errorf("a write took 6 of 10 s: bye %q, %d counted", read.bye, h.stats.Slow.Load())
		}
		hangUpSlow()
		hangUp()
	})
}

// While the database is down streams stay, new ones are refused after a while, and what happened meanwhile is told once it is back.
func TestHubOutlivesTheDatabase(t *testing.T) {
	bubble(t, nil, func(t *testing.T, h *Hub, w *world) {
		id := w.start("default", "a")
		r, hangUp := visit(t, h, local, Watch{Runs: []uuid.UUID{id}, Flows: []string{"a"}})
		w.fail(true)
		w.work(id)
		two := w.start("default", "a")
		before, _ := w.read()
		time.Sleep(time.Minute)
		at, _ := w.read()
		if n := len(at) - len(before); n < 20 || n > 35 {
			t.Errorf("in a minute without an answer it asked %d times, want about 30", n)
		}
		began := time.Now()
		_, err := h.Subscribe(t.Context(), local, Watch{Runs: []uuid.UUID{two}})
		if refusal(t, err) != gen.ProblemCodeUnavailable || time.Since(began) != 5*time.Second {
			t.Errorf("a new stream: %v after %s, want unavailable after 5s", err, time.Since(began))
		}
		w.fail(false)
		time.Sleep(5 * time.Second)
		read := newReading()
		read.take(t, r.read(), math.MaxInt)
		if got, want := asJSON(t, read.runs[id]), asJSON(t, w.runs[id].snapshot()); got != want || read.told[two].Id != two {
			t.Errorf("after it: %s and %v, want %s and run %s", got, read.told, want, two)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		w.fail(true)
		if _, err := h.Subscribe(ctx, local, Watch{Runs: []uuid.UUID{two}}); !errors.Is(err, context.Canceled) {
			t.Errorf("a request that has ended: %v", err)
		}
		hangUp()
	})
}
