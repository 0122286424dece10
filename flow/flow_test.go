package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

var _ flow.Definition = (*flow.Flow[params])(nil)

type params struct {
	Date string `json:"date"`
	Size int    `json:"size,omitempty"`
}

func handle(context.Context, params) (int, error)                   { return 0, nil }
func handleShard(context.Context, params, shard.Shard) (int, error) { return 0, nil }
func plan(context.Context, params) (shard.Plan, error)              { return shard.N(2), nil }

func single(name string, opts ...stage.Option) *stage.Stage[params, int] {
	return stage.New(name, handle, opts...)
}

func TestNumbersDoNotDependOnDeclaration(t *testing.T) {
	build := func(order ...int) *flow.Flow[params] {
		pull := single("pull")
		clean := single("clean").After(pull)
		recon := shard.New("recon", plan, handleShard).After(clean)
		sign := shard.Aligned("sign", recon, handleShard)
		report := single("report").After(sign, clean)
		nodes := []stage.Node[params]{pull, clean, recon, sign, report}
		var given []stage.Node[params]
		for _, i := range order {
			given = append(given, nodes[i])
		}
		return flow.New("daily", given...)
	}
	f := build(0, 1, 2, 3, 4)
	var names []string
	for ord, s := range f.Graph().Stages {
		names = append(names, s.Name)
		if f.Defs()[ord].Name != s.Name {
			t.Errorf("definition %d is %q, the graph's is %q", ord, f.Defs()[ord].Name, s.Name)
		}
	}
	if want := []string{"pull", "clean", "recon", "sign", "report"}; !slices.Equal(names, want) {
		t.Errorf("the stages are %q, want %q", names, want)
	}
	g := f.Graph()
	if up := g.Stages[4].Upstreams; !slices.Equal(up, []int{1, 3}) {
		t.Errorf("report's upstreams are %v, want 1 and 3", up)
	}
	if s := g.Stages[3]; s.Kind != stage.Aligned || s.AlignedTo != 2 {
		t.Errorf("sign is %v, aligned to %d", s.Kind, s.AlignedTo)
	}
	if other := build(4, 2, 0, 3, 1); other.Version() != f.Version() || string(other.Graph().Encode()) != string(g.Encode()) {
		t.Error("the order of declaration changes the graph")
	}
}

func TestGraphWays(t *testing.T) {
	a, b := single("a"), single("b")
	c, d := single("c").After(a, b), single("d").After(b)
	e := single("e").After(c, d)
	g := flow.New("f", a, b, c, d, e).Graph() // 0 a, 1 b, 2 c, 3 d, 4 e
	for what, tc := range map[string]struct{ got, want []int }{
		"roots":            {g.Roots(), []int{0, 1}},
		"depths":           {g.Depths(), []int{0, 0, 1, 1, 2}},
		"dependents of b":  {g.Dependents(1), []int{2, 3}},
		"dependents of e":  {g.Dependents(4), nil},
		"descendants of a": {g.Descendants(0), []int{0, 2, 4}},
		"of c and d":       {g.Descendants(3, 2), []int{2, 3, 4}},
		"ancestors of d":   {g.Ancestors(3), []int{1, 3}},
		"ancestors of e":   {g.Ancestors(4), []int{0, 1, 2, 3, 4}},
		"of none":          {g.Descendants(), nil},
	} {
		if !slices.Equal(tc.got, tc.want) {
			t.Errorf("%s: %v, want %v", what, tc.got, tc.want)
		}
	}
	if ord, ok := g.Ord("d"); !ok || ord != 3 {
		t.Errorf("d is number %d, %v", ord, ok)
	}
	if _, ok := g.Ord("x"); ok {
		t.Error("there is a stage x")
	}
	if got, want := g.HandlerKey(3), "f/d@"+g.Stages[3].Contract; got != want {
		t.Errorf("the key is %q, want %q", got, want)
	}
}

