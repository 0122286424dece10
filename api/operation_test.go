package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"

	"axflow/api/gen"
)

func TestOperationsMustSayWhoMay(t *testing.T) {
	for name, c := range map[string]struct{ operation, says string }{
		"who may":                   {`operationId: x, x-permission: "runs:read"`, ""},
		"nothing":                   {`operationId: x`, "who may is not said"},
		"a permission that is none": {`operationId: x, x-permission: "runs:raed"`, "who may is not said"},
		"a list":                    {`operationId: x, x-permission: ["runs:read"]`, "who may is not said"},
		"everybody, and security":   {`operationId: x, x-permission: public`, "do not agree"},
		"everybody":                 {`operationId: x, x-permission: public, security: []`, ""},
		"no security, and somebody": {`operationId: x, x-permission: self, security: []`, "do not agree"},
		"no id":                     {`x-permission: self`, "empty or taken"},
		"a cookie":                  {`operationId: x, x-permission: self, parameters: [{name: c, in: cookie, schema: {type: string}}]`, "only path, query and header"},
		"an object":                 {`operationId: x, x-permission: self, parameters: [{name: c, in: query, schema: {type: object}}]`, "only strings, numbers"},
		"a form":                    {`operationId: x, x-permission: self, requestBody: {content: {text/plain: {schema: {type: string}}}}`, "only bodies of application/json"},
	} {
		doc, err := openapi3.NewLoader().LoadFromData(fmt.Appendf(nil, `{openapi: 3.0.3, info: {title: t, version: "1"}, paths: {/x: {post: {%s, responses: {}}}}}`, c.operation))
		if err != nil {
			t.Fatal(err)
		}
		_, err = operations(doc)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// The permissions that the server knows are those of the document.
func TestPermissionsAreTheDocuments(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(Spec)
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[gen.Permission]bool)
	for _, p := range permissions {
		known[p] = true
	}
	for _, p := range doc.Components.Schemas["Permission"].Value.Enum {
		if !known[gen.Permission(p.(string))] {
			t.Errorf("permission %s is not known", p)
		}
		delete(known, gen.Permission(p.(string)))
	}
	if len(known) > 0 {
		t.Errorf("permissions that the document does not have: %v", known)
	}
}

func TestRoutesAndDocumentMustAgree(t *testing.T) {
	ops := map[string]*operation{"a": {id: "a", method: "GET", path: "/a/:x"}}
	route := func(method, path string) *echo.Route { return &echo.Route{Method: method, Path: path} }
	for name, c := range map[string]struct {
		routes []*echo.Route
		says   string
	}{
		"they do":            {[]*echo.Route{route("GET", "/a/:x"), route("GET", "/docs")}, ""},
		"a route too many":   {[]*echo.Route{route("GET", "/a/:x"), route("GET", "/debug")}, "GET /debug is not in the document"},
		"a method too many":  {[]*echo.Route{route("GET", "/a/:x"), route("POST", "/a/:x")}, "POST /a/:x is not in the document"},
		"an operation alone": {nil, "GET /a/:x has no route"},
	} {
		err := uncovered(c.routes, ops, []string{"GET /docs"})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// However many credentials ask, the memory for their rates is bounded, and who asks often is not forgotten.
func TestRatesForgetOldCredentials(t *testing.T) {
	now := time.Unix(0, 0)
	r := newRates(1, 2, func() time.Time { return now })
	for range 2 {
		if err := r.take("busy"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 * remembered {
		if err := r.take(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if i%1000 == 0 && r.take("busy") == nil {
			t.Fatalf("after %d others the busy one may ask again", i)
		}
	}
	if n := len(r.young) + len(r.old); n > 2*remembered {
		t.Errorf("%d are remembered", n)
	}
	now = now.Add(time.Second)
	if err := r.take("busy"); err != nil {
		t.Errorf("a second later: %v", err)
	}
	if r.take("busy") == nil {
		t.Error("two in a second, at a rate of one")
	}
}
