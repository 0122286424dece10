package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/flow"
	"axflow/stage"
)

type part struct {
	Name string `json:"name"`
}

type rich struct {
	Mode   string            `json:"mode" jsonschema:"enum=full,enum=delta,default=delta"`
	Rows   int               `json:"rows" jsonschema:"minimum=1,maximum=1000"`
	Code   string            `json:"code,omitempty" jsonschema:"pattern=^[A-Z]{2}$"`
	Title  string            `json:"title,omitempty" jsonschema:"minLength=2,maxLength=4"`
	Ratio  float64           `json:"ratio,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1"`
	At     time.Time         `json:"at,omitzero"`
	Day    string            `json:"day,omitempty" jsonschema:"format=date"`
	ID     uuid.UUID         `json:"id,omitzero"`
	Addr   netip.Addr        `json:"addr,omitzero"`
	Big    *big.Int          `json:"big,omitempty"`
	Tags   []string          `json:"tags,omitempty" jsonschema:"minItems=1,maxItems=3,uniqueItems=true"`
	Parts  []part            `json:"parts"`
	Labels map[string]int    `json:"labels,omitempty"`
	ByYear map[int]part      `json:"by_year,omitempty"`
	Raw    json.RawMessage   `json:"raw,omitempty"`
	Any    any               `json:"any,omitempty"`
	Wait   time.Duration     `json:"wait,omitempty"`
	Opt    *part             `json:"opt,omitempty"`
	Blob   []byte            `json:"blob,omitempty"`
	Fixed  [2]int            `json:"fixed,omitzero"`
	Inner  struct{ X int }   `json:"inner,omitzero"`
	Null   *string           `json:"null" jsonschema:"nullable"`
	Keys   map[uuid.UUID]int `json:"keys,omitempty"`
}

func flowOf[P any]() *flow.Flow[P] {
	return flow.New("f", stage.New("a", func(context.Context, P) (int, error) { return 0, nil }))
}

func TestCheckParams(t *testing.T) {
	f := flowOf[rich]()
	if strings.Contains(string(f.Graph().ParamsSchema), "$ref") {
		t.Errorf("the schema refers: %s", f.Graph().ParamsSchema)
	}
	const minimal = `"mode":"full","rows":1,"parts":[],"null":null`
	good := []string{
		`{` + minimal + `}`,
		`{"mode":"delta","rows":1000,"parts":null,"null":"x"}`, // Go writes a nil slice as null
		`{` + minimal + `,"code":"DE","title":"äöü","ratio":0.5,"at":"2026-01-31T08:00:00+01:00","day":"2026-01-31"}`,
		`{` + minimal + `,"id":"01890000-0000-7000-8000-000000000001","addr":"10.0.0.1","big":123456789012345678901234567890,"wait":5}`,
		`{` + minimal + `,"tags":["a","b"],"labels":{"x":1},"by_year":{"2026":{"name":"n"}},"raw":{"any":[1]},"any":7,"opt":{"name":"o"}}`,
		`{` + minimal + `,"blob":"aGk=","fixed":[1,2],"inner":{"X":1},"code":null,"opt":null}`,
	}
	for _, text := range good {
		if err := f.DecodeCheck([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		`{"rows":1,"parts":[],"null":null}`:                        `params: mode: it is missing: give it`,
		`{"mode":"all","rows":1,"parts":[],"null":null}`:           `mode: "all" is not allowed: use one of "full", "delta"`,
		`{"mode":"full","rows":0,"parts":[],"null":null}`:          `rows: it is 0: give at least 1`,
		`{"mode":"full","rows":1001,"parts":[],"null":null}`:       `rows: it is 1001: give at most 1000`,
		`{"mode":"full","rows":1.5,"parts":[],"null":null}`:        `rows: 1.5 is of type number: give an integer`,
		`{"mode":"full","rows":null,"parts":[],"null":null}`:       `rows: null is of type null: give an integer`,
		`{"mode":"full","rows":1,"parts":[{}],"null":null}`:        `parts[0].name: it is missing: give it`,
		`{"mode":"full","rows":1,"parts":[{"nam":1}],"null":null}`: `parts[0].nam: it is not known: remove it or correct its name`,
		`{"mode":"full","rows":1,"parts":{},"null":null}`:          `parts: {} is of type object: give an array`,
		`{"mode":"full","rows":1,"parts":[],"null":5}`:             `null: 5 fits none of the forms allowed`,
		`{` + minimal + `,"code":"de"}`:                            `code: "de" does not match ^[A-Z]{2}$`,
		`{` + minimal + `,"title":"ä"}`:                            `title: it is 1 characters long: give at least 2`,
		`{` + minimal + `,"title":"abcde"}`:                        `title: it is 5 characters long: give at most 4`,
		`{` + minimal + `,"ratio":0}`:                              `ratio: it is 0: give more than 0`,
		`{` + minimal + `,"ratio":1}`:                              `ratio: it is 1: give less than 1`,
		`{` + minimal + `,"ratio":1e999999999999}`:                 `ratio: it is 1e999999999999: give less than 1`,
		`{` + minimal + `,"wait":1e999999999999}`:                  `wait: 1e999999999999 is of type number: give an integer`,
		`{` + minimal + `,"at":"yesterday"}`:                       `at: "yesterday" is no date-time: write it as 2026-01-31T08:00:00Z`,
		`{` + minimal + `,"day":"31.1.2026"}`:                      `day: "31.1.2026" is no date: write it as 2026-01-31`,
		`{` + minimal + `,"tags":[]}`:                              `tags: it has 0 items: give at least 1`,
		`{` + minimal + `,"tags":["a","b","c","d"]}`:               `tags: it has 4 items: give at most 3`,
		`{` + minimal + `,"tags":["a","a"]}`:                       `tags[1]: "a" is there already: give each once`,
		`{` + minimal + `,"tags":[1]}`:                             `tags[0]: 1 is of type number: give a string`,
		`{` + minimal + `,"labels":{"x":"y"}}`:                     `labels.x: "y" is of type string: give an integer`,
		`{` + minimal + `,"by_year":{"then":{"name":"n"}}}`:        `by_year.then: it is not known`,
		`{` + minimal + `,"fixed":[1]}`:                            `fixed: it has 1 items: give at least 2`,
		`{` + minimal + `,"inner":{}}`:                             `inner.X: it is missing`,
		`{` + minimal + `,"id":7}`:                                 `id: 7 is of type number: give a string`,
		`[]`:                                                       `(the whole): [] is of type array: give an object`,
		`null`:                                                     `(the whole): null is of type null: give an object`,
		`{`:                                                        `params are not JSON`,
		`{} {}`:                                                    `params are more than one JSON value`,
		`{"mode":7,"rows":0}`:                                      "mode: 7 is not allowed", // and more, below
	} {
		err := f.Graph().CheckParams([]byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), `flow "f": `) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %s", text, err, want)
		}
		if f.DecodeCheck([]byte(text)) == nil {
			t.Errorf("%s passes DecodeCheck", text)
		}
	}
	err := f.Graph().CheckParams([]byte(`{"mode":7,"rows":0}`))
	if got := strings.Count(err.Error(), "\n") + 1; got != 5 { // mode twice, rows, parts, null
		t.Errorf("there are %d faults, want 5: %v", got, err)
	}
}

