package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// maxParams is what the API takes, in bytes.
const maxParams = 256 << 10

// readParams makes a run's params: text is JSON, @file or - for stdin; on top of it come pairs, which are name=value, and then flags.
func readParams(text string, pairs []string, flags []*paramFlag, stdin io.Reader, fields []field) (json.RawMessage, error) {
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
	set := slices.ContainsFunc(flags, func(p *paramFlag) bool { return len(p.values) > 0 })
	if len(pairs) == 0 && !set {
		return raw, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return nil, usagef("--param and the flags of params set fields of an object, and the params given are none: put all of it into --params")
	}
	if err := setPairs(object, pairs, fields); err != nil {
		return nil, err
	}
	if err := setFields(object, flags); err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

// setPairs puts name=value into the params. What has the name of a field is read as it; other values are JSON if they are, else text.
func setPairs(object map[string]json.RawMessage, pairs []string, fields []field) error {
	var flags []*paramFlag
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return usagef("--param %q is not name=value", pair)
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.name() == name })
		f := field{path: []string{name}}
		if i >= 0 {
			f = fields[i]
		}
		at := slices.IndexFunc(flags, func(p *paramFlag) bool { return p.field.name() == name })
		if at < 0 {
			at, flags = len(flags), append(flags, &paramFlag{field: f})
		}
		if f.array && strings.HasPrefix(text, "[") && json.Valid([]byte(text)) {
			flags[at].field.array, flags[at].values = false, []json.RawMessage{json.RawMessage(text)}
			continue
		}
		if err := flags[at].Set(text); err != nil {
			return usagef("--param %s: %w", name, err)
		}
	}
	return setFields(object, flags)
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
	raw, err := io.ReadAll(io.LimitReader(from, maxParams+1))
	if err != nil {
		return nil, fmt.Errorf("reading the params: %w", err)
	}
	if len(raw) > maxParams {
		return nil, usagef("the params are more than %d bytes, the limit: pass a reference to the data instead", maxParams)
	}
	return raw, nil
}

func jsonFault(raw []byte) error {
	var v any
	return json.Unmarshal(raw, &v)
}
