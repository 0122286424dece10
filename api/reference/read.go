package reference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// page is what the template shows.
type page struct {
	Title, Version string
	About          template.HTML
	Groups         []group
	Errors         []problemCode
	Schemas        []schema
}

// group is the operations of a tag.
type group struct {
	Name, Anchor string
	About        template.HTML
	Operations   []operation
}

type operation struct {
	ID, Anchor, Method, Path, Summary, Permission string
	About                                         template.HTML
	Parameters                                    []field
	Body                                          []field
	BodyRef                                       template.HTML // where the body is a named schema
	BodyRequired                                  bool
	Answers                                       []answer
	Curl                                          string
}

type answer struct {
	Status      string
	Type, About template.HTML
}

type schema struct {
	Name, Anchor string
	About        template.HTML
	Type         template.HTML // of one that is no object
	Fields       []field
}

// field is a row: a parameter, or a field of a schema.
type field struct {
	Name, In string
	Required bool
	Type     template.HTML
	About    template.HTML
}

type problemCode struct {
	Code  string
	Where string // its statuses
	About template.HTML
}

func read(doc *openapi3.T) (*page, error) {
	p := &page{Title: doc.Info.Title, Version: doc.Info.Version, About: prose(doc.Info.Description)}
	byTag := make(map[string][]operation)
	for _, path := range paths(doc) {
		item := doc.Paths.Value(path)
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			op := item.GetOperation(method)
			if op == nil {
				continue
			}
			if len(op.Tags) != 1 {
				return nil, fmt.Errorf("operation %s has %d tags: the reference shows it in one place", op.OperationID, len(op.Tags))
			}
			byTag[op.Tags[0]] = append(byTag[op.Tags[0]], readOperation(path, method, item, op))
		}
	}
	for _, t := range doc.Tags {
		p.Groups = append(p.Groups, group{Name: t.Name, Anchor: "tag-" + strings.ReplaceAll(t.Name, " ", "-"), About: prose(t.Description), Operations: byTag[t.Name]})
		delete(byTag, t.Name)
	}
	if len(byTag) > 0 {
		return nil, fmt.Errorf("tags that the document does not list: %v", byTag)
	}
	for name, ref := range doc.Components.Schemas {
		s := schema{Name: name, Anchor: "schema-" + name, About: prose(ref.Value.Description)}
		if s.Fields = fields("", ref.Value); len(s.Fields) == 0 {
			s.Type = typeOf(&openapi3.SchemaRef{Value: ref.Value})
		}
		if name == "ProblemCode" {
			p.Errors = codes(ref.Value.Description)
			s.About = "See the errors above."
		}
		p.Schemas = append(p.Schemas, s)
	}
	slices.SortFunc(p.Schemas, func(a, b schema) int { return cmp.Compare(a.Name, b.Name) })
	return p, nil
}

// paths are the document's, in an order that keeps what belongs together together.
func paths(doc *openapi3.T) []string {
	all := doc.Paths.Keys()
	slices.Sort(all)
	return all
}

func readOperation(path, method string, item *openapi3.PathItem, op *openapi3.Operation) operation {
	o := operation{ID: op.OperationID, Anchor: "op-" + op.OperationID, Method: method, Path: path, Summary: op.Summary, About: prose(op.Description)}
	o.Permission, _ = op.Extensions["x-permission"].(string)
	address := path
	var query []string
	for _, ref := range slices.Concat(item.Parameters, op.Parameters) {
		v := ref.Value
		about := cmp.Or(v.Description, v.Schema.Value.Description)
		o.Parameters = append(o.Parameters, field{Name: v.Name, In: v.In, Required: v.Required, Type: typeOf(v.Schema), About: prose(about)})
		switch {
		case v.In == "path":
			address = strings.ReplaceAll(address, "{"+v.Name+"}", sample(v))
		case v.In == "query" && v.Example != nil:
			query = append(query, v.Name+"="+url.QueryEscape(fmt.Sprint(v.Example)))
		}
	}
	if len(query) > 0 {
		address += "?" + strings.Join(query, "&")
	}
	example := ""
	if op.RequestBody != nil {
		media := op.RequestBody.Value.GetMediaType("application/json")
		o.BodyRequired = op.RequestBody.Value.Required
		if media.Schema.Ref != "" {
			o.BodyRef = typeOf(media.Schema)
		}
		o.Body = fields("", media.Schema.Value)
		example = exampleOf(media)
	}
	o.Curl = curl(method, address, o.Permission, example, op)
	for _, status := range sortedKeys(op.Responses.Map()) {
		r := op.Responses.Value(status).Value
		a := answer{Status: status}
		if r.Description != nil {
			a.About = prose(*r.Description)
		}
		if status == "default" {
			a.Status = "4xx, 5xx"
		}
		for _, media := range sortedKeys(r.Content) {
			a.Type = typeOf(r.Content[media].Schema)
			if r.Content[media].Schema.Ref == "" {
				a.Type = template.HTML("<code>" + template.HTMLEscapeString(media) + "</code>") //nolint:gosec // escaped
			}
		}
		o.Answers = append(o.Answers, a)
	}
	return o
}

