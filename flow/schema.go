package flow

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/invopop/jsonschema"
)

// opaque is the schema of types that say nothing about their JSON.
var opaque = []byte("true")

// schemaOf returns the JSON Schema of P. Go types name fields and say which are required (those without
// omitempty); jsonschema tags add titles, bounds, defaults and choices.
func schemaOf[P any]() (json.RawMessage, error) { return reflectSchema(reflect.TypeFor[P]()) }

// reflectSchema returns the JSON Schema of t: whole and without references, unless t holds itself.
func reflectSchema(t reflect.Type) (schema json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v has no JSON: %v", t, r)
		}
	}()
	if e := embedding(t, map[reflect.Type]bool{}); e != nil {
		return nil, fmt.Errorf("%v embeds itself: give the field a name", e)
	}
	if err := unheard(t, map[reflect.Type]bool{}); err != nil {
		return nil, err
	}
	recursive := holdsItself(t, nil)
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: !recursive, Mapper: mapType, Namer: typeName}
	s := r.ReflectFromType(t)
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encoding the schema of %v: %w", t, err)
	}
	if bare := strings.ReplaceAll(string(b), `"$schema":"`+jsonschema.Version+`"`, ""); bare == "{}" {
		return opaque, nil
	}
	return b, nil
}

// mapType gives the schema of types whose JSON does not follow from their Go structure; nil for others.
func mapType(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[uuid.UUID]():
		return &jsonschema.Schema{Type: "string", Format: "uuid"}
	case reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{}
	}
	if t.Kind() == reflect.Interface || describesItself(t) {
		return nil
	}
	switch p := reflect.PointerTo(t); {
	case p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return &jsonschema.Schema{}
	case p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// describesItself tells whether t has the methods by which types give their own schemas.
func describesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[interface{ JSONSchema() *jsonschema.Schema }]()) ||
		t.Implements(reflect.TypeFor[interface{ JSONSchemaAlias() any }]())
}

// typeName tells types of the same name in different packages apart.
func typeName(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	return strings.NewReplacer("/", ".", "[", "_", "]", "_", ",", "_", " ", "").Replace(t.String())
}

// holdsItself tells whether a value of type t can hold another one of a type in above or of t, which would
// make a schema without references endless. above are the types that t is part of.
func holdsItself(t reflect.Type, above []reflect.Type) bool {
	for _, a := range above {
		if a == t {
			return true
		}
	}
	if mapType(t) != nil || t.Kind() != reflect.Interface && describesItself(t) {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holdsItself(t.Elem(), append(above, t))
	case reflect.Struct:
		above = append(above, t)
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() || f.Anonymous {
				if holdsItself(f.Type, above[:len(above):len(above)]) {
					return true
				}
			}
		}
	}
	return false
}

// embedding returns a struct type, t or one that t holds, that embeds itself, in however many steps; nil for
// none. No schema can be made of such a type.
func embedding(t reflect.Type, seen map[reflect.Type]bool) reflect.Type {
	if seen[t] {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return embedding(t.Elem(), seen)
	case reflect.Struct:
		if embeds(t, nil) {
			return t
		}
		for i := range t.NumField() {
			if found := embedding(t.Field(i).Type, seen); found != nil {
				return found
			}
		}
	}
	return nil
}

// embeds tells whether t embeds one of above or itself.
func embeds(t reflect.Type, above []reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for _, a := range above {
		if a == t {
			return true
		}
	}
	above = append(above, t)
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && embeds(f.Type, above[:len(above):len(above)]) {
			return true
		}
	}
	return false
}
