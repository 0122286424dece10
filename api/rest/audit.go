package rest

import (
	"context"

	"axflow/api/gen"
)

// ListAudit is not made yet.
func (h *Handlers) ListAudit(_ context.Context, _ gen.ListAuditRequestObject) (gen.ListAuditResponseObject, error) {
	return nil, errUnmade
}
