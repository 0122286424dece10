package flow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// CheckParams tells whether params, JSON, hold to the flow's params schema: for those who know only the
// graph and not the Go type. The error names every field that is wrong. No bytes at all are read as {}. It
// knows the keywords that Go types and jsonschema tags give rise to, and passes over others.
func (g *Graph) CheckParams(params []byte) error {
	g.index()
	if g.schemaErr != nil {
		return fmt.Errorf("flow %q: its params schema: %w", g.Flow, g.schemaErr)
	}
	if len(bytes.TrimSpace(params)) == 0 {
		params = []byte("{}")
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(params))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("flow %q: params are not JSON: %w", g.Flow, err)
	}
	if d.More() {
		return fmt.Errorf("flow %q: params are more than one JSON value: send one", g.Flow)
	}
	c := checker{defs: g.schema.Defs}
	c.value(place{}, g.schema, v, 0)
	if c.faults == nil {
		return nil
	}
	return &ParamsError{Flow: g.Flow, Faults: c.faults}
}

// ParamsError names every field of params that is wrong.
type ParamsError struct {
	Flow   string
	Faults []Fault // at least one
}

// Fault is what is wrong with one field of params.
type Fault struct {
	Path    string // as people write it, such as "kids[0].name"; "": the params as a whole
	Pointer string // JSON pointer (RFC 6901), such as "/kids/0/name"; "": the params as a whole
	Text    string
}

func (e *ParamsError) Error() string {
	text := fmt.Sprintf("flow %q: params: ", e.Flow)
	for i, f := range e.Faults {
		if i > 0 {
			text += "\n"
		}
		text += cmp.Or(f.Path, "(the whole)") + ": " + f.Text
	}
	return text
}

// maxDepth bounds how deep params are looked into, against schemas that refer to themselves.
const maxDepth = 100

type checker struct {
	defs   map[string]*rules
	faults []Fault
}

// place is where a value stands in the params; the zero place is the whole.
type place struct{ path, pointer string }

var escapes = strings.NewReplacer("~", "~0", "/", "~1")

func (p place) field(name string) place {
	return place{join(p.path, name), p.pointer + "/" + escapes.Replace(name)}
}

func (p place) item(i int) place {
	n := strconv.Itoa(i)
	return place{p.path + "[" + n + "]", p.pointer + "/" + n}
}

func (c *checker) fault(at place, format string, args ...any) {
	c.faults = append(c.faults, Fault{Path: at.path, Pointer: at.pointer, Text: fmt.Sprintf(format, args...)})
}

func (c *checker) value(at place, r *rules, v any, depth int) {
	for hops := 0; r.Ref != ""; hops++ {
		next, ok := c.defs[strings.TrimPrefix(r.Ref, "#/$defs/")]
		if !ok || hops > maxDepth {
			return
		}
		r = next
	}
	switch {
	case depth > maxDepth:
		c.fault(at, "it is nested deeper than %d: flatten it", maxDepth)
		return
	case r.anything:
		return
	case r.nothing:
		c.fault(at, "it is not known: remove it or correct its name")
		return
	}
	for _, forms := range [][]*rules{r.OneOf, r.AnyOf} {
		if len(forms) > 0 && !slices.ContainsFunc(forms, func(one *rules) bool { return c.holds(one, v, depth) }) {
			c.fault(at, "%s fits none of the forms allowed", show(v))
			return
		}
	}
	if len(r.Enum) > 0 && !slices.ContainsFunc(r.Enum, func(e json.RawMessage) bool { return same(e, v) }) {
		c.fault(at, "%s is not allowed: use one of %s", show(v), bytes.Join(raws(r.Enum), []byte(", ")))
	}
	if r.Const != nil && !same(r.Const, v) {
		c.fault(at, "%s is not allowed: use %s", show(v), r.Const)
	}
	if r.Type != "" && !c.typed(at, r.Type, v) {
		return
	}
	switch v := v.(type) {
	case string:
		c.text(at, r, v)
	case json.Number:
		c.number(at, r, v)
	case []any:
		c.list(at, r, v, depth)
	case map[string]any:
		c.object(at, r, v, depth)
	}
}

// holds tells whether v fits r, without telling of faults.
func (c *checker) holds(r *rules, v any, depth int) bool {
	trial := checker{defs: c.defs}
	trial.value(place{}, r, v, depth+1)
	return trial.faults == nil
}

