package worker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/stage"
)

// said is what the worker's row says of a circuit.
func (l *lab) said(name string) (x circuitSaid) {
	l.t.Helper()
	var all map[string]circuitSaid
	var text []byte
	if err := l.pool.QueryRow(l.ctx, `SELECT circuits FROM ax.worker WHERE id = $1`, l.w.ID()).Scan(&text); err != nil {
		l.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		l.t.Fatal(err)
	}
	return all[name]
}

// circuit writes what the leader says of a circuit.
func (l *lab) circuit(kind, name string, state int, manual bool) {
	l.t.Helper()
	l.exec(`INSERT INTO ax.circuit (namespace, kind, name, state, manual, actor) VALUES ('default', $1, $2, $3, $4, 'leader/1')
	        ON CONFLICT (namespace, kind, name) DO UPDATE SET state = $3, manual = $4, updated_at = clock_timestamp()`, kind, name, state, manual)
}

// beats waits for a heartbeat that was sent after the call.
func (l *lab) beats() {
	l.t.Helper()
	n := l.w.Stats().Beats
	l.stats("no heartbeat", func(s Stats) bool { return s.Beats >= n+2 })
}

// faulty is a sharded stage whose tasks fail while sick holds.
func faulty(sick *atomic.Bool) func(context.Context, day, shard.Shard) (string, error) {
	return func(context.Context, day, shard.Shard) (string, error) {
		if sick.Load() {
			return "", errors.New("warehouse: row 17 is locked")
		}
		return "", nil
	}
}

func serial(h *handOut) { h.par = 1 }

