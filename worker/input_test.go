package worker

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

type order struct {
	ID int `json:"id"`
}

// lookup is a flow that passes outputs in every way: single to sharded, sharded to aligned, sharded to single.
type lookup struct {
	first *stage.Stage[day, order]
	parts *shard.Stage[day, string]
	marks *shard.Stage[day, string]
	sum   *stage.Stage[day, string]
	apart *stage.Stage[day, int]
	def   flow.Definition
	total int
}

func newLookup(total int) *lookup {
	x := &lookup{total: total}
	x.first = stage.New("first", func(context.Context, day) (order, error) { return order{41}, nil })
	x.apart = stage.New("apart", func(context.Context, day) (int, error) { return 0, nil })
	x.parts = shard.New("parts", func(ctx context.Context, _ day) (shard.Plan, error) {
		o, err := x.first.Output(ctx)
		if err != nil {
			return shard.Plan{}, err
		}
		items := make([]order, x.total)
		for i := range items {
			items[i].ID = o.ID + i
		}
		return shard.List(items, func(o order) string { return fmt.Sprint("key-", o.ID) }), nil
	}, func(ctx context.Context, _ day, s shard.Shard) (string, error) {
		o, err := shard.Input[order](s)
		if err != nil {
			return "", err
		}
		f, err := x.first.Output(ctx)
		return fmt.Sprintf("%s/%d/%d", s.Key, o.ID, f.ID), err
	}).After(x.first)
	x.marks = shard.Aligned("marks", x.parts, func(ctx context.Context, _ day, s shard.Shard) (string, error) {
		o, err := shard.Input[order](s)
		if err != nil {
			return "", err
		}
		up, err := x.parts.Output(ctx)
		return fmt.Sprintf("%s of %d for %d", up, s.Total, o.ID), err
	})
	x.sum = stage.New("sum", func(ctx context.Context, _ day) (string, error) {
		n, last := 0, -1
		for s, out := range x.marks.Outputs(ctx) {
			right := fmt.Sprintf("key-%d/%d/41 of %d for %d", 41+s.Index, 41+s.Index, x.total, 41+s.Index)
			if out != right || s.Index <= last || s.Total != x.total || s.Key != fmt.Sprint("key-", 41+s.Index) {
				return "", fmt.Errorf("shard %d of %d, key %s after %d says %q, want %q", s.Index, s.Total, s.Key, last, out, right)
			}
			n, last = n+1, s.Index
		}
		_, apart := x.apart.Output(ctx)
		_, many := stage.OutputOf[string](ctx, x.parts.Def())
		far, err := x.first.Output(ctx) // not named in After, but before it all the same
		return fmt.Sprintf("%d apart:%v many:%v far:%d", n, errors.Is(apart, stage.ErrNotUpstream), many != nil, far.ID), err
	}).After(x.marks)
	x.def = flow.New("lookup", x.first, x.apart, x.parts, x.marks, x.sum)
	return x
}

// Everything that flows along a graph arrives, with more shards than a page of outputs and many chunks of inputs.
func TestInputsAndOutputs(t *testing.T) {
	const total = 2300
	x := newLookup(total)
	l := newLab(t, x.def, nil)
	l.release("first", 1, "")
	l.hand("first", single)
	l.state("first", stage.StageSucceeded)
	l.planning("parts")
	l.hand("parts", planSet)
	l.state("parts", stage.StageRunning)
	l.exec(`DELETE FROM ax.ready`)
	l.hand("parts", shard.Of(0, 1, 255, 256, 2299)) // far apart
	rest := shard.Span(0, total).Minus(shard.Of(0, 1, 255, 256, 2299))
	l.hand("parts", rest, func(h *handOut) { h.mute = true })
	l.state("parts", stage.StageSucceeded)
	want(t, "a part", l.one("parts", 2299).output, `"key-2340/2340/41"`)
	l.release("marks", total, "")
	l.hand("marks", shard.Span(0, total))
	l.state("marks", stage.StageSucceeded)
	l.release("sum", 1, "")
	l.hand("sum", single)
	want(t, "sum", l.one("sum", 0).output, `"2300 apart:true many:true far:41"`)
	l.state("sum", stage.StageSucceeded)
	l.release("apart", 1, "")
	l.hand("apart", single)
	l.state("apart", stage.StageSucceeded)
	l.check()
}

