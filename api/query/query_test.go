package query

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

func TestParseReadsEveryTerm(t *testing.T) {
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]Query{
		"":                              {},
		"  \t\n ":                       {},
		"flow:a":                        {Flows: []string{"a"}},
		"flow:b,a,b":                    {Flows: []string{"a", "b"}},
		`flow:"a, b",c`:                 {Flows: []string{"a, b", "c"}},
		"state:failed":                  {States: []stage.RunState{stage.RunFailed}},
		"state:open":                    {States: []stage.RunState{stage.RunRunning, stage.RunCancelling}},
		"state:ended":                   {States: []stage.RunState{stage.RunSucceeded, stage.RunFailed, stage.RunCancelled}},
		"state:failed,open":             {States: []stage.RunState{stage.RunRunning, stage.RunCancelling, stage.RunFailed}},
		"queue:default trigger:api,cli": {Queues: []string{"default"}, Triggers: []string{"api", "cli"}},
		"level:P1,p0,5":                 {Levels: []stage.Level{stage.P0, stage.P1, stage.P5}},
		"version:00AB":                  {Version: "00ab"},
		"parent:01937F2E-5b7e-7cc3-98c4-DC0C0C07398F": {Parent: uuid.MustParse("01937f2e-5b7e-7cc3-98c4-dc0c0c07398f")},
		"tag:team=etl tag:b=x=y":                      {Tags: []Pair{{"b", "x=y"}, {"team", "etl"}}},
		`tag:"my team=a b" tag:x="a \"b\""`:           {Tags: []Pair{{"my team", "a b"}, {"x", `a "b"`}}},
		"tag:x=":                                      {Tags: []Pair{{"x", ""}}},
		"tag:x=a,b":                                   {Tags: []Pair{{"x", "a,b"}}},
		"param.date:2026-11-29":                       {Params: []Pair{{"date", "2026-11-29"}}},
		`param.a.b:"x y" param.a:12:30`:               {Params: []Pair{{"a", "12:30"}, {"a.b", "x y"}}},
		`param.x:""`:                                  {Params: []Pair{{"x", ""}}},
		"since:24h until:2026-11-01":                  {Since: When{Ago: 24 * time.Hour}, Until: When{At: day}},
		"since:1h30m":                                 {Since: When{Ago: 90 * time.Minute}},
		"since:2w1d":                                  {Since: When{Ago: 15 * 24 * time.Hour}},
		"since:2026-11-01T06:30":                      {Since: When{At: day.Add(6*time.Hour + 30*time.Minute)}},
		"since:2026-11-01T06:30:00+02:00":             {Since: When{At: day.Add(4*time.Hour + 30*time.Minute)}},
		"0192":                                        {Run: "0192"},
		"01937F2E-5b7e-7cc3-98c4-DC0C0C07398F":        {Run: "01937f2e5b7e7cc398c4dc0c0c07398f"},
		"flow:a  state:failed\tdead1234":              {Flows: []string{"a"}, States: []stage.RunState{stage.RunFailed}, Run: "dead1234"},
	} {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%q: %+v, want %+v", text, *got, want)
		}
	}
}

