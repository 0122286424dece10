package flow_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"axflow/flow"
	"axflow/stage"
)

type searched struct {
	Date     string            `json:"date"`
	Customer int64             `json:"customer"`
	Full     bool              `json:"full,omitempty"`
	Secret   string            `json:"secret,omitempty" jsonschema:"writeOnly=true"`
	Ratio    *float64          `json:"ratio,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
}

func searchedFlow(names ...string) *flow.Flow[searched] {
	s := stage.New("only", func(context.Context, searched) (struct{}, error) { return struct{}{}, nil })
	f := flow.New("found", s)
	if len(names) > 0 {
		f.With(flow.Searchable(names...))
	}
	return f
}

func TestSearchableParamsArePartOfTheVersionAndOfNoContract(t *testing.T) {
	plain, found := searchedFlow(), searchedFlow("date", "customer")
	if plain.Version() == found.Version() {
		t.Error("a flow has the same version whether its params are searchable or not: the stored graph would never say so")
	}
	if plain.Graph().Stages[0].Contract != found.Graph().Stages[0].Contract {
		t.Error("searchable params change a contract: open runs would be stranded")
	}
	back, err := flow.ParseGraph(found.Graph().Encode())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.Searchable, []string{"date", "customer"}) {
		t.Errorf("read back: %q, want date and customer", back.Searchable)
	}
	if back.Version() != found.Version() {
		t.Errorf("read back it has version %s, want %s", back.Version(), found.Version())
	}
}

func TestSearchableParamsMustExistAndBeNoSecret(t *testing.T) {
	for name, c := range map[string]struct {
		params []string
		says   string
	}{
		"unknown":  {[]string{"dat"}, `no such field`},
		"secret":   {[]string{"secret"}, "secret"},
		"twice":    {[]string{"date", "date"}, "twice"},
		"many":     {strings.Split("a,b,c,d,e,f,g,h,i,j,k", ","), "at most 10"},
		"nameless": {[]string{""}, "cannot be searched"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				err, ok := recover().(error)
				if !ok || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%q: %v, want a refusal that says %q", c.params, err, c.says)
				}
			}()
			searchedFlow(c.params...)
		})
	}
}

func TestSearchValuesAreScalarsAsPeopleWriteThem(t *testing.T) {
	g := searchedFlow("date", "customer", "full", "ratio", "labels").Graph()
	for params, want := range map[string]map[string]string{
		`{"date":"2026-11-29","customer":12345678901234567,"full":true,"ratio":0.5,"labels":{"a":"b"}}`: {"date": "2026-11-29", "customer": "12345678901234567", "full": "true", "ratio": "0.5"},
		`{"date":"two words","customer":-1,"ratio":null}`:                                               {"date": "two words", "customer": "-1"},
		`{"DATE":"x"}`: {"date": "x"}, // encoding/json takes it for date, too
		`{"date":"` + strings.Repeat("x", flow.MaxSearchableValue) + `"}`:   {"date": strings.Repeat("x", flow.MaxSearchableValue)},
		`{"date":"` + strings.Repeat("x", flow.MaxSearchableValue+1) + `"}`: {},
		`{"date":"a\u0000b"}`: {}, // PostgreSQL cannot store it
		`[]`:                  {},
		`{`:                   {},
		`{}`:                  {},
	} {
		if got := g.SearchValues([]byte(params)); !maps.Equal(got, want) {
			t.Errorf("%.60s: %v, want %v", params, got, want)
		}
	}
	if got := searchedFlow().Graph().SearchValues([]byte(`{"date":"x"}`)); got != nil {
		t.Errorf("a flow that declares nothing: %v, want nothing", got)
	}
}
