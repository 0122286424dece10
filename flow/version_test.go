package flow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// load builds a flow whose stage "load" has the given options; change may alter the rest.
func load(change string, opts ...stage.Option) *flow.Flow[params] {
	pull, other := single("pull"), single("other")
	loader := single("load", opts...).After(pull)
	if change == "upstream" {
		loader.After(other)
	}
	nodes := []stage.Node[params]{pull, other, loader}
	switch change {
	case "sharded":
		nodes[2] = shard.New("load", plan, handleShard).After(pull)
	case "one more":
		nodes = append(nodes, single("more"))
	case "stage name":
		nodes[2] = single("load2").After(pull)
	case "tx":
		tx := func(context.Context, stage.Call) (stage.Commit, error) { return nil, nil }
		nodes[2] = stage.NewFrom[params, int]("load", stage.Handler{Tx: tx}).After(pull)
	case "output":
		nodes[2] = stage.New("load", func(context.Context, params) (string, error) { return "", nil }).After(pull)
	}
	name := "daily"
	if change == "flow name" {
		name = "nightly"
	}
	return flow.New(name, nodes...)
}

func TestVersionChangesWithBehaviour(t *testing.T) {
	base := load("")
	seen := map[string]string{base.Version(): "nothing"}
	check := func(what string, f flow.Definition) {
		t.Helper()
		if was, twice := seen[f.Version()]; twice {
			t.Errorf("changing %s gives the version of changing %s", what, was)
		}
		seen[f.Version()] = what
		if len(f.Version()) != 16 || strings.Trim(f.Version(), "0123456789abcdef") != "" {
			t.Errorf("the version is %q", f.Version())
		}
	}
	for _, change := range []string{"upstream", "sharded", "one more", "stage name", "tx", "output", "flow name"} {
		check(change, load(change))
	}
	for what, o := range map[string]stage.Option{
		"attempts":        stage.Retry{MaxAttempts: 4},
		"first wait":      stage.Retry{InitialInterval: time.Second},
		"backoff":         stage.Retry{BackoffCoefficient: 3},
		"longest wait":    stage.Retry{MaximumInterval: time.Minute},
		"jitter":          stage.Retry{Jitter: stage.NoJitter},
		"non-retryable":   stage.Retry{NonRetryable: []string{"quota"}},
		"execution":       stage.Timeout{Execution: time.Minute},
		"dispatch":        stage.Timeout{Dispatch: time.Second},
		"overall":         stage.Timeout{Overall: time.Minute},
		"heartbeat":       stage.Timeout{Heartbeat: time.Minute},
		"level P0":        stage.Priority(stage.P0),
		"level P2":        stage.Priority(stage.P2), // no longer the run's
		"queue":           stage.Queue("etl"),
		"limit":           stage.Limit(3),
		"rule":            stage.WithRule(stage.AllDone),
		"requires":        stage.Requires("gpu"),
		"cost":            stage.Cost(time.Second),
		"disabled":        stage.Disabled(),
		"uninterruptible": stage.Uninterruptible(),
	} {
		check(what, load("", o))
	}
	skip := func(opts ...stage.Option) *flow.Flow[params] {
		return flow.New("daily", shard.New("s", plan, handleShard, opts...))
	}
	check("sharding alone", skip())
	check("skip empty", skip(stage.SkipWhenEmpty()))
	align := func(toSecond bool) *flow.Flow[params] {
		a, b := shard.New("a", plan, handleShard), shard.New("b", plan, handleShard)
		up, other := a, b
		if toSecond {
			up, other = b, a
		}
		return flow.New("daily", a, b, shard.Aligned("c", up, handleShard).After(other))
	}
	check("alignment to a", align(false))
	check("alignment to b", align(true))
	type more struct {
		Date string `json:"date"`
		Size int    `json:"size,omitempty"`
		New  bool   `json:"new,omitempty"`
	}
	check("params", flow.New("daily", stage.New("x", func(context.Context, more) (int, error) { return 0, nil })))
	check("fewer params", flow.New("daily", stage.New("x", func(context.Context, params) (int, error) { return 0, nil })))
}

