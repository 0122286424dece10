package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"axflow/api"
	"axflow/api/access"
	"axflow/api/client"
	"axflow/api/gen"
	"axflow/api/live"
	"axflow/engine/control"
)

// session is one command's way to AX: the API, of a server or of one in this process that works on a database.
type session struct {
	api    *gen.ClientWithResponses
	cfg    client.Config // what api is made of
	target target
	where  string          // for people, without a secret
	local  *control.Client // of the database, to register flows that are built in; nil with a server
	close  func()
}

// with calls do with a session. What a command has changed has been told to the engine when it returns.
func (a *app) with(ctx context.Context, do func(context.Context, *session) error) error {
	if a.session != nil { // opened before, to read what the command's flags are
		return do(ctx, a.session)
	}
	s, err := a.openSession(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	a.session = s
	defer func() { a.session = nil }()
	return do(ctx, s)
}

// openSession makes a session; its close must be called.
func (a *app) openSession(ctx context.Context) (*session, error) {
	t, err := a.target()
	if err != nil {
		return nil, err
	}
	a.asked = t
	if t.remote() {
		return a.connect(t)
	}
	return a.serveHere(ctx, t)
}

// connect makes a session with a server. Nothing is asked of it yet.
func (a *app) connect(t target) (*session, error) {
	if t.plainly() {
		a.complain("warning: the token crosses the network unencrypted: use https")
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
		ResponseHeaderTimeout: 2 * time.Minute} // longer than the server may take
	s := &session{target: t, where: t.url, close: transport.CloseIdleConnections, cfg: client.Config{URL: t.url, Token: t.token, UserAgent: "ax/" + a.Version,
		HTTP: &http.Client{Transport: transport, CheckRedirect: noRedirect}}}
	var err error
	if s.api, err = client.New(s.cfg); err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

// noRedirect ends a request that is sent elsewhere: the credential is for the server that was named.
func noRedirect(req *http.Request, _ []*http.Request) error {
	return fmt.Errorf("the server redirects to %s: name that URL if it is the right one", req.URL.Redacted())
}

// serveHere makes a session with a server in this process, which works on a database. Everybody who may connect to the database may do
// everything there, so the session may too.
func (a *app) serveHere(ctx context.Context, t target) (*session, error) {
	log, err := a.logger(a.Stderr, slog.LevelWarn)
	if err != nil {
		return nil, err
	}
	d, err := a.databaseAt(ctx, t.databaseURL, found, log)
	if err != nil {
		return nil, err
	}
	p, err := a.assemble(ctx, OpenConfig{DatabaseURL: d.url, Namespace: t.namespace, PollOnly: a.flags.pollOnly, Logger: log}, outward{})
	if err != nil {
		d.close(ctx)
		return nil, err
	}
	runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	parts, runCtx := errgroup.WithContext(runCtx)
	s := &session{target: t, where: d.where, local: p.Client(), close: func() {
		stop()
		if err := parts.Wait(); err != nil {
			log.Warn("ending", "error", err)
		}
		p.Close()
		d.close(ctx)
	}}
	parts.Go(func() error { return p.Run(runCtx) }) // tells the engine what changes
	hub, err := live.New(live.Config{Pool: s.local.Pool(), Logger: log})
	if err == nil {
		parts.Go(func() error { return hub.Run(runCtx) })
		err = a.serveTo(s, hub, log)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// serveTo makes the server and its client.
func (a *app) serveTo(s *session, hub *live.Hub, log *slog.Logger) error {
	server, err := api.New(api.Config{Client: s.local, Live: hub, Version: a.Version, Logger: log, Local: &access.Principal{
		Actor: actor(), Namespace: s.target.namespace, Role: gen.RoleAdmin, Cluster: true, Via: gen.MeViaLocal}})
	if err != nil {
		return err
	}
	s.cfg = client.Config{URL: "http://localhost", HTTP: &http.Client{Transport: client.Local(server.Handler())}}
	s.api, err = client.New(s.cfg)
	return err
}
