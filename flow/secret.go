package flow

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A param is secret if its schema says writeOnly: the API masks it. For texts, and lists of them, the tag is
// `jsonschema:"writeOnly=true"`. For everything else the schema's maker passes that over in silence, and the tag is
// `jsonschema_extras:"writeOnly=true"`.

// unheard returns the first field, of t or of a type that t holds, whose tag asks for secrecy in vain.
func unheard(t reflect.Type, seen map[reflect.Type]bool) error {
	if seen[t] {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return unheard(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if slices.Contains(strings.Split(f.Tag.Get("jsonschema"), ","), "writeOnly=true") && !textual(f.Type) {
				return fmt.Errorf("field %s of %v would not be secret, because it is no text: write the tag jsonschema_extras:\"writeOnly=true\"", f.Name, t)
			}
			if err := unheard(f.Type, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// textual tells whether t's schema is that of a text, or of a list of texts.
func textual(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		return textual(t.Elem())
	}
	return text(t) || (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && text(t.Elem())
}

func text(t reflect.Type) bool {
	if s := mapType(t); s != nil {
		return s.Type == "string"
	}
	return t.Kind() == reflect.String || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}
