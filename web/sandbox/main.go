// Command sandbox runs everything that the page shows, with content in every state: an embedded PostgreSQL, an engine, a worker with demo
// flows, the API and the page. It starts runs over the API, in an order that a seed decides, and then keeps a gentle load going.
//
//	go run ./web/sandbox -addr 127.0.0.1:7799 -page-proxy http://127.0.0.1:5173
//
// It prints "ready http://…" once the content stands. Nothing of it is for production: unless -login says otherwise, it asks for no
// credential.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"axflow"
	"axflow/api"
	"axflow/api/access"
	"axflow/api/gen"
	"axflow/engine"
	"axflow/internal/pg"
	axsql "axflow/sql"
	"axflow/worker"
)

// options are the command's flags.
type options struct {
	addr, pageProxy, data, size string
	seed                        uint64
	quiet, login                bool
}

func main() {
	var o options
	flag.StringVar(&o.addr, "addr", "127.0.0.1:7799", "where to serve, on loopback; port 0 is any free one")
	flag.StringVar(&o.pageProxy, "page-proxy", "", "URL of a Vite server that serves the page instead of the build in this binary")
	flag.StringVar(&o.data, "data", "", "folder that keeps the database (default: one that goes with the process)")
	flag.StringVar(&o.size, "size", "small", "how much content: small, or huge")
	flag.Uint64Var(&o.seed, "seed", 1, "decides what happens")
	flag.BoolVar(&o.quiet, "quiet", false, "make the content and leave it alone: no load afterwards")
	flag.BoolVar(&o.login, "login", false, "ask for a credential, and print a token: \"token …\"")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1) //nolint:gocritic // the signals end with the process
	}
}

// run runs the sandbox until ctx ends.
func (o options) run(ctx context.Context) error {
	if o.size != "small" && o.size != "huge" {
		return fmt.Errorf("-size is %q: it is small or huge", o.size)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	server, err := pg.Start(ctx, pg.Config{Dir: o.data, Ephemeral: o.data == "", Logger: log})
	if err != nil {
		return fmt.Errorf("starting PostgreSQL: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if err := server.Stop(ctx); err != nil {
			log.Error("stopping PostgreSQL", "error", err)
		}
	}()
	if err := server.CreateDatabase(ctx, "sandbox"); err != nil {
		return fmt.Errorf("making the database: %w", err)
	}
	database := server.SocketURL("sandbox")
	if err := axsql.Migrate(ctx, database); err != nil {
		return fmt.Errorf("bringing the database up to date: %w", err)
	}
	local := &access.Principal{Actor: "local:ada", Namespace: "default", Role: gen.RoleAdmin, Cluster: true, Via: gen.MeViaLocal}
	var token string
	if o.login {
		if token, err = newToken(ctx, database, *local); err != nil {
			return err
		}
		local = nil
		fmt.Println("token", token) //nolint:forbidigo // for the one who started it
	}
	p, err := o.open(ctx, database, log, local)
	if err != nil {
		return err
	}
	defer p.Close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return p.Run(ctx) })
	g.Go(func() error {
		if err := o.fill(ctx, p, token); ctx.Err() == nil {
			return err
		}
		return nil // what the end interrupts is no fault
	})
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// newToken makes a token that may do everything, straight over the database.
func newToken(ctx context.Context, database string, maker access.Principal) (string, error) {
	pool, err := pgxpool.New(ctx, database)
	if err != nil {
		return "", fmt.Errorf("connecting for a token: %w", err)
	}
	defer pool.Close()
	_, secret, err := access.CreateToken(ctx, pool, maker, access.NewToken{Name: "sandbox", Role: gen.RoleAdmin, Cluster: true})
	return secret, err
}

// open makes the process: engine, worker, API and page. local is who everybody is; nil: a credential says.
func (o options) open(ctx context.Context, database string, log *slog.Logger, local *access.Principal) (*axflow.Process, error) {
	var proxy *url.URL
	if o.pageProxy != "" {
		var err error
		if proxy, err = url.Parse(o.pageProxy); err != nil {
			return nil, fmt.Errorf("-page-proxy: %w", err)
		}
	}
	p, err := axflow.Open(ctx, axflow.Config{
		DatabaseURL: database, PageProxy: proxy, Flows: flows(o.size), Engine: true, MaxConns: 12, Logger: log,
		TuneEngine: func(c *engine.Config) { c.Retention = -1 },
		TuneWorker: func(c *worker.Config) {
			c.Slots, c.Labels, c.Grace = 32, []string{"eu", "ssd"}, 2*time.Second
			c.Logs.Level = slog.LevelDebug
			c.Logs.Quiet = true // handlers fail on purpose
		},
		API: &api.Config{Listen: o.addr, Version: "sandbox", DrainGrace: time.Second, Local: local},
	})
	if err != nil {
		return nil, fmt.Errorf("opening the process: %w", err)
	}
	return p, nil
}

// fill makes the content, says that it stands, and keeps it moving.
func (o options) fill(ctx context.Context, p *axflow.Process, token string) error {
	c, err := newContent(p, token, o.seed)
	if err != nil {
		return err
	}
	stands, err := c.stands(ctx)
	if err != nil {
		return err
	}
	if !stands {
		if err := c.make(ctx, o.size); err != nil {
			return fmt.Errorf("making the content: %w", err)
		}
	}
	fmt.Println("ready", p.Server().URL()+"/") //nolint:forbidigo // what the one who started it waits for
	if o.quiet {
		<-ctx.Done()
		return nil
	}
	return c.load(ctx)
}
