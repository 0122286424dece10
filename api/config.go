package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"axflow/api/access"
	"axflow/api/live"
	"axflow/api/rest"
	"axflow/engine/control"
)

// DefaultListen is where a server listens unless told otherwise.
const DefaultListen = "127.0.0.1:7780"

// Config says how the server works. Only Client and one of Authenticator and Local are required.
type Config struct {
	// Client does what the API asks for. Its own namespace does not count: each request has its principal's. Required.
	Client *control.Client
	// Reads is the database for lists and looks. Default Client's pool.
	Reads *pgxpool.Pool

	// Authenticator finds out who sends a request. Required unless Local is there.
	Authenticator access.Authenticator
	// Provider is where people log in; the server then answers /auth/ by itself. Its Pool and Logger are the server's unless they are
	// there. nil: nobody logs in, unless AuthRoutes lets them.
	Provider *access.OIDCConfig
	// OIDC says that people sign in through a provider, by AuthRoutes; the server tells it to clients, no more.
	OIDC bool
	// AuthRoutes serves everything under /auth/: how browsers sign in and out. It checks for itself who may. nil: there is nothing.
	AuthRoutes http.Handler
	// Local is who everybody is, on a server that asks for no credential. Such a server listens on loopback only, and does not
	// limit rates. nil: everybody needs a credential.
	Local *access.Principal

	// Listen is the address that Run listens on: host and port; port 0 is any free one. A name other than localhost counts as beyond
	// loopback. Default DefaultListen.
	Listen string
	// AnyPort makes Run listen on any free port if Listen's is taken; see Server.URL.
	AnyPort bool
	// Hosts are names that requests may be addressed to, with or without a port. On loopback localhost and loopback addresses are
	// allowed as well, with any port, and nothing else, so that a page whose name was made to point here learns nothing. Beyond
	// loopback an empty list allows every name.
	Hosts []string
	// CertFile and KeyFile make the server speak TLS, 1.2 at least, and HTTP/2. They are read again when they change. Empty: plain HTTP.
	CertFile, KeyFile string
	// InsecureHTTP allows plain HTTP beyond loopback, for a network that is trusted or encrypted otherwise, such as behind a proxy.
	InsecureHTTP bool

	// Limits bound what one request, one connection and one credential take.
	Limits Limits
	// DrainDelay is how long the server goes on serving after Run was told to end, while /readyz says no, so that load balancers
	// notice. Default 0.
	DrainDelay time.Duration
	// DrainGrace is how long requests in flight then have. What takes longer is cut off. Default 10 s.
	DrainGrace time.Duration

	// Live streams events; Run runs it, and tells its clients goodbye. nil: the server streams none.
	Live *live.Hub
	// Page answers GET and HEAD of every path that is no path of the API: below /api/, /auth/, /healthz, /readyz and /metrics. Nobody needs
	// a credential for it. nil: there is nothing there.
	Page http.Handler
	// NoPage leaves the page out where something else would put one in, as axflow.Open does. A Page that is given is served all the same.
	NoPage bool
	// Redact takes out of params, outputs and logs what clients must not see. nil: what flows declare secret only.
	Redact func(ctx context.Context, what rest.Payload) json.RawMessage
	// Metrics gets the server's metrics, and is what /metrics shows. Default a new registry.
	Metrics *prometheus.Registry
	// Version is the program's.
	Version string
	// Logger gets what operators must know, and at level debug every request. Default slog.Default.
	Logger *slog.Logger
}

// Limits bound what clients take of the server.
type Limits struct {
	// Body is the greatest size of a request's body in bytes. Default 2 MiB.
	Body int64
	// Header is the greatest size of a request's head in bytes. Default 32 KiB.
	Header int
	// ReadHeader, Read and Idle are how long a connection may take to send a request's head, to send all of it, and to send the
	// next one. Defaults 10 s, 30 s, 2 min.
	ReadHeader, Read, Idle time.Duration
	// Handle is how long the server works on a request; one that waits for something (wait_s) gets its waiting on top, and the
	// event stream has no end. Default 30 s.
	Handle time.Duration
	// Rate is how many requests a second each credential may send, and Burst how many at once. Requests that fail for want of a valid
	// credential count by their remote address. Defaults 50 and 200; a Rate below 0 switches the limit off.
	Rate  float64
	Burst int
}

func (l Limits) withDefaults() Limits {
	l.Body = cmp.Or(l.Body, 2<<20)
	l.Header = cmp.Or(l.Header, 32<<10)
	l.ReadHeader = cmp.Or(l.ReadHeader, 10*time.Second)
	l.Read = cmp.Or(l.Read, 30*time.Second)
	l.Idle = cmp.Or(l.Idle, 2*time.Minute)
	l.Handle = cmp.Or(l.Handle, 30*time.Second)
	l.Rate = cmp.Or(l.Rate, 50)
	l.Burst = cmp.Or(l.Burst, 200)
	return l
}

// check completes the settings and refuses those that are not safe.
func (cfg *Config) check() error {
	if cfg.Client == nil {
		return errors.New("api: Client is required")
	}
	if cfg.Authenticator == nil && cfg.Local == nil {
		return errors.New("api: an Authenticator is required, or Local, with which everybody may do everything that Local may")
	}
	cfg.Listen = cmp.Or(cfg.Listen, DefaultListen)
	cfg.Limits = cfg.Limits.withDefaults()
	cfg.DrainGrace = cmp.Or(cfg.DrainGrace, 10*time.Second)
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if err := cfg.provide(); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return fmt.Errorf("api: the address %q to listen on must be host:port, such as %s: %w", cfg.Listen, DefaultListen, err)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("api: the port %q to listen on is no number up to 65535", port)
	}
	if (cfg.CertFile == "") != (cfg.KeyFile == "") {
		return errors.New("api: TLS needs both a certificate and a key file")
	}
	if isLoopback(host) {
		return nil
	}
	if cfg.Local != nil {
		return fmt.Errorf("api: a server that asks for no credential listens on loopback only, not on %s: listen on %s, or have clients send tokens",
			cfg.Listen, DefaultListen)
	}
	if cfg.CertFile == "" && !cfg.InsecureHTTP {
		return fmt.Errorf("api: tokens would cross the network in plain HTTP on %s: give a certificate and a key, or allow it explicitly where the network is trusted",
			cfg.Listen)
	}
	return nil
}

// provide makes the routes by which people log in.
func (cfg *Config) provide() error {
	if cfg.Provider == nil {
		return nil
	}
	if cfg.AuthRoutes != nil || cfg.Local != nil {
		return errors.New("api: people log in at a Provider, or by AuthRoutes, or not at all where there is Local: give one of these")
	}
	oc := *cfg.Provider
	if oc.Pool == nil {
		oc.Pool = cfg.Client.Pool()
	}
	if oc.Logger == nil {
		oc.Logger = cfg.Logger
	}
	o, err := access.NewOIDC(oc)
	if err != nil {
		return fmt.Errorf("api: %w", err)
	}
	cfg.OIDC, cfg.AuthRoutes = true, o.Handler()
	return nil
}

// isLoopback tells whether only this machine reaches a host. Names but localhost may mean anything tomorrow.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
