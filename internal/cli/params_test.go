package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const paramsSchema = `{"$ref":"#/$defs/P","$defs":{"P":{"properties":{"date":{"type":"string"},"n":{"type":"integer"},
	"tags":{"type":"array"},"opt":{"type":["string","null"]}}}}}`

func TestReadParams(t *testing.T) {
	file := filepath.Join(t.TempDir(), "params.json")
	if err := os.WriteFile(file, []byte("{\"n\": 5}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text, stdin string
		pairs       []string
		want        string
	}{
		"nothing":                   {want: `{}`},
		"JSON":                      {text: `{"n":1}`, want: `{"n":1}`},
		"no object":                 {text: `[1,2]`, want: `[1,2]`},
		"a file":                    {text: "@" + file, want: `{"n":5}`},
		"stdin":                     {text: "-", stdin: `{"n":6}`, want: `{"n":6}`},
		"a field on top":            {text: `{"n":1,"date":"x"}`, pairs: []string{"n=2"}, want: `{"n":2,"date":"x"}`},
		"text that looks like JSON": {pairs: []string{"date=2026", "n=3"}, want: `{"date":"2026","n":3}`},
		"text by default":           {pairs: []string{"other=abc"}, want: `{"other":"abc"}`},
		"JSON by default":           {pairs: []string{"other=true", `tags=["a","b"]`}, want: `{"other":true,"tags":["a","b"]}`},
		"null where it may be":      {pairs: []string{"opt=null"}, want: `{"opt":null}`},
		"an equals sign inside":     {pairs: []string{"date=a=b"}, want: `{"date":"a=b"}`},
		"an empty value":            {pairs: []string{"date="}, want: `{"date":""}`},
	} {
		got, err := readParams(c.text, c.pairs, nil, strings.NewReader(c.stdin), fieldsOf(json.RawMessage(paramsSchema)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var have, want any
		if err := json.Unmarshal(got, &have); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(have, want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestReadParamsRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		pairs []string
		want  string
	}{
		"half of an object": {`{"n":1`, nil, "unexpected end of JSON"},
		"no such file":      {"@/nowhere/params.json", nil, "no such file"},
		"no pair":           {"", []string{"date"}, `"date" is not name=value`},
		"no name":           {"", []string{"=1"}, `"=1" is not name=value`},
		"a field of a list": {"[1]", []string{"n=1"}, "fields of an object"},
		"a field of null":   {"null", []string{"n=1"}, "fields of an object"},
	} {
		_, err := readParams(c.text, c.pairs, nil, nil, fieldsOf(json.RawMessage(paramsSchema)))
		if err == nil || !strings.Contains(err.Error(), c.want) || exitCode(err) != ExitUsage {
			t.Errorf("%s: %v (exit code %d), want %q and exit code 2", name, err, exitCode(err), c.want)
		}
	}
	if _, err := readParams("-", nil, nil, strings.NewReader(strings.Repeat("x", 300_000)), nil); err == nil || !strings.Contains(err.Error(), "262144") {
		t.Errorf("300,000 bytes of params: %v, want the limit of 262144 named", err)
	}
}

func TestReadRunID(t *testing.T) {
	for text, want := range map[string]string{
		"01a227ff-e6a9-7609-a33d-e398ae461735": "01a227ffe6a97609a33de398ae461735",
		"01A227FF-E6":                          "01a227ffe6",
		"01a227ff":                             "01a227ff",
		"01a227f":                              "", "": "", "daily-recon": "",
		"01a227ff-e6a9-7609-a33d-e398ae4617351": "",
	} {
		got, err := readRunID(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("readRunID(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}