// typed checks the type of v. Lists and objects may be null, as nil slices, maps and pointers of Go are.
func (c *checker) typed(at place, want string, v any) bool {
	got := "null"
	switch v := v.(type) {
	case string:
		got = "string"
	case bool:
		got = "boolean"
	case []any:
		got = "array"
	case map[string]any:
		got = "object"
	case json.Number:
		got = "number"
		if want == "integer" && integral(v) {
			got = "integer"
		}
	}
	if got == want || got == "null" && at != (place{}) && (want == "array" || want == "object") {
		return true
	}
	c.fault(at, "%s is of type %s: give %s", show(v), got, article(want))
	return false
}

func (c *checker) text(at place, r *rules, s string) {
	n := utf8.RuneCountInString(s)
	if r.MinLength != nil && n < *r.MinLength {
		c.fault(at, "it is %d characters long: give at least %d", n, *r.MinLength)
	}
	if r.MaxLength != nil && n > *r.MaxLength {
		c.fault(at, "it is %d characters long: give at most %d", n, *r.MaxLength)
	}
	if r.pattern != nil && !r.pattern.MatchString(s) {
		c.fault(at, "%s does not match %s", show(s), r.Pattern)
	}
	layout, example := map[string]string{"date-time": time.RFC3339, "date": time.DateOnly}[r.Format], "2026-01-31T08:00:00Z"
	if r.Format == "date" {
		example = "2026-01-31"
	}
	if layout != "" {
		if _, err := time.Parse(layout, s); err != nil {
			c.fault(at, "%s is no %s: write it as %s", show(s), r.Format, example)
		}
	}
}

func (c *checker) number(at place, r *rules, n json.Number) {
	for _, b := range []struct {
		bound json.Number
		ok    func(order int) bool
		say   string
	}{
		{r.Minimum, func(order int) bool { return order >= 0 }, "at least"},
		{r.Maximum, func(order int) bool { return order <= 0 }, "at most"},
		{r.ExclusiveMinimum, func(order int) bool { return order > 0 }, "more than"},
		{r.ExclusiveMaximum, func(order int) bool { return order < 0 }, "less than"},
	} {
		if b.bound != "" && !b.ok(compare(n, b.bound)) {
			c.fault(at, "it is %s: give %s %s", n, b.say, b.bound)
		}
	}
}

func (c *checker) list(at place, r *rules, list []any, depth int) {
	if r.MinItems != nil && len(list) < *r.MinItems {
		c.fault(at, "it has %d items: give at least %d", len(list), *r.MinItems)
	}
	if r.MaxItems != nil && len(list) > *r.MaxItems {
		c.fault(at, "it has %d items: give at most %d", len(list), *r.MaxItems)
	}
	seen := map[string]bool{}
	for i, v := range list {
		item := at.item(i)
		if r.UniqueItems {
			key := asJSON(v)
			if seen[key] {
				c.fault(item, "%s is there already: give each once", show(v))
			}
			seen[key] = true
		}
		if r.Items != nil {
			c.value(item, r.Items, v, depth+1)
		}
	}
}

func (c *checker) object(at place, r *rules, object map[string]any, depth int) {
	for _, name := range r.Required {
		if _, ok := object[name]; !ok {
			c.fault(at.field(name), "it is missing: give it")
		}
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v := object[name]
		property, ok := r.Properties[name]
		if !ok {
			property = r.AdditionalProperties
			for p, re := range r.patterns {
				if re.MatchString(name) {
					property = r.PatternProperties[p]
				}
			}
		}
		if property == nil || v == nil && ok && !slices.Contains(r.Required, name) {
			continue
		}
		c.value(at.field(name), property, v, depth+1)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func article(want string) string {
	if strings.ContainsRune("aio", rune(want[0])) {
		return "an " + want
	}
	return "a " + want
}

// show returns v as JSON, at a length that suits an error.
func show(v any) string { return clip(asJSON(v)) }

// asJSON returns v, which was decoded from JSON with numbers as they were written, as JSON again.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func same(want json.RawMessage, v any) bool {
	var w any
	d := json.NewDecoder(bytes.NewReader(want))
	d.UseNumber()
	return d.Decode(&w) == nil && asJSON(w) == asJSON(v)
}

// integral tells whether n is a whole number, such as 3, 3.0 or 3e2.
func integral(n json.Number) bool {
	if _, err := n.Int64(); err == nil {
		return true
	}
	f, err := n.Float64()
	return err == nil && f == math.Trunc(f)
}

// compare compares numbers, those that are no 64-bit integers as floating-point ones.
func compare(a, b json.Number) int {
	x, errX := a.Int64()
	y, errY := b.Int64()
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	f, _ := a.Float64() // infinite when out of range
	g, _ := b.Float64()
	return cmp.Compare(f, g)
}

func raws(list []json.RawMessage) [][]byte {
	b := make([][]byte, len(list))
	for i := range list {
		b[i] = list[i]
	}
	return b
}
