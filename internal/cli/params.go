package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"axflow/engine/control"
)

// readParams makes a run's params: text is JSON, @file or - for stdin; pairs are name=value, set on top of it.
// A value is taken as text where the schema says that the field is text, else as JSON if it is JSON, else as text.
func readParams(text string, pairs []string, stdin io.Reader, schema json.RawMessage) ([]byte, error) {
	raw, err := paramsText(text, stdin)
	if err != nil {
		return nil, err
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	if !json.Valid(raw) {
		return nil, usagef("the params are not valid JSON: %s: check the quotes, or use --param name=value", jsonFault(raw))
	}
	if len(pairs) == 0 {
		return raw, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return nil, usagef("--param sets a field of an object, and the params given are none: put all of it into --params")
	}
	kinds := fieldKinds(schema)
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usagef("--param %q is not name=value", pair)
		}
		object[name] = fieldValue(value, kinds[name])
	}
	return json.Marshal(object)
}

func paramsText(text string, stdin io.Reader) ([]byte, error) {
	var from io.Reader
	switch {
	case text == "-":
		from = stdin
	case strings.HasPrefix(text, "@"):
		f, err := os.Open(text[1:])
		if err != nil {
			return nil, usagef("reading the params: %w", err)
		}
		defer func() { _ = f.Close() }()
		from = f
	default:
		return []byte(text), nil
	}
	raw, err := io.ReadAll(io.LimitReader(from, control.MaxParams+1))
	if err != nil {
		return nil, fmt.Errorf("reading the params: %w", err)
	}
	if len(raw) > control.MaxParams {
		return nil, usagef("the params are more than %d bytes, the limit: pass a reference to the data instead", control.MaxParams)
	}
	return raw, nil
}

func jsonFault(raw []byte) error {
	var v any
	return json.Unmarshal(raw, &v)
}

// fieldKinds reads the types that a params schema gives its fields; a field may have several.
func fieldKinds(schema json.RawMessage) map[string][]string {
	type object struct {
		Ref        string `json:"$ref"`
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	var s struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil // no schema, or an odd one: values speak for themselves
	}
	from := s.object
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		from = s.Defs[name]
	}
	kinds := make(map[string][]string, len(from.Properties))
	for name, p := range from.Properties {
		switch t := p.Type.(type) {
		case string:
			kinds[name] = []string{t}
		case []any:
			for _, x := range t {
				if k, ok := x.(string); ok {
					kinds[name] = append(kinds[name], k)
				}
			}
		}
	}
	return kinds
}

func fieldValue(value string, kinds []string) json.RawMessage {
	isText := len(kinds) == 1 && kinds[0] == "string"
	if !isText && json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	quoted, err := json.Marshal(value)
	if err != nil { // strings always marshal
		return json.RawMessage("null")
	}
	return quoted
}

// readTags reads name=value pairs.
func readTags(pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	tags := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usagef("--tag %q is not name=value", pair)
		}
		tags[name] = value
	}
	return tags, nil
}
