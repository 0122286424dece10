package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/flow"
	"axflow/shard"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/stage"
)

// one is a flow of one stage with a handler.
func oneStage[O any](h func(context.Context, day) (O, error), opts ...stage.Option) flow.Definition {
	return flow.New("f", stage.New("a", h, opts...))
}

// shards is a flow of one sharded stage.
func shards[O any](h func(context.Context, day, shard.Shard) (O, error), opts ...stage.Option) flow.Definition {
	return flow.New("f", shard.New("a", func(context.Context, day) (shard.Plan, error) { return shard.N(4), nil }, h, opts...))
}

const counted = `{"kind":"count","hi":4}`

func TestSuccess(t *testing.T) {
	var info stage.Info
	var deadline bool
	l := newLab(t, oneStage(func(ctx context.Context, p day) (string, error) {
		info, _ = stage.InfoFrom(ctx)
		_, deadline = ctx.Deadline()
		return "of " + p.Day, nil
	}), nil)
	l.release("a", 1, "")
	before := time.Now()
	id := l.hand("a", single)
	l.state("a", stage.StageSucceeded)
	r := l.one("a", 0)
	want(t, "outcome", r.outcome, stage.Succeeded)
	want(t, "output", r.output, `"of 2026-01-01"`)
	want(t, "worker", r.worker, l.w.ID())
	want(t, "execution", r.execution, id)
	if r.started.Before(r.dispatched.Add(-5*time.Millisecond)) || r.finished.Before(r.started) || r.finished.After(time.Now().Add(time.Second)) || r.started.Before(before.Add(-time.Second)) {
		t.Errorf("times: dispatched %v, started %v, finished %v", r.dispatched, r.started, r.finished)
	}
	l.hearsStage("a")
	l.hears("the flight is over", func(n hint.Engine) bool {
		return len(n.Left) == 1 && n.Left[0].Flight == id && n.Left[0].Left == 0 && n.Left[0].Done == 1
	})
	want(t, "flights", l.count(`SELECT count(*) FROM ax.flight`), 0)
	want(t, "info", info, stage.Info{Namespace: "default", Flow: "f", Version: l.flow.Version(), Run: l.run, Trace: l.run, Stage: "a", Generation: 1,
		Attempt: 1, MaxAttempts: 3, Delivery: 1, Total: 1, Execution: id, Worker: l.w.ID()})
	want(t, "the context has a deadline", deadline, true)
	l.check()
}

func TestFailureIsRetriedLater(t *testing.T) {
	l := newLab(t, oneStage(func(context.Context, day) (string, error) { return "", errors.New("no\x00 luck\xff") },
		stage.Retry{MaxAttempts: 3, InitialInterval: 8 * time.Second, Jitter: stage.NoJitter}), nil)
	l.release("a", 1, "")
	id := l.hand("a", single, func(h *handOut) { h.attempt = 2 })
	r := l.one("a", 0)
	want(t, "outcome", r.outcome, stage.Failed)
	want(t, "fingerprint", len(r.failure.Fingerprint), 16)
	r.failure.Fingerprint = ""
	want(t, "error", r.failure, failure{Code: CodeHandler, Message: "no\uFFFD luck\uFFFD", Retryable: true, Normal: "handler_error: no luck\uFFFD"})
	// Attempt 2 has failed: 8 s × 2, on a grid of 800 ms at most (100 ms × 2^3 <= 16 s / 16 = 1 s), one step added.
	var attempt, delivery int
	var wait float64
	if err := l.pool.QueryRow(l.ctx, `SELECT attempt, delivery, extract(epoch FROM not_before - ready_at)::float8 FROM ax.ready`).Scan(&attempt, &delivery, &wait); err != nil {
		t.Fatal(err)
	}
	want(t, "attempt", attempt, 3)
	want(t, "delivery", delivery, 1)
	if wait < 15.2 || wait > 16.9 {
		t.Errorf("it waits %v s, want 16 within a step of 0.8", wait)
	}
	l.hears("a ready row", func(n hint.Engine) bool {
		return len(n.Ready) == 1 && n.Ready[0].Run == l.run && n.Ready[0].Attempt == 3
	})
	l.hears("the flight is over", func(n hint.Engine) bool {
		return len(n.Left) == 1 && n.Left[0] == hint.Left{Flight: id, Done: 1, Busy: n.Left[0].Busy}
	})
	l.check()
}

func TestTheLastAttemptIsDead(t *testing.T) {
	l := newLab(t, oneStage(func(context.Context, day) (string, error) { return "", errors.New("no") }, stage.Retry{MaxAttempts: 2}), nil)
	l.release("a", 1, "")
	l.hand("a", single, func(h *handOut) { h.attempt = 2 })
	l.state("a", stage.StageFailed)
	want(t, "dead", l.count(`SELECT count(*) FROM ax.parked WHERE reason = 1 AND attempt = 2`), 1)
	want(t, "ready", l.count(`SELECT count(*) FROM ax.ready`), 0)
	l.hearsStage("a")
	l.check()
}

