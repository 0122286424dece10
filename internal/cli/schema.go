package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// field is a value of a flow's params that a flag can set.
type field struct {
	path        []string // names from the top
	kind        string   // "string", "integer", "number", "boolean", or "" for any JSON
	array       bool     // several values of the kind
	enum        []string
	format      string // such as date-time
	description string
	fallback    string // the default, as JSON; "" where there is none
	required    bool
	nullable    bool // null is a value of it
}

// name is the flag's, without dashes.
func (f field) name() string { return strings.Join(f.path, ".") }

// schema is as much of a JSON Schema as flags need.
type schema struct {
	Ref         string             `json:"$ref"`
	Defs        map[string]*schema `json:"$defs"`
	Type        types              `json:"type"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *schema            `json:"items"`
	Enum        []json.RawMessage  `json:"enum"`
	AnyOf       []*schema          `json:"anyOf"`
	OneOf       []*schema          `json:"oneOf"`
	Format      string             `json:"format"`
	Description string             `json:"description"`
	Default     json.RawMessage    `json:"default"`
}

// UnmarshalJSON reads a schema, which may also be a bare true or false: those say nothing about flags.
func (s *schema) UnmarshalJSON(raw []byte) error {
	if text := string(raw); text == "true" || text == "false" {
		return nil
	}
	type plain schema
	return json.Unmarshal(raw, (*plain)(s))
}

// types is one type or several.
type types []string

// UnmarshalJSON reads a text or a list of them.
func (t *types) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(t))
}

// maxDepth bounds how deep flags go into objects; what is deeper is set as JSON.
const maxDepth = 4

// fieldsOf lists what flags can set, by name. A schema that is none, or odd, has no fields: params are then given as JSON.
func fieldsOf(raw json.RawMessage) []field {
	var root schema
	if json.Unmarshal(raw, &root) != nil {
		return nil
	}
	var all []field
	root.fields(&root, nil, true, &all)
	slices.SortFunc(all, func(a, b field) int { return strings.Compare(a.name(), b.name()) })
	return all
}

// resolved follows references, and takes the one alternative that is not null.
func (s *schema) resolved(root *schema) *schema {
	for range maxDepth {
		if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok && root.Defs[name] != nil {
			to := *root.Defs[name]
			if s.Description != "" {
				to.Description = s.Description
			}
			if s.Default != nil {
				to.Default = s.Default
			}
			s = &to
			continue
		}
		some := make([]*schema, 0, 2)
		for _, x := range slices.Concat(s.AnyOf, s.OneOf) {
			if len(x.Type) != 1 || x.Type[0] != "null" {
				some = append(some, x)
			}
		}
		if len(some) != 1 || s.Properties != nil {
			break
		}
		to := *some[0]
		if to.Description == "" {
			to.Description = s.Description
		}
		s = &to
	}
	return s
}

// only is the type of a value that may be of one type, or null; else "".
func (t types) only() string {
	kinds := slices.DeleteFunc(slices.Clone(t), func(x string) bool { return x == "null" })
	if len(kinds) != 1 {
		return ""
	}
	return kinds[0]
}

func (s *schema) fields(root *schema, path []string, required bool, all *[]field) {
	s = s.resolved(root)
	kind := s.Type.only()
	if len(s.Properties) > 0 && len(path) < maxDepth && (kind == "object" || kind == "") {
		for name, p := range s.Properties {
			p.fields(root, append(slices.Clone(path), name), required && slices.Contains(s.Required, name), all)
		}
		return
	}
	if len(path) == 0 {
		return
	}
	f := field{path: path, description: s.Description, required: required, format: s.Format, enum: enumTexts(s.Enum), nullable: slices.Contains(s.Type, "null")}
	if s.Default != nil {
		f.fallback = string(s.Default)
	}
	switch kind {
	case "string", "integer", "number", "boolean":
		f.kind = kind
	case "array":
		if s.Items == nil {
			break
		}
		items := s.Items.resolved(root)
		switch k := items.Type.only(); k {
		case "string", "integer", "number", "boolean":
			f.kind, f.array, f.enum, f.format = k, true, enumTexts(items.Enum), items.Format
		}
	}
	*all = append(*all, f)
}

// enumTexts writes the values that a field may have as flags take them.
func enumTexts(raw []json.RawMessage) []string {
	texts := make([]string, 0, len(raw))
	for _, r := range raw {
		var text string
		if json.Unmarshal(r, &text) != nil {
			text = string(r)
		}
		texts = append(texts, text)
	}
	return texts
}

// usage is what help says of the flag.
func (f field) usage() string {
	var parts []string
	if f.description != "" {
		parts = append(parts, f.description)
	}
	if len(f.enum) > 0 {
		parts = append(parts, "one of "+listed(f.enum))
	} else if f.format != "" {
		parts = append(parts, f.format)
	}
	if f.array {
		parts = append(parts, "may be repeated")
	}
	switch {
	case f.fallback != "":
		parts = append(parts, fmt.Sprintf("(default %s)", f.fallback))
	case f.required:
		parts = append(parts, "(required)")
	}
	return strings.Join(parts, "; ")
}
