package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"axflow/stage"
)

// loneLog is the log of a task of a worker that does not run: its lines stay with the shipper.
func loneLog(t testing.TB, c LogConfig) (*slog.Logger, *shipper) {
	t.Helper()
	c.Quiet = true
	c.fill(t.Fatalf)
	w := &Worker{cfg: Config{Logs: c}, log: slog.New(slog.DiscardHandler), clk: newClock(nil)}
	w.shipper = newShipper(w)
	l := &taskLog{w: w, allow: newAllowances(c.LinesPerSecond, c.Burst, 0)}
	return slog.New(&logHandler{l: l}), w.shipper
}

// member is an attribute of a random line.
func member(t *rapid.T) slog.Attr {
	key := rapid.SampledFrom([]string{"a", "b", "level", "msg", "", `quo"te`, "ü"}).Draw(t, "key")
	switch rapid.IntRange(0, 8).Draw(t, "kind") {
	case 0:
		return slog.Int(key, rapid.Int().Draw(t, "int"))
	case 1:
		return slog.String(key, rapid.String().Draw(t, "string"))
	case 2:
		return slog.Duration(key, time.Duration(rapid.Int64().Draw(t, "duration")))
	case 3:
		return slog.Any(key, errors.New("an <error>"))
	case 4:
		return slog.Float64(key, rapid.Float64().Draw(t, "float"))
	case 5:
		return slog.Any(key, later{rapid.Int().Draw(t, "later")})
	case 6:
		return slog.Group(key, slog.Bool("in", true), slog.Group("deep"))
	case 7:
		return slog.Group(key)
	}
	return slog.Any(key, map[string]any{"x": []int{1, 2}, "y": nil})
}

// later is a value that is made when it is needed.
type later struct{ n int }

func (l later) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("n", l.n), slog.Any("again", fmt.Stringer(nil)))
}

// Attributes and groups become the JSON that slog's own handler makes of them.
func TestAttributesAreThoseOfSlog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log, s := loneLog(noFatal{}, LogConfig{})
		var buf bytes.Buffer
		right := slog.New(slog.NewJSONHandler(&buf, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			return a
		}}))
		for range rapid.IntRange(0, 4).Draw(t, "withs") {
			if rapid.Bool().Draw(t, "group") {
				name := rapid.SampledFrom([]string{"g", "h", "", `"`}).Draw(t, "name")
				log, right = log.WithGroup(name), right.WithGroup(name)
			} else {
				a := member(t)
				log, right = log.With(a), right.With(a)
			}
		}
		var attrs []slog.Attr
		for range rapid.IntRange(0, 3).Draw(t, "attributes") {
			attrs = append(attrs, member(t))
		}
		log.LogAttrs(context.Background(), slog.LevelInfo, "m", attrs...)
		right.LogAttrs(context.Background(), slog.LevelInfo, "m", attrs...)
		text := buf.String()
		head := strings.Index(text, `"msg":"m"`) + len(`"msg":"m"`)
		inside := strings.TrimSuffix(text[head:], "}\n")
		want := ""
		if inside != "" {
			want = "{" + strings.TrimPrefix(inside, ",") + "}"
		}
		want = strings.ReplaceAll(want, `\u0000`, `\ufffd`)
		if got := s.lines[0].json; got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}

// noFatal is a testing.TB of which only Helper and Fatalf are used.
type noFatal struct{ testing.TB }

func (noFatal) Helper()                        {}
func (noFatal) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

type bad struct{ how string }

func (b bad) LogValue() slog.Value {
	if b.how == "value" {
		panic("in LogValue")
	}
	return slog.AnyValue(badJSON(b))
}

type badJSON struct{ how string }

func (b badJSON) MarshalJSON() ([]byte, error) {
	if b.how == "json" {
		panic("in MarshalJSON")
	}
	return []byte(`{"is no JSON`), nil
}

// Whatever a handler logs becomes a line that can be stored: valid UTF-8 without NUL, within the limits, attributes that are JSON.
func TestOddLines(t *testing.T) {
	type ring struct{ Next *ring }
	round := &ring{}
	round.Next = round
	huge := strings.Repeat("€", 50_000)
	for name, c := range map[string]struct {
		message string
		attrs   []any
		json    string // "": only that it is an object
	}{
		"empty":           {"", nil, "none"},
		"not UTF-8":       {"a\xffb\x00c", []any{"k\xff", "v\xfe\x00"}, `{"k\ufffd":"v\ufffd\ufffd"}`},
		"huge message":    {huge, nil, "none"},
		"huge attribute":  {"m", []any{"n", 1, "huge", huge, "z", "small"}, ""},
		"many attributes": {"m", many(5000), ""},
		"huge key":        {"m", []any{huge, 1, "n", 2}, `{"!cut":1,"n":2}`},
		"quotes":          {strings.Repeat(`"`, 20_000), []any{"k", strings.Repeat("\"\\\x01", 20_000)}, ""},
		"endless":         {"m", []any{"k", round}, ""},
		"not a number":    {"m", []any{"k", math.NaN(), "i", math.Inf(1)}, ""},
		"panics":          {"m", []any{"k", bad{"value"}, "j", bad{"json"}, "n", 1}, ""},
		"bad JSON":        {"m", []any{"k", bad{}, "n", 1}, ""},
		"nil":             {"m", []any{"k", nil, "e", error(nil), "p", (*ring)(nil)}, `{"k":null,"e":null,"p":null}`},
		"no value":        {"m", []any{"k"}, `{"!BADKEY":"k"}`},
		"an escaped NUL":  {"m", []any{"k", `\u0000 stays`, "n", "\x00"}, `{"k":"\\u0000 stays","n":"\ufffd"}`},
	} {
		t.Run(name, func(t *testing.T) {
			log, s := loneLog(t, LogConfig{})
			log.Info(c.message, c.attrs...)
			if len(s.lines) != 1 {
				t.Fatalf("%d lines", len(s.lines))
			}
			line := s.lines[0]
			for what, text := range map[string]string{"message": line.message, "attributes": line.json} {
				if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
					t.Errorf("the %s cannot be stored: %q", what, text)
				}
			}
			if len(line.message) > MaxLogMessage || len(line.json) > MaxLogAttributes {
				t.Errorf("%d bytes of message, %d of attributes", len(line.message), len(line.json))
			}
			if len(c.message) > MaxLogMessage {
				wantText(t, "message", line.message, "bytes more)")
			}
			if c.json == "none" {
				want(t, "attributes", line.json, "")
				return
			}
			var m map[string]any
			if err := json.Unmarshal([]byte(line.json), &m); err != nil {
				t.Fatalf("the attributes are no object: %v: %.200s", err, line.json)
			}
			if c.json != "" {
				want(t, "attributes", line.json, c.json)
			}
			switch name {
			case "huge attribute":
				want(t, "small attributes", fmt.Sprint([]any{m["n"], m["z"], m[cutMark]}), "[1 small 1]")
				if text, _ := m["huge"].(string); len(text) < MaxLogAttributes/4 || !strings.HasPrefix(text, "€€€") {
					t.Errorf("of the huge one %d bytes are left, want a good part", len(text))
				}
			case "panics", "bad JSON":
				want(t, "what is well", m["n"], any(1.0))
			}
		})
	}
}

