package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/oauth2"

	"axflow/api/gen"
)

// How long the page's sessions last unless the configuration says otherwise.
const (
	DefaultSessionLife = 12 * time.Hour
	DefaultSessionIdle = time.Hour
)

// OIDCConfig says at which OpenID Connect provider people log in, and what they may do then. Issuer, ClientID, ClientSecret,
// RedirectURL, Roles and Pool are required.
type OIDCConfig struct {
	// Issuer is the provider, whose /.well-known/openid-configuration says the rest: https, or http on loopback.
	Issuer string
	// ClientID and ClientSecret are AX's at the provider. The secret also seals the cookie of a login under way, so all servers
	// that share an address have the same one.
	ClientID, ClientSecret string
	// RedirectURL is this server's /auth/callback as browsers reach it, and as the provider knows it.
	RedirectURL string
	// Scopes are asked for. Default openid, email, profile. Some providers need another one for groups.
	Scopes []string
	// RoleClaim is the claim of the ID token whose values Roles maps: a string or an array of strings. Dots lead into objects,
	// as in realm_access.roles. Default groups.
	RoleClaim string
	// Roles says what each value of the claim gives. Whoever has none of the values cannot log in.
	Roles map[string]RoleGrant
	// AllowedDomains are the domains of verified e-mail addresses that may log in; empty: any address, and people without one.
	AllowedDomains []string
	// TrustEmail takes the provider's e-mail addresses as verified although its tokens do not say so (email_verified). Only for
	// providers where nobody can choose an address of their own.
	TrustEmail bool
	// Life is how long a session lasts. Default DefaultSessionLife.
	Life time.Duration
	// Idle is how long a session may be unused. Default DefaultSessionIdle.
	Idle time.Duration
	// Pool is the database that keeps the sessions.
	Pool *pgxpool.Pool
	// HTTP asks the provider. Default: a client that waits for 10 s.
	HTTP *http.Client
	// Now tells the time by which ID tokens expire. Default time.Now.
	Now func() time.Time
	// Logger gets refused logins and what fails. Default slog.Default.
	Logger *slog.Logger
}

// RoleGrant is what a value of the role claim gives.
type RoleGrant struct {
	// Namespace that the role is for. Default "default".
	Namespace string
	Role      gen.Role
	// Cluster lets an admin change what concerns the whole database.
	Cluster bool
}

// OIDC lets people log in at an OpenID Connect provider: the code flow with PKCE. It is safe for concurrent use.
type OIDC struct {
	cfg  OIDCConfig
	seal *sealer
	home string // this server, as browsers reach it

	mu       sync.Mutex
	provider *provider // nil: not found yet
	failed   error     // of the last attempt to find it,
	failedAt time.Time // and when
}

// provider is what is known of the provider once it has answered.
type provider struct {
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
	logout   string // where its own session is ended; "": it cannot be
}

// NewOIDC checks the configuration. It does not ask the provider for anything: the first login does, and where that fails,
// later ones do again.
func NewOIDC(cfg OIDCConfig) (*OIDC, error) {
	if cfg.ClientID == "" || cfg.ClientSecret == "" || cfg.Pool == nil {
		return nil, errors.New("oidc: ClientID, ClientSecret and Pool are required")
	}
	if err := secure("Issuer", cfg.Issuer); err != nil {
		return nil, err
	}
	if err := secure("RedirectURL", cfg.RedirectURL); err != nil {
		return nil, err
	}
	redirect, err := url.Parse(cfg.RedirectURL)
	if err != nil || redirect.Path != "/auth/callback" {
		return nil, fmt.Errorf("oidc: RedirectURL is %q: its path must be /auth/callback", cfg.RedirectURL)
	}
	if len(cfg.Roles) == 0 {
		return nil, errors.New("oidc: Roles is empty: nobody could log in")
	}
	granted := make(map[string]RoleGrant, len(cfg.Roles))
	for value, g := range cfg.Roles {
		if _, ok := roles[g.Role]; !ok {
			return nil, fmt.Errorf("oidc: the claim %q gives the role %q: use viewer, worker, operator or admin", value, g.Role)
		}
		if g.Cluster && g.Role != gen.RoleAdmin {
			return nil, fmt.Errorf("oidc: the claim %q gives the whole database to the role %s: only admin can have it", value, g.Role)
		}
		if g.Namespace == "" {
			g.Namespace = "default"
		}
		granted[value] = g
	}
	cfg.Roles = granted
	if len(cfg.Scopes) == 0 {
		cfg.Scopes = []string{oidc.ScopeOpenID, "email", "profile"}
	}
	if !slices.Contains(cfg.Scopes, oidc.ScopeOpenID) {
		return nil, errors.New("oidc: Scopes must hold openid, or there is no ID token")
	}
	if cfg.RoleClaim == "" {
		cfg.RoleClaim = "groups"
	}
	if cfg.Life == 0 {
		cfg.Life = DefaultSessionLife
	}
	if cfg.Idle == 0 {
		cfg.Idle = DefaultSessionIdle
	}
	if cfg.Life < time.Minute || cfg.Idle < 2*time.Minute {
		return nil, fmt.Errorf("oidc: a session of %s, idle for %s: use at least 1m and 2m", cfg.Life, cfg.Idle)
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Timeout: 10 * time.Second}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	s, err := newSealer(cfg.ClientSecret)
	if err != nil {
		return nil, fmt.Errorf("oidc: %w", err)
	}
	return &OIDC{cfg: cfg, seal: s, home: redirect.Scheme + "://" + redirect.Host + "/"}, nil
}

// secure refuses an address that others could read along: plain HTTP beyond this machine.
func secure(field, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("oidc: %s is %q: it must be an address such as https://login.example.com", field, address)
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return fmt.Errorf("oidc: %s is %q: it must be https, or http on loopback", field, address)
	}
	return nil
}

// Handler serves /auth/login, /auth/callback and /auth/logout.
func (o *OIDC) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /auth/login", o.login)
	mux.HandleFunc("GET /auth/callback", o.callback)
	mux.Handle("POST /auth/logout", http.NewCrossOriginProtection().Handler(http.HandlerFunc(o.logout)))
	return mux
}

// retryAfter is how long a provider that did not answer is left alone.
const retryAfter = 2 * time.Second

// find returns the provider, and asks it for its configuration if nobody has yet.
func (o *OIDC) find(ctx context.Context) (*provider, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.provider != nil {
		return o.provider, nil
	}
	if o.failed != nil && time.Since(o.failedAt) < retryAfter {
		return nil, o.failed
	}
	// Whoever waits for the answer behind this request needs it even if this one is gone; the client's time-out ends it.
	p, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), o.cfg.HTTP), o.cfg.Issuer)
	var more struct {
		Logout string `json:"end_session_endpoint"`
	}
	if err == nil {
		err = p.Claims(&more)
	}
	if err != nil {
		o.failed, o.failedAt = fmt.Errorf("asking %s for its configuration: %w", o.cfg.Issuer, err), time.Now()
		return nil, o.failed
	}
	if secure("end_session_endpoint", more.Logout) != nil {
		more.Logout = ""
	}
	o.provider = &provider{logout: more.Logout, verifier: p.Verifier(&oidc.Config{ClientID: o.cfg.ClientID, Now: o.cfg.Now}),
		oauth: oauth2.Config{ClientID: o.cfg.ClientID, ClientSecret: o.cfg.ClientSecret, Endpoint: p.Endpoint(), RedirectURL: o.cfg.RedirectURL, Scopes: o.cfg.Scopes}}
	return o.provider, nil
}