// An upstream's newest success of its current generation is what is read; what has failed has none.
func TestWhichOutputIsRead(t *testing.T) {
	up := stage.New("up", func(context.Context, day) (order, error) { return order{1}, nil })
	parts := shard.New("parts", func(context.Context, day) (shard.Plan, error) { return shard.N(3), nil },
		func(context.Context, day, shard.Shard) (order, error) { return order{1}, nil })
	got := make(chan string, 1)
	down := stage.New("down", func(ctx context.Context, _ day) (struct{}, error) {
		o, err := up.Output(ctx)
		text := fmt.Sprintf("%d %v", o.ID, errors.Is(err, stage.ErrNoOutput))
		for s, o := range parts.Outputs(ctx) {
			text += fmt.Sprintf(" %d:%d", s.Index, o.ID)
		}
		got <- text
		return struct{}{}, nil
	}).After(up, parts)
	l := newLab(t, flow.New("f", up, parts, down), nil)
	insert := func(name string, index, generation, attempt, outcome int, output string) {
		l.exec(`INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord, generation, attempt,
		        delivery, outcome, output) VALUES ($1, $1, $1, now(), now(), now(), now(), $2, 1, $3, $4, $5, 1, $6, $7)`,
			l.run, index, l.ord(name), generation, attempt, outcome, []byte(output))
	}
	read := func(right string) {
		t.Helper()
		l.release("down", 1, "")
		l.hand("down", single)
		want(t, "down reads", <-got, right)
		l.state("down", stage.StageSucceeded)
		l.exec(`DELETE FROM ax.result WHERE ord = $1`, l.ord("down"))
	}
	l.release("parts", 3, counted)
	insert("up", 0, 1, 1, 11, `{"id":1}`) // has failed
	insert("parts", 1, 1, 1, 11, `{"id":2}`)
	insert("parts", 2, 1, 1, 10, `{"id":3}`)
	insert("parts", -1, 1, 1, 10, ``) // the plan's
	read("0 true 2:3")
	insert("up", 0, 1, 2, 10, `{"id":4}`)
	insert("up", 0, 1, 3, 10, `{"id":5}`) // an operator's rerun
	insert("up", 0, 2, 1, 10, `{"id":6}`) // another generation
	insert("parts", 0, 1, 1, 10, `{"id":7}`)
	read("5 false 0:7 2:3")
	l.exec(`UPDATE ax.stage SET generation = 2 WHERE ord = $1`, l.ord("up"))
	read("6 false 0:7 2:3")
}

// An error in the middle of a stream fails the attempt, whatever the handler returns.
func TestBrokenStreamFailsTheAttempt(t *testing.T) {
	parts := shard.New("parts", func(context.Context, day) (shard.Plan, error) { return shard.N(3), nil },
		func(context.Context, day, shard.Shard) (order, error) { return order{1}, nil })
	down := stage.New("down", func(ctx context.Context, _ day) (string, error) {
		n := 0
		for range parts.Outputs(ctx) {
			n++
		}
		return fmt.Sprint(n), nil
	}).After(parts)
	l := newLab(t, flow.New("f", parts, down), nil)
	l.release("parts", 3, counted)
	l.hand("parts", shard.Span(0, 3))
	l.state("parts", stage.StageSucceeded)
	l.exec(`UPDATE ax.result SET output = '{"id":"no number"}' WHERE shard = 1`)
	l.release("down", 1, "")
	l.hand("down", single)
	r := l.one("down", 0)
	want(t, "outcome", r.outcome, stage.Failed)
	wantText(t, "message", r.failure.Message, `"parts"`, "decoding")
	l.check()
}

// Params too large to travel with the hand-out are read, once a run.
func TestParamsAreReadWhenTheyDidNotCome(t *testing.T) {
	l := newLab(t, shards(func(_ context.Context, p day, _ shard.Shard) (string, error) { return p.Day, nil }), nil)
	l.release("a", 2, counted)
	l.hand("a", shard.Of(0), func(h *handOut) { h.mute = true })
	want(t, "output", l.one("a", 0).output, `"2026-01-01"`)
	l.exec(`UPDATE ax.run SET params = '{}'`) // nobody does; it shows where they come from
	l.hand("a", shard.Of(1), func(h *handOut) { h.mute = true })
	want(t, "output", l.one("a", 1).output, `"2026-01-01"`)
	l.check()
}

// Work of an older generation than its stage's goes back to nowhere.
func TestWorkOfAnOlderGenerationIsNotRun(t *testing.T) {
	l := newLab(t, shards(func(context.Context, day, shard.Shard) (string, error) { return "", errors.New("it ran") }), nil)
	l.release("a", 2, counted)
	l.exec(`UPDATE ax.stage SET generation = 2`)
	l.hand("a", shard.Span(0, 2))
	l.eventually("the flight stays", `SELECT count(*) = 0 FROM ax.flight`)
	want(t, "results", l.count(`SELECT count(*) FROM ax.result`), 0)
	want(t, "ready", l.count(`SELECT count(*) FROM ax.ready`), 0)
}
