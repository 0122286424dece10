package stage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"axflow/stage"
)

func sharded(opts ...stage.Option) *stage.Def { return kindOf(stage.Sharded, opts...) }

func kindOf(k stage.Kind, opts ...stage.Option) *stage.Def {
	h := stage.Handler{Run: func(context.Context, stage.Call) ([]byte, error) { return nil, nil }}
	if k == stage.Sharded {
		h.Plan = func(context.Context, any) (stage.Layout, error) { return stage.Layout{}, nil }
	}
	return stage.NewDef[params, int]("clean", k, h, opts...)
}

func yes(context.Context, params) (bool, error) { return true, nil }

func TestBadPolicies(t *testing.T) {
	setup := stage.New("setup", handle)
	for _, tc := range []struct {
		def  *stage.Def
		want string // "": no fault
	}{
		{define(stage.Key{From: "params.customer.id", Limit: 3}), ""},
		{define(stage.Key{From: "params.customer", Starts: 3}), ""},
		{sharded(stage.Key{From: stage.ShardKey, Limit: 3}), ""},
		{define(stage.Key{From: "customer", Limit: 3}), `Key.From is "customer"`},
		{define(stage.Key{From: "params.", Limit: 3}), `Key.From is "params."`},
		{define(stage.Key{From: "params.a..b", Limit: 3}), `Key.From is "params.a..b"`},
		{define(stage.Key{From: stage.ShardKey, Limit: 3}), "stage without shards"},
		{kindOf(stage.Aligned, stage.Key{From: stage.ShardKey, Limit: 3}), "aligned stage"},
		{define(stage.Key{From: "params.a"}), "bounds nothing"},
		{define(stage.Key{From: "params.a", Limit: -1}), "Key.Limit is -1"},
		{define(stage.Key{From: "params.a", Starts: -1}), "Key.Starts is -1"},
		{define(stage.Key{From: "params.a", Starts: stage.MaxStarts + 1}), "Key.Starts is 1000001"},
		{define(stage.Key{From: "params.a", Starts: 1, Per: time.Millisecond}), "Key.Per is 1ms"},
		{define(stage.Key{From: "params.a", Limit: 1, Group: "a b"}), "key group"},
		{define(stage.Rate{Starts: 1}), ""},
		{define(stage.Rate{}), "Rate.Starts is 0"},
		{define(stage.Rate{Starts: 1, Per: 31 * 24 * time.Hour}), "Rate.Per is 744h"},
		{define(stage.RetryWindow{Retries: 1}), ""},
		{define(stage.RetryWindow{}), "RetryWindow.Retries is 0"},
		{define(stage.RetryWindow{Retries: -2}), "RetryWindow.Retries is -2"},
		{define(stage.Breaker{}), ""},
		{define(stage.Breaker{Failures: -1}), "Breaker.Failures is -1"},
		{define(stage.Breaker{ErrorRate: 1.5}), "Breaker.ErrorRate is 1.5"},
		{define(stage.Breaker{MinSamples: -1}), "Breaker.MinSamples is -1"},
		{define(stage.Breaker{CoolDown: 1}), "Breaker.CoolDown is 1ns"},
		{define(stage.Downstream("a b")), "downstream"},
		{define(stage.Downstream(strings.Split("a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", ",")...)), "17 downstreams, at most 16"},
		{define(stage.Route("nearest")), `routing "nearest" is unknown`},
		{define(stage.Prefers("a b")), "Prefers"},
		{sharded(stage.FailFast(), stage.Tolerate(3), stage.TolerateShare(1)), ""},
		{define(stage.FailFast()), "FailFast is for sharded stages"},
		{define(stage.Tolerate(1)), "Tolerate is for sharded stages"},
		{define(stage.TolerateShare(0.1)), "TolerateShare is for sharded stages"},
		{sharded(stage.Tolerate(-1)), "Tolerate is -1"},
		{sharded(stage.TolerateShare(1.01)), "TolerateShare is 1.01"},
		{define(stage.When(yes)), ""},
		{define(stage.When[params](nil)), "When was given no function"},
		{kindOf(stage.Aligned, stage.When(yes)), "When does not fit an aligned stage"},
		{define(stage.When(func(context.Context, int) (bool, error) { return true, nil })), "must be the same"},
		{define(stage.OnBranch[params](nil, "a")), "OnBranch needs"},
		{define(stage.Teardown(setup)), ""},
		{define(stage.Teardown[params](nil)), "Teardown needs"},
		{define(stage.Teardown(setup), stage.Teardown(setup)), `takes down "setup" already`},
		{kindOf(stage.Aligned, stage.Teardown(setup)), "Teardown does not fit an aligned stage"},
	} {
		got := errors.Join(tc.def.Faults...)
		switch {
		case tc.want == "" && got != nil:
			t.Errorf("faults %v, want none", got)
		case tc.want != "" && (got == nil || !strings.Contains(got.Error(), tc.want)):
			t.Errorf("faults %v, want %q", got, tc.want)
		}
	}
}