func TestVersionStaysWhereBehaviourStays(t *testing.T) {
	base := load("").Version()
	for what, f := range map[string]*flow.Flow[params]{
		"the same":          load(""),
		"owner":             load("").With(flow.Owner("data"), flow.Describe("text")),
		"spelled defaults":  load("", stage.Retry{MaxAttempts: 3, Jitter: 2 * time.Second}, stage.Timeout{Execution: time.Hour}),
		"no limit, no cost": load("", stage.Limit(0), stage.Cost(0), stage.WithRule(stage.AllSuccess)),
	} {
		if f.Version() != base {
			t.Errorf("%s changes the version", what)
		}
	}
	if load("", stage.Requires("a", "b", "a")).Version() != load("", stage.Requires("b", "a")).Version() {
		t.Error("the order of labels changes the version")
	}
	if load("", stage.Retry{NonRetryable: []string{"x", "y"}}).Version() != load("", stage.Retry{NonRetryable: []string{"y", "x"}}).Version() {
		t.Error("the order of errors changes the version")
	}
	a, b := single("a"), single("b")
	c, d := single("a"), single("b")
	one := flow.New("f", a, b, single("z").After(a, b))
	two := flow.New("f", d, single("z").After(d, c), c)
	if one.Version() != two.Version() {
		t.Error("the order of upstreams changes the version")
	}
	type moved struct { // params with its fields moved
		Size int    `json:"size,omitempty"`
		Date string `json:"date"`
	}
	if got := flow.New("f", stage.New("x", func(context.Context, moved) (int, error) { return 0, nil })).Version(); got !=
		flow.New("f", single("x")).Version() {
		t.Error("the order of fields changes the version")
	}
}

func contract(s stage.Node[params]) string { return flow.New("f", s).Graph().Stages[0].Contract }

func TestContract(t *testing.T) {
	base := contract(single("x"))
	for what, o := range map[string]stage.Option{
		"timeout": stage.Timeout{Execution: time.Minute}, "retry": stage.Retry{MaxAttempts: 9}, "level": stage.Priority(stage.P0),
		"queue": stage.Queue("q"), "limit": stage.Limit(1), "rule": stage.WithRule(stage.Always), "requires": stage.Requires("gpu"),
		"cost": stage.Cost(1), "disabled": stage.Disabled(), "uninterruptible": stage.Uninterruptible(),
	} {
		if contract(single("x", o)) != base {
			t.Errorf("%s changes the contract", what)
		}
	}
	type renamed struct { // int's like by another name
		N int `json:"n"`
	}
	type same struct {
		N int `json:"n"`
	}
	outputs := map[string]string{
		"int":     base,
		"string":  contract(stage.New("x", func(context.Context, params) (string, error) { return "", nil })),
		"none":    contract(stage.New("x", func(context.Context, params) (struct{}, error) { return struct{}{}, nil })),
		"struct":  contract(stage.New("x", func(context.Context, params) (renamed, error) { return renamed{}, nil })),
		"any":     contract(stage.New("x", func(context.Context, params) (any, error) { return nil, nil })),
		"raw":     contract(stage.New("x", func(context.Context, params) (json.RawMessage, error) { return nil, nil })),
		"sharded": contract(shard.New("x", plan, handleShard)),
	}
	seen := map[string]string{}
	for what, c := range outputs {
		if was, twice := seen[c]; twice {
			t.Errorf("the contract of %s is that of %s", what, was)
		}
		seen[c] = what
	}
	if contract(stage.New("x", func(context.Context, params) (same, error) { return same{}, nil })) != outputs["struct"] {
		t.Error("the name of an output's type changes the contract")
	}
	type wider struct {
		Date string `json:"date"`
		Size int    `json:"size,omitempty"`
		New  bool   `json:"new,omitempty"`
	}
	wide := flow.New("f", stage.New("x", func(context.Context, wider) (int, error) { return 0, nil }))
	if wide.Graph().Stages[0].Contract == base {
		t.Error("other params have the same contract")
	}
	if got := flow.HandlerKey("daily", "load", "abc"); got != "daily/load@abc" {
		t.Errorf("the key is %q", got)
	}
}

// Versions and contracts are stored: a change of the canonical form would make every flow look new.
func TestCanonicalForm(t *testing.T) {
	pull := single("pull")
	f := flow.New("daily", pull, shard.New("load", plan, handleShard, stage.Limit(3), stage.Priority(stage.P1)).After(pull)).With(flow.Owner("data"))
	const want = `{"format":1,"flow":"daily","owner":"data","params_schema":{"$schema":"https://json-schema.org/draft/2020-12/schema",` +
		`"properties":{"date":{"type":"string"},"size":{"type":"integer"}},"additionalProperties":false,"type":"object","required":["date"]},` +
		`"stages":[{"name":"pull","kind":"single","upstreams":[],"aligned_to":-1,"rule":"all_success",` +
		`"retry":{"max_attempts":3,"initial_ns":2000000000,"coefficient":2,"maximum_ns":30000000000,"jitter_ns":2000000000},` +
		`"timeout":{"execution_ns":3600000000000,"dispatch_ns":60000000000},"contract":"ed3260c5816c13bb"},` +
		`{"name":"load","kind":"sharded","upstreams":[0],"aligned_to":-1,"rule":"all_success",` +
		`"retry":{"max_attempts":3,"initial_ns":2000000000,"coefficient":2,"maximum_ns":30000000000,"jitter_ns":2000000000},` +
		`"timeout":{"execution_ns":3600000000000,"dispatch_ns":60000000000},"level":1,"limit":3,"contract":"902dbd95fc9bd3cc"}]}`
	if got := string(f.Graph().Encode()); got != want {
		t.Errorf("the graph is\n%s\nwant\n%s", got, want)
	}
	if got, want := f.Version(), "dd927d165e8620a3"; got != want {
		t.Errorf("the version is %s, want %s", got, want)
	}
}

