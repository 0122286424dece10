package api

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"

	"axflow/api/gen"
	"axflow/api/validate"
)

// What x-permission says besides the permissions.
const (
	public = "public" // everybody may
	self   = "self"   // whoever has a credential may
)

// operation is one operation of the document.
type operation struct {
	id, method string
	path       string // as the router writes it
	permission string
	streams    bool // its answer has no end
	waits      bool // it may wait for something
	valid      *validate.Operation
}

// permissions are those of the document.
var permissions = []gen.Permission{
	gen.PermissionFlowsRead, gen.PermissionFlowsOperate, gen.PermissionRunsRead, gen.PermissionRunsStart, gen.PermissionRunsOperate,
	gen.PermissionPayloadsRead, gen.PermissionFleetRead, gen.PermissionFleetOperate, gen.PermissionAccessAdmin, gen.PermissionAuditRead,
	gen.PermissionWebhooksAdmin, gen.PermissionSettingsAdmin, gen.PermissionMetricsRead,
}

var pathParameter = regexp.MustCompile(`\{([^}]+)\}`)

// operations reads the document's operations, by id. One that does not say who may is refused.
func operations(doc *openapi3.T) (map[string]*operation, error) {
	ops := make(map[string]*operation)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			o := &operation{id: op.OperationID, method: method, path: pathParameter.ReplaceAllString(path, ":$1")}
			if o.id == "" || ops[o.id] != nil {
				return nil, fmt.Errorf("%s %s: its operationId %q is empty or taken", method, path, o.id)
			}
			o.permission, _ = op.Extensions["x-permission"].(string)
			if o.permission != public && o.permission != self && !slices.Contains(permissions, gen.Permission(o.permission)) {
				return nil, fmt.Errorf("operation %s: x-permission is %q, which is no permission: who may is not said", o.id, o.permission)
			}
			if public := op.Security != nil && len(*op.Security) == 0; public != (o.permission == "public") {
				return nil, fmt.Errorf("operation %s: security and x-permission do not agree on whether it is public", o.id)
			}
			var err error
			if o.valid, err = validate.New(item, op); err != nil {
				return nil, fmt.Errorf("operation %s: %w", o.id, err)
			}
			if ok := op.Responses.Value("200"); ok != nil {
				o.streams = ok.Value.Content["text/event-stream"] != nil
			}
			o.waits = op.Parameters.GetByInAndName(openapi3.ParameterInQuery, "wait_s") != nil
			ops[o.id] = o
		}
	}
	return ops, nil
}

// uncovered refuses routes that the document does not have, which nobody would guard, and operations without a route. extra are
// the routes that guard themselves, by method and path.
func uncovered(routes []*echo.Route, ops map[string]*operation, extra []string) error {
	wanted := make(map[string]bool)
	for _, op := range ops {
		wanted[op.method+" "+op.path] = true
	}
	var errs []error
	for _, r := range routes {
		name := r.Method + " " + r.Path
		if !wanted[name] && !slices.Contains(extra, name) {
			errs = append(errs, fmt.Errorf("route %s is not in the document", name))
		}
		delete(wanted, name)
	}
	for name := range wanted {
		errs = append(errs, fmt.Errorf("operation %s has no route: is api/gen stale?", name))
	}
	return errors.Join(errs...)
}

// guarded makes the document's routes: each goes through admit with its operation.
func (s *Server) guarded() map[string][]echo.MiddlewareFunc {
	all := make(map[string][]echo.MiddlewareFunc, len(s.ops))
	for id, op := range s.ops {
		all[id] = []echo.MiddlewareFunc{s.admit(op)}
	}
	return all
}

// unguarded is the last guard: it refuses a handler that admit did not let the request through to, whatever the routes say.
func unguarded(next gen.StrictHandlerFunc, id string) gen.StrictHandlerFunc {
	return func(c echo.Context, request any) (any, error) {
		if x := exchangeOf(c.Request().Context()); x == nil || x.op == nil || !x.admitted || !strings.EqualFold(x.op.id, id) {
			return nil, fmt.Errorf("operation %s was reached unguarded", id)
		}
		return next(c, request)
	}
}
