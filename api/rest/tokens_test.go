package rest_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/api"
	"axflow/api/access"
	"axflow/api/client"
	"axflow/api/gen"
)

// guarded is a server that asks for credentials, and clients of it.
type guarded struct {
	*stand
	trip http.RoundTripper
}

func guard(s *stand, change func(*api.Config)) guarded {
	s.t.Helper()
	cfg := api.Config{Client: s.client, Authenticator: access.NewCredentials(s.pool, slog.New(slog.DiscardHandler)), Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&cfg)
	}
	server, err := api.New(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	return guarded{s, client.Local(server.Handler())}
}

func (g guarded) as(token string) *gen.ClientWithResponses {
	g.t.Helper()
	c, err := client.New(client.Config{URL: "http://127.0.0.1", Token: token, HTTP: &http.Client{Transport: g.trip}})
	if err != nil {
		g.t.Fatal(err)
	}
	return c
}

func (g guarded) token(c *gen.ClientWithResponses, n gen.NewToken) gen.CreatedToken {
	g.t.Helper()
	r, err := c.CreateTokenWithResponse(g.ctx, n)
	if err != nil || r.JSON201 == nil {
		g.t.Fatalf("making a token: %v %s", err, r.Body)
	}
	return *r.JSON201
}

// The first token is made by somebody local; from there on tokens make tokens, are listed page by page, and are revoked at once.
func TestTokensMakeTokens(t *testing.T) {
	s := newStand(t)
	g := guard(s, nil)
	cluster, hour := true, 3600.0
	root := g.token(s.ours, gen.NewToken{Name: "root", Role: gen.RoleAdmin, Cluster: &cluster, ExpiresInS: &hour})
	if root.Token.Cluster == nil || !*root.Token.Cluster || root.Token.CreatedBy != "local:ada" || root.Token.ExpiresAt.Sub(root.Token.CreatedAt).Round(time.Second) != time.Hour {
		t.Errorf("it is %+v", root.Token)
	}
	c := g.as(root.Secret)
	me, err := c.GetMeWithResponse(g.ctx)
	if err != nil || me.JSON200 == nil || me.JSON200.Actor != "token:root" || len(me.JSON200.Permissions) != 13 {
		t.Fatalf("me: %v %s", err, me.Body)
	}
	var names []string
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		made := g.token(c, gen.NewToken{Name: name, Role: gen.RoleViewer, Scopes: []gen.Permission{gen.PermissionRunsRead}})
		if made.Token.CreatedBy != "token:root" || made.Token.Cluster != nil {
			t.Errorf("it is %+v", made.Token)
		}
	}
	limit := 2
	for cursor := (*string)(nil); ; {
		page, err := c.ListTokensWithResponse(g.ctx, &gen.ListTokensParams{Limit: &limit, Cursor: cursor})
		if err != nil || page.JSON200 == nil || len(page.JSON200.Items) > 2 {
			t.Fatalf("listing: %v %s", err, page.Body)
		}
		if strings.Contains(string(page.Body), "secret") || strings.Contains(string(page.Body), "hash") {
			t.Errorf("the list tells too much: %s", page.Body)
		}
		for _, x := range page.JSON200.Items {
			names = append(names, x.Name)
		}
		if cursor = page.JSON200.NextCursor; cursor == nil {
			break
		}
	}
	if got := strings.Join(names, ""); got != "edcbaroot" {
		t.Errorf("listed %q, want the newest first, each once", got)
	}

	viewer := g.token(c, gen.NewToken{Name: "viewer", Role: gen.RoleViewer})
	v := g.as(viewer.Secret)
	if r, err := v.ListFlowsWithResponse(g.ctx, nil); err != nil || r.StatusCode() != http.StatusOK {
		t.Errorf("a viewer lists flows: %v %s", err, r.Body)
	}
	if r, err := v.CreateTokenWithResponse(g.ctx, gen.NewToken{Name: "x", Role: gen.RoleViewer}); err != nil || r.StatusCode() != http.StatusForbidden {
		t.Errorf("a viewer makes a token: %v %s", err, r.Body)
	}
	if r, err := c.RevokeTokenWithResponse(g.ctx, viewer.Token.Id); err != nil || r.StatusCode() != http.StatusNoContent {
		t.Errorf("revoking: %v %s", err, r.Body)
	}
	if r, err := v.ListFlowsWithResponse(g.ctx, nil); err != nil || r.StatusCode() != http.StatusUnauthorized {
		t.Errorf("with a revoked token: %v %s", err, r.Body)
	}
	if r, err := c.RevokeTokenWithResponse(g.ctx, viewer.Token.Id); err != nil || r.StatusCode() != http.StatusConflict {
		t.Errorf("revoking twice: %v %s", err, r.Body)
	}
}