type tree struct {
	Name string  `json:"name"`
	Kids []*tree `json:"kids,omitempty"`
}

func TestParamsThatHoldThemselves(t *testing.T) {
	f := flowOf[tree]()
	if err := f.DecodeCheck([]byte(`{"name":"a","kids":[{"name":"b","kids":[{"name":"c"}]}]}`)); err != nil {
		t.Error(err)
	}
	err := f.Graph().CheckParams([]byte(`{"name":"a","kids":[{"name":"b","kids":[{"nam":"c"}]}]}`))
	if want := "kids[0].kids[0].nam: it is not known"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %s", err, want)
	}
	deep := strings.Repeat(`{"name":"a","kids":[`, 200) + strings.Repeat(`]}`, 200)
	if err := f.Graph().CheckParams([]byte(deep)); err == nil || !strings.Contains(err.Error(), "nested deeper than 100") {
		t.Errorf("deep params give %.200v", err)
	}
}

type loop struct{ *loop }

type loopHolder struct {
	In map[string][]loop `json:"in"`
}

func TestParamsThatEmbedThemselves(t *testing.T) {
	for want, build := range map[string]func() error{
		"flow_test.loop embeds itself": func() error {
			_, err := flow.Build("f", stage.New("a", func(context.Context, loopHolder) (int, error) { return 0, nil }))
			return err
		},
		"its output type: flow_test.loop embeds itself": func() error {
			_, err := flow.Build("f", stage.New("a", func(context.Context, params) (loop, error) { return loop{}, nil }))
			return err
		},
	} {
		if err := build(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

func TestOtherParams(t *testing.T) {
	for what, tc := range map[string]struct {
		f         flow.Definition
		good, bad string
	}{
		"none":    {flowOf[struct{}](), `{}`, `{"a":1}`},
		"any":     {flowOf[any](), `[1,"x"]`, `{`},
		"map":     {flowOf[map[string]int](), `{"a":1}`, `{"a":"b"}`},
		"string":  {flowOf[string](), `"x"`, `{}`},
		"pointer": {flowOf[*params](), `{"date":"x"}`, `{}`},
		"raw":     {flowOf[json.RawMessage](), `{"x":1}`, `{`},
	} {
		if err := tc.f.DecodeCheck([]byte(tc.good)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if err := tc.f.DecodeCheck([]byte(tc.bad)); err == nil {
			t.Errorf("%s: %s passes", what, tc.bad)
		}
		if _, err := flow.ParseGraph(tc.f.Graph().Encode()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func FuzzCheckParams(f *testing.F) {
	f.Add([]byte(`{"mode":"full","rows":1,"parts":[],"null":null}`))
	g := flowOf[rich]()
	f.Fuzz(func(t *testing.T, b []byte) {
		// What passes the check of the whole, DecodeCheck, passes the schema's alone.
		if g.DecodeCheck(b) == nil && g.Graph().CheckParams(b) != nil {
			t.Errorf("%s passes the one and not the other", b)
		}
	})
}

func TestCheckParamsPointsAtWhatIsWrong(t *testing.T) {
	f := flow.New("f", stage.New("a", func(context.Context, rich) (struct{}, error) { return struct{}{}, nil }))
	err := f.Graph().CheckParams([]byte(`{"mode":"full","rows":1,"parts":[{"name":7}],"labels":{"a/b~c":"x"}}`))
	var bad *flow.ParamsError
	if !errors.As(err, &bad) {
		t.Fatalf("error %v, want a *flow.ParamsError", err)
	}
	want := map[string]string{"/parts/0/name": "parts[0].name", "/labels/a~1b~0c": "labels.a/b~c", "/null": "null"}
	for _, fault := range bad.Faults {
		if path, ok := want[fault.Pointer]; !ok || path != fault.Path || fault.Text == "" {
			t.Errorf("fault %+v, want one of %v", fault, want)
		}
		delete(want, fault.Pointer)
	}
	if len(want) > 0 {
		t.Errorf("not told of: %v", want)
	}
}
