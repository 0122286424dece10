package flow

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// The limits of what runs are found by.
const (
	MaxSearchable      = 10  // params of one flow
	MaxSearchableValue = 200 // bytes of a value; runs with longer ones are not found by them
)

// Searchable makes runs findable by the named params, top-level fields of the params type: param.date:2026-11-29. Each costs a
// row for every run. The values are stored beside the params as plain text, also where params are sealed, so a param that
// the schema declares secret cannot be named. Searchable is part of the content version: runs that were started before are not found.
func Searchable(params ...string) Option {
	return func(g *Graph) { g.Searchable = append(slices.Clone(g.Searchable), params...) }
}

// checkSearchable returns what is wrong with the params that are declared searchable.
func (g *Graph) checkSearchable() []error {
	if len(g.Searchable) == 0 {
		return nil
	}
	var faults Faults
	if n := len(g.Searchable); n > MaxSearchable {
		faults.addf("%d params are searchable, at most %d may be", n, MaxSearchable)
	}
	fields := g.fields()
	for i, name := range g.Searchable {
		field, known := fields[name]
		switch {
		case slices.Contains(g.Searchable[:i], name):
			faults.addf("param %q is searchable twice", clip(name))
		case strings.ContainsAny(name, " \t\n\r:=\"") || name == "":
			faults.addf("param %q cannot be searched: its name is empty or has blanks, a colon, an equals sign or a quote", clip(name))
		case fields != nil && !known:
			faults.addf("param %q is searchable, but the params type has no such field at its top level", clip(name))
		case secret(field):
			faults.addf("param %q is searchable, but the params type declares it secret", clip(name))
		}
	}
	return faults.List
}

// fields are the top-level fields that the params schema knows; nil where it allows anything.
func (g *Graph) fields() map[string]json.RawMessage {
	var schema struct {
		Ref        string                     `json:"$ref"`
		Defs       map[string]json.RawMessage `json:"$defs"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	text := []byte(g.ParamsSchema)
	for range 8 { // references
		schema.Ref = ""
		if json.Unmarshal(text, &schema) != nil {
			return nil
		}
		next, ok := schema.Defs[strings.TrimPrefix(schema.Ref, "#/$defs/")]
		if !ok {
			break
		}
		text = next
	}
	return schema.Properties
}

// secret tells whether a field's schema says writeOnly, as a boolean or as the text that a struct tag becomes.
func secret(schema json.RawMessage) bool {
	var s struct {
		WriteOnly any `json:"writeOnly"`
	}
	return json.Unmarshal(schema, &s) == nil && s.WriteOnly != nil && s.WriteOnly != false && s.WriteOnly != "false"
}

// SearchValues returns the values by which a run with these params is found, by param: scalars as people write them. What is
// null, a list or an object, or longer than MaxSearchableValue, is left out.
func (g *Graph) SearchValues(params []byte) map[string]string {
	if len(g.Searchable) == 0 {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(params, &fields) != nil {
		return nil
	}
	values := make(map[string]string, len(g.Searchable))
	for _, name := range g.Searchable {
		raw, there := fields[name]
		if !there {
			for other, value := range fields { // as encoding/json matches names
				if strings.EqualFold(other, name) {
					raw = value
				}
			}
		}
		if value, ok := scalar(raw); ok && len(value) <= MaxSearchableValue && !strings.ContainsRune(value, 0) {
			values[name] = value
		}
	}
	return values
}

func scalar(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "", false
	}
	switch raw[0] {
	case '{', '[', 'n':
		return "", false
	case '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return "", false
		}
		return s, true
	default:
		return string(raw), true
	}
}