func TestTokensThatTheAPIRefuses(t *testing.T) {
	s := newStand(t)
	g := guard(s, nil)
	admin := g.as(g.token(s.ours, gen.NewToken{Name: "admin", Role: gen.RoleAdmin}).Secret)
	narrow := g.as(g.token(s.ours, gen.NewToken{Name: "narrow", Role: gen.RoleAdmin, Scopes: []gen.Permission{gen.PermissionAccessAdmin, gen.PermissionRunsRead}}).Secret)
	cluster, short := true, 59.0
	for what, c := range map[string]struct {
		by    *gen.ClientWithResponses
		n     gen.NewToken
		code  int
		field string
	}{
		"more than the maker: the cluster": {admin, gen.NewToken{Name: "x", Role: gen.RoleAdmin, Cluster: &cluster}, 403, "/cluster"},
		"more than the maker: no scopes":   {narrow, gen.NewToken{Name: "x", Role: gen.RoleViewer}, 403, "/scopes"},
		"more than the maker: a scope":     {narrow, gen.NewToken{Name: "x", Role: gen.RoleViewer, Scopes: []gen.Permission{gen.PermissionFlowsRead}}, 403, "/scopes/0"},
		"a scope beyond the role":          {admin, gen.NewToken{Name: "x", Role: gen.RoleViewer, Scopes: []gen.Permission{gen.PermissionRunsStart}}, 422, "/scopes/0"},
		"a viewer for the cluster":         {s.ours, gen.NewToken{Name: "x", Role: gen.RoleViewer, Cluster: &cluster}, 422, "/cluster"},
		"a taken name":                     {admin, gen.NewToken{Name: "admin", Role: gen.RoleViewer}, 409, ""},
		"a short life":                     {admin, gen.NewToken{Name: "x", Role: gen.RoleViewer, ExpiresInS: &short}, 422, "/expires_in_s"},
		"an odd name":                      {admin, gen.NewToken{Name: "a\u202eb", Role: gen.RoleViewer}, 422, "/name"},
	} {
		r, err := c.by.CreateTokenWithResponse(g.ctx, c.n)
		if err != nil || r.StatusCode() != c.code && (c.code != 422 || r.StatusCode() != 400) || r.ApplicationproblemJSONDefault == nil {
			t.Errorf("%s: %v %s, want %d", what, err, r.Body, c.code)
			continue
		}
		if p := r.ApplicationproblemJSONDefault; c.field != "" && (len(p.Errors) != 1 || p.Errors[0].Field != c.field) {
			t.Errorf("%s: %s, want it to point at %s", what, r.Body, c.field)
		}
	}
	cursor := "nonsense"
	if r, err := admin.ListTokensWithResponse(g.ctx, &gen.ListTokensParams{Cursor: &cursor}); err != nil || r.StatusCode()/100 != 4 {
		t.Errorf("a cursor that is none: %v %s", err, r.Body)
	}
}

// Another namespace's token is answered as one that does not exist.
func TestTokensOfOtherNamespaces(t *testing.T) {
	s := newStand(t)
	g := guard(s, nil)
	ours := g.token(s.ours, gen.NewToken{Name: "x", Role: gen.RoleViewer})
	theirs, err := s.theirs.RevokeTokenWithResponse(g.ctx, ours.Token.Id)
	if err != nil {
		t.Fatal(err)
	}
	none, err := s.theirs.RevokeTokenWithResponse(g.ctx, uuid.Must(uuid.NewV7()))
	if err != nil {
		t.Fatal(err)
	}
	if theirs.StatusCode() != http.StatusNotFound || none.StatusCode() != http.StatusNotFound || *theirs.ApplicationproblemJSONDefault.Detail != strings.ReplaceAll(*none.ApplicationproblemJSONDefault.Detail,
		strings.Fields(*none.ApplicationproblemJSONDefault.Detail)[4], ours.Token.Id.String()) {
		t.Errorf("%s\nand\n%s", theirs.Body, none.Body)
	}
	if r, err := s.theirs.ListTokensWithResponse(g.ctx, nil); err != nil || r.JSON200 == nil || len(r.JSON200.Items) != 0 {
		t.Errorf("another namespace lists: %v %s", err, r.Body)
	}
	if r, err := g.as(ours.Secret).GetMeWithResponse(g.ctx); err != nil || r.StatusCode() != http.StatusOK {
		t.Errorf("it is revoked: %v %s", err, r.Body)
	}
}

// A server with a provider answers /auth/ and says so, and comes up while the provider is down.
func TestServerWithProvider(t *testing.T) {
	s := newStand(t)
	provider := &access.OIDCConfig{Issuer: "http://127.0.0.1:1", ClientID: "ax", ClientSecret: "s", RedirectURL: "http://127.0.0.1/auth/callback",
		Roles: map[string]access.RoleGrant{"g": {Role: gen.RoleViewer}}}
	g := guard(s, func(c *api.Config) { c.Provider = provider })
	token := g.token(s.ours, gen.NewToken{Name: "x", Role: gen.RoleViewer})
	if r, err := g.as(token.Secret).GetServerWithResponse(g.ctx); err != nil || r.JSON200 == nil || r.JSON200.Auth != gen.ServerAuthOidc {
		t.Errorf("server: %v %s", err, r.Body)
	}
	res, err := (&http.Client{Transport: g.trip}).Get("http://127.0.0.1/auth/login")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		t.Errorf("login: %s, %s", res.Status, res.Header.Get("Content-Type"))
	}
	for what, cfg := range map[string]api.Config{
		"with Local":  {Client: s.client, Provider: provider, Local: &access.Principal{}},
		"without one": {Client: s.client, Authenticator: access.NewCredentials(s.pool, slog.Default()), Provider: &access.OIDCConfig{}},
	} {
		if _, err := api.New(cfg); err == nil {
			t.Errorf("a provider %s was taken", what)
		}
	}
}
