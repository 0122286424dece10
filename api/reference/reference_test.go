package reference_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"axflow/api/reference"
)

func handlers(t *testing.T) (map[string]http.Handler, *openapi3.T, []byte) {
	t.Helper()
	text, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return reference.Handlers(doc, text), doc, text
}

func get(h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Everything that the document has is in the page, and every link in the page leads somewhere in it.
func TestThePageHasEverything(t *testing.T) {
	all, doc, _ := handlers(t)
	html := get(all[reference.Path], reference.Path).Body.String()
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if !strings.Contains(html, `id="op-`+op.OperationID+`"`) {
				t.Errorf("%s %s is not in the page", method, path)
			}
		}
	}
	for name := range doc.Components.Schemas {
		if !strings.Contains(html, `id="schema-`+name+`"`) {
			t.Errorf("schema %s is not in the page", name)
		}
	}
	for _, code := range doc.Components.Schemas["ProblemCode"].Value.Enum {
		if !strings.Contains(html, `id="`+code.(string)+`"`) {
			t.Errorf("the type of problem %s leads nowhere", code)
		}
	}
	ids := make(map[string]int)
	for _, m := range regexp.MustCompile(`\sid="([^"]+)"`).FindAllStringSubmatch(html, -1) {
		ids[m[1]]++
		if ids[m[1]] > 1 {
			t.Errorf("two things have the id %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if ids[m[1]] == 0 {
			t.Errorf("a link leads to #%s, which is not there", m[1])
		}
	}
}

// The page needs nothing that a strict content policy forbids, and nothing from elsewhere.
func TestThePageNeedsNothingElse(t *testing.T) {
	all, _, _ := handlers(t)
	html := get(all[reference.Path], reference.Path).Body.String()
	for _, forbidden := range []string{"<script", "<style", " style=", " onclick=", `src="http`, `<link rel="stylesheet" href="http`} {
		if strings.Contains(html, forbidden) {
			t.Errorf("the page has %s", forbidden)
		}
	}
	if css := get(all[reference.CSSPath], reference.CSSPath).Body.String(); strings.Contains(css, "url(") || strings.Contains(css, "@import") {
		t.Error("the style loads something")
	}
}

func TestTheDocumentIsServed(t *testing.T) {
	all, _, text := handlers(t)
	w := get(all[reference.YAMLPath], reference.YAMLPath)
	if w.Body.String() != string(text) {
		t.Error("openapi.yaml is not the document")
	}
	if again := get(all[reference.YAMLPath], reference.YAMLPath, "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("what has not changed is sent again: %d, %d bytes", again.Code, again.Body.Len())
	}
	var doc struct {
		OpenAPI string
		Paths   map[string]any
	}
	if err := json.Unmarshal(get(all[reference.JSONPath], reference.JSONPath).Body.Bytes(), &doc); err != nil || doc.OpenAPI != "3.0.3" || len(doc.Paths) < 40 {
		t.Errorf("openapi.json is not the document: %v, %q, %d paths", err, doc.OpenAPI, len(doc.Paths))
	}
}