type codedErr string

func (e codedErr) Error() string { return "it is " + string(e) }
func (e codedErr) Code() string  { return string(e) }

// What happens to a handler's end, whatever kind it is.
func TestFailures(t *testing.T) {
	tests := map[string]struct {
		handler func(context.Context, day) (any, error)
		code    string
		parts   []string
		stack   bool
		dead    bool
	}{
		"permanent":     {func(context.Context, day) (any, error) { return nil, stage.Permanent(errors.New("never")) }, CodeHandler, []string{"never"}, false, true},
		"not-retryable": {func(context.Context, day) (any, error) { return nil, codedErr("quota") }, "quota", []string{"it is quota"}, false, true},
		"coded":         {func(context.Context, day) (any, error) { return nil, codedErr("busy") }, "busy", nil, false, false},
		"panic":         {func(context.Context, day) (any, error) { panic("at the disco") }, CodePanic, []string{"panic: at the disco"}, true, false},
		"goexit":        {func(context.Context, day) (any, error) { runtime.Goexit(); return nil, nil }, CodePanic, []string{"ended its goroutine"}, false, false},
		"large": {func(context.Context, day) (any, error) { return strings.Repeat("x", DefaultMaxStageOutput), nil }, CodeOutputLimit,
			[]string{"1048576 bytes", "has 1048578", "write it to a table"}, false, true},
		"not-JSON": {func(context.Context, day) (any, error) { return make(chan int), nil }, CodeHandler, []string{"json: unsupported type"}, false, false},
	}
	var nodes []stage.Node[day]
	for name, tc := range tests {
		nodes = append(nodes, stage.New(name, tc.handler, stage.Retry{NonRetryable: []string{"quota"}}))
	}
	l := newLab(t, flow.New("f", nodes...), func(c *Config) { c.Slots = 1 })
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l.release(name, 1, "")
			l.hand(name, single)
			r := l.one(name, 0)
			want(t, "outcome", r.outcome, stage.Failed)
			want(t, "code", r.failure.Code, tc.code)
			want(t, "retryable", r.failure.Retryable, !tc.dead)
			wantText(t, "message", r.failure.Message, tc.parts...)
			want(t, "stack", strings.Contains(r.failure.Stack, "end_test.go"), tc.stack)
			again := `SELECT count(*) FROM ax.ready WHERE attempt = 2 AND ord = $1`
			if tc.dead {
				l.state(name, stage.StageFailed)
				again = `SELECT count(*) FROM ax.parked WHERE reason = 1 AND ord = $1`
			}
			want(t, "again or dead", l.count(again, l.ord(name)), 1)
		})
		t.Run(name+" leaves the slot free", func(*testing.T) {
			l.exec(`DELETE FROM ax.ready WHERE ord = $1`, l.ord(name))
			l.exec(`DELETE FROM ax.parked WHERE ord = $1`, l.ord(name))
			l.exec(`UPDATE ax.stage SET state = 2, finished_at = NULL WHERE ord = $1`, l.ord(name))
			l.hand(name, single, func(h *handOut) { h.attempt = 5 })
			l.eventually("no second result", `SELECT count(*) = 2 FROM ax.result WHERE ord = $1`, l.ord(name))
		})
	}
	l.check()
}

func TestParamsThatCannotBeRead(t *testing.T) {
	l := newLab(t, oneStage(func(context.Context, day) (string, error) { return "", nil }), nil)
	l.exec(`UPDATE ax.run SET params = '{"night":1}'`)
	l.release("a", 1, "")
	l.hand("a", single, func(h *handOut) { h.mute = true })
	l.state("a", stage.StageFailed)
	r := l.one("a", 0)
	want(t, "code", r.failure.Code, CodeParams)
	wantText(t, "message", r.failure.Message, `unknown field "night"`, "other params")
	l.check()
}

// Params that handlers could change are decoded for each of them.
func TestParamsOfTheirOwn(t *testing.T) {
	type list struct {
		Days []string `json:"days"`
	}
	seen := make(chan string, 4)
	a := shard.New("a", func(context.Context, list) (shard.Plan, error) { return shard.N(4), nil }, func(_ context.Context, p list, _ shard.Shard) (struct{}, error) {
		seen <- p.Days[0]
		p.Days[0] = "spoilt"
		return struct{}{}, nil
	})
	l := newLab(t, flow.New("f", a), nil)
	l.exec(`UPDATE ax.run SET params = '{"days":["monday"]}'`)
	l.release("a", 4, counted)
	l.hand("a", shard.Span(0, 4), func(h *handOut) { h.mute = true })
	l.state("a", stage.StageSucceeded)
	for range 4 {
		want(t, "day", <-seen, "monday")
	}
	l.check()
}

