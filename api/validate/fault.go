package validate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/api/problem"
)

// most is how many faults are told; the others are counted.
const most = 20

// faults are what is wrong with a request.
type faults struct {
	fields   []gen.FieldError
	mistaken bool // its shape is wrong, not only values
}

// shape notes that a field is not what it must be: status 400.
func (f *faults) shape(field, format string, args ...any) {
	f.mistaken = true
	f.value(field, format, args...)
}

// value notes that a field's value is not allowed: status 422.
func (f *faults) value(field, format string, args ...any) {
	f.fields = append(f.fields, gen.FieldError{Field: field, Detail: fmt.Sprintf(format, args...)})
}

func (f *faults) err() error {
	if len(f.fields) == 0 {
		return nil
	}
	slices.SortFunc(f.fields, func(a, b gen.FieldError) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Detail, b.Detail))
	})
	f.fields = slices.Compact(f.fields)
	e := &problem.Error{Code: gen.ProblemCodeInvalid, Status: http.StatusUnprocessableEntity, Fields: f.fields}
	if f.mistaken {
		e.Status = http.StatusBadRequest
	}
	switch n := len(f.fields); {
	case n == 1:
		e.Detail = fmt.Sprintf("%s: %s", cmp.Or(f.fields[0].Field, "the body"), f.fields[0].Detail)
	case n > most:
		e.Detail = fmt.Sprintf("%d fields are wrong; these are the first %d", n, most)
		e.Fields = f.fields[:most]
	default:
		e.Detail = fmt.Sprintf("%d fields are wrong", n)
	}
	return e
}

// formats are stricter than the library's, which lets through what the handlers' types do not.
var formats = []openapi3.SchemaValidationOption{
	openapi3.MultiErrors(),
	openapi3.VisitAsRequest(),
	openapi3.EnableFormatValidation(),
	openapi3.WithStringFormatValidator("uuid", openapi3.NewCallbackValidator(func(text string) error {
		if len(text) != 36 {
			return errors.New("wrong length")
		}
		return uuid.Validate(text)
	})),
	openapi3.WithStringFormatValidator("date-time", openapi3.NewCallbackValidator(func(text string) error {
		_, err := time.Parse(time.RFC3339Nano, text)
		return err
	})),
}

// visit checks a value against a schema. at is the parameter's name, or with pointer the place of the value in the body.
func visit(schema *openapi3.Schema, value any, at string, pointer bool, f *faults) {
	switch err := schema.VisitJSON(value, formats...).(type) { //nolint:errorlint // As of a MultiError would stop at its first
	case nil:
	case openapi3.MultiError:
		for _, one := range err {
			f.fault(one, at, pointer)
		}
	default:
		f.fault(err, at, pointer)
	}
}

func (f *faults) fault(err error, at string, pointer bool) {
	var several openapi3.MultiError
	var one *openapi3.SchemaError
	switch {
	case errors.As(err, &one):
		if pointer {
			at += pointerTo(one.JSONPointer())
		}
		f.schema(at, one, pointer)
	case errors.As(err, &several):
		for _, e := range several {
			f.fault(e, at, pointer)
		}
	default:
		f.shape(at, "does not match the reference")
	}
}

// schema notes what a schema says against a value, in our words: the library's name the keyword, not the way out.
func (f *faults) schema(field string, e *openapi3.SchemaError, pointer bool) {
	s := e.Schema
	switch e.SchemaField {
	case "type":
		if _, ok := e.Value.(json.Number); ok && strings.HasPrefix(e.Reason, "cannot convert") {
			f.shape(field, "is too great a number")
			return
		}
		f.shape(field, "must be %s", named(s.Type))
	case "nullable":
		if !s.IsEmpty() { // an empty schema takes any value, null too
			f.shape(field, "must not be null")
		}
	case "required":
		f.shape(field, "is required")
	case "properties":
		object, ok := e.Value.(map[string]any)
		if !ok || !pointer {
			f.shape(field, "does not match the reference")
			return
		}
		for name := range object {
			if s.Properties[name] == nil {
				f.shape(field+"/"+escape(name), "there is no such field; there are %s", fieldsOf(s))
			}
		}
	case "format":
		switch s.Format {
		case "uuid":
			f.shape(field, "must be a UUID, such as 01937f2e-5b7e-7cc3-98c4-dc0c0c07398f")
		case "date-time":
			f.shape(field, "must be a time as RFC 3339 writes it, such as 2026-11-29T08:00:00Z")
		default:
			f.shape(field, "must be a value of the format %s", s.Format)
		}
	case "enum":
		texts := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			texts[i] = fmt.Sprint(v)
		}
		f.value(field, "must be one of %s", strings.Join(texts, ", "))
	case "minimum":
		f.value(field, "must be at least %s", plain(*s.Min))
	case "maximum":
		f.value(field, "must be at most %s", plain(*s.Max))
	case "minLength":
		f.value(field, "must have at least %s", count(s.MinLength, "character"))
	case "maxLength":
		f.value(field, "must have at most %s", count(*s.MaxLength, "character"))
	case "minItems":
		f.value(field, "must have at least %s", count(s.MinItems, "item"))
	case "maxItems":
		f.value(field, "must have at most %s", count(*s.MaxItems, "item"))
	case "maxProperties":
		f.value(field, "must have at most %s", count(*s.MaxProps, "field"))
	case "uniqueItems":
		f.value(field, "names something twice")
	default:
		f.value(field, "%s", e.Reason)
	}
}

// named says what a value of a type is.
func named(t *openapi3.Types) string {
	switch {
	case t.Is(openapi3.TypeInteger):
		return "a whole number"
	case t.Is(openapi3.TypeNumber):
		return "a number"
	case t.Is(openapi3.TypeBoolean):
		return "true or false"
	case t.Is(openapi3.TypeArray):
		return "an array"
	case t.Is(openapi3.TypeObject):
		return "an object"
	default:
		return "a string"
	}
}

func fieldsOf(s *openapi3.Schema) string {
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// plain writes a bound without an exponent.
func plain(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.6f", v), "0"), ".")
}

func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// pointerTo is a JSON pointer (RFC 6901).
func pointerTo(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		b.WriteString(escape(p))
	}
	return b.String()
}

func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(short(name))
}

// short cuts a name that a client made up.
func short(name string) string {
	name = strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", "�"), "�")
	if runes := []rune(name); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return name
}
