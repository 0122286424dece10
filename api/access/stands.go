package access

import (
	"context"
	"fmt"

	"axflow/api/gen"
	"axflow/sql/db"
)

// Stands tells whether the credential that somebody was known by is still one: a token that is neither revoked nor expired, or a
// session that is not over. Streams ask it while they last. Who came without a credential stands.
func (c *Credentials) Stands(ctx context.Context, p Principal) (bool, error) {
	var stands bool
	var err error
	switch p.Via {
	case gen.MeViaToken:
		stands, err = db.New(c.pool).TokenStands(ctx, db.TokenStandsParams{ID: p.Credential, Namespace: p.Namespace})
	case gen.MeViaSession:
		stands, err = db.New(c.pool).SessionStands(ctx, db.SessionStandsParams{ID: p.Credential, Namespace: p.Namespace})
	default:
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("asking whether a credential stands: %w", err)
	}
	return stands, nil
}
