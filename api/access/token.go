package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/sql/db"
)

// How long tokens live.
const (
	DefaultLife = 90 * 24 * time.Hour
	MinLife     = time.Minute
	MaxLife     = 3650 * 24 * time.Hour
)

// MaxName is the longest name of a token, in characters.
const MaxName = 100

// NewToken says what a token shall be.
type NewToken struct {
	// Name tells it from the namespace's other live tokens: 1 to MaxName printable characters.
	Name string
	Role gen.Role
	// Scopes narrow the role to these permissions, each of which the role has; nil: all of them.
	Scopes []gen.Permission
	// Cluster lets an admin change what concerns the whole database.
	Cluster bool
	// Life is how long it is valid, MinLife to MaxLife. Default DefaultLife.
	Life time.Duration
}

// Token is a token without its secret.
type Token struct {
	ID           uuid.UUID
	Name, Prefix string
	Role         gen.Role
	Scopes       []gen.Permission // nil: all that the role has
	Cluster      bool
	CreatedAt    time.Time
	CreatedBy    string
	ExpiresAt    time.Time
	LastUsedAt   time.Time // to the minute; zero: never
	RevokedAt    time.Time // zero: it is not
}

// CreateToken makes a token in the maker's namespace and returns it with its secret, which is kept nowhere. A token has nothing
// that its maker does not have; more is refused as forbidden, a live token of the same name as conflict. The audit says
// who made it, in the same transaction.
//
// It needs no server: whoever may write the database may make the first token, as the maker that they say they are.
func CreateToken(ctx context.Context, pool *pgxpool.Pool, maker Principal, n NewToken) (Token, string, error) {
	if n.Life == 0 {
		n.Life = DefaultLife
	}
	if err := n.check(); err != nil {
		return Token{}, "", err
	}
	if err := maker.mayGive(n); err != nil {
		return Token{}, "", err
	}
	secret := newSecret()
	t := Token{ID: uuid.Must(uuid.NewV7()), Name: n.Name, Prefix: secret[:prefixLen], Role: n.Role, Scopes: n.Scopes, Cluster: n.Cluster, CreatedBy: maker.Actor}
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		q := db.New(tx)
		if err := q.FreeTokenName(ctx, db.FreeTokenNameParams{Namespace: maker.Namespace, Name: n.Name}); err != nil {
			return fmt.Errorf("freeing the token's name: %w", err)
		}
		row, err := q.InsertToken(ctx, db.InsertTokenParams{ID: t.ID, Namespace: maker.Namespace, Name: n.Name, Prefix: t.Prefix, Hash: digest(secret),
			Role: string(n.Role), Scopes: texts(n.Scopes), Cluster: n.Cluster, CreatedBy: maker.Actor, LifeS: n.Life.Seconds()})
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.New(gen.ProblemCodeConflict, "there is a live token named %q already: revoke it first, or take another name", n.Name)
		}
		if err != nil {
			return fmt.Errorf("storing the token: %w", err)
		}
		t.CreatedAt, t.ExpiresAt = row.CreatedAt, row.ExpiresAt
		detail := map[string]any{"name": n.Name, "prefix": t.Prefix, "role": n.Role, "expires_at": t.ExpiresAt}
		if n.Scopes != nil {
			detail["scopes"] = n.Scopes
		}
		if n.Cluster {
			detail["cluster"] = true
		}
		return audit(ctx, q, maker, "create_token", "token/"+t.ID.String(), detail)
	})
	if err != nil {
		return Token{}, "", err
	}
	return t, secret, nil
}

