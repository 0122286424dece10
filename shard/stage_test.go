package shard_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"axflow/shard"
	"axflow/stage"
)

// memory is an Env that holds the outputs of upstreams in memory.
type memory struct {
	single  map[*stage.Def][]byte
	shards  map[*stage.Def][]stage.Shard
	broken  error // ends every stream
	failure error
}

func (m *memory) Info() stage.Info { return stage.Info{} }

func (m *memory) Output(_ context.Context, up *stage.Def) ([]byte, error) {
	b, ok := m.single[up]
	if !ok {
		return nil, stage.ErrNotUpstream
	}
	return b, nil
}

func (m *memory) Outputs(_ context.Context, up *stage.Def) iter.Seq2[stage.Shard, error] {
	return func(yield func(stage.Shard, error) bool) {
		for _, s := range m.shards[up] {
			if !yield(s, nil) {
				return
			}
		}
		if m.broken != nil {
			yield(stage.Shard{}, m.broken)
		}
	}
}

func (m *memory) Fail(err error)        { m.failure = err }
func (m *memory) Heartbeat()            {}
func (m *memory) Progress(_, _ float64) {}
func (m *memory) Detail(string)         {}
func (m *memory) Logger() *slog.Logger  { return nil }
func (m *memory) Counts(context.Context, *stage.Def) (stage.ShardCounts, error) {
	return stage.ShardCounts{Total: 4, Succeeded: 3, Failed: 1}, nil
}

type params struct {
	Rows int64 `json:"rows"`
}

func byRows(_ context.Context, p params) (shard.Plan, error) {
	if p.Rows == 13 {
		return shard.Plan{}, errors.New("unlucky")
	}
	return shard.Count(p.Rows).Base(100), nil
}

func width(_ context.Context, _ params, s shard.Shard) (int64, error) {
	lo, hi := s.Ints()
	return hi - lo, nil
}

func TestStageHandler(t *testing.T) {
	s := shard.New("sum", byRows, width, stage.Limit(3), stage.SkipWhenEmpty())
	d := s.Def()
	if d.Faults != nil || d.Kind != stage.Sharded || d.Limit != 3 || !d.SkipEmpty || d.AlignedTo != nil {
		t.Fatalf("the definition is %+v", d)
	}
	p, err := d.Handler.Params([]byte(`{"rows": 250}`))
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.Handler.Plan(t.Context(), p)
	if err != nil || l.Total != 3 || l.Items != nil {
		t.Fatalf("the layout is %+v, %v", l, err)
	}
	var widths []string
	for i := range l.Total {
		out, err := d.Handler.Run(t.Context(), stage.Call{Params: p, Index: i, Total: l.Total, Cut: &l.Cut})
		if err != nil {
			t.Fatal(err)
		}
		widths = append(widths, string(out))
	}
	if !slices.Equal(widths, []string{"83", "83", "84"}) {
		t.Errorf("the outputs are %v", widths)
	}

	if _, err := d.Handler.Plan(t.Context(), params{Rows: 13}); err == nil || err.Error() != "unlucky" {
		t.Errorf("a failing plan gives %v", err)
	}
	if _, err := d.Handler.Plan(t.Context(), params{Rows: 1_000_001 * 100}); stage.CodeOf(err) != "too_many_shards" {
		t.Errorf("a plan of too many shards gives %v", err)
	}
	if l, err := d.Handler.Plan(t.Context(), params{}); err != nil || l.Total != 0 {
		t.Errorf("a plan of nothing gives %+v, %v", l, err)
	}
	for _, f := range []func() error{
		func() error { _, err := d.Handler.Plan(t.Context(), 5); return err },
		func() error { _, err := d.Handler.Run(t.Context(), stage.Call{Params: 5}); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "params are a int") {
			t.Errorf("params of another type give %v", err)
		}
	}
}

func TestStageFaults(t *testing.T) {
	up := shard.New("up", byRows, width)
	for want, d := range map[string]*stage.Def{
		"handler is nil: give a function":                          shard.New[params, int]("x", byRows, nil).Def(),
		"plan is nil: give a function":                             shard.New("x", nil, width).Def(),
		"handler is nil: give a function ":                         shard.Aligned[params, int64, int]("x", up, nil).Def(),
		"the stage to be aligned to is nil: give a sharded stage":  shard.Aligned[params, int64]("x", nil, width).Def(),
		`trigger rule "one_failed" does not fit an aligned stage`:  shard.Aligned("x", up, width, stage.WithRule(stage.OneFailed)).Def(),
		`trigger rule "all_failed" does not fit an aligned stage`:  shard.Aligned("x", up, width, stage.WithRule(stage.AllFailed)).Def(),
		`trigger rule "all_skipped" does not fit an aligned stage`: shard.Aligned("x", up, width, stage.WithRule(stage.AllSkipped)).Def(),
		`After names "up" twice: name it once`:                     shard.Aligned("x", up, width).After(up).Def(),
	} {
		if len(d.Faults) != 1 || !strings.HasPrefix(d.Faults[0].Error(), strings.TrimSpace(want)) {
			t.Errorf("the faults are %q, want %s", d.Faults, want)
		}
	}
}

