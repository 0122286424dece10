package stage_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

// memory is an Env that holds outputs in memory.
type memory struct {
	info    stage.Info
	outputs map[*stage.Def][]byte
}

func (m memory) Info() stage.Info { return m.info }

func (m memory) Output(_ context.Context, up *stage.Def) ([]byte, error) {
	b, ok := m.outputs[up]
	if !ok {
		return nil, stage.ErrNotUpstream
	}
	return b, nil
}

func (m memory) Outputs(context.Context, *stage.Def) iter.Seq2[stage.Shard, error] { return nil }
func (m memory) Fail(error)                                                        {}

func TestRunHandler(t *testing.T) {
	s := stage.New("double", func(_ context.Context, p struct{ N int }) (int, error) {
		if p.N < 0 {
			return 0, errors.New("negative")
		}
		return 2 * p.N, nil
	})
	h := s.Def().Handler
	p, err := h.Params([]byte(`{"N": 21}`))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := h.Run(t.Context(), stage.Call{Params: p}); err != nil || string(out) != "42" {
		t.Errorf("the output is %s, %v", out, err)
	}
	p, _ = h.Params([]byte(`{"N": -1}`))
	if out, err := h.Run(t.Context(), stage.Call{Params: p}); err == nil || out != nil {
		t.Errorf("a failed handler gives %s, %v", out, err)
	}
	if _, err := h.Run(t.Context(), stage.Call{Params: "no"}); err == nil || !strings.Contains(err.Error(), "params are a string, not a struct") {
		t.Errorf("params of another type give %v", err)
	}
}

func TestRunHandlerWithoutOutput(t *testing.T) {
	s := stage.New("quiet", func(context.Context, *params) (struct{}, error) { return struct{}{}, nil })
	out, err := s.Def().Handler.Run(t.Context(), stage.Call{Params: &params{}})
	if err != nil || out != nil {
		t.Errorf("the output is %q, %v; want none", out, err)
	}
	ctx := stage.WithEnv(t.Context(), memory{outputs: map[*stage.Def][]byte{s.Def(): nil}})
	if _, err := s.Output(ctx); err != nil {
		t.Errorf("reading no output: %v", err)
	}
}

func TestRunHandlerUnencodable(t *testing.T) {
	s := stage.New("bad", func(context.Context, params) (func(), error) { return func() {}, nil })
	if _, err := s.Def().Handler.Run(t.Context(), stage.Call{Params: params{}}); err == nil {
		t.Error("a function became an output")
	}
}

func TestOutput(t *testing.T) {
	up := stage.New("up", handle)
	empty := stage.New("empty", handle)
	wrong := stage.New("wrong", handle)
	other := stage.New("other", handle)
	ctx := stage.WithEnv(t.Context(), memory{outputs: map[*stage.Def][]byte{
		up.Def(): []byte("42"), empty.Def(): nil, wrong.Def(): []byte(`"x"`),
	}})
	if got, err := up.Output(ctx); err != nil || got != 42 {
		t.Errorf("the output is %v, %v", got, err)
	}
	for _, tc := range []struct {
		s    *stage.Stage[params, int]
		ctx  context.Context
		is   error
		text string
	}{
		{up, t.Context(), stage.ErrNoEnv, `reading the output of stage "up": this context is not a stage handler's`},
		{other, ctx, stage.ErrNotUpstream, `reading the output of stage "other": not an upstream`},
		{empty, ctx, stage.ErrNoOutput, `reading the output of stage "empty": the upstream has no output`},
		{wrong, ctx, nil, `reading the output of stage "wrong": decoding the output into int`},
	} {
		_, err := tc.s.Output(tc.ctx)
		if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.HasPrefix(err.Error(), tc.text) {
			t.Errorf("the error is %v, want %q", err, tc.text)
		}
	}
}

func TestInfo(t *testing.T) {
	if _, ok := stage.InfoFrom(t.Context()); ok {
		t.Error("a bare context has an Info")
	}
	run := uuid.MustParse("01890000-0000-7000-8000-000000000001")
	info := stage.Info{Run: run, Stage: "load", Generation: 2, Index: 17, Attempt: 3, Execution: uuid.New()}
	got, ok := stage.InfoFrom(stage.WithEnv(t.Context(), memory{info: info}))
	if !ok || got != info {
		t.Errorf("the info is %+v, %v", got, ok)
	}
	const key = "01890000-0000-7000-8000-000000000001/load/2/17"
	if got := info.IdempotencyKey(); got != key {
		t.Errorf("the key is %q, want %q", got, key)
	}
	info.Attempt, info.Delivery, info.Execution, info.Worker = 9, 4, uuid.New(), uuid.New()
	if got := info.IdempotencyKey(); got != key {
		t.Errorf("on another attempt the key is %q, want %q", got, key)
	}
}

