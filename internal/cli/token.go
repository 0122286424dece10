package cli

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/api/gen"
)

func (a *app) tokenCommand() *cobra.Command {
	return a.group("token", "Tokens: what programs and people prove themselves with", a.tokenCreateCommand(), a.tokenListCommand(), a.tokenRevokeCommand())
}

func (a *app) tokenCreateCommand() *cobra.Command {
	var role string
	var scopes []string
	var cluster, asJSON bool
	var expires string
	cmd := &cobra.Command{Use: "create NAME", Short: "Make a token and print its secret, which is shown this once", Args: takes("NAME"),
		Long: "Make a token and print its secret, alone on standard output, and nothing else there. It is shown this once.\n\n" +
			"A token is of one namespace: with a server that of the token that makes it, with a database that of --namespace.\n" +
			"It cannot have permissions that its maker does not have.",
		Example: "  " + a.Name + " token create nightly --role operator --scope runs:start,runs:read > nightly.token && chmod 600 nightly.token",
		RunE: func(cmd *cobra.Command, args []string) error {
			body := gen.NewToken{Name: args[0], Role: gen.Role(role), Cluster: opt(cluster)}
			if !body.Role.Valid() {
				return usagef("--role %q is unknown: use viewer, worker, operator or admin%s", role, didYouMean(role, []string{"viewer", "worker", "operator", "admin"}))
			}
			for _, x := range scopes {
				scope := gen.Permission(x)
				if !scope.Valid() {
					return usagef("--scope %q is no permission: `%s me` lists yours", x, a.Name)
				}
				body.Scopes = append(body.Scopes, scope)
			}
			if expires != "" {
				d, ok := readAge(expires)
				if !ok || d < time.Minute {
					return usagef("--expires %q: give how long it counts, at least a minute, such as 24h or 90d", expires)
				}
				body.ExpiresInS = opt(d.Seconds())
			}
			return a.with(cmd.Context(), func(ctx context.Context, s *session) error {
				r, err := takeAny[gen.CreatedToken](answered(s.api.CreateTokenWithResponse(ctx, body)))
				if err != nil {
					return err
				}
				if asJSON {
					return a.json(r.raw)
				}
				a.say("%s", r.is.Secret)
				t := r.is.Token
				until := "for ever"
				if t.ExpiresAt != nil {
					until = "until " + clockTime(*t.ExpiresAt)
				}
				a.complain("token %q (%s), %s, counts %s; keep it: it is not shown again", t.Name, t.Id, t.Role, until)
				return nil
			})
		}}
	f := cmd.Flags()
	f.StringVar(&role, "role", "operator", "viewer, worker, operator or admin")
	f.StringSliceVar(&scopes, "scope", nil, "only these permissions of the role, such as runs:start,runs:read")
	f.StringVar(&expires, "expires", "", "how long it counts, such as 24h or 30d (default 90d)")
	f.BoolVar(&cluster, "cluster", false, "an admin's may change the settings of the whole database too")
	addJSON(cmd, &asJSON)
	a.completeFlag(cmd, "role", fixed("viewer", "worker", "operator", "admin"))
	a.completeFlag(cmd, "scope", ownPermissions)
	return cmd
}

// ownPermissions proposes what the credential may do.
func ownPermissions(ctx context.Context, s *session, _ []string, _ string) []string {
	r, err := take(s.api.GetMeWithResponse(ctx))
	if err != nil {
		return nil
	}
	all := make([]string, len(r.is.Permissions))
	for i, p := range r.is.Permissions {
		all[i] = string(p)
	}
	return all
}

func (a *app) tokenListCommand() *cobra.Command {
	return list(a, listing[gen.Token]{use: "list", short: "List tokens, the newest first, without their secrets", none: "there are no tokens", least: 100,
		page: func(ctx context.Context, s *session, _ []string, limit *int, cursor *string) (answer, error) {
			return s.api.ListTokensWithResponse(ctx, &gen.ListTokensParams{Limit: limit, Cursor: cursor})
		},
		head: []string{"TOKEN", "NAME", "BEGINS", "ROLE", "SCOPES", "MADE", "BY", "LAST USED", "STATE"},
		row: func(t gen.Token) []string {
			scopes := make([]string, len(t.Scopes))
			for i, x := range t.Scopes {
				scopes[i] = string(x)
			}
			return []string{t.Id.String(), t.Name, t.Prefix, string(t.Role), strings.Join(scopes, ","), clockTime(t.CreatedAt), t.CreatedBy, age(t.LastUsedAt), tokenState(t)}
		}})
}

func tokenState(t gen.Token) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked"
	case t.ExpiresAt == nil:
		return "for ever"
	case t.ExpiresAt.Before(time.Now()):
		return "expired"
	default:
		return "until " + clockTime(*t.ExpiresAt)
	}
}

func (a *app) tokenRevokeCommand() *cobra.Command {
	return &cobra.Command{Use: "revoke TOKEN", Short: "Revoke a token, at once; TOKEN is its id, or its name if only one has it", Args: takes("TOKEN"),
		ValidArgsFunction: a.completing(nth(tokenIDs)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(ctx context.Context, s *session) error {
				id, err := s.findToken(ctx, args[0])
				if err != nil {
					return err
				}
				if err := none(s.api.RevokeTokenWithResponse(ctx, id)); err != nil {
					return err
				}
				a.say("token %s is revoked", id)
				return nil
			})
		}}
}

// none is the error of a call whose good answer has nothing in it.
func none[R answer](r R, err error) error {
	if err != nil {
		return err
	}
	return checkAnswer(r)
}

// findToken reads a token's id, or looks for the only one that counts and has a name.
func (s *session) findToken(ctx context.Context, text string) (uuid.UUID, error) {
	if id, err := uuid.Parse(text); err == nil {
		return id, nil
	}
	tokens, err := s.tokens(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	var ids []uuid.UUID
	var names []string
	for _, t := range tokens {
		if names = append(names, t.Name); t.Name == text && t.RevokedAt == nil {
			ids = append(ids, t.Id)
		}
	}
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		return uuid.Nil, usagef("there is no token %q that counts%s: `token list` shows them", text, didYouMean(text, names))
	default:
		return uuid.Nil, usagef("%d tokens are named %q: give the id, as `token list` shows it", len(ids), text)
	}
}

func (s *session) tokens(ctx context.Context) ([]gen.Token, error) {
	tokens, _, _, err := pages[gen.Token](paging{limit: 1, all: true}, func(limit *int, cursor *string) (answer, error) {
		return s.api.ListTokensWithResponse(ctx, &gen.ListTokensParams{Limit: limit, Cursor: cursor})
	})
	return tokens, err
}

// tokenIDs proposes tokens that count.
func tokenIDs(ctx context.Context, s *session, _ []string, _ string) []string {
	tokens, err := s.tokens(ctx)
	if err != nil {
		return nil
	}
	var ids []string
	for _, t := range tokens {
		if t.RevokedAt == nil {
			ids = append(ids, t.Id.String()+"\t"+t.Name)
		}
	}
	return ids
}
