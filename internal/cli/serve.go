package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"axflow/api"
	axsql "axflow/sql"
)

func (a *app) devCommand() *cobra.Command {
	var s served
	var o outward
	var browse bool
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run everything in this process: database, engine, API with the page, and a worker for the flows built in",
		Long: "Run everything in this process: the database (an embedded PostgreSQL unless one is named), the engine, the HTTP API with the page, and a worker for\n" +
			"the flows built in. The database's schema is brought up to date. Ctrl-C stops it all in good order; the data stays.\n\n" +
			"The API asks for no credential, so it listens on loopback only; if its port is taken it takes a free one.",
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.noAuth = true
			ac, err := a.apiConfig(s)
			if err != nil {
				return err
			}
			if ac != nil {
				ac.AnyPort = ac.Listen == ""
			}
			proxy, err := s.proxy(ac)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), serving{need: made, migrate: true, engine: true, worker: true, api: ac, proxy: proxy, browse: browse, out: o})
		},
	}
	s.flagsOf(cmd, false)
	o.flagsOf(cmd)
	cmd.Flags().BoolVar(&browse, "open", false, "open the page in the browser")
	return cmd
}

func (a *app) serverCommand() *cobra.Command {
	var s served
	var o outward
	var noEngine bool
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Run an engine and the API with the page; several stand by for each other",
		Long: "Run an engine and the HTTP API with the page against a database whose schema is this binary's (see `migrate`). Any number may run: of the engines one\n" +
			"leads and the others take over when it is gone, and every API serves. Work is done by workers: programs with flows built in, started with `worker`.\n\n" +
			"Clients of the API send tokens, which `token create` makes. Beyond loopback it speaks TLS only, unless --insecure-http allows plain HTTP behind\n" +
			"a proxy that encrypts.",
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ac, err := a.apiConfig(s)
			if err != nil {
				return err
			}
			if noEngine && ac == nil {
				return usagef("without engine and API there is nothing to run: leave out --no-engine or --api=false")
			}
			proxy, err := s.proxy(ac)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), serving{need: named, engine: !noEngine, api: ac, proxy: proxy, out: o})
		},
	}
	s.flagsOf(cmd, true)
	o.flagsOf(cmd)
	cmd.Flags().BoolVar(&noEngine, "no-engine", false, "serve the API only; engines run elsewhere")
	return cmd
}

func (a *app) workerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run a worker for the flows built in; `worker list` lists those that run",
		Args:  a.noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(a.Flows) == 0 {
				return usagef("%s has no flows built in: write a main() that calls axflow.Main(yourFlow) and run that program's `worker`", a.Name)
			}
			return a.serve(cmd.Context(), serving{need: found, worker: true})
		},
	}
	return cmd
}

// serving is what a long-lived command runs.
type serving struct {
	need                    need
	migrate, engine, worker bool
	api                     *api.Config // nil: no API
	proxy                   *url.URL    // nil: the page in this binary
	browse                  bool        // show it in the browser
	out                     outward
}

func (a *app) serve(ctx context.Context, s serving) error {
	log, err := a.logger(a.Stderr, slog.LevelInfo)
	if err != nil {
		return err
	}
	d, err := a.database(ctx, s.need, log)
	if err != nil {
		return err
	}
	defer d.close(ctx)
	if s.migrate {
		if err := axsql.Migrate(ctx, d.url); err != nil {
			return fmt.Errorf("bringing the database up to date: %w", err)
		}
	}
	oc := OpenConfig{DatabaseURL: d.url, Namespace: a.flags.namespace, Engine: s.engine, API: s.api, PageProxy: s.proxy, PollOnly: a.flags.pollOnly, Logger: log}
	if s.worker {
		oc.Flows = a.Flows
	}
	p, err := a.assemble(ctx, oc, s.out)
	if err != nil {
		return err
	}
	defer p.Close()
	a.introduce(d, s, p)
	if s.browse && s.api != nil && !s.api.NoPage {
		if err := a.Browse(ctx, p.Server().URL()+"/"); err != nil {
			a.complain("the browser could not be opened (%v): open %s/ yourself", err, p.Server().URL())
		}
	}
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		a.complain("stopping: what runs may finish first; once more stops at once")
	})
	err = p.Run(ctx)
	if !stop() {
		<-told
	}
	if err != nil {
		return err
	}
	a.complain("stopped")
	return nil
}

// introduce says what runs where, and what to do next.
func (a *app) introduce(d *database, s serving, p Process) {
	fact := func(name, format string, args ...any) { a.say("  %-10s %s", name, fmt.Sprintf(format, args...)) }
	if s.api != nil && !s.api.NoPage {
		a.say("page: %s/", p.Server().URL()) // what most are after, where a terminal makes it a link
	}
	a.say("%s %s, process %d", a.Name, a.Version, os.Getpid())
	fact("database", "%s", d.where)
	if s.engine {
		fact("engine", "in this process; it leads, or stands by for the one that does")
	}
	if s.api != nil {
		a.introduceAPI(s.api, p.Server().URL(), fact)
	}
	switch {
	case !s.worker && !s.engine:
	case !s.worker:
		fact("worker", "none here; programs with flows connect with `worker`")
	case len(a.Flows) == 0:
		fact("worker", "none: %s has no flows built in. In your program call axflow.Main(yourFlow), then run it", a.Name)
		if d.server != nil {
			fact("", "as `yourprogram worker`, as the same user on this machine: it finds this database by itself")
		} else {
			fact("", "as `yourprogram worker` with the same AX_DATABASE_URL")
		}
	default:
		names := make([]string, len(a.Flows))
		for i, f := range a.Flows {
			names[i] = fmt.Sprintf("%s (%d stages)", f.Name(), len(f.Defs()))
		}
		fact("worker", "namespace %s: %s", a.flags.namespace, strings.Join(names, ", "))
		fact("next", "in another terminal: `%s run start %s --watch`", a.Name, a.Flows[0].Name())
	}
	if d.server != nil {
		fact("by hand", "psql '%s'", d.url)
	}
	fact("stop", "Ctrl-C")
}

// introduceAPI says where the API is and who may use it.
func (a *app) introduceAPI(cfg *api.Config, url string, fact func(name, format string, args ...any)) {
	taken := ""
	if cfg.AnyPort && url != "http://"+api.DefaultListen {
		taken = fmt.Sprintf(" (%s is taken)", api.DefaultListen)
	}
	fact("api", "%s/api/docs%s", url, taken)
	if cfg.Local != nil {
		fact("", "without authentication: whoever is on this machine may do everything, as %s in namespace %s", cfg.Local.Actor, cfg.Local.Namespace)
		return
	}
	fact("", "clients need a token: `%s token create --help`", a.Name)
}