func TestParseSaysWhichTermIsWrongWhereAndWhatIsAllowed(t *testing.T) {
	for text, c := range map[string]struct {
		term string
		at   int
		says []string
	}{
		"flow:a stat:failed": {"stat:failed", 8, []string{`"stat"`, `did you mean "state"`, "flow, state, tag"}},
		"state:faild":        {"state:faild", 1, []string{`"faild"`, `did you mean "failed"`, "open, ended, running"}},
		"größe:1":            {"größe:1", 1, []string{`there is no key "größe"`}},
		"flow:ä xyz":         {"xyz", 8, []string{"a run's id", "at least 4"}},
		"failed":             {"failed", 1, []string{"state:failed"}},
		"abc":                {"abc", 1, []string{"at least 4 hexadecimal digits"}},
		"flow:":              {"flow:", 1, []string{"flow:value"}},
		"flow:a,,b":          {"flow:a,,b", 1, []string{"empty"}},
		"flow:a flow:b":      {"flow:b", 8, []string{"twice", "commas"}},
		"tag:a=1 tag:a=2":    {"tag:a=2", 9, []string{"twice"}},
		"0192aaaa 0192bbbb":  {"0192bbbb", 10, []string{"twice"}},
		"tag:team":           {"tag:team", 1, []string{"tag:name=value"}},
		"tag:=x":             {"tag:=x", 1, []string{"tag:name=value"}},
		"param.:x":           {"param.:x", 1, []string{"param.name:value"}},
		"param.x:":           {"param.x:", 1, []string{"param.name:value"}},
		"level:P6":           {"level:P6", 1, []string{"P0 to P5"}},
		"version:xyz1":       {"version:xyz1", 1, []string{"hexadecimal"}},
		"parent:01937f2e":    {"parent:01937f2e", 1, []string{`"01937f2e" is no run`, "all 32 digits"}},
		"parent:00000000-0000-0000-0000-000000000000": {"parent:00000000-0000-0000-0000-000000000000", 1, []string{"is no run"}},
		"since:yesterday":           {"since:yesterday", 1, []string{"90m", "2026-11-01"}},
		"since:1m1h":                {"since:1m1h", 1, []string{"no time"}},
		"since:0s":                  {"since:0s", 1, []string{"no time"}},
		"since:999999999w":          {"since:999999999w", 1, []string{"100 years"}},
		"since:1969-12-31":          {"since:1969-12-31", 1, []string{"1970"}},
		`flow:"a b state:failed`:    {`flow:"a b state:failed`, 1, []string{"not closed"}},
		`flow:"a\`:                  {`flow:"a\`, 1, []string{"not closed"}},
		"flow:a\x00":                {"", 0, []string{"NUL"}},
		"flow:\xff":                 {"", 0, []string{"UTF-8"}},
		strings.Repeat("x", 2001):   {"", 0, []string{"2001", "2000"}},
		strings.Repeat("tag:a ", 1): {"tag:a", 1, []string{"tag:name=value"}},
		"flow:" + strings.Repeat("a,", 100) + "a": {"", 0, []string{"101", "100"}},
	} {
		_, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: error %v, want an *Error", text, err)
			continue
		}
		if c.term != "" && (e.Term != c.term || e.At != c.at) {
			t.Errorf("%q: term %q at %d, want %q at %d", text, e.Term, e.At, c.term, c.at)
		}
		for _, s := range c.says {
			if !strings.Contains(e.Error(), s) {
				t.Errorf("%q: says %q, want it to hold %q", text, e.Error(), s)
			}
		}
	}
	var many strings.Builder
	for i := range 51 {
		many.WriteString(" tag:" + strings.Repeat("x", i+1) + "=1")
	}
	if _, err := Parse(many.String()); err == nil || !strings.Contains(err.Error(), "more than 50 terms") {
		t.Errorf("51 terms: %v, want a refusal", err)
	}
}

func TestStringIsOneSpellingOfEveryQuery(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"state:cancelling,running flow:b,a": "flow:a,b state:open",
		"state:running,failed":              "state:running,failed",
		"state:open,ended":                  "state:open,ended",
		`dead1234 param.x:1 tag:"t=a b" level:p1`: `level:P1 tag:"t=a b" param.x:1 dead1234`,
		"since:1w until:90s":                      "since:7d until:1m30s",
		"since:2026-11-01":                        "since:2026-11-01T00:00:00Z",
		`flow:"a,b",c`:                            `flow:"a,b",c`,
		`queue:"\\"`:                              `queue:"\\"`,
	} {
		q, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := q.String(); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
		if q.Empty() != (want == "") {
			t.Errorf("%q: empty %v", text, q.Empty())
		}
	}
}

func TestWhenCountsBackFromNow(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	q, err := Parse("since:36h until:2026-11-29T11:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := q.Since.Time(now), time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("36h ago is %v, want %v", got, want)
	}
	if got, want := q.Until.Time(now), now.Add(-time.Hour); !got.Equal(want) {
		t.Errorf("until %v, want %v", got, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "flow:a,b state:failed tag:team=etl since:24h until:2026-11-01 queue:q trigger:api level:P1 version:00ab parent:01937f2e-5b7e-7cc3-98c4-dc0c0c07398f param.date:2026-11-29 0192abcd",
		`flow:"a b","c\"d" tag:"x y"="z" param.a:""`, "state:open,ended,", "since:1w2d3h4m5s", `"`, `\`, `a:"b`, ":", "param.:", "tag:=", "flow:\u00a0", "state:OPEN", "İ:x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Text == "" {
				t.Fatalf("%q: %v is no *Error with a text", text, err)
			}
			return
		}
		again, err := Parse(q.String())
		if err != nil {
			if len(q.String()) > MaxLen { // quotes make it longer
				return
			}
			t.Fatalf("%q is written %q, which cannot be read: %v", text, q.String(), err)
		}
		if !reflect.DeepEqual(q, again) {
			t.Fatalf("%q is %+v, and %q is %+v", text, q, q.String(), again)
		}
	})
}