// A worker runs a stage of an older version under that version's policies, if the contract is the same, and gives
// back what it has no handler for.
func TestPinnedVersions(t *testing.T) {
	l := newLab(t, oneStage(func(context.Context, day) (string, error) { return "", errors.New("no") }), nil)
	old := flow.New("f", stage.New("a", func(context.Context, day) (string, error) { return "", nil }, stage.Retry{MaxAttempts: 1}),
		stage.New("b", func(context.Context, day) (int, error) { return 0, nil }))
	if err := l.pool.QueryRow(l.ctx, `INSERT INTO ax.flow_version (namespace, flow, hash, graph) VALUES ('default', 'f', 'old', $1) RETURNING id`, old.Graph().Encode()).Scan(&l.ver); err != nil {
		t.Fatal(err)
	}
	l.flow = old
	l.exec(`DELETE FROM ax.stage`)
	l.exec(`DELETE FROM ax.run`)
	l.run = l.start(`{"day":"x"}`)
	l.release("a", 1, "")
	l.release("b", 1, "")
	l.hand("a", single)
	l.state("a", stage.StageFailed) // at its first attempt
	l.hand("b", single)
	l.eventually("it does not go back", `SELECT count(*) = 1 FROM ax.ready WHERE run_id = $1 AND attempt = 1 AND delivery = 1`, l.run)
	l.hears("a ready row", func(n hint.Engine) bool { return len(n.Ready) == 1 && n.Ready[0].Run == l.run })
	l.check()
}

func TestShardsInOrderAndInParallel(t *testing.T) {
	started := make(chan int, 16)
	proceed := make(chan struct{})
	l := newLab(t, shards(func(_ context.Context, _ day, s shard.Shard) (int, error) {
		started <- s.Index
		<-proceed
		return s.Index * s.Total, nil
	}), nil)
	l.release("a", 10, counted)
	id := l.hand("a", shard.Span(0, 10), func(h *handOut) { h.par = 2 })
	first := map[int]bool{<-started: true, <-started: true}
	want(t, "0 first", first[0], true)
	want(t, "1 first", first[1], true)
	l.stats("two run", func(s Stats) bool { return s.Started == 2 })
	for i := 2; i < 10; i++ {
		select {
		case j := <-started:
			t.Fatalf("shard %d has started beside two others", j)
		default:
		}
		proceed <- struct{}{}
		want(t, "next", <-started, i)
		l.stats("what has ended is committed", func(s Stats) bool { return s.Results == uint64(i-1) })
	}
	close(proceed)
	l.state("a", stage.StageSucceeded)
	want(t, "output", l.one("a", 7).output, "70")
	// The leader refills: it hears of the half, the quarter and the end.
	l.hears("the end", func(n hint.Engine) bool { return len(n.Left) > 0 && n.Left[0].Left == 0 })
	var lefts []int
	for _, n := range l.heard {
		for _, x := range n.Left {
			if x.Flight == id && x.Left > 1 {
				lefts = append(lefts, x.Left)
			}
		}
	}
	want(t, "what the leader heard of", fmt.Sprint(lefts), "[5 2]")
	l.check()
}

func TestOneResultAnIndexOfOneFlight(t *testing.T) {
	l := newLab(t, shards(func(context.Context, day, shard.Shard) (struct{}, error) { return struct{}{}, nil }), nil)
	l.release("a", 5000, counted)
	a := l.hand("a", shard.Span(0, 5000), func(h *handOut) { h.mute = true })
	// The same flight is told of many times, in full and by its id, while it runs and after.
	for range 20 {
		l.bus.ToWorker(l.w.ID(), hint.Worker{IDs: []uuid.UUID{a}, Flights: []span.Assignment{{Par: 4, Set: shard.Span(0, 5000), Params: []byte(`{}`),
			Header: span.Header{ID: a, Run: l.run, VersionID: l.ver, Generation: 1, Attempt: 1, Delivery: 1, Level: stage.P2}}}})
	}
	l.state("a", stage.StageSucceeded)
	l.bus.ToWorker(l.w.ID(), hint.Worker{IDs: []uuid.UUID{a}, Flights: []span.Assignment{{Par: 4, Set: shard.Span(0, 5000), Params: []byte(`{}`),
		Header: span.Header{ID: a, Run: l.run, VersionID: l.ver, Generation: 1, Attempt: 1, Delivery: 1, Level: stage.P2}}}})
	l.check()
	s := l.w.Stats()
	want(t, "started", s.Started, 5000)
	want(t, "results", l.count(`SELECT count(*) FROM ax.result`), 5000)
	if s.Batches > 200 {
		t.Errorf("%d commits for 5000 results", s.Batches)
	}
}