// check refuses what makes no token.
func (n NewToken) check() error {
	switch length := utf8.RuneCountInString(n.Name); {
	case length == 0 || length > MaxName || !utf8.ValidString(n.Name):
		return problem.Field("/name", "a name of %d characters: use 1 to %d", length, MaxName)
	case strings.TrimSpace(n.Name) != n.Name:
		return problem.Field("/name", "the name begins or ends with a space")
	case strings.ContainsFunc(n.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return problem.Field("/name", "the name has characters that cannot be printed")
	}
	has, ok := roles[n.Role]
	if !ok {
		return problem.Field("/role", "there is no role %q: use viewer, worker, operator or admin", n.Role)
	}
	if n.Scopes != nil && len(n.Scopes) == 0 {
		return problem.Field("/scopes", "no scope: name at least one, or leave scopes out for all that the role has")
	}
	for i, s := range n.Scopes {
		if !slices.Contains(has, s) {
			return problem.Field(fmt.Sprintf("/scopes/%d", i), "the role %s does not have %q: scopes can only narrow it, to some of %s", n.Role, s, join(has))
		}
	}
	if n.Cluster && n.Role != gen.RoleAdmin {
		return problem.Field("/cluster", "only the role admin can have the whole database, not %s", n.Role)
	}
	if n.Life < MinLife || n.Life > MaxLife {
		return problem.Field("/expires_in_s", "%g seconds: use %g to %g", n.Life.Seconds(), MinLife.Seconds(), MaxLife.Seconds())
	}
	return nil
}

// mayGive refuses a token that would have what its maker has not: a permission of the role, a permission that the maker's own
// scopes leave out, or the whole database.
func (p Principal) mayGive(n NewToken) error {
	for _, perm := range roles[n.Role] {
		if !slices.Contains(roles[p.Role], perm) {
			return forbidden("/role", "you are %s and cannot make a token of the role %s, which has %s", p.Role, n.Role, perm)
		}
	}
	if p.Scopes != nil {
		if n.Scopes == nil {
			return forbidden("/scopes", "you are narrowed to %s: name scopes among these", join(p.Scopes))
		}
		for i, s := range n.Scopes {
			if !slices.Contains(p.Scopes, s) {
				return forbidden(fmt.Sprintf("/scopes/%d", i), "you are narrowed to %s and cannot give %s", join(p.Scopes), s)
			}
		}
	}
	if n.Cluster && !p.Cluster {
		return forbidden("/cluster", "you may not change what concerns the whole database, and cannot make a token that may")
	}
	return nil
}

func forbidden(field, format string, args ...any) *problem.Error {
	e := problem.New(gen.ProblemCodeForbidden, format, args...)
	e.Fields = []gen.FieldError{{Field: field, Detail: e.Detail}}
	return e
}

// RevokeToken ends a token of who's namespace: the next request with it is refused, on every server. A token that has been revoked already
// is conflict, one that is not of the namespace not_found.
func RevokeToken(ctx context.Context, pool *pgxpool.Pool, who Principal, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		q := db.New(tx)
		rows, err := q.RevokeToken(ctx, db.RevokeTokenParams{Namespace: who.Namespace, ID: id})
		if err != nil {
			return fmt.Errorf("revoking token %s: %w", id, err)
		}
		if len(rows) > 0 {
			return audit(ctx, q, who, "revoke_token", "token/"+id.String(), map[string]any{"name": rows[0].Name, "prefix": rows[0].Prefix})
		}
		was, err := q.TokenRevoked(ctx, db.TokenRevokedParams{Namespace: who.Namespace, ID: id})
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.New(gen.ProblemCodeNotFound, "there is no token %s here", id)
		}
		if err != nil {
			return fmt.Errorf("looking for token %s: %w", id, err)
		}
		return problem.New(gen.ProblemCodeConflict, "token %q was revoked at %s already", was.Name, was.RevokedAt.UTC().Format(time.RFC3339))
	})
}

// ListTokens lists a namespace's tokens, newest first: those before the one named, or from the newest for the zero id.
func ListTokens(ctx context.Context, pool *pgxpool.Pool, namespace string, before uuid.UUID, most int) ([]Token, error) {
	if before == uuid.Nil {
		before = uuid.Max
	}
	rows, err := db.New(pool).Tokens(ctx, db.TokensParams{Namespace: namespace, Before: before, Most: int32(most)})
	if err != nil {
		return nil, fmt.Errorf("listing tokens: %w", err)
	}
	tokens := make([]Token, len(rows))
	for i, r := range rows {
		tokens[i] = Token{ID: r.ID, Name: r.Name, Prefix: r.Prefix, Role: gen.Role(r.Role), Scopes: permissions(r.Scopes), Cluster: r.Cluster,
			CreatedAt: r.CreatedAt, CreatedBy: r.CreatedBy, ExpiresAt: r.ExpiresAt, LastUsedAt: at(r.LastUsedAt), RevokedAt: at(r.RevokedAt)}
	}
	return tokens, nil
}

// audit writes who did what, in the transaction of the act.
func audit(ctx context.Context, q *db.Queries, who Principal, verb, target string, detail map[string]any) error {
	var text []byte
	if len(detail) > 0 {
		var err error
		if text, err = json.Marshal(detail); err != nil {
			return fmt.Errorf("encoding what %s did: %w", verb, err)
		}
	}
	if err := q.InsertAudit(ctx, db.InsertAuditParams{Namespace: who.Namespace, ID: uuid.Must(uuid.NewV7()), Actor: who.Actor, Verb: verb, Target: target,
		Detail: text}); err != nil {
		return fmt.Errorf("writing the audit of %s: %w", verb, err)
	}
	return nil
}

func at(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// texts keeps nil apart from empty.
func texts(perms []gen.Permission) []string {
	if perms == nil {
		return nil
	}
	out := make([]string, len(perms))
	for i, p := range perms {
		out[i] = string(p)
	}
	return out
}

// permissions keeps nil apart from empty: a token whose scopes are an empty array may do nothing.
func permissions(scopes []string) []gen.Permission {
	if scopes == nil {
		return nil
	}
	out := make([]gen.Permission, len(scopes))
	for i, s := range scopes {
		out[i] = gen.Permission(s)
	}
	return out
}

func join(perms []gen.Permission) string { return strings.Join(texts(perms), ", ") }
