package cli

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"axflow/api"
	"axflow/api/access"
	"axflow/api/gen"
)

// served says whether and how the API is served. Each flag has an environment variable, for containers.
type served struct {
	on           bool
	listen       string
	hosts        []string
	cert, key    string
	insecureHTTP bool
	noAuth       bool
	oidc         string // file
	noPage       bool
	pageProxy    string
}

// The environment variables of the server.
const (
	envListen       = "AX_LISTEN"
	envHosts        = "AX_HOSTS"
	envCert         = "AX_TLS_CERT"
	envKey          = "AX_TLS_KEY"
	envInsecureHTTP = "AX_INSECURE_HTTP"
	envOIDC         = "AX_OIDC"
	envOIDCSecret   = "AX_OIDC_CLIENT_SECRET" //nolint:gosec // G101: the name of a variable
)

// flagsOf adds the server's flags to a command.
func (s *served) flagsOf(cmd *cobra.Command, all bool) {
	f := cmd.Flags()
	f.BoolVar(&s.on, "api", true, "serve the HTTP API")
	f.StringVar(&s.listen, "listen", "", "the address of the API, host:port (default $"+envListen+", else "+api.DefaultListen+")")
	f.StringSliceVar(&s.hosts, "hosts", nil, "names that the API answers to; on loopback beside localhost, else all unless said (default $"+envHosts+")")
	f.BoolVar(&s.noPage, "no-page", false, "serve the API without the page")
	f.StringVar(&s.pageProxy, "page-proxy", "", "have a Vite server at this URL make the page, to work on it; on loopback only")
	_ = f.MarkHidden("page-proxy") // it is there
	if !all {
		return
	}
	f.StringVar(&s.cert, "tls-cert", "", "certificate file, for https; read again when it changes (default $"+envCert+")")
	f.StringVar(&s.key, "tls-key", "", "its key file (default $"+envKey+")")
	f.BoolVar(&s.insecureHTTP, "insecure-http", false, "allow plain HTTP beyond loopback, behind a proxy that encrypts (default $"+envInsecureHTTP+")")
	f.StringVar(&s.oidc, "oidc", "", "YAML file that says where people log in, see docs/security.md; the client's secret is in $"+envOIDCSecret+" (default $"+envOIDC+")")
	f.BoolVar(&s.noAuth, "no-auth", false, "ask for no credential: everybody on this machine may do everything; on loopback only")
}

// apiConfig is the server's configuration; nil: none is wanted.
func (a *app) apiConfig(s served) (*api.Config, error) {
	if !s.on {
		return nil, nil
	}
	insecure := s.insecureHTTP
	if text := a.Getenv(envInsecureHTTP); !insecure && text != "" {
		var err error
		if insecure, err = strconv.ParseBool(text); err != nil {
			return nil, usagef("%s is %q: it must be true or false", envInsecureHTTP, text)
		}
	}
	hosts := s.hosts
	if text := a.Getenv(envHosts); len(hosts) == 0 && text != "" {
		hosts = strings.Split(text, ",")
	}
	cfg := &api.Config{Listen: cmp.Or(s.listen, a.Getenv(envListen)), Hosts: hosts, CertFile: cmp.Or(s.cert, a.Getenv(envCert)),
		KeyFile: cmp.Or(s.key, a.Getenv(envKey)), InsecureHTTP: insecure, NoPage: s.noPage, Version: a.Version}
	if s.noAuth {
		cfg.Local = a.everybody()
		return cfg, nil
	}
	if file := cmp.Or(s.oidc, a.Getenv(envOIDC)); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading where people log in: %w", err)
		}
		provider, err := access.ReadOIDC(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if provider.ClientSecret = a.Getenv(envOIDCSecret); provider.ClientSecret == "" {
			return nil, usagef("--oidc needs the client's secret in the environment variable %s", envOIDCSecret)
		}
		cfg.Provider = &provider
	}
	return cfg, nil
}

// proxy is the Vite server that makes the page; nil: none does.
func (s *served) proxy(cfg *api.Config) (*url.URL, error) {
	if s.pageProxy == "" || cfg == nil {
		return nil, nil
	}
	u, err := url.Parse(s.pageProxy)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return nil, usagef("--page-proxy is %q: it must be the URL of a Vite server, such as http://127.0.0.1:5173", s.pageProxy)
	}
	return u, nil
}

// everybody is who asks a server without credentials: whoever is on this machine, in the user's name.
func (a *app) everybody() *access.Principal {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return &access.Principal{Actor: "local:" + name, Namespace: a.flags.namespace, Role: gen.RoleAdmin, Cluster: true, Via: gen.MeViaLocal}
}
