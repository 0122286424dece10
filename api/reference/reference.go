// Package reference shows the OpenAPI document to people: one page of HTML, made from the document when the server starts, without
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

// Handlers are the page, its style and the document as YAML and JSON, by path.
func Handlers(doc *openapi3.T, yaml []byte) (map[string]http.Handler, error) {
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
	jsonText, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the document as JSON: %w", err)
	}
	return map[string]http.Handler{
		Path:     file(html.Bytes(), "text/html; charset=utf-8"),
		CSSPath:  file(style, "text/css; charset=utf-8"),
		YAMLPath: file(yaml, "application/yaml"),
		JSONPath: file(jsonText, "application/json"),
	}, nil
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