func many(n int) (all []any) {
	for i := range n {
		all = append(all, fmt.Sprint("key", i), i)
	}
	return all
}

// A value that logs while it is encoded does not lock up.
func TestAValueThatLogs(t *testing.T) {
	log, s := loneLog(t, LogConfig{})
	log.Info("outer", "k", talker{log})
	if len(s.lines) != 2 || s.lines[0].message != "inner" || s.lines[1].json != `{"k":"said"}` {
		t.Errorf("%+v", s.lines)
	}
}

type talker struct{ log *slog.Logger }

func (x talker) LogValue() slog.Value {
	x.log.Info("inner")
	return slog.StringValue("said")
}

// Loggers that were made from one another share nothing that one of them could spoil for the others.
func TestLoggersAreIndependent(t *testing.T) {
	log, s := loneLog(t, LogConfig{})
	base := log.With("a", 1).WithGroup("g")
	left, right := base.With("l", 2), base.WithGroup("h").With("r", 3)
	left.Info("l", "x", 1)
	right.Info("r", "x", 2)
	base.Info("b", "x", 3)
	base.Info("e")
	log.Info("n")
	var got []string
	for _, l := range s.lines {
		got = append(got, l.json)
	}
	if right := []string{`{"a":1,"g":{"l":2,"x":1}}`, `{"a":1,"g":{"h":{"r":3,"x":2}}}`, `{"a":1,"g":{"x":3}}`, `{"a":1}`, ""}; !reflect.DeepEqual(got, right) {
		t.Errorf("%q, want %q", got, right)
	}
}

// The allowance is a burst, then a rate, and never more than a burst at once.
func TestAllowance(t *testing.T) {
	a := newAllowances(10, 100, 0)
	take := func(level slog.Level, at time.Duration) (n int) {
		for a.take(level, at) {
			n++
		}
		return n
	}
	want(t, "at once", take(slog.LevelInfo, 0), 100)
	want(t, "a second later", take(slog.LevelInfo, time.Second), 10)
	want(t, "an hour later", take(slog.LevelInfo, time.Hour), 100)
	want(t, "when the clock stands", take(slog.LevelInfo, time.Minute), 0)
	want(t, "errors beside the noise", take(slog.LevelError, time.Hour), 200)
	want(t, "errors a second later", take(slog.LevelWarn, time.Hour+time.Second), 20)
}

// BenchmarkLog is what a line costs a handler, the database not counted.
func BenchmarkLog(b *testing.B) {
	for _, bc := range []struct {
		name string
		run  func(log *slog.Logger, n int)
	}{
		{"message", func(log *slog.Logger, _ int) { log.Info("a page of rows was read") }},
		{"attributes=3", func(log *slog.Logger, n int) {
			log.Info("a page of rows was read", "page", n, "rows", 1000, "table", "orders")
		}},
		{"quiet", func(log *slog.Logger, n int) { log.Debug("a page of rows was read", "page", n) }},
	} {
		b.Run(bc.name, func(b *testing.B) {
			log, s := loneLog(b, LogConfig{LinesPerSecond: math.MaxInt32, Burst: math.MaxInt32, WorkerLinesPerSecond: math.MaxInt32})
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if n%1000 == 0 {
					s.lines, s.held, s.bytes = s.lines[:0], 0, 0
				}
				bc.run(log, n)
			}
		})
	}
	b.Run("dropped", func(b *testing.B) {
		log, _ := loneLog(b, LogConfig{LinesPerSecond: 1, Burst: 1})
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			log.Info("a page of rows was read", "page", n)
		}
	})
	b.Run("progress", func(b *testing.B) {
		w := &Worker{clk: newClock(nil)}
		t := &task{Context: context.Background(), f: &flight{pool: &pool{w: w}}}
		ctx := stage.WithEnv(t, t)
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			stage.Progress(ctx, n, 1_000_000)
		}
	})
}
