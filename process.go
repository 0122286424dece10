package axflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"axflow/api"
	"axflow/api/access"
	"axflow/api/live"
	"axflow/api/metrics"
	"axflow/engine"
	"axflow/engine/control"
	"axflow/engine/webhook"
	"axflow/flow"
	axsql "axflow/sql"
	"axflow/sql/hint"
	"axflow/sql/payload"
	"axflow/web"
	"axflow/worker"
)

// Config says what one process holds.
type Config struct {
	// DatabaseURL names the database; see Open. Required.
	DatabaseURL string
	// Namespace that the worker's flows and the client's runs belong to. Default "default".
	Namespace string
	// Flows that the worker can run. None: no worker.
	Flows []flow.Definition
	// Engine makes the process contend for leadership.
	Engine bool
	// TuneEngine and TuneWorker may change the settings of the parts before they start; nil changes nothing.
	TuneEngine func(*engine.Config)
	TuneWorker func(*worker.Config)
	// API makes the process serve the HTTP API. What it leaves open is the process's: Client, Reads, Live, Metrics, Logger, and as
	// Authenticator the tokens and sessions in the database, unless Local is there. Open listens already, so that a wrong or taken
	// address is known at once. The server serves the page too, unless API.NoPage says otherwise. nil: no server.
	API *api.Config
	// PageProxy is a Vite server that makes the page as it is worked on; see web.Config. On loopback only. nil: the page in this binary.
	PageProxy *url.URL
	// Codec seals params, outputs, inputs of shards and the secrets of webhooks on their way to the database; every process of a
	// database needs the same keys. nil: they are stored as they are.
	Codec payload.Codec
	// Webhooks say where webhooks may lead, beside the internet.
	Webhooks webhook.Rules
	// RunURL is the address of the page of runs, to which a run's id is added, for deliveries to webhooks. "": they name no page.
	RunURL string
	// MaxConns bounds the shared pool of worker and client. Default 8.
	MaxConns int
	// PollOnly does without LISTEN and NOTIFY, for transaction poolers.
	PollOnly bool
	// Logger gets what operators must know. Default slog.Default.
	Logger *slog.Logger
}

// Process is the parts of AX that live in one process: engine, worker, server and client, as configured. They meet in the
// database, and in one process hand over to each other through memory as well.
type Process struct {
	cfg    Config
	pool   *pgxpool.Pool
	bus    *hint.Bus
	client *control.Client
	engine *engine.Engine
	worker *worker.Worker
	reads  *pgxpool.Pool // nil without a server
	server *api.Server
}

// Open connects to the database, whose schema must be this binary's (see sql.Migrate), and makes the parts. Run
// runs them; the client works at once. Close ends it.
func Open(ctx context.Context, cfg Config) (*Process, error) {
	if cfg.DatabaseURL == "" {
		return nil, errors.New("axflow: DatabaseURL is required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.MaxConns == 0 {
		cfg.MaxConns = 8
	}
	pc, err := pgxpool.ParseConfig(cfg.DatabaseURL)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err)
	}
	axsql.ConfigurePool(pc)
	pc.MaxConns = int32(cfg.MaxConns)
	pc.MaxConnIdleTime = 5 * time.Minute
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("opening the pool: %w", err)
	}
	p := &Process{cfg: cfg, pool: pool}
	if err := p.assemble(ctx, pc.ConnConfig); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Process) assemble(ctx context.Context, conn *pgx.ConnConfig) (err error) {
	cfg := p.cfg
	if err := axsql.Check(ctx, p.pool); err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	if p.bus, err = hint.New(hint.Config{ConnConfig: conn, PollOnly: cfg.PollOnly, Logger: cfg.Logger}); err != nil {
		return fmt.Errorf("setting the hints up: %w", err)
	}
	if p.client, err = control.NewClient(ctx, control.Config{Pool: p.pool, Bus: p.bus, Namespace: cfg.Namespace,
		Codec: cfg.Codec, Webhooks: cfg.Webhooks}); err != nil {
		return err
	}
	for _, f := range cfg.Flows {
		if _, err := p.client.Register(ctx, f); err != nil {
			return err
		}
	}
	if cfg.Engine {
		ec := engine.Config{ConnConfig: conn, Bus: p.bus, Codec: cfg.Codec, Webhooks: cfg.Webhooks, RunURL: cfg.RunURL, PollOnly: cfg.PollOnly,
			Logger: cfg.Logger}
		if cfg.TuneEngine != nil {
			cfg.TuneEngine(&ec)
		}
		if p.engine, err = engine.New(ec); err != nil {
			return err
		}
	}
	if len(cfg.Flows) > 0 {
		wc := worker.Config{Pool: p.pool, ConnConfig: conn, Bus: p.bus, Namespace: cfg.Namespace, Flows: cfg.Flows,
			Children: children{p.client}, Codec: cfg.Codec, Logger: cfg.Logger}
		if cfg.TuneWorker != nil {
			cfg.TuneWorker(&wc)
		}
		if p.worker, err = worker.New(wc); err != nil {
			return err
		}
	}
	if cfg.API != nil {
		return p.assembleAPI(ctx)
	}
	return nil
}