func TestWith(t *testing.T) {
	f := flow.New("f", single("a"))
	before := f.Version()
	if g := f.With(flow.Owner("data"), flow.Describe("Daily.")); g != f {
		t.Error("With returns another flow")
	}
	if g := f.Graph(); g.Owner != "data" || g.Description != "Daily." {
		t.Errorf("the graph is %+v", g.Stages)
	}
	if f.Version() != before || f.Graph().Version() != before {
		t.Error("an owner changes the content version")
	}
	for want, o := range map[string]flow.Option{
		"the owner is 201 bytes long, at most 200 are allowed: shorten it": flow.Owner(strings.Repeat("x", 201)),
		"the description is not UTF-8: encode it":                          flow.Describe("\xff"),
		"the owner has a NUL character":                                    flow.Owner("a\x00"),
	} {
		func() {
			defer func() {
				if faults, ok := recover().(*flow.Faults); !ok || !strings.Contains(faults.Error(), want) {
					t.Errorf("With panics with %v, want %s", faults, want)
				}
			}()
			f.With(o)
		}()
	}
	if f.Graph().Owner != "data" {
		t.Errorf("a refused owner stays: %q", f.Graph().Owner)
	}
}

func TestEncodeAndDecodeCheck(t *testing.T) {
	f := flow.New("f", single("a"))
	b, err := f.Encode(params{Date: "2026-01-31"})
	if err != nil || string(b) != `{"date":"2026-01-31"}` {
		t.Errorf("the params are %s, %v", b, err)
	}
	if err := f.DecodeCheck(b); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		`{"dat":"x"}`:              `flow "f": reading params: unknown field "dat"`,
		`{"date":1}`:               `flow "f": reading params: field "date" is of type number where string is wanted`,
		``:                         `flow "f": params: date: it is missing: give it`,
		`{"Date":"x"}`:             `flow "f": params: date: it is missing: give it`, // names are exact
		`{"date":"x","size":true}`: `field "size"`,
	} {
		if err := f.DecodeCheck([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %s", text, err, want)
		}
	}
}

func TestFaultsText(t *testing.T) {
	_, err := flow.Build("bad name", single("a", stage.Limit(-1)))
	faults, ok := errors.AsType[*flow.Faults](err)
	want := `flow "bad name" is wrong in 2 ways:
  - flow name "bad name" has the character ' ': use letters, digits, dots, underscores and hyphens
  - stage "a": Limit is -1: use a positive number, or 0 for no limit`
	if !ok || err.Error() != want || len(faults.Unwrap()) != 2 {
		t.Errorf("the error is\n%v\nwant\n%s", err, want)
	}
	_, err = flow.Build[params]("f")
	if want := `flow "f" is wrong: it has no stages: give at least one`; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	defer func() {
		if _, ok := recover().(*flow.Faults); !ok {
			t.Error("New does not panic with its faults")
		}
	}()
	flow.New[params]("f")
}

