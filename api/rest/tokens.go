package rest

import (
	"context"

	"axflow/api/gen"
)

// ListTokens is not made yet.
func (h *Handlers) ListTokens(_ context.Context, _ gen.ListTokensRequestObject) (gen.ListTokensResponseObject, error) {
	return nil, errUnmade
}

// CreateToken is not made yet.
func (h *Handlers) CreateToken(_ context.Context, _ gen.CreateTokenRequestObject) (gen.CreateTokenResponseObject, error) {
	return nil, errUnmade
}

// RevokeToken is not made yet.
func (h *Handlers) RevokeToken(_ context.Context, _ gen.RevokeTokenRequestObject) (gen.RevokeTokenResponseObject, error) {
	return nil, errUnmade
}