// readConns bounds the pool for lists and looks, so that they leave the others their connections.
const readConns = 4

// assembleAPI makes the server and has it listen.
func (p *Process) assembleAPI(ctx context.Context) error {
	ac := *p.cfg.API
	if ac.Logger == nil {
		ac.Logger = p.cfg.Logger
	}
	if ac.Client == nil {
		ac.Client = p.client
	}
	if ac.Reads == nil {
		pc, err := pgxpool.ParseConfig(p.cfg.DatabaseURL)
		if err != nil {
			return fmt.Errorf("reading the database URL: %w", err)
		}
		axsql.ConfigureReads(pc)
		pc.MaxConns = readConns
		pc.MaxConnIdleTime = 5 * time.Minute
		if p.reads, err = pgxpool.NewWithConfig(ctx, pc); err != nil {
			return fmt.Errorf("opening the pool for reads: %w", err)
		}
		ac.Reads = p.reads
	}
	if ac.Authenticator == nil && ac.Local == nil {
		ac.Authenticator = access.NewCredentials(p.pool, ac.Logger)
	}
	var err error
	if ac.Live == nil {
		lc := live.Config{Pool: p.pool, Bus: p.bus, Logger: ac.Logger}
		if c, ok := ac.Authenticator.(*access.Credentials); ok {
			lc.Valid = c.Stands
		}
		if ac.Live, err = live.New(lc); err != nil {
			return err
		}
	}
	if ac.Metrics == nil {
		ac.Metrics = prometheus.NewRegistry()
		if err := metrics.Register(ac.Metrics, metrics.Parts{Engine: p.engine, Worker: p.worker, Bus: p.bus, Live: ac.Live, Version: ac.Version,
			Pools: map[string]*pgxpool.Pool{"main": p.pool, "reads": ac.Reads}}); err != nil {
			return err
		}
	}
	if ac.Page == nil && !ac.NoPage {
		if p.cfg.PageProxy != nil && !loopback(cmp.Or(ac.Listen, api.DefaultListen)) {
			return fmt.Errorf("axflow: a page of Vite's is for work on the page, on loopback: listen on %s, not on %s", api.DefaultListen, ac.Listen)
		}
		if ac.Page, err = web.Handler(web.Config{Proxy: p.cfg.PageProxy, Logger: ac.Logger}); err != nil {
			return err
		}
	}
	if p.server, err = api.New(ac); err != nil {
		return err
	}
	return p.server.Listen(ctx)
}

// loopback tells whether an address is this machine's alone.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// Client starts, watches and steers runs.
func (p *Process) Client() *control.Client { return p.client }

// Pool is the shared pool.
func (p *Process) Pool() *pgxpool.Pool { return p.pool }

// Engine is nil when the process has none.
func (p *Process) Engine() *engine.Engine { return p.engine }

// Worker is nil when the process has none.
func (p *Process) Worker() *worker.Worker { return p.worker }

// Server is nil when the process serves no API.
func (p *Process) Server() *api.Server { return p.server }

// Run runs the parts until ctx ends: then the worker and the server drain, the engine resigns, and Run returns nil. It returns
// earlier only when a part fails for good, or when an operator drains the worker and there is nothing else in the process:
// its engine and its server go on without the worker.
func (p *Process) Run(ctx context.Context) error {
	// The worker and the engine still send hints while they end: the bus goes last.
	busCtx, stopBus := context.WithCancel(context.WithoutCancel(ctx))
	busDone := make(chan error, 1)
	go func() { busDone <- p.bus.Run(busCtx) }()
	// A draining worker still needs somebody to decide what its last results mean, and who asks the server wants to see it: the engine
	// goes after them.
	engineCtx, stopEngine := context.WithCancel(context.WithoutCancel(ctx))
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer stopEngine()
		parts, pctx := errgroup.WithContext(gctx)
		if p.worker != nil {
			parts.Go(func() error { return p.worker.Run(pctx) })
		}
		if p.server != nil {
			parts.Go(func() error { return p.server.Run(pctx) })
		}
		if p.worker == nil || p.engine != nil || p.server != nil {
			// When an operator has drained the worker, the other parts go on.
			parts.Go(func() error { <-pctx.Done(); return nil })
		}
		return parts.Wait()
	})
	if p.engine != nil {
		g.Go(func() error { return p.engine.Run(engineCtx) })
	}
	err := g.Wait()
	stopEngine()
	stopBus()
	if busErr := <-busDone; err == nil {
		err = busErr
	}
	return err
}

// Close gives the connections back. Call it after Run has returned, or instead of Run.
func (p *Process) Close() {
	if p.server != nil {
		_ = p.server.Close() // nobody has listened to it
	}
	if p.reads != nil {
		p.reads.Close()
	}
	p.pool.Close()
}