func TestPolicyDefaults(t *testing.T) {
	d := define(stage.Key{From: "params.a", Starts: 2}, stage.Rate{Starts: 1}, stage.RetryWindow{Retries: 1}, stage.Breaker{},
		stage.Downstream("b", "a"), stage.Downstream("a"), stage.Sticky())
	if d.Key.Per != time.Second || d.Rate.Per != time.Second || d.RetryWindow.Per != time.Second {
		t.Errorf("windows %v, %v, %v, want 1s each", d.Key.Per, d.Rate.Per, d.RetryWindow.Per)
	}
	if want := (stage.Breaker{Failures: 5, Window: time.Minute, MinSamples: 20, CoolDown: 30 * time.Second}); *d.Breaker != want || stage.DefaultBreaker() != want {
		t.Errorf("breaker %+v, want %+v", *d.Breaker, want)
	}
	if !slices.Equal(d.Downstreams, []string{"a", "b"}) || d.Routing != stage.ByRun {
		t.Errorf("downstreams %q, routing %q", d.Downstreams, d.Routing)
	}
	if d := define(stage.Key{From: "params.a", Limit: 2}); d.Key.Per != 0 {
		t.Errorf("a key without starts has the window %v", d.Key.Per)
	}
}

func TestTolerated(t *testing.T) {
	for _, c := range []struct {
		n     int
		share float64
		total int
		want  int
	}{{0, 0, 10, 0}, {2, 0, 10, 2}, {0, 0.1, 10, 1}, {0, 0.1, 9, 0}, {0, 0.3, 10, 3}, {0, 0.7, 10, 7}, {2, 0.5, 10, 5}, {8, 0.5, 10, 8},
		{0, 1, 1_000_000, 1_000_000}, {0, 0.29, 100, 29}} {
		if got := stage.Tolerated(c.n, c.share, c.total); got != c.want {
			t.Errorf("of %d shards %d and %v tolerate %d, want %d", c.total, c.n, c.share, got, c.want)
		}
	}
}

// Of several conditions all must hold, in order; the first that does not ends it.
func TestConditionsJoin(t *testing.T) {
	boom := errors.New("boom")
	var asked []string
	cond := func(name string, ok bool, err error) stage.Option {
		return stage.When(func(context.Context, params) (bool, error) { asked = append(asked, name); return ok, err })
	}
	for _, c := range []struct {
		opts  []stage.Option
		want  bool
		err   error
		asked string
	}{
		{[]stage.Option{cond("a", true, nil), cond("b", true, nil)}, true, nil, "[a b]"},
		{[]stage.Option{cond("a", false, nil), cond("b", true, nil)}, false, nil, "[a]"},
		{[]stage.Option{cond("a", true, nil), cond("b", false, nil)}, false, nil, "[a b]"},
		{[]stage.Option{cond("a", true, boom), cond("b", true, nil)}, true, boom, "[a]"},
	} {
		asked = nil
		d := define(c.opts...)
		got, err := d.Handler.When(t.Context(), params{})
		if !d.Conditional || got != c.want || !errors.Is(err, c.err) || fmt.Sprint(asked) != c.asked {
			t.Errorf("%t, %v after %v, want %t, %v after %s", got, err, asked, c.want, c.err, c.asked)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		err  error
		want time.Duration
		text string
	}{
		{stage.RetryAfter(time.Minute), time.Minute, "the handler asked to be tried again in 1m0s"},
		{stage.RetryAfter(-1, boom), 0, "boom"},
		{fmt.Errorf("outer: %w", stage.RetryAfter(time.Hour*24*365, boom)), stage.MaxRetryAfter, "outer: boom"},
	} {
		d, ok := stage.RetryAfterOf(c.err)
		if !ok || d != c.want || c.err.Error() != c.text {
			t.Errorf("%q asks for %v, %t; want %v, %q", c.err, d, ok, c.want, c.text)
		}
	}
	if !errors.Is(stage.RetryAfter(1, boom), boom) {
		t.Error("the cause is lost")
	}
	if _, ok := stage.RetryAfterOf(boom); ok {
		t.Error("a plain error asks for a wait")
	}
}

func TestDownstreamError(t *testing.T) {
	boom := errors.New("boom")
	if err := fmt.Errorf("x: %w", stage.DownstreamError("warehouse", boom)); stage.DownstreamOf(err) != "warehouse" || !errors.Is(err, boom) {
		t.Errorf("%v is of %q", err, stage.DownstreamOf(err))
	}
	if stage.DownstreamError("warehouse", nil) != nil || stage.DownstreamOf(boom) != "" || stage.DownstreamOf(nil) != "" {
		t.Error("what failed nowhere has a downstream")
	}
}