func TestCircuit(t *testing.T) {
	for _, c := range []struct {
		circuit string
		opt     stage.Option
	}{
		{"handler:f/a", stage.Breaker{Failures: 5}},
		{"downstream:warehouse", stage.Downstream("warehouse")},
	} {
		t.Run(c.circuit, func(t *testing.T) {
			kind, name, _ := strings.Cut(c.circuit, ":")
			var sick atomic.Bool
			sick.Store(true)
			l := newLab(t, shards(faulty(&sick), c.opt), func(cfg *Config) { cfg.Beat = 100 * time.Millisecond })
			// Until the leader says that it has opened the circuit, nothing says so for three beats: hold the answer's
			// effect by opening it before.
			l.release("a", 20, counted)
			l.hand("a", shard.Span(0, 20), serial)
			l.eventually("the trip is not told", `SELECT (circuits->$1->>'tripped')::bool FROM ax.worker`, c.circuit)
			x := l.said(c.circuit)
			want(t, "failures in a row", x.Streak, 5)
			want(t, "failures", x.Fail, 5)
			want(t, "error", x.Error, "warehouse: row 17 is locked")
			l.circuit(kind, name, circuitOpen, false)
			l.eventually("the rest does not go back", `SELECT range_agg(todo) = '{[5,20)}' FROM ax.ready WHERE attempt = 1`)
			l.eventually("the flight stays", `SELECT count(*) = 0 FROM ax.flight`)
			want(t, "started", l.w.Stats().Started, 5)
			want(t, "attempts burnt of what had not started", l.count(`SELECT count(*) FROM ax.result WHERE shard >= 5`), 0)
			l.exec(`DELETE FROM ax.ready`)

			// What was handed out before the circuit opened goes back at once, however late it comes.
			late := l.hand("a", shard.Span(10, 12), func(h *handOut) { h.mute = true })
			l.exec(`UPDATE ax.flight SET dispatched_at = dispatched_at - interval '1 hour' WHERE id = $1`, late)
			l.eventually("it does not go back", `SELECT range_agg(todo) = '{[10,12)}' FROM ax.ready`)
			l.exec(`DELETE FROM ax.ready`)

			// A leader that lets a probe through: it fails, and the leader hears of it at once.
			l.circuit(kind, name, circuitHalf, false)
			l.hand("a", shard.Of(5), func(h *handOut) { h.mute = true })
			l.eventually("the probe's end is not told", `SELECT (circuits->$1->>'fail')::int = 6 FROM ax.worker`, c.circuit)
			l.circuit(kind, name, circuitOpen, false)
			l.beats()

			// The next one succeeds.
			sick.Store(false)
			l.circuit(kind, name, circuitHalf, false)
			l.hand("a", shard.Of(6), func(h *handOut) { h.mute = true })
			l.eventually("the probe's success is not told", `SELECT (circuits->$1->>'ok')::int = 1 AND (circuits->$1->>'streak')::int = 0
				AND NOT (circuits->$1->>'tripped')::bool FROM ax.worker`, c.circuit)
			l.circuit(kind, name, circuitClosed, false)
			l.beats()
			l.hand("a", shard.Span(7, 20))
			l.eventually("what is let start again does not run", `SELECT count(*) = 14 FROM ax.result WHERE outcome = 10`)
			if err := l.end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A worker that hears nothing of its trip for three beats goes on.
func TestTripWithoutAnAnswer(t *testing.T) {
	var sick atomic.Bool
	sick.Store(true)
	l := newLab(t, shards(faulty(&sick), stage.Breaker{Failures: 3}), nil)
	l.release("a", 7, counted)
	l.hand("a", shard.Span(0, 7), serial)
	l.stats("it does not go on", func(s Stats) bool { return s.Started == 7 })
	l.eventually("not all failed", `SELECT count(*) = 7 FROM ax.result WHERE outcome = 11`)
	if err := l.end(); err != nil {
		t.Error(err)
	}
}

func TestBreakersSwitchedOff(t *testing.T) {
	var sick atomic.Bool
	sick.Store(true)
	l := newLab(t, shards(faulty(&sick), stage.Breaker{Failures: 3}), func(c *Config) { c.Beat = time.Minute })
	l.circuit("handler", "f/a", circuitOpen, true)
	l.exec(`INSERT INTO ax.setting (name, value) VALUES ('breaker', 'false')`)
	l.w.heart.beatNow()
	l.stats("no heartbeat", func(s Stats) bool { return s.Beats >= 1 })
	pgtest.Eventually(t, soon, func() (bool, string) { return l.w.circuits.off.Load(), "the worker has not heard of the switch" })
	l.release("a", 10, counted)
	l.hand("a", shard.Span(0, 10), serial)
	l.stats("not everything was started", func(s Stats) bool { return s.Started == 10 }) // with a minute between beats: none tripped
	if err := l.end(); err != nil {
		t.Error(err)
	}
}

// Nothing at all starts while an operator keeps a circuit open, not even what was handed out after.
func TestCircuitOpenedByHand(t *testing.T) {
	var sick atomic.Bool
	l := newLab(t, shards(faulty(&sick), stage.Downstream("warehouse", "mail")), nil)
	l.circuit("downstream", "mail", circuitOpen, true)
	l.beats()
	l.release("a", 4, counted)
	l.hand("a", shard.Span(0, 4))
	l.eventually("it does not go back", `SELECT range_agg(todo) = '{[0,4)}' FROM ax.ready`)
	want(t, "started", l.w.Stats().Started, 0)
	l.exec(`DELETE FROM ax.ready`)
	l.circuit("downstream", "mail", circuitClosed, false)
	l.beats()
	l.hand("a", shard.Span(0, 4))
	l.state("a", stage.StageSucceeded)
	if err := l.end(); err != nil {
		t.Error(err)
	}
}

// Which circuits the end of a task counts for: nothing that is the task's own fault or nobody's.
func TestWhatCountsForCircuits(t *testing.T) {
	for _, c := range []struct {
		name              string
		err               error
		handler, one, two circuitSaid
	}{
		{"success", nil, circuitSaid{OK: 1}, circuitSaid{OK: 1}, circuitSaid{OK: 1}},
		{"failure", errors.New("x"), circuitSaid{Fail: 1, Streak: 1, Error: "x"}, circuitSaid{Fail: 1, Streak: 1, Error: "x"}, circuitSaid{Fail: 1, Streak: 1, Error: "x"}},
		{"of one downstream", stage.DownstreamError("one", errors.New("x")), circuitSaid{Fail: 1, Streak: 1, Error: "x"}, circuitSaid{Fail: 1, Streak: 1, Error: "x"}, circuitSaid{}},
		{"of one that is not named", stage.DownstreamError("three", errors.New("x")), circuitSaid{Fail: 1, Streak: 1, Error: "x"}, circuitSaid{}, circuitSaid{}},
		{"to be tried later", stage.RetryAfter(time.Hour, errors.New("x")), circuitSaid{Fail: 1, Streak: 1, Error: "x"}, circuitSaid{Fail: 1, Streak: 1, Error: "x"}, circuitSaid{Fail: 1, Streak: 1, Error: "x"}},
		{"permanent", stage.Permanent(errors.New("x")), circuitSaid{}, circuitSaid{}, circuitSaid{}},
		{"not retryable", codedErr("bad_request"), circuitSaid{}, circuitSaid{}, circuitSaid{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, oneStage(func(context.Context, day) (string, error) { return "", c.err },
				stage.Breaker{}, stage.Downstream("one", "two"), stage.Retry{NonRetryable: []string{"bad_request"}}), nil)
			l.release("a", 1, "")
			l.hand("a", single)
			l.one("a", 0)
			l.beats()
			want(t, "handler", l.said("handler:f/a"), c.handler)
			want(t, "one", l.said("downstream:one"), c.one)
			want(t, "two", l.said("downstream:two"), c.two)
			if err := l.end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A time-out counts, an interruption does not.
func TestTimeoutsCountForCircuits(t *testing.T) {
	started := make(chan struct{}, 2)
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		started <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	}, stage.Breaker{}, stage.Timeout{Execution: 100 * time.Millisecond}), nil)
	l.release("a", 1, "")
	l.hand("a", single)
	l.eventually("the time-out does not count", `SELECT (circuits->'handler:f/a'->>'fail')::int = 1 FROM ax.worker`)
	l.exec(`DELETE FROM ax.ready`)
	if err := l.end(); err != nil {
		t.Error(err)
	}
}

// A worker that registers anew counts from zero.
func TestCircuitsOfANewRegistration(t *testing.T) {
	l := newLab(t, oneStage(func(context.Context, day) (string, error) { return "", errors.New("x") }, stage.Breaker{Failures: 2}), nil)
	l.release("a", 1, "")
	l.hand("a", single)
	l.eventually("the failure is not told", `SELECT (circuits->'handler:f/a'->>'fail')::int = 1 FROM ax.worker`)
	l.exec(`DELETE FROM ax.worker`)
	l.eventually("no new registration", `SELECT count(*) = 1 FROM ax.worker WHERE beat > 0`)
	want(t, "what it says", l.said("handler:f/a"), circuitSaid{})
	if err := l.end(); err != nil {
		t.Error(err)
	}
}