func TestParseGraph(t *testing.T) {
	recon := shard.New("recon", plan, handleShard, stage.SkipWhenEmpty())
	f := flow.New("daily", recon, shard.Aligned("sign", recon, handleShard, stage.Priority(stage.P0), stage.Requires("hsm"), stage.Cost(time.Minute),
		stage.Queue("slow"), stage.Disabled(), stage.Uninterruptible(), stage.Retry{Jitter: stage.NoJitter, NonRetryable: []string{"x"}})).
		With(flow.Owner("data"), flow.Describe("What it's <for>"))
	b := f.Graph().Encode()
	g, err := flow.ParseGraph(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(g.Encode(), b) || g.Version() != f.Version() || g.Owner != "data" || g.Description != "What it's <for>" {
		t.Errorf("the graph is read as %s, was %s", g.Encode(), b)
	}
}

func TestParseBadGraph(t *testing.T) {
	good := string(load("").Graph().Encode())
	aligned := func() string {
		a := shard.New("a", plan, handleShard)
		return string(flow.New("f", a, shard.Aligned("b", a, handleShard)).Graph().Encode())
	}()
	swap := func(s, old, with string) string {
		if !strings.Contains(s, old) {
			t.Fatalf("%s does not hold %s", s, old)
		}
		return strings.Replace(s, old, with, 1)
	}
	for want, text := range map[string]string{
		"reading its graph: unexpected EOF":                  good[:len(good)-1],
		"reading its graph: EOF":                             "",
		"its graph has format 2, this program reads 1":       swap(good, `"format":1`, `"format":2`),
		`reading its graph: json: unknown field "patience"`:  swap(good, `"rule":`, `"patience":1,"rule":`),
		`flow name "a b" has the character`:                  swap(good, `"daily"`, `"a b"`),
		`two stages have the name "pull"`:                    swap(good, `"other"`, `"pull"`),
		`stage 0, "-o": stage name "-o" starts with`:         swap(good, `"other"`, `"-o"`),
		"its upstream 7 is not among the 2 stages before it": swap(good, `[1]`, `[7]`),
		"its upstream 2 is not among the 2 stages before it": swap(good, `[1]`, `[2]`),
		"its upstream -1 is not among the 2":                 swap(good, `[1]`, `[-1]`),
		"its upstreams [1 0] are not ascending":              swap(good, `[1]`, `[1,0]`),
		"its upstreams [1 1] are not ascending":              swap(good, `[1]`, `[1,1]`),
		"it is single and aligned to 0":                      swap(good, `"aligned_to":-1`, `"aligned_to":0`),
		"it is aligned and aligned to -1":                    swap(aligned, `"aligned_to":0`, `"aligned_to":-1`),
		"it is aligned to 0, which is not one of its":        swap(aligned, `[0]`, `[]`),
		"it is aligned to 0, which has no shards":            swap(aligned, `"sharded"`, `"single"`),
		`trigger rule "any" is unknown`:                      swap(good, `"all_success"`, `"any"`),
		"Retry.MaxAttempts is 0":                             swap(good, `"max_attempts":3`, `"max_attempts":0`),
		"Retry.InitialInterval is -2s":                       swap(good, `"initial_ns":2`, `"initial_ns":-2`),
		"Timeout.Execution is 0s":                            swap(good, `"execution_ns":3600000000000`, `"execution_ns":0`),
		"level 6 is unknown":                                 swap(good, `"contract"`, `"level":6,"contract"`),
		`queue name "a/b"`:                                   swap(good, `"contract"`, `"queue":"a/b","contract"`),
		"its limit is -1":                                    swap(good, `"contract"`, `"limit":-1,"contract"`),
		`label "a b"`:                                        swap(good, `"contract"`, `"requires":["a b"],"contract"`),
		"it has 0 stages":                                    `{"format":1,"flow":"f","stages":[]}`,
		"it has no contract":                                 `{"format":1,"flow":"f","stages":[{"name":"a","upstreams":[],"aligned_to":-1}]}`,
		"kind \"double\" is unknown":                         swap(good, `"single"`, `"double"`),
		"its params schema: reading it":                      swap(good, `"type":"object"`, `"type":7`),
		"its params schema: reading it: pattern":             swap(good, `"type":"string"`, `"pattern":"("`),
	} {
		g, err := flow.ParseGraph([]byte(text))
		if err == nil || g != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
