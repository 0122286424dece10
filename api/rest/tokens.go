package rest

import (
	"context"
	"time"

	"github.com/google/uuid"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/problem"
)

// ListTokens lists the namespace's tokens, newest first, without their secrets.
func (h *Handlers) ListTokens(ctx context.Context, req gen.ListTokensRequestObject) (gen.ListTokensResponseObject, error) {
	p, err := principal(ctx)
	if err != nil {
		return nil, err
	}
	var before uuid.UUID
	if c := req.Params.Cursor; c != nil {
		if before, err = uuid.Parse(*c); err != nil {
			return nil, problem.Field("cursor", "%.50q is no cursor: pass next_cursor of the page before", *c)
		}
	}
	most := 50
	if req.Params.Limit != nil {
		most = *req.Params.Limit
	}
	// One more than asked for tells whether there is a next page.
	tokens, err := access.ListTokens(ctx, h.cfg.Client.Pool(), p.Namespace, before, most+1)
	if err != nil {
		return nil, err
	}
	page := gen.ListTokens200JSONResponse{Items: make([]gen.Token, 0, len(tokens))}
	if len(tokens) > most {
		tokens = tokens[:most]
		page.NextCursor = opt(tokens[most-1].ID.String())
	}
	for _, t := range tokens {
		page.Items = append(page.Items, tokenBody(t))
	}
	return page, nil
}

// CreateToken makes a token of the namespace; its secret is in this answer and nowhere else.
func (h *Handlers) CreateToken(ctx context.Context, req gen.CreateTokenRequestObject) (gen.CreateTokenResponseObject, error) {
	p, err := principal(ctx)
	if err != nil {
		return nil, err
	}
	n := access.NewToken{Name: req.Body.Name, Role: req.Body.Role, Scopes: req.Body.Scopes, Cluster: req.Body.Cluster != nil && *req.Body.Cluster}
	if s := req.Body.ExpiresInS; s != nil {
		if *s < access.MinLife.Seconds() || *s > access.MaxLife.Seconds() {
			return nil, problem.Field("/expires_in_s", "%g seconds: use %g to %g", *s, access.MinLife.Seconds(), access.MaxLife.Seconds())
		}
		n.Life = time.Duration(*s * float64(time.Second))
	}
	t, secret, err := access.CreateToken(ctx, h.cfg.Client.Pool(), p, n)
	if err != nil {
		return nil, err
	}
	return gen.CreateToken201JSONResponse{Token: tokenBody(t), Secret: secret}, nil
}

// RevokeToken ends a token of the namespace, at once.
func (h *Handlers) RevokeToken(ctx context.Context, req gen.RevokeTokenRequestObject) (gen.RevokeTokenResponseObject, error) {
	p, err := principal(ctx)
	if err != nil {
		return nil, err
	}
	if err := access.RevokeToken(ctx, h.cfg.Client.Pool(), p, req.Token); err != nil {
		return nil, err
	}
	return gen.RevokeToken204Response{}, nil
}

// principal is who asks.
func principal(ctx context.Context) (access.Principal, error) {
	p, ok := access.From(ctx)
	if !ok {
		return p, problem.New(gen.ProblemCodeUnauthenticated, "nobody asks")
	}
	return p, nil
}

func tokenBody(t access.Token) gen.Token {
	b := gen.Token{Id: t.ID, Name: t.Name, Prefix: t.Prefix, Role: t.Role, Scopes: t.Scopes, Cluster: opt(t.Cluster), CreatedAt: t.CreatedAt, CreatedBy: t.CreatedBy,
		ExpiresAt: &t.ExpiresAt}
	if !t.LastUsedAt.IsZero() {
		b.LastUsedAt = &t.LastUsedAt
	}
	if !t.RevokedAt.IsZero() {
		b.RevokedAt = &t.RevokedAt
	}
	return b
}
