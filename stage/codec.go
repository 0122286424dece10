package stage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
)

// DecodeParams reads JSON params into a P, strictly: an unknown field, a value of the wrong type, and
// anything after the value are refused, with an error that names the field. No bytes at all are read as {}.
func DecodeParams[P any](params []byte) (P, error) {
	var p P
	if len(bytes.TrimSpace(params)) == 0 {
		params = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("reading params: %w", plain(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return p, fmt.Errorf("reading params: something follows the JSON value at byte %d: send one value", d.InputOffset())
	}
	if reflect.TypeFor[P]().Kind() == reflect.Struct && bytes.Equal(bytes.TrimSpace(params), []byte("null")) {
		return p, errors.New("reading params: they are null: send an object")
	}
	return p, nil
}

// plain says in words what encoding/json says in terms of Go.
func plain(err error) error {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := t.Field
		if field == "" {
			field = "(the whole)"
		}
		return fmt.Errorf("field %q is of type %s where %s is wanted", field, t.Value, t.Type)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown field %s: remove it or correct its name", name)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends too early")
	}
	return err
}

// EncodeOutput returns the JSON of an output; nil when O is struct{}.
func EncodeOutput[O any](o O) ([]byte, error) {
	if noOutput[O]() {
		return nil, nil
	}
	b, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encoding the output: %w", err)
	}
	return b, nil
}

// DecodeOutput reads what EncodeOutput returned. No bytes are ErrNoOutput, unless O is struct{}.
func DecodeOutput[O any](b []byte) (O, error) {
	var o O
	if noOutput[O]() {
		return o, nil
	}
	if len(b) == 0 {
		return o, ErrNoOutput
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return o, fmt.Errorf("decoding the output into %T: %w", o, err)
	}
	return o, nil
}

func noOutput[O any]() bool { return reflect.TypeFor[O]() == reflect.TypeFor[struct{}]() }

// ParamsOf returns params that Handler.Params decoded as a P.
func ParamsOf[P any](params any) (P, error) {
	p, ok := params.(P)
	if !ok && params != nil {
		return p, fmt.Errorf("params are a %T, not a %v: decode them with Handler.Params", params, reflect.TypeFor[P]())
	}
	return p, nil
}

// shareable tells whether a value of type t can be handed to many handlers at once, because none of them
// can change what the others see. time.Time holds a pointer, but to a location, which nobody changes.
func shareable(t reflect.Type) bool {
	if t == reflect.TypeFor[time.Time]() {
		return true
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !shareable(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return shareable(t.Elem())
	case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Slice, reflect.Chan, reflect.Func, reflect.Interface:
		return false
	default:
		return true
	}
}
