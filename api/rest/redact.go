package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	// masked stands where a secret was.
	masked = "•••"
	// withheld stands where a whole payload was that nobody could tell the secrets of.
	withheld = `"withheld: see the server's log"`
	// maxRefs bounds how many references of a schema are followed without going deeper into the data.
	maxRefs = 32
)

// redact is what of a payload may leave the server. Of params, the fields that the flow declares secret (writeOnly in the
// schema) are masked, at any depth; then Config.Redact has its say. What cannot be read, or what the hook fails on, is withheld:
// no fault lets a secret out. Logs go by the hook alone.
func (h *Handlers) redact(ctx context.Context, p Payload) json.RawMessage {
	if len(p.JSON) == 0 {
		return p.JSON
	}
	var err error
	if p.Kind == "params" {
		if p.JSON, err = h.maskParams(ctx, p); err != nil {
			return h.withhold(ctx, p, err)
		}
	} else if p.Kind != "log" && !json.Valid(p.JSON) {
		return h.withhold(ctx, p, errors.New("it is not JSON"))
	}
	if h.cfg.Redact == nil {
		return p.JSON
	}
	out, err := h.hook(ctx, p)
	if err != nil {
		return h.withhold(ctx, p, err)
	}
	return out
}

func (h *Handlers) withhold(ctx context.Context, p Payload, err error) json.RawMessage {
	h.cfg.Logger.WarnContext(ctx, "a payload is withheld: it could not be redacted", "kind", p.Kind, "flow", p.Flow, "stage", p.Stage, "err", err)
	return json.RawMessage(withheld)
}

// hook calls Config.Redact, whose faults must not be the server's.
func (h *Handlers) hook(ctx context.Context, p Payload) (out json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the redaction hook panicked: %v", r)
		}
	}()
	out = h.cfg.Redact(ctx, p)
	if !json.Valid(out) {
		return nil, fmt.Errorf("the redaction hook returned %d bytes that are not JSON", len(out))
	}
	return out, nil
}

// maskParams masks by the schema of the version that the run is pinned to, if the payload names it, and by the newest's: a
// field that was declared secret late is secret in old runs too.
func (h *Handlers) maskParams(ctx context.Context, p Payload) (json.RawMessage, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	newest, err := c.Newest(ctx, p.Flow)
	if err != nil {
		return nil, err
	}
	out := p.JSON
	if p.Graph != nil {
		if out, err = mask(p.Graph.ParamsSchema, out); err != nil {
			return nil, err
		}
	}
	if p.Graph == newest.Graph {
		return out, nil
	}
	return mask(newest.Graph.ParamsSchema, out)
}

// mask replaces what a schema declares secret. Data of a schema without secrets comes back as it is.
func mask(schema, data json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(data) {
		return nil, errors.New("it is not JSON")
	}
	if !bytes.Contains(schema, []byte("writeOnly")) {
		return data, nil
	}
	var s, v any
	if err := decode(schema, &s); err != nil {
		return nil, fmt.Errorf("reading the params schema: %w", err)
	}
	if err := decode(data, &v); err != nil {
		return nil, fmt.Errorf("reading the params: %w", err)
	}
	m := masker{root: s}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m.mask(s, v, 0)); err != nil {
		return nil, fmt.Errorf("encoding the masked params: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func decode(b []byte, into *any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(into)
}

// masker masks values by a schema. Where it cannot tell, it masks.
type masker struct{ root any }

// mask is v without what s declares secret. refs is how many references were followed to get to s.
func (m masker) mask(s, v any, refs int) any {
	schema, ok := s.(map[string]any)
	if !ok || v == nil || v == masked {
		return v // the schemas true and false say nothing of secrets
	}
	if secret(schema) || refs > maxRefs {
		return masked
	}
	if ref, ok := schema["$ref"].(string); ok {
		target, ok := m.find(ref)
		if !ok {
			return masked
		}
		v = m.mask(target, v, refs+1)
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[word].([]any)
		for _, one := range list {
			v = m.mask(one, v, refs+1)
		}
	}
	for _, word := range []string{"if", "then", "else"} {
		v = m.mask(schema[word], v, refs+1)
	}
	switch v := v.(type) {
	case map[string]any:
		return m.object(schema, v)
	case []any:
		return m.list(schema, v)
	default:
		return v
	}
}

func (m masker) object(schema, v map[string]any) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	patterns, _ := schema["patternProperties"].(map[string]any)
	out := make(map[string]any, len(v))
	for name, value := range v {
		known := false
		for declared, s := range properties {
			if strings.EqualFold(declared, name) { // as encoding/json matches names
				value, known = m.mask(s, value, 0), true
			}
		}
		// All patterns, without asking which match: masking too much is no leak.
		for _, s := range patterns {
			value = m.mask(s, value, 0)
		}
		if !known {
			value = m.mask(schema["additionalProperties"], value, 0)
		}
		out[name] = value
	}
	return out
}

func (m masker) list(schema map[string]any, v []any) []any {
	prefix, _ := schema["prefixItems"].([]any)
	out := make([]any, len(v))
	for i, value := range v {
		if i < len(prefix) {
			value = m.mask(prefix[i], value, 0)
		}
		value = m.mask(schema["contains"], value, 0)
		out[i] = m.mask(schema["items"], value, 0)
	}
	return out
}

// secret tells whether a schema says writeOnly: as a boolean, or as the text that some struct tags become.
func secret(schema map[string]any) bool {
	switch w := schema["writeOnly"].(type) {
	case bool:
		return w
	case string:
		return w != "false"
	default:
		return false
	}
}

// find follows a reference within the schema: "#" or "#/a/b".
func (m masker) find(ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	at := m.root
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if name == "" {
			continue
		}
		object, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]; !ok {
			return nil, false
		}
	}
	return at, true
}