// Whatever is wrong is told at once.
func TestEveryFaultAtOnce(t *testing.T) {
	elsewhere := single("elsewhere")
	flow.New("other", elsewhere)
	a, b, c := single("a"), single("b"), single("c")
	a.After(c)
	b.After(a)
	c.After(b)
	self := single("self")
	self.After(self)
	var none *stage.Stage[params, int]
	shards := shard.New("shards", plan, handleShard)
	twin := single("twin")
	_, err := flow.Build("-x",
		a, b, c, self,
		nil, none,
		twin, single("twin"), twin,
		single(""), single(strings.Repeat("n", 101)), single("a/b"),
		single("lost").After(elsewhere),
		shard.Aligned("astray", shards, handleShard),
		stage.New[params, int]("empty", nil),
		shard.New[params, int]("planless", nil, handleShard),
		single("options", stage.Limit(-1), stage.WithRule("sometimes"), stage.Timeout{Execution: -1, Overall: -1},
			stage.Retry{MaxAttempts: -1}, stage.Priority(7), stage.Queue("a b"), stage.Cost(-1), stage.Requires(""), nil),
		single("doubled").After(a, a, nil),
		stage.New("unwritable", func(context.Context, params) (chan int, error) { return nil, nil }),
	)
	faults, ok := errors.AsType[*flow.Faults](err)
	if !ok {
		t.Fatalf("the error is %v", err)
	}
	want := []string{
		`flow name "-x" starts with '-'`,
		`stage number 5 is nil`,
		`stage number 6 is nil`,
		`two stages have the name "twin"`,
		`stage "twin" is given twice`,
		`stage "": stage name is empty`,
		`stage name "nnnnnnnnnnnnnnnnnnnn"... is 101 characters long`,
		`stage "a/b": stage name "a/b" has the character '/'`,
		`stage "lost" comes after "elsewhere", which is not part of the flow`,
		`stage "astray" comes after "shards", which is not part of the flow`,
		`stage "empty": handler is nil`,
		`stage "planless": plan is nil`,
		`stage "options": Limit is -1`,
		`stage "options": trigger rule "sometimes" is unknown`,
		`stage "options": Timeout.Execution is -1ns`,
		`stage "options": Timeout.Overall is -1ns`,
		`stage "options": Retry.MaxAttempts is -1`,
		`stage "options": Priority is 7`,
		`stage "options": queue name "a b"`,
		`stage "options": Cost is -1ns`,
		`stage "options": Requires: label is empty`,
		`stage "options": an option is nil`,
		`stage "doubled": After names "a" twice`,
		`stage "doubled": After was given a nil stage`,
		`stage "unwritable": its output type: chan int has no JSON`,
		`stages wait for each other in a circle, a -> b -> c -> a: remove one After`,
		`stages wait for each other in a circle, self -> self: remove one After`,
	}
	for _, w := range want {
		if !slices.ContainsFunc(faults.List, func(err error) bool { return strings.Contains(err.Error(), w) }) {
			t.Errorf("nothing says %s", w)
		}
	}
	if len(faults.List) != len(want) {
		t.Errorf("there are %d faults, want %d:\n%v", len(faults.List), len(want), err)
	}
	// A wrong flow leaves its stages free to be put right.
	single("late").After(a)
	a.After(twin)
}

func TestNumberOfStages(t *testing.T) {
	nodes := make([]stage.Node[params], flow.MaxStages+1)
	for i := range nodes {
		nodes[i] = single(fmt.Sprintf("s%d", i))
	}
	_, err := flow.Build("wide", nodes...)
	if want := `flow "wide" is wrong: it has 2001 stages, at most 2000 are allowed: shard stages that do the same, or split the flow`; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	if _, err := flow.Build("wide", nodes[1:]...); err != nil {
		t.Errorf("2000 stages: %v", err)
	}
}

func TestFrozen(t *testing.T) {
	a, b := single("a"), single("b")
	flow.New("f", a, b)
	flow.New("g", a) // a stage may be part of several flows
	defer func() {
		if recover() == nil {
			t.Error("After on a stage of a flow does not panic")
		}
	}()
	a.After(b)
}

type stray struct{ stage.Node[params] }

func (stray) Def() *stage.Def {
	return stage.New("stray", func(context.Context, string) (int, error) { return 0, nil }).Def()
}

func TestParamsOfAnotherType(t *testing.T) {
	_, err := flow.Build("f", stage.Node[params](stray{}))
	if err == nil || !strings.Contains(err.Error(), `stage "stray" takes params of type string, the flow's are flow_test.params`) {
		t.Errorf("the error is %v", err)
	}
}

func TestParamsWithoutJSON(t *testing.T) {
	_, err := flow.Build[func()]("f", stage.New("a", func(context.Context, func()) (int, error) { return 0, nil }))
	if err == nil || !strings.Contains(err.Error(), "the params type: func() has no JSON") {
		t.Errorf("the error is %v", err)
	}
}

func TestParamsSchemaIsPlainJSON(t *testing.T) {
	g := flow.New("f", single("a")).Graph()
	var schema map[string]any
	if err := json.Unmarshal(g.ParamsSchema, &schema); err != nil {
		t.Fatal(err)
	}
	const want = `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"date":{"type":"string"},"size":{"type":"integer"}},"additionalProperties":false,"type":"object","required":["date"]}`
	if string(g.ParamsSchema) != want {
		t.Errorf("the schema is %s, want %s", g.ParamsSchema, want)
	}
}