// samples are values for the paths of examples.
var samples = map[string]string{ //nolint:gosec // ids that are nobody's
	"run": "01937f2e-5b7e-7cc3-98c4-dc0c0c07398f", "flow": "daily-recon", "stage": "reconcile", "queue": "nightly", "setting": "breaker",
	"index": "117", "token": "01937f2e-0d1c-7a52-b1d7-0f6a1c3f9c11", "worker": "01937f2e-1f44-7d0e-8c55-5f0f3a4b7e22",
	"webhook": "01937f2e-2b3c-7e4d-9a5b-6c7d8e9f0a33", "delivery": "01937f2e-3c4d-7f5e-8b6c-7d8e9f0a1b44", "replay": "01937f2e-4d5e-7a6f-9c7d-8e9f0a1b2c55",
}

func sample(p *openapi3.Parameter) string {
	if enum := p.Schema.Value.Enum; len(enum) > 0 {
		return fmt.Sprint(enum[0])
	}
	return cmp.Or(samples[p.Name], "{"+p.Name+"}")
}

// exampleOf is the body that the document gives as an example, on one line.
func exampleOf(media *openapi3.MediaType) string {
	v := media.Example
	if v == nil {
		for _, name := range sortedKeys(media.Examples) {
			v = media.Examples[name].Value.Value
		}
	}
	if v == nil {
		return ""
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSpace(text.String())
}

func curl(method, address, permission, body string, op *openapi3.Operation) string {
	var b strings.Builder
	b.WriteString("curl ")
	if ok := op.Responses.Value("200"); ok != nil && ok.Value.Content["text/event-stream"] != nil {
		b.WriteString("-N ")
	}
	if method != "GET" && (method != "POST" || body == "") {
		b.WriteString("-X " + method + " ")
	}
	if permission != "public" {
		b.WriteString(`-H "Authorization: Bearer $AX_TOKEN" `)
	}
	if body != "" {
		b.WriteString("-H 'Content-Type: application/json' \\\n  -d '" + strings.ReplaceAll(body, "'", `'\''`) + "' \\\n  ")
	}
	b.WriteString(`"$AX_URL` + address + `"`)
	return b.String()
}

// fields are an object's, those of objects inside it after it.
func fields(prefix string, s *openapi3.Schema) []field {
	var all []field
	for _, name := range inOrder(s) {
		ref := s.Properties[name]
		about := ref.Value.Description
		if ref.Ref != "" && ref.Value.Type.Is("object") {
			about = ""
		}
		all = append(all, field{Name: prefix + name, Required: slices.Contains(s.Required, name), Type: typeOf(ref), About: prose(about)})
		if ref.Ref == "" {
			all = append(all, fields(prefix+name+".", ref.Value)...)
		}
	}
	return all
}

// inOrder are an object's fields, the required ones first as the document lists them, then the others by name.
func inOrder(s *openapi3.Schema) []string {
	var names []string
	for _, name := range s.Required {
		if s.Properties[name] != nil {
			names = append(names, name)
		}
	}
	for _, name := range sortedKeys(s.Properties) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// typeOf says what a value is, with a link where it has a name of its own.
func typeOf(ref *openapi3.SchemaRef) template.HTML {
	if ref == nil {
		return ""
	}
	if name, ok := strings.CutPrefix(ref.Ref, "#/components/schemas/"); ok && name != "Reason" && name != "DryRun" {
		name = template.HTMLEscapeString(name)
		return template.HTML(`<a href="#schema-` + name + `">` + name + `</a>`) //nolint:gosec // escaped
	}
	s := ref.Value
	switch {
	case len(s.Enum) > 0:
		texts := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			texts[i] = "<code>" + template.HTMLEscapeString(fmt.Sprint(v)) + "</code>"
		}
		return template.HTML(strings.Join(texts, " ")) //nolint:gosec // escaped
	case s.Type.Is("array"):
		return "array of " + typeOf(s.Items) + bounds(s)
	case s.Type.Is("object") && s.AdditionalProperties.Schema != nil:
		return "object of " + typeOf(s.AdditionalProperties.Schema) + bounds(s)
	case s.Type == nil:
		return "any JSON"
	}
	text := strings.Join(s.Type.Slice(), " or ")
	if s.Format != "" && s.Format != "double" && s.Format != "int64" {
		text = s.Format
	}
	return template.HTML(template.HTMLEscapeString(text)) + bounds(s) //nolint:gosec // escaped
}

// bounds says what a value may be and what it is unless said.
func bounds(s *openapi3.Schema) template.HTML {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	number := func(v float64) string {
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.6f", v), "0"), ".")
	}
	switch {
	case s.Min != nil && s.Max != nil:
		add("%s to %s", number(*s.Min), number(*s.Max))
	case s.Min != nil:
		add("at least %s", number(*s.Min))
	case s.Max != nil:
		add("at most %s", number(*s.Max))
	}
	if s.MaxLength != nil {
		add("at most %d characters", *s.MaxLength)
	}
	if s.MaxItems != nil {
		add("at most %d", *s.MaxItems)
	}
	if s.MaxProps != nil {
		add("at most %d", *s.MaxProps)
	}
	if s.Default != nil {
		add("default %v", s.Default)
	}
	if len(all) == 0 {
		return ""
	}
	return template.HTML(` <span class="bounds">` + template.HTMLEscapeString(strings.Join(all, "; ")) + `</span>`) //nolint:gosec // escaped
}

var codeLine = regexp.MustCompile("^- `([a-z_]+)` \\(([0-9, ]+)\\)(?:: (.*))?$")

// codes reads the catalogue of errors, which the document keeps as a list.
func codes(text string) []problemCode {
	var all []problemCode
	for line := range strings.SplitSeq(text, "\n") {
		if m := codeLine.FindStringSubmatch(line); m != nil {
			all = append(all, problemCode{Code: m[1], Where: m[2], About: prose(m[3])})
		}
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