func TestAfter(t *testing.T) {
	a, b := stage.New("a", handle), stage.New("b", handle)
	c := stage.New("c", handle).After(a).After(b)
	if ups := c.Def().Upstreams; len(ups) != 2 || ups[0] != a.Def() || ups[1] != b.Def() {
		t.Errorf("the upstreams are %v", ups)
	}
	var none *stage.Stage[params, int]
	d := stage.New("d", handle).After(a, a, nil, none).Def()
	if len(d.Faults) != 3 || d.Faults[0].Error() != `After names "a" twice: name it once` {
		t.Errorf("the faults are %q", d.Faults)
	}
	d.Freeze()
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(string), `stage "d": After was called after flow.New`) {
			t.Errorf("After on a frozen stage panics with %v", r)
		}
	}()
	d.After(b.Def())
}

func TestNewFrom(t *testing.T) {
	run := func(context.Context, stage.Call) ([]byte, error) { return nil, nil }
	tx := func(context.Context, stage.Call) (stage.Commit, error) { return nil, nil }
	plan := func(context.Context, any) (stage.Layout, error) { return stage.Layout{}, nil }
	d := stage.NewFrom[params, int]("tx", stage.Handler{Tx: tx}).Def()
	if d.Faults != nil || !d.Tx || d.Handler.Params == nil || !d.Handler.ParamsShareable {
		t.Errorf("the definition is %+v", d)
	}
	for want, h := range map[string]stage.Handler{
		"handler is nil":               {},
		"handler has both Run and Tx":  {Run: run, Tx: tx},
		"a stage of kind single has a": {Run: run, Plan: plan},
	} {
		faults := stage.NewFrom[params, int]("x", h).Def().Faults
		if len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), want) {
			t.Errorf("the faults are %q, want %q", faults, want)
		}
	}
	if faults := stage.NewDef[params, int]("x", stage.Sharded, stage.Handler{Run: run}).Faults; len(faults) != 1 {
		t.Errorf("a sharded stage without a plan has the faults %q", faults)
	}
}

func TestParamsShareable(t *testing.T) {
	shareable := func(d *stage.Def) bool { return d.Handler.ParamsShareable }
	for name, tc := range map[string]struct{ got, want bool }{
		"flat": {shareable(of[struct {
			S string
			N [3]int
			T time.Time
			U uuid.UUID
			B struct{ F float64 }
		}]()), true},
		"string":    {shareable(of[string]()), true},
		"pointer":   {shareable(of[*params]()), false},
		"slice":     {shareable(of[struct{ L []int }]()), false},
		"map":       {shareable(of[struct{ In struct{ M map[string]int } }]()), false},
		"interface": {shareable(of[struct{ A any }]()), false},
		"array":     {shareable(of[[2]*int]()), false},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: shareable is %v, want %v", name, tc.got, tc.want)
		}
	}
}

func of[P any]() *stage.Def {
	return stage.New("x", func(context.Context, P) (int, error) { return 0, nil }).Def()
}

func TestDecodeParams(t *testing.T) {
	type inner struct {
		Size int `json:"size"`
	}
	type full struct {
		Date string `json:"date"`
		In   inner  `json:"in"`
	}
	p, err := stage.DecodeParams[full]([]byte(` {"date":"2026-01-31","in":{"size":3}} `))
	if err != nil || p.Date != "2026-01-31" || p.In.Size != 3 {
		t.Errorf("the params are %+v, %v", p, err)
	}
	for _, none := range []string{"", " \n", "{}"} {
		if p, err := stage.DecodeParams[full]([]byte(none)); err != nil || p != (full{}) {
			t.Errorf("%q is read as %+v, %v", none, p, err)
		}
	}
	for text, want := range map[string]string{
		`{"dat":"x"}`:           `reading params: unknown field "dat": remove it or correct its name`,
		`{"in":{"sise":1}}`:     `unknown field "sise"`,
		`{"in":{"size":"big"}}`: `field "in.size" is of type string where int is wanted`,
		`[]`:                    `field "(the whole)" is of type array where stage_test.full is wanted`,
		`{"date":"x"} {}`:       `something follows the JSON value`,
		`{"date":"x"`:           `the JSON ends too early`,
		`{"date":}`:             `invalid character`,
		`null`:                  `they are null: send an object`,
	} {
		if _, err := stage.DecodeParams[full]([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q", text, err, want)
		}
	}
}

func TestKindText(t *testing.T) {
	for _, k := range []stage.Kind{stage.Single, stage.Sharded, stage.Aligned} {
		text, err := k.MarshalText()
		var back stage.Kind
		if err != nil || back.UnmarshalText(text) != nil || back != k {
			t.Errorf("%v is written %s, %v and read %v", k, text, err, back)
		}
	}
	var k stage.Kind
	if _, err := stage.Kind(9).MarshalText(); err == nil || k.UnmarshalText([]byte("double")) == nil {
		t.Error("an unknown kind passes")
	}
}

func (m memory) Heartbeat()            {}
func (m memory) Progress(_, _ float64) {}
func (m memory) Detail(string)         {}
func (m memory) Logger() *slog.Logger  { return nil }

func (m memory) Counts(context.Context, *stage.Def) (stage.ShardCounts, error) {
	return stage.ShardCounts{Total: 4, Succeeded: 3, Failed: 1}, nil
}
