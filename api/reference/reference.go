// Package reference shows the OpenAPI document to people: one page of HTML, made from the document, without
// scripts and without anything from elsewhere, so that it can be read offline and under the strictest content policy.
package reference

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// Where things are.
const (
	Path     = "/api/docs"
	CSSPath  = "/api/docs/style.css"
	YAMLPath = "/api/openapi.yaml"
	JSONPath = "/api/openapi.json"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style []byte

// Handlers are the page, its style and the document as YAML and JSON, by path. The page is made when it is first asked for: a
// server that lives as long as one command has no use for it. What cannot be made is answered with 500 and the reason.
func Handlers(doc *openapi3.T, yaml []byte) map[string]http.Handler {
	return map[string]http.Handler{
		Path: made("text/html; charset=utf-8", func() ([]byte, error) { return render(doc) }),
		JSONPath: made("application/json", func() ([]byte, error) {
			text, err := json.MarshalIndent(doc, "", "  ")
			if err != nil {
				return nil, fmt.Errorf("writing the document as JSON: %w", err)
			}
			return text, nil
		}),
		CSSPath:  file(style, "text/css; charset=utf-8"),
		YAMLPath: file(yaml, "application/yaml"),
	}
}

// render writes the page.
func render(doc *openapi3.T) ([]byte, error) {
	p, err := read(doc)
	if err != nil {
		return nil, err
	}
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("reading the reference's template: %w", err)
	}
	var html bytes.Buffer
	if err := page.Execute(&html, p); err != nil {
		return nil, fmt.Errorf("writing the reference: %w", err)
	}
	return html.Bytes(), nil
}

// made serves a file that is made at the first request.
func made(contentType string, write func() ([]byte, error)) http.Handler {
	ready := sync.OnceValues(func() (http.Handler, error) {
		text, err := write()
		if err != nil {
			return nil, err
		}
		return file(text, contentType), nil
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, err := ready()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// file serves what does not change while the process lives; a browser asks whether it has.
func file(text []byte, contentType string) http.Handler {
	sum := sha256.Sum256(text)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Content-Type", contentType)
		_, _ = w.Write(text)
	})
}
