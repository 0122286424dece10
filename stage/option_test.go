package stage_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"axflow/stage"
)

type params struct {
	Date string `json:"date"`
}

func handle(context.Context, params) (int, error) { return 0, nil }

func define(opts ...stage.Option) *stage.Def { return stage.New("clean", handle, opts...).Def() }

func TestDefaults(t *testing.T) {
	d := define()
	if d.Name != "clean" || d.Kind != stage.Single || d.Rule != stage.AllSuccess || d.Level != nil || d.Queue != "" || d.Limit != 0 || d.Tx {
		t.Errorf("the definition is %+v", d)
	}
	want := stage.Timeout{Execution: time.Hour, Dispatch: time.Minute}
	if d.Timeout != want {
		t.Errorf("the time-outs are %+v, want %+v", d.Timeout, want)
	}
	if d.Faults != nil {
		t.Errorf("the faults are %v", d.Faults)
	}
}

func TestOptions(t *testing.T) {
	d := define(stage.Priority(stage.P0), stage.Queue("etl"), stage.Limit(7), stage.WithRule(stage.AllDone),
		stage.Requires("gpu", "region=eu", "gpu"), stage.Cost(3*time.Second), stage.Disabled(), stage.Uninterruptible(),
		stage.Timeout{Execution: time.Minute, Heartbeat: 10 * time.Second}, stage.Limit(8))
	if d.Faults != nil {
		t.Fatalf("the faults are %v", d.Faults)
	}
	if *d.Level != stage.P0 || d.Queue != "etl" || d.Limit != 8 || d.Rule != stage.AllDone || d.Cost != 3*time.Second ||
		!d.Disabled || !d.Uninterruptible || !slices.Equal(d.Requires, []string{"gpu", "region=eu"}) {
		t.Errorf("the definition is %+v", d)
	}
	want := stage.Timeout{Execution: time.Minute, Dispatch: time.Minute, Heartbeat: 10 * time.Second}
	if d.Timeout != want {
		t.Errorf("the time-outs are %+v, want %+v", d.Timeout, want)
	}
}

func TestBadOptions(t *testing.T) {
	for _, tc := range []struct {
		opt  stage.Option
		want string
	}{
		{stage.Priority(6), "Priority is 6: use P0 (most urgent) to P5"},
		{stage.Queue(""), "queue name is empty: give it 1 to 100 characters"},
		{stage.Queue("a b"), `queue name "a b" has the character ' ': use letters, digits, dots, underscores and hyphens`},
		{stage.Limit(-1), "Limit is -1: use a positive number, or 0 for no limit"},
		{stage.WithRule("all_succes"), `trigger rule "all_succes" is unknown: use one of ["all_success" `},
		{stage.Requires("gpu", ""), "Requires: label is empty"},
		{stage.Requires("a b"), `Requires: label "a b" has the character ' '`},
		{stage.Cost(-1), "Cost is -1ns: use a positive time, or 0 for unknown"},
		{stage.SkipWhenEmpty(), "SkipWhenEmpty is for sharded stages"},
		{stage.Timeout{Execution: -time.Second}, "Timeout.Execution is -1s: use at least 1ms, or 0 for the default of 1h"},
		{stage.Timeout{Dispatch: time.Microsecond}, "Timeout.Dispatch is 1µs: use at least 1ms, or 0 for the default of 1m"},
		{stage.Timeout{Overall: -1}, "Timeout.Overall is -1ns: use at least 1ms, or 0 for none"},
		{stage.Timeout{Heartbeat: -1}, "Timeout.Heartbeat is -1ns: use at least 1ms, or 0 for none"},
		{stage.Retry{MaxAttempts: -1}, "Retry.MaxAttempts is -1: use 1 (no retry) to 10000, or 0 for the default of 3"},
		{stage.Retry{MaxAttempts: 10_001}, "Retry.MaxAttempts is 10001"},
		{stage.Retry{InitialInterval: -1}, "Retry.InitialInterval is -1ns"},
		{stage.Retry{BackoffCoefficient: 0.5}, "Retry.BackoffCoefficient is 0.5: use 1 or more"},
		{stage.Retry{BackoffCoefficient: math.NaN()}, "Retry.BackoffCoefficient is NaN"},
		{stage.Retry{BackoffCoefficient: math.Inf(1)}, "Retry.BackoffCoefficient is +Inf"},
		{stage.Retry{MaximumInterval: -1}, "Retry.MaximumInterval is -1ns"},
		{stage.Retry{MaximumInterval: time.Second}, "Retry.MaximumInterval is 1s, less than InitialInterval, which is 2s"},
		{stage.Retry{Jitter: -2}, "Retry.Jitter is -2ns"},
		{stage.Retry{NonRetryable: []string{""}}, "Retry.NonRetryable has an empty name"},
		{nil, "an option is nil: remove it"},
	} {
		faults := define(tc.opt).Faults
		if len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), tc.want) {
			t.Errorf("the faults are %q, want one that starts %q", faults, tc.want)
		}
	}
}

func TestEveryFaultIsKept(t *testing.T) {
	d := stage.New[params, int]("", nil, stage.Limit(-1), stage.Retry{MaxAttempts: -1, Jitter: -5}).Def()
	if len(d.Faults) != 5 { // name, handler, limit, attempts, jitter
		t.Errorf("the faults are %q, want five", d.Faults)
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "7", "pull-orders", "a.b_c-D", strings.Repeat("x", 100)} {
		if err := stage.CheckName("stage", name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"":                       "stage name is empty",
		"-a":                     `stage name "-a" starts with '-'`,
		".a":                     `stage name ".a" starts with '.'`,
		"a/b":                    `stage name "a/b" has the character '/'`,
		"a@b":                    `stage name "a@b" has the character '@'`,
		"naïve":                  `stage name "naïve" has the character 'ï'`,
		"a\x00":                  `stage name "a\x00" has the character '\x00'`,
		"\xff":                   `has the character`,
		strings.Repeat("x", 101): `stage name "xxxxxxxxxxxxxxxxxxxx"... is 101 characters long, at most 100 are allowed`,
	} {
		if err := stage.CheckName("stage", name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q", name, err, want)
		}
	}
	if err := stage.CheckLabel(strings.Repeat("x", 101)); err == nil {
		t.Error("a label of 101 characters passes")
	}
}
