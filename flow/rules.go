package flow

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// rules is the part of a JSON Schema that is checked.
type rules struct {
	anything, nothing bool // the schemas true and false

	Ref                  string            `json:"$ref"`
	Defs                 map[string]*rules `json:"$defs"`
	Type                 string            `json:"type"`
	Properties           map[string]*rules `json:"properties"`
	PatternProperties    map[string]*rules `json:"patternProperties"`
	AdditionalProperties *rules            `json:"additionalProperties"`
	Required             []string          `json:"required"`
	Items                *rules            `json:"items"`
	OneOf                []*rules          `json:"oneOf"`
	AnyOf                []*rules          `json:"anyOf"`
	Enum                 []json.RawMessage `json:"enum"`
	Const                json.RawMessage   `json:"const"`
	Minimum              json.Number       `json:"minimum"`
	Maximum              json.Number       `json:"maximum"`
	ExclusiveMinimum     json.Number       `json:"exclusiveMinimum"`
	ExclusiveMaximum     json.Number       `json:"exclusiveMaximum"`
	MinLength            *int              `json:"minLength"`
	MaxLength            *int              `json:"maxLength"`
	Pattern              string            `json:"pattern"`
	MinItems             *int              `json:"minItems"`
	MaxItems             *int              `json:"maxItems"`
	UniqueItems          bool              `json:"uniqueItems"`
	Format               string            `json:"format"`

	pattern  *regexp.Regexp
	patterns map[string]*regexp.Regexp
}

// readRules reads a schema; none at all lets anything pass.
func readRules(schema []byte) (*rules, error) {
	if len(schema) == 0 {
		return &rules{anything: true}, nil
	}
	r := new(rules)
	if err := json.Unmarshal(schema, r); err != nil {
		return nil, fmt.Errorf("reading it: %w", err)
	}
	return r, nil
}

// UnmarshalJSON reads a schema, which may be true or false, and compiles its patterns.
func (r *rules) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true":
		r.anything = true
		return nil
	case "false":
		r.nothing = true
		return nil
	}
	type bare rules
	if err := json.Unmarshal(b, (*bare)(r)); err != nil {
		return err
	}
	var err error
	if r.Pattern != "" {
		if r.pattern, err = regexp.Compile(r.Pattern); err != nil {
			return fmt.Errorf("pattern %q: %w", r.Pattern, err)
		}
	}
	r.patterns = make(map[string]*regexp.Regexp, len(r.PatternProperties))
	for p := range r.PatternProperties {
		if r.patterns[p], err = regexp.Compile(p); err != nil {
			return fmt.Errorf("pattern %q: %w", p, err)
		}
	}
	return nil
}
