package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// operation is one of the document's.
type operation struct {
	method, path string
	*openapi3.Operation
	parameters openapi3.Parameters
}

func operations(doc *openapi3.T) []operation {
	var all []operation
	for _, path := range sorted(doc.Paths.Map()) {
		item := doc.Paths.Value(path)
		for _, method := range sorted(item.Operations()) {
			op := item.Operations()[method]
			all = append(all, operation{method, path, op, append(slices.Clone(item.Parameters), op.Parameters...)})
		}
	}
	return all
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// request is one call, before it is written.
type request struct {
	op     operation
	path   map[string]string
	query  url.Values
	header http.Header
	body   []byte // nil: none
	media  string
	// breach says why the document forbids it; "": it does not.
	breach string
}

// body is the schema of the operation's JSON body; nil: it takes none.
func (o operation) body() *openapi3.Schema {
	if o.RequestBody == nil {
		return nil
	}
	return o.RequestBody.Value.Content.Get("application/json").Schema.Value
}

// fitting draws a request that the document allows.
func (g *generator) fitting(op operation) request {
	r := request{op: op, path: map[string]string{}, query: url.Values{}, header: http.Header{}, media: "application/json"}
	for _, ref := range op.parameters {
		p := ref.Value
		if !p.Required && g.IntN(3) > 0 {
			continue
		}
		v := g.value(p.Name, p.Schema.Value, 0)
		switch p.In {
		case "path":
			r.path[p.Name] = fmt.Sprint(v)
		case "header":
			r.header.Set(p.Name, url.QueryEscape(fmt.Sprint(v)))
		default:
			if list, ok := v.([]any); ok {
				var words []string
				for _, item := range list {
					words = append(words, fmt.Sprint(item))
				}
				if p.Explode == nil || *p.Explode {
					r.query[p.Name] = words
				} else if len(words) > 0 {
					r.query.Set(p.Name, strings.Join(words, ","))
				}
			} else {
				r.query.Set(p.Name, fmt.Sprint(v))
			}
		}
	}
	// A request that would wait is no more interesting than one that does not.
	if r.query.Has("wait_s") {
		r.query.Set("wait_s", "0.05")
	}
	if s := op.body(); s != nil && (op.RequestBody.Value.Required || g.IntN(2) == 0) {
		r.body = encode(g.value("", s, 0))
	}
	return r
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// http writes the request.
func (r request) http() *http.Request {
	path := r.op.path
	for name, v := range r.path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(v))
	}
	u := "http://127.0.0.1:7780" + path
	if len(r.query) > 0 {
		u += "?" + r.query.Encode()
	}
	req := httptest.NewRequest(r.op.method, u, bytes.NewReader(r.body))
	for name, values := range r.header {
		req.Header[name] = values
	}
	if r.body != nil {
		req.Header.Set("Content-Type", r.media)
	}
	return req
}

// String is the request as a reader of a failure wants it.
func (r request) String() string {
	req := r.http()
	body := string(r.body)
	if len(body) > 600 {
		body = body[:600] + "…"
	}
	return fmt.Sprintf("%s %s %s", req.Method, req.URL, body)
}
