package access_test

import (
	"fmt"
	"testing"
	"time"

	"axflow/api/access"
	"axflow/api/gen"
)

func TestReadOIDC(t *testing.T) {
	got, err := access.ReadOIDC([]byte(`
issuer: https://login.example.com/realms/data
client_id: ax
redirect_url: https://ax.example.com/auth/callback
scopes: [openid, email, groups]
role_claim: realm_access.roles
roles:
  data-oncall: {role: operator}
  finance-leads: {namespace: finance, role: admin}
  platform: {role: admin, cluster: true}
allowed_domains: [example.com]
trust_email: true
session_life: 8h
session_idle: 30m
`))
	want := access.OIDCConfig{Issuer: "https://login.example.com/realms/data", ClientID: "ax", RedirectURL: "https://ax.example.com/auth/callback",
		Scopes: []string{"openid", "email", "groups"}, RoleClaim: "realm_access.roles", AllowedDomains: []string{"example.com"}, TrustEmail: true,
		Life: 8 * time.Hour, Idle: 30 * time.Minute, Roles: map[string]access.RoleGrant{"data-oncall": {Role: gen.RoleOperator},
			"finance-leads": {Namespace: "finance", Role: gen.RoleAdmin}, "platform": {Role: gen.RoleAdmin, Cluster: true}}}
	if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for what, text := range map[string]string{
		"an unknown field": "issuers: x", "a misspelt role": "roles: {a: {rle: admin}}", "two documents": "issuer: a\n---\nissuer: b", "no YAML": "{", "a wrong duration": "session_life: 8",
		"a list": "[]",
	} {
		if got, err := access.ReadOIDC([]byte(text)); err == nil {
			t.Errorf("%s was read as %+v", what, got)
		}
	}
	if _, err := access.ReadOIDC(nil); err != nil {
		t.Errorf("nothing: %v", err)
	}
}
