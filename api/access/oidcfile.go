package access

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"go.yaml.in/yaml/v3"

	"axflow/api/gen"
)

// ReadOIDC reads the configuration of an identity provider from YAML; unknown fields are refused. The client's secret is no
// part of it. docs/security.md has an example.
func ReadOIDC(text []byte) (OIDCConfig, error) {
	var f struct {
		Issuer      string   `yaml:"issuer"`
		ClientID    string   `yaml:"client_id"`
		RedirectURL string   `yaml:"redirect_url"`
		Scopes      []string `yaml:"scopes"`
		RoleClaim   string   `yaml:"role_claim"`
		Roles       map[string]struct {
			Namespace string `yaml:"namespace"`
			Role      string `yaml:"role"`
			Cluster   bool   `yaml:"cluster"`
		} `yaml:"roles"`
		AllowedDomains []string      `yaml:"allowed_domains"`
		TrustEmail     bool          `yaml:"trust_email"`
		SessionLife    time.Duration `yaml:"session_life"`
		SessionIdle    time.Duration `yaml:"session_idle"`
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return OIDCConfig{}, fmt.Errorf("reading the identity provider's configuration: %w", err)
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return OIDCConfig{}, errors.New("reading the identity provider's configuration: there is a second document in it")
	}
	cfg := OIDCConfig{Issuer: f.Issuer, ClientID: f.ClientID, RedirectURL: f.RedirectURL, Scopes: f.Scopes, RoleClaim: f.RoleClaim, AllowedDomains: f.AllowedDomains,
		TrustEmail: f.TrustEmail, Life: f.SessionLife, Idle: f.SessionIdle, Roles: make(map[string]RoleGrant, len(f.Roles))}
	for value, g := range f.Roles {
		cfg.Roles[value] = RoleGrant{Namespace: g.Namespace, Role: gen.Role(g.Role), Cluster: g.Cluster}
	}
	return cfg, nil
}
