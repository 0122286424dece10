package access

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"golang.org/x/oauth2"

	"axflow/api/gen"
)

// person is who the provider says it is.
type person struct {
	subject string
	email   string // verified, in small letters; "": none
	roles   []string
	raw     string // the ID token
}

// actor is what the audit writes.
func (p person) actor() string {
	if p.email != "" {
		return "user:" + p.email
	}
	return "user:" + p.subject
}

// verify reads a verified ID token: it is the provider's, for this client, for this login, and still valid.
func (o *OIDC) verify(ctx context.Context, p *provider, token *oauth2.Token, nonce string) (who person, err error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return who, errors.New("the provider sent no ID token")
	}
	id, err := p.verifier.Verify(ctx, raw)
	if err != nil {
		return who, fmt.Errorf("verifying the ID token: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1 {
		return who, errors.New("the ID token is of another login")
	}
	if id.AccessTokenHash != "" {
		if err := id.VerifyAccessToken(token.AccessToken); err != nil {
			return who, fmt.Errorf("the ID token is of another access token: %w", err)
		}
	}
	var claims map[string]any
	if err := id.Claims(&claims); err != nil {
		return who, fmt.Errorf("reading the ID token: %w", err)
	}
	if party, ok := claims["azp"]; ok && party != o.cfg.ClientID {
		return who, fmt.Errorf("the ID token is for %.200q", party)
	}
	if id.Subject == "" {
		return who, errors.New("the ID token has no subject")
	}
	who = person{subject: id.Subject, raw: raw, roles: values(claims, o.cfg.RoleClaim)}
	// Some providers write true as a string.
	verified := claims["email_verified"] == true || claims["email_verified"] == "true"
	email, _ := claims["email"].(string)
	if (verified || o.cfg.TrustEmail) && !strings.ContainsFunc(email, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		who.email = strings.ToLower(email)
	}
	return who, nil
}

// values are the strings of a claim: itself or its elements. Its name is that of a claim, or leads into objects by dots.
func values(claims map[string]any, name string) []string {
	v, ok := claims[name]
	if !ok {
		head, rest, more := strings.Cut(name, ".")
		inner, isObject := claims[head].(map[string]any)
		if !more || !isObject {
			return nil
		}
		return values(inner, rest)
	}
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				all = append(all, s)
			}
		}
		return all
	}
	return nil
}

// rank orders roles where somebody has several in a namespace.
var rank = map[gen.Role]int{gen.RoleViewer: 1, gen.RoleWorker: 2, gen.RoleOperator: 3, gen.RoleAdmin: 4}

// grant is what somebody gets: of the namespace that was asked for, else of "default", else of the first by name, the greatest
// role. Whoever has none is refused.
func (o *OIDC) grant(who person, namespace string) (RoleGrant, error) {
	if err := o.domain(who); err != nil {
		return RoleGrant{}, err
	}
	best := make(map[string]RoleGrant)
	for _, value := range who.roles {
		g, ok := o.cfg.Roles[value]
		if !ok {
			continue
		}
		b := best[g.Namespace]
		if rank[g.Role] > rank[b.Role] {
			b.Namespace, b.Role = g.Namespace, g.Role
		}
		b.Cluster = b.Cluster || g.Cluster
		best[g.Namespace] = b
	}
	if namespace == "" {
		namespace = "default"
		if _, ok := best[namespace]; !ok {
			for name := range best {
				if _, taken := best[namespace]; !taken || name < namespace {
					namespace = name
				}
			}
		}
	}
	g, ok := best[namespace]
	switch {
	case ok:
		return g, nil
	case len(best) > 0:
		return g, &refusal{http.StatusForbidden, "You have no role there", "You have roles in other namespaces: log in without naming this one.",
			fmt.Errorf("%s asked for namespace %q", who.actor(), namespace)}
	default:
		return g, &refusal{http.StatusForbidden, "You have no role here",
			"You are known, and nothing of what you are known as gives you a role in AX. Ask whoever runs this server for one, and name the claim " + o.cfg.RoleClaim + ".",
			fmt.Errorf("%s has %s %.500q", who.actor(), o.cfg.RoleClaim, who.roles)}
	}
}

// domain refuses e-mail addresses of other domains.
func (o *OIDC) domain(who person) error {
	if len(o.cfg.AllowedDomains) == 0 {
		return nil
	}
	at := strings.LastIndex(who.email, "@")
	for _, d := range o.cfg.AllowedDomains {
		if at > 0 && strings.EqualFold(who.email[at+1:], d) {
			return nil
		}
	}
	return &refusal{http.StatusForbidden, "Your e-mail address may not log in here",
		"Log in with a verified address of this organisation. If yours is one, tell whoever runs this server.", fmt.Errorf("%s is of no allowed domain", who.actor())}
}
