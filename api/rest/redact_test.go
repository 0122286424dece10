package rest

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretsAreMaskedWhereverTheyStand(t *testing.T) {
	for name, tc := range map[string]struct{ schema, data, want string }{
		"a schema without secrets": {`{"properties": {"a": {"type": "string"}}}`, `{"a": "x", "b": 1.50}`, `{"a": "x", "b": 1.50}`},
		"a field":                  {`{"properties": {"a": {"writeOnly": true}, "b": {}}}`, `{"a": {"x": [1]}, "b": 12345678901234567890}`, `{"a":"•••","b":12345678901234567890}`},
		"said as a text":           {`{"properties": {"a": {"writeOnly": "true"}}}`, `{"a": 1}`, `{"a":"•••"}`},
		"said not to be":           {`{"properties": {"a": {"writeOnly": false}, "b": {"writeOnly": true}}}`, `{"a": 1}`, `{"a":1}`},
		"nested":                   {`{"properties": {"a": {"properties": {"b": {"properties": {"c": {"writeOnly": true}}}}}}}`, `{"a": {"b": {"c": "x", "d": "<y>"}}}`, `{"a":{"b":{"c":"•••","d":"<y>"}}}`},
		"in lists of lists":        {`{"properties": {"a": {"items": {"items": {"properties": {"b": {"writeOnly": true}}}}}}}`, `{"a": [[{"b": 1}, {"b": null}], []]}`, `{"a":[[{"b":"•••"},{"b":null}],[]]}`},
		"the items":                {`{"properties": {"a": {"items": {"writeOnly": true}}}}`, `{"a": ["x", "y"]}`, `{"a":["•••","•••"]}`},
		"in a tuple":               {`{"properties": {"a": {"prefixItems": [{}, {"writeOnly": true}]}}}`, `{"a": ["x", "y", "z"]}`, `{"a":["x","•••","z"]}`},
		"in a map":                 {`{"properties": {"a": {"additionalProperties": {"properties": {"b": {"writeOnly": true}}}}}}`, `{"a": {"k": {"b": 1}}}`, `{"a":{"k":{"b":"•••"}}}`},
		"by pattern":               {`{"patternProperties": {"^p": {"writeOnly": true}}}`, `{"pin": 1}`, `{"pin":"•••"}`},
		"by reference":             {`{"$defs": {"x": {"properties": {"b": {"writeOnly": true}, "next": {"$ref": "#/$defs/x"}}}}, "$ref": "#/$defs/x"}`, `{"b": 1, "next": {"b": 2, "next": {"b": 3}}}`, `{"b":"•••","next":{"b":"•••","next":{"b":"•••"}}}`},
		"beside a reference":       {`{"$defs": {"x": {"type": "object"}}, "properties": {"a": {"$ref": "#/$defs/x", "writeOnly": true}}}`, `{"a": {"b": 1}}`, `{"a":"•••"}`},
		"in a choice":              {`{"properties": {"a": {"anyOf": [{"type": "string"}, {"properties": {"b": {"writeOnly": true}}}]}}}`, `{"a": {"b": 1}}`, `{"a":{"b":"•••"}}`},
		"in all of":                {`{"allOf": [{"properties": {"a": {"writeOnly": true}}}]}`, `{"a": 1}`, `{"a":"•••"}`},
		"under a condition":        {`{"if": {}, "then": {"properties": {"a": {"writeOnly": true}}}}`, `{"a": 1}`, `{"a":"•••"}`},
		"in other letters":         {`{"properties": {"password": {"writeOnly": true}}}`, `{"PassWord": "x"}`, `{"PassWord":"•••"}`},
		"named twice":              {`{"properties": {"a": {"writeOnly": true}}}`, `{"a": "x", "a": "y"}`, `{"a":"•••"}`},
		"the whole":                {`{"writeOnly": true}`, `{"a": 1}`, `"•••"`},
		"not what it should be":    {`{"properties": {"a": {"properties": {"b": {"writeOnly": true}}}}}`, `{"a": "x"}`, `{"a":"x"}`},
		"a reference to nowhere":   {`{"properties": {"a": {"$ref": "#/$defs/gone"}, "b": {"$ref": "https://example.com/x"}, "c": {"writeOnly": true}}}`, `{"a": 1, "b": 2}`, `{"a":"•••","b":"•••"}`},
		"a circle":                 {`{"$defs": {"x": {"anyOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}]}, "y": {"writeOnly": true}}, "$ref": "#/$defs/x"}`, `{"a": 1}`, `"•••"`},
	} {
		got, err := mask(json.RawMessage(tc.schema), json.RawMessage(tc.data))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, tc.want)
		}
	}
	deep := strings.Repeat(`{"next": `, 500) + `{"b": "deep"}` + strings.Repeat("}", 500)
	schema := json.RawMessage(`{"$defs": {"x": {"properties": {"b": {"writeOnly": true}, "next": {"$ref": "#/$defs/x"}}}}, "$ref": "#/$defs/x"}`)
	if got, err := mask(schema, json.RawMessage(deep)); err != nil || strings.Contains(string(got), "deep") || !strings.Contains(string(got), masked) {
		t.Errorf("500 levels down: %.100s, %v", got, err)
	}
	for _, data := range []string{`{"a": `, `{"a": 1} {"a": 2}`, ``, "\xff"} {
		if got, err := mask(schema, json.RawMessage(data)); err == nil {
			t.Errorf("%q is let through as %s", data, got)
		}
	}
	if got, err := mask(json.RawMessage(`{"writeOnly": `), json.RawMessage(`{}`)); err == nil {
		t.Errorf("by a schema that is no JSON: %s", got)
	}
}

func TestAHookThatFailsLetsNothingOut(t *testing.T) {
	ctx := context.Background()
	for name, hook := range map[string]func(context.Context, Payload) json.RawMessage{
		"panics":       func(context.Context, Payload) json.RawMessage { panic("no") },
		"returns nil":  func(context.Context, Payload) json.RawMessage { return nil },
		"returns text": func(_ context.Context, p Payload) json.RawMessage { return append([]byte("x"), p.JSON...) },
	} {
		h := &Handlers{cfg: Config{Redact: hook, Logger: slog.New(slog.DiscardHandler)}}
		for _, kind := range []string{"output", "log", "failure"} {
			if got := h.redact(ctx, Payload{Kind: kind, JSON: json.RawMessage(`"secret"`)}); string(got) != withheld {
				t.Errorf("a hook that %s: %s", name, got)
			}
		}
	}
	h := &Handlers{cfg: Config{Logger: slog.New(slog.DiscardHandler)}}
	if got := h.redact(ctx, Payload{Kind: "output", JSON: []byte("\xf5AXsecret")}); string(got) != withheld {
		t.Errorf("what is no JSON: %s", got)
	}
	if got := h.redact(ctx, Payload{Kind: "params", JSON: []byte(`{"a": "secret"}`)}); string(got) != withheld { // nobody asks
		t.Errorf("params whose schema cannot be read: %s", got)
	}
	h.cfg.Redact = func(_ context.Context, p Payload) json.RawMessage {
		return json.RawMessage(`{"kind": "` + p.Kind + `"}`)
	}
	if got := h.redact(ctx, Payload{Kind: "output", JSON: []byte(`1`)}); string(got) != `{"kind": "output"}` {
		t.Errorf("the hook's answer: %s", got)
	}
}
