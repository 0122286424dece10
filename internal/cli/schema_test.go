package cli

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

const daySchema = `{"type":"object","required":["date","rows","source"],"properties":{
	"date":{"type":"string","format":"date","description":"The day"},
	"rows":{"type":"integer","default":100},
	"share":{"type":"number"},
	"force":{"type":"boolean"},
	"region":{"type":"string","enum":["eu","us"]},
	"tags":{"type":"array","items":{"type":"string"}},
	"sizes":{"type":["array","null"],"items":{"type":"integer"}},
	"anything":true,
	"extra":{"type":"object","additionalProperties":{"type":"string"}},
	"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},
	"queue":{"type":"string"},
	"source":{"$ref":"#/$defs/Source"}},
	"$defs":{"Source":{"type":"object","required":["host"],"properties":{"host":{"type":"string"},"port":{"type":"integer"}}}}}`

func TestFieldsOfASchema(t *testing.T) {
	var got []string
	for _, f := range fieldsOf(json.RawMessage(daySchema)) {
		kind := f.kind
		if f.array {
			kind = "[]" + kind
		}
		if f.required {
			kind += "!"
		}
		got = append(got, f.name()+" "+kind)
	}
	want := []string{"anything ", "date string!", "extra ", "force boolean", "maybe integer", "queue string", "region string", "rows integer!", "share number",
		"sizes []integer", "source.host string!", "source.port integer", "tags []string"}
	if !slices.Equal(got, want) {
		t.Errorf("fields\n%q, want\n%q", got, want)
	}
	for _, odd := range []string{"", "true", "{}", "[]", `{"properties":7}`, `{"$ref":"#/$defs/None"}`, `{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}`} {
		if f := fieldsOf(json.RawMessage(odd)); len(f) != 0 {
			t.Errorf("schema %s has fields %v", odd, f)
		}
	}
}

// parse runs the flags of `run start` on a schema and returns the params.
func parse(t *testing.T, args ...string) (string, []string, error) {
	t.Helper()
	var s starting
	cmd := &cobra.Command{Use: "start", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil }}
	s.add(cmd.Flags())
	s.fields = fieldsOf(json.RawMessage(daySchema))
	s.flags, s.clashes = addParams(cmd, s.fields)
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		return "", s.clashes, err
	}
	raw, err := readParams(s.params, s.pairs, s.flags, strings.NewReader(""), s.fields)
	if err == nil {
		err = s.lacking(raw)
	}
	return string(raw), s.clashes, err
}

func TestParamsAsFlags(t *testing.T) {
	need := []string{"--date", "2026-03-01", "--source.host", "db"}
	base := `"date":"2026-03-01","source":{"host":"db"}`
	for want, args := range map[string][]string{
		`{` + base + `}`:                                        nil,
		`{` + base + `,"rows":7,"share":0.5}`:                   {"--rows", "7", "--share", "0.5"},
		`{` + base + `,"force":true}`:                           {"--force"},
		`{` + base + `,"force":false}`:                          {"--force=false"},
		`{` + base + `,"tags":["a","b,c"]}`:                     {"--tags", "a", "--tags", "b,c"},
		`{` + base + `,"sizes":[1,2]}`:                          {"--sizes", "1", "--sizes", "2"},
		`{` + base + `,"region":"eu"}`:                          {"--region", "eu"},
		`{` + base + `,"queue":"a param"}`:                      {"--param", "queue=a param"}, // --queue is the run's
		`{` + base + `,"anything":{"x":1},"extra":{"y":"z"}}`:   {"--anything", `{"x":1}`, "--extra", `{"y":"z"}`},
		`{` + base + `,"maybe":null}`:                           {"--params", `{"maybe":null}`},
		`{` + base + `,"rows":8}`:                               {"--params", `{"rows":7,"date":"x"}`, "--rows", "8"},
		`{"date":"2026-03-01","source":{"host":"db","port":1}}`: {"--params", `{"source":{"host":"other","port":1}}`},
	} {
		got, clashes, err := parse(t, append(slices.Clone(need), args...)...)
		if err != nil {
			t.Errorf("%q: %v", args, err)
			continue
		}
		var have, wanted any
		if json.Unmarshal([]byte(got), &have) != nil || json.Unmarshal([]byte(want), &wanted) != nil || !reflect.DeepEqual(have, wanted) {
			t.Errorf("%q: %s, want %s", args, got, want)
		}
		if !slices.Equal(clashes, []string{"queue"}) {
			t.Errorf("clashes %q, want queue", clashes)
		}
	}
	for want, args := range map[string][]string{
		"the params need --date, --source.host": nil,
		"the params need --source.host":         {"--date", "x"},
		`"x" is no whole number`:                {"--rows", "x"},
		`"1.5" is no whole number`:              {"--rows", "1.5"},
		`"NaN" is no number`:                    {"--share", "NaN"},
		`"perhaps" is neither true nor false`:   {"--force=perhaps"},
		"none of eu, us; did you mean us?":      {"--region", "ue"},
		`"source", which is no object`:          {"--params", `{"source":3}`, "--source.host", "x"},
	} {
		if _, _, err := parse(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"daily-recon", "weekly", "run.failed"}
	for name, want := range map[string]string{"daily-recn": "daily-recon", "daily": "daily-recon", "WEEKLY": "weekly", "weeky": "weekly", "x": "", "": "", "monthly-close": ""} {
		if got := nearest(name, names); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
	for _, x := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 2}} {
		if got := distance(x.a, x.b); got != x.want {
			t.Errorf("distance of %q and %q is %d, want %d", x.a, x.b, got, x.want)
		}
	}
}
