package conformance

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// breaking draws a request that the document forbids: a fitting one with one thing wrong. ok is false where nothing of the
// operation can be wrong in the way that was drawn.
func (g *generator) breaking(op operation) (r request, ok bool) {
	r = g.fitting(op)
	ways := []func(*generator, *request) bool{unknownParameter, wrongParameter, longParameter, nulParameter, unknownField, missingField, wrongField, outOfRange, nulField,
		notJSON, wrongMedia, deepBody, wrongTop}
	w := g.IntN(len(ways))
	return r, ways[w](g, &r)
}

func unknownParameter(_ *generator, r *request) bool {
	r.query.Set("no_such_parameter", "1")
	r.breach = "an unknown parameter"
	return true
}

// parameter draws one of the operation's parameters that cond likes.
func (g *generator) parameter(r *request, cond func(*openapi3.Schema) bool) *openapi3.Parameter {
	var fits []*openapi3.Parameter
	for _, p := range r.op.parameters {
		if p.Value.In != "header" && cond(p.Value.Schema.Value) {
			fits = append(fits, p.Value)
		}
	}
	if len(fits) == 0 {
		return nil
	}
	return fits[g.IntN(len(fits))]
}

func (r *request) set(p *openapi3.Parameter, v string) {
	if p.In == "path" {
		r.path[p.Name] = v
	} else {
		r.query[p.Name] = []string{v}
	}
}

func wrongParameter(g *generator, r *request) bool {
	p := g.parameter(r, func(s *openapi3.Schema) bool {
		return s.Type.Is("integer") || s.Type.Is("number") || s.Type.Is("boolean") || s.Format == "uuid" || s.Format == "date-time" || len(s.Enum) > 0
	})
	if p == nil {
		return false
	}
	r.set(p, "not-a-"+p.Name)
	r.breach = "a wrong value of " + p.Name
	return true
}

func longParameter(g *generator, r *request) bool {
	p := g.parameter(r, func(s *openapi3.Schema) bool { return s.Type.Is("string") && s.MaxLength != nil && *s.MaxLength < 5000 })
	if p == nil {
		return false
	}
	r.set(p, strings.Repeat("x", int(*p.Schema.Value.MaxLength)+1))
	r.breach = "a too long " + p.Name
	return true
}

func nulParameter(g *generator, r *request) bool {
	p := g.parameter(r, func(s *openapi3.Schema) bool { return s.Type.Is("string") })
	if p == nil {
		return false
	}
	r.set(p, []string{"a\x00b", "a\xff"}[g.IntN(2)])
	r.breach = "no text in " + p.Name
	return true
}

// object is the request's body as an object, if it has one.
func (r *request) object() (map[string]any, *openapi3.Schema) {
	s := r.op.body()
	if s == nil || r.body == nil {
		return nil, nil
	}
	var o map[string]any
	if json.Unmarshal(r.body, &o) != nil {
		return nil, nil
	}
	return o, s
}

func unknownField(_ *generator, r *request) bool {
	o, s := r.object()
	if o == nil || s.AdditionalProperties.Has == nil || *s.AdditionalProperties.Has {
		return false
	}
	o["no_such_field"] = 1
	r.body, r.breach = encode(o), "an unknown field"
	return true
}

func missingField(g *generator, r *request) bool {
	o, s := r.object()
	if o == nil || len(s.Required) == 0 {
		return false
	}
	name := s.Required[g.IntN(len(s.Required))]
	delete(o, name)
	r.body, r.breach = encode(o), "no "+name
	return true
}

// field draws one of the body's fields that cond likes.
func (g *generator) field(s *openapi3.Schema, cond func(*openapi3.Schema) bool) string {
	var fits []string
	for _, name := range sorted(s.Properties) {
		if cond(s.Properties[name].Value) {
			fits = append(fits, name)
		}
	}
	if len(fits) == 0 {
		return ""
	}
	return fits[g.IntN(len(fits))]
}

func wrongField(g *generator, r *request) bool {
	o, s := r.object()
	if o == nil {
		return false
	}
	name := g.field(s, func(p *openapi3.Schema) bool { return p.Type != nil })
	if name == "" {
		return false
	}
	if s.Properties[name].Value.Type.Is("object") {
		o[name] = "not an object"
	} else {
		o[name] = map[string]any{"not": "this"}
	}
	r.body, r.breach = encode(o), "a wrong "+name
	return true
}

func outOfRange(g *generator, r *request) bool {
	o, s := r.object()
	if o == nil {
		return false
	}
	name := g.field(s, func(p *openapi3.Schema) bool {
		return p.Max != nil || p.MaxLength != nil && *p.MaxLength < 5000 || len(p.Enum) > 0
	})
	if name == "" {
		return false
	}
	switch p := s.Properties[name].Value; {
	case p.Max != nil:
		o[name] = *p.Max + 1
	case len(p.Enum) > 0:
		o[name] = "none-of-them"
	default:
		o[name] = strings.Repeat("x", int(*p.MaxLength)+1)
	}
	r.body, r.breach = encode(o), "out of range: "+name
	return true
}

func nulField(g *generator, r *request) bool {
	o, s := r.object()
	if o == nil {
		return false
	}
	name := g.field(s, func(p *openapi3.Schema) bool { return p.Type.Is("string") && p.Format == "" && len(p.Enum) == 0 })
	if name == "" {
		return false
	}
	o[name] = "a\x00b"
	r.body, r.breach = encode(o), "NUL in "+name
	return true
}

func notJSON(g *generator, r *request) bool {
	if r.body == nil {
		return false
	}
	r.body = []byte([]string{"{", "not json", "{\"a\":}", "\xff\xfe", "[1,2", "{} {}"}[g.IntN(6)])
	r.breach = "no JSON"
	return true
}

func wrongMedia(_ *generator, r *request) bool {
	if r.body == nil {
		return false
	}
	r.media, r.breach = "application/xml", "not declared as JSON"
	return true
}

func deepBody(_ *generator, r *request) bool {
	if r.body == nil {
		return false
	}
	r.body = []byte(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000))
	r.breach = "an abyss"
	return true
}

func wrongTop(g *generator, r *request) bool {
	if r.body == nil {
		return false
	}
	r.body = []byte(fmt.Sprint([]any{"[]", "1", `"text"`, "null"}[g.IntN(4)]))
	r.breach = "no object"
	return true
}