func TestAligned(t *testing.T) {
	up := shard.New("up", byRows, width)
	other := stage.New("other", func(context.Context, params) (int, error) { return 0, nil })
	half := shard.Aligned("half", up, func(ctx context.Context, _ params, s shard.Shard) (int64, error) {
		n, err := up.Output(ctx)
		return n / 2, err
	}).After(other)
	d := half.Def()
	if d.Faults != nil || d.Kind != stage.Aligned || d.AlignedTo != up.Def() || d.Handler.Plan != nil ||
		!slices.Equal(d.Upstreams, []*stage.Def{up.Def(), other.Def()}) {
		t.Fatalf("the definition is %+v", d)
	}
	ctx := stage.WithEnv(t.Context(), &memory{single: map[*stage.Def][]byte{up.Def(): []byte("84")}})
	if out, err := d.Handler.Run(ctx, stage.Call{Params: params{}, Index: 2, Total: 3}); err != nil || string(out) != "42" {
		t.Errorf("the output is %s, %v", out, err)
	}
	// An aligned stage may follow an aligned one.
	if d := shard.Aligned("quarter", half, width).Def(); d.Faults != nil || d.AlignedTo != half.Def() {
		t.Errorf("the definition is %+v", d)
	}
}

func TestOutputs(t *testing.T) {
	up := shard.New("up", byRows, width)
	cut := &stage.Cut{Kind: stage.CutCount, Hi: 250}
	m := &memory{shards: map[*stage.Def][]stage.Shard{up.Def(): {
		{Index: 0, Total: 3, Cut: cut, Output: []byte("83")},
		{Index: 2, Total: 3, Cut: cut, Item: stage.Item{Key: "k", Input: []byte("7")}, Output: []byte("84")},
	}}}
	ctx := stage.WithEnv(t.Context(), m)
	var got []string
	for s, n := range up.Outputs(ctx) {
		lo, hi := s.Ints()
		got = append(got, fmt.Sprintf("%d/%d [%d,%d) %q %d", s.Index, s.Total, lo, hi, s.Key, n))
	}
	if want := []string{`0/3 [0,83) "" 83`, `2/3 [166,250) "k" 84`}; !slices.Equal(got, want) || m.failure != nil {
		t.Errorf("the outputs are %q, %v; want %q", got, m.failure, want)
	}
	for range up.Outputs(ctx) {
		break // a loop may stop early
	}
	if m.failure != nil {
		t.Errorf("a loop that stopped early fails with %v", m.failure)
	}
}

func TestOutputsFail(t *testing.T) {
	up := shard.New("up", byRows, width)
	lost := errors.New("connection lost")
	for want, m := range map[string]*memory{
		`reading the outputs of stage "up": connection lost`:              {broken: lost},
		`reading the outputs of stage "up": decoding the output into int`: {shards: map[*stage.Def][]stage.Shard{up.Def(): {{Output: []byte(`"x"`)}}}},
		`reading the outputs of stage "up": the upstream has no output`:   {shards: map[*stage.Def][]stage.Shard{up.Def(): {{}}}},
	} {
		for range up.Outputs(stage.WithEnv(t.Context(), m)) {
			t.Error("an output comes from a broken stream")
		}
		if m.failure == nil || !strings.HasPrefix(m.failure.Error(), want) {
			t.Errorf("the attempt fails with %v, want %s", m.failure, want)
		}
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, stage.ErrNoEnv) {
			t.Errorf("without a handler's context Outputs panics with %v", err)
		}
	}()
	up.Outputs(t.Context())
}

func TestNewFrom(t *testing.T) {
	tx := stage.Handler{Tx: func(context.Context, stage.Call) (stage.Commit, error) { return nil, nil }}
	d := shard.NewFrom[params, int]("x", byRows, tx).Def()
	if d.Faults != nil || d.Kind != stage.Sharded || !d.Tx || d.Handler.Plan == nil {
		t.Errorf("the definition is %+v", d)
	}
	up := shard.New("up", byRows, width)
	d = shard.AlignedFrom[params, int64, int]("y", up, tx).Def()
	if d.Faults != nil || d.Kind != stage.Aligned || !d.Tx || d.AlignedTo != up.Def() {
		t.Errorf("the definition is %+v", d)
	}
}
