package hint

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/sql/span"
)

// remote is a bus that would send by NOTIFY what nobody in the process takes; it does not run.
func remote(t *testing.T) *Bus {
	t.Helper()
	cc, err := pgx.ParseConfig("host=/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	return newBus(t, Config{ConnConfig: cc})
}

func TestNewRefuses(t *testing.T) {
	for want, cfg := range map[string]Config{
		"Flush is -1ns":               {Flush: -1},
		"Flush is 2s":                 {Flush: 2 * time.Second},
		"PollOnly without ConnConfig": {PollOnly: true},
	} {
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", cfg, err, want)
		}
	}
}

// A subscriber in the process takes the hint as it is, and nothing is sent, except for the ends of runs, which all
// processes hear.
func TestThroughMemory(t *testing.T) {
	b := remote(t)
	w := uuid.New()
	engine, worker, other, runs := b.SubscribeEngine(), b.SubscribeWorker(w), b.SubscribeWorker(uuid.New()), b.SubscribeRuns()
	e := Engine{Ready: []span.Ready{{Header: span.Header{ID: number(1), Attempt: 3}}}, Workers: true}
	a := Worker{Flights: []span.Assignment{{Header: span.Header{ID: number(2)}, Par: 4}}}
	b.ToEngine(e)
	b.ToWorker(w, a)
	if got := engine.Take(); !reflect.DeepEqual(got, []Engine{e}) {
		t.Errorf("the leader took %+v, want %+v", got, e)
	}
	if got := worker.Take(); !reflect.DeepEqual(got, []Worker{a}) {
		t.Errorf("the worker took %+v, want %+v", got, a)
	}
	if got := other.Take(); got != nil {
		t.Errorf("another worker took %+v", got)
	}
	if got := b.out.take(); got != nil {
		t.Errorf("sent %v as well", got)
	}
	ended := numbers(0, 2)
	b.RunsEnded(ended)
	b.RunsEnded(nil)
	ended[0] = uuid.Nil // the caller's again
	if got, want := runs.Take(), [][]uuid.UUID{numbers(0, 2)}; !reflect.DeepEqual(got, want) {
		t.Errorf("waiters took %v, want %v", got, want)
	}
	if got := b.out.take(); len(got) != 1 || got[0].channel != runChannel {
		t.Errorf("sent %v, want one payload for %s", got, runChannel)
	}
}

func TestSubscriptionsEnd(t *testing.T) {
	b := remote(t)
	w := uuid.New()
	first, second := b.SubscribeEngine(), b.SubscribeEngine()
	old, worker, runs := b.SubscribeWorker(w), b.SubscribeWorker(w), b.SubscribeRuns()
	first.Close() // was replaced: the second stays
	old.Close()
	b.ToEngine(lookEngine)
	b.ToWorker(w, Worker{Asks: true})
	if len(second.Take()) != 1 || len(worker.Take()) != 1 {
		t.Error("closing a replaced subscription ended its successor")
	}
	second.Close()
	worker.Close()
	runs.Close()
	if len(b.workers)+len(b.runs) != 0 || b.engine != nil {
		t.Error("subscriptions are left")
	}
	b.ToEngine(lookEngine)
	b.ToWorker(w, Worker{Asks: true})
	if got := b.out.take(); len(got) != 2 {
		t.Errorf("sent %v, want one payload each for the leader and the worker", got)
	}
}

func TestInsideTheProcess(t *testing.T) {
	b := newBus(t, Config{})
	start(t, b)
	b.ToEngine(lookEngine)
	b.ToWorker(uuid.New(), Worker{Asks: true})
	b.RunsEnded(numbers(0, 1))
	if got := b.out.take(); got != nil {
		t.Errorf("%v waits for a database that there is not", got)
	}
}

func TestMuteInMemory(t *testing.T) {
	b := remote(t)
	w := uuid.New()
	engine, worker, runs := b.SubscribeEngine(), b.SubscribeWorker(w), b.SubscribeRuns()
	b.Mute(true)
	b.ToEngine(lookEngine)
	b.ToWorker(w, Worker{Asks: true})
	b.RunsEnded(numbers(0, 1))
	b.gap()
	if engine.Take() != nil || worker.Take() != nil || runs.Take() != nil || b.out.take() != nil {
		t.Error("a muted bus carried a hint")
	}
	if n := b.Stats().Muted.Load(); n != 3 {
		t.Errorf("%d hints counted, want 3", n)
	}
	b.Mute(false)
	if e, a, r := engine.Take(), worker.Take(), runs.Take(); len(e) != 1 || !e[0].Look || len(a) != 1 || !a[0].Asks || len(r) != 1 || len(r[0]) != 0 {
		t.Errorf("after the silence: %v, %v, %v, want a look each", e, a, r)
	}
	b.Mute(false)
	if engine.Take() != nil {
		t.Error("switching on what was on said something")
	}
}
