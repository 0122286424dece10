// Package validate checks requests against the OpenAPI document: parameters, which of them there are, and bodies. All that is wrong
// with a request is said at once. Values are never quoted, for they may be secrets.
package validate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"axflow/api/gen"
	"axflow/api/problem"
)

// Operation checks the requests of one operation. It is safe for concurrent use.
type Operation struct {
	params       []param
	query        []string // the names of those in the query, sorted
	body         *openapi3.Schema
	bodyRequired bool
}

// param is one declared parameter.
type param struct {
	name, in string
	schema   *openapi3.Schema
	required bool
	explode  bool // an array's items are repetitions of the parameter, not a list with commas
}

// New reads what the document says of an operation. It refuses what it could not check: other places and styles of parameters and
// other media types of bodies than the API uses.
func New(item *openapi3.PathItem, op *openapi3.Operation) (*Operation, error) {
	o := &Operation{}
	for _, ref := range slices.Concat(item.Parameters, op.Parameters) {
		p := ref.Value
		if p.Schema == nil || !slices.Contains([]string{openapi3.ParameterInPath, openapi3.ParameterInQuery, openapi3.ParameterInHeader}, p.In) {
			return nil, fmt.Errorf("parameter %s in %s: only path, query and header parameters with a schema are checked", p.Name, p.In)
		}
		if t := p.Schema.Value.Type; t == nil || len(*t) != 1 || t.Is(openapi3.TypeObject) || t.Is(openapi3.TypeArray) && p.In != openapi3.ParameterInQuery {
			return nil, fmt.Errorf("parameter %s: only strings, numbers, booleans, and in queries arrays of these, are checked", p.Name)
		}
		q := param{name: p.Name, in: p.In, schema: p.Schema.Value, required: p.Required, explode: p.Explode == nil || *p.Explode}
		o.params = append(o.params, q)
		if p.In == openapi3.ParameterInQuery {
			o.query = append(o.query, p.Name)
		}
	}
	slices.Sort(o.query)
	if op.RequestBody != nil {
		media := op.RequestBody.Value.GetMediaType("application/json")
		if media == nil || media.Schema == nil || len(op.RequestBody.Value.Content) != 1 {
			return nil, fmt.Errorf("only bodies of application/json are checked")
		}
		o.body, o.bodyRequired = media.Schema.Value, op.RequestBody.Value.Required
	}
	return o, nil
}

// TakesBody tells whether requests may have a body.
func (o *Operation) TakesBody() bool { return o.body != nil }

// Params checks the parameters of a request. path gives the value of a path parameter, still escaped. The error is a
// *problem.Error.
func (o *Operation) Params(path func(name string) string, rawQuery string, header http.Header) error {
	var f faults
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return problem.New(gen.ProblemCodeInvalid, "the query of the URL cannot be read: an escape is wrong, or it holds a semicolon")
	}
	for name := range query {
		if !slices.Contains(o.query, name) {
			f.shape(short(name), "there is no such parameter; %s", o.known())
		}
	}
	for _, p := range o.params {
		var values []string
		switch p.in {
		case openapi3.ParameterInPath:
			text, err := url.PathUnescape(path(p.name))
			if err != nil {
				f.shape(p.name, "an escape in it is wrong")
				continue
			}
			values = []string{text}
		case openapi3.ParameterInQuery:
			values = query[p.name]
		default:
			values = header.Values(p.name)
		}
		p.check(values, &f)
	}
	return f.err()
}

func (o *Operation) known() string {
	if len(o.query) == 0 {
		return "the operation takes none"
	}
	return "there are " + strings.Join(o.query, ", ")
}

func (p *param) check(values []string, f *faults) {
	array := p.schema.Type.Is(openapi3.TypeArray)
	switch {
	case len(values) == 0:
		if p.required {
			f.shape(p.name, "is required")
		}
		return
	case len(values) > 1 && (!array || !p.explode):
		f.shape(p.name, "is there %d times; give it once", len(values))
		return
	}
	for _, v := range values {
		if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
			f.shape(p.name, "is not text: it must be UTF-8 without NUL bytes")
			return
		}
	}
	if !array {
		if v, ok := scalar(p.schema, p.name, values[0], f); ok {
			visit(p.schema, v, p.name, false, f)
		}
		return
	}
	if !p.explode {
		values = strings.Split(values[0], ",")
	}
	items := make([]any, len(values))
	for i, text := range values {
		v, ok := scalar(p.schema.Items.Value, p.name, text, f)
		if !ok {
			return
		}
		items[i] = v
	}
	visit(p.schema, items, p.name, false, f)
}

var (
	integer = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	number  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

// scalar reads a parameter's text as its schema's type, as strictly as JSON does: no NaN, no hexadecimal, no "yes".
func scalar(schema *openapi3.Schema, name, text string, f *faults) (any, bool) {
	switch {
	case schema.Type.Is(openapi3.TypeInteger):
		if !integer.MatchString(text) {
			f.shape(name, "must be a whole number")
			return nil, false
		}
		return json.Number(text), true
	case schema.Type.Is(openapi3.TypeNumber):
		if !number.MatchString(text) {
			f.shape(name, "must be a number")
			return nil, false
		}
		return json.Number(text), true
	case schema.Type.Is(openapi3.TypeBoolean):
		if text != "true" && text != "false" {
			f.shape(name, "must be true or false")
			return nil, false
		}
		return text == "true", true
	default:
		return text, true
	}
}
