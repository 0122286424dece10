package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axflow/api"
	"axflow/engine/control"
	"axflow/engine/webhook"
	"axflow/flow"
	sealing "axflow/sql/payload"
)

// Process is the parts of AX in this process; *axflow.Process is one.
type Process interface {
	Client() *control.Client
	// Server is nil unless OpenConfig has an API.
	Server() *api.Server
	Run(ctx context.Context) error
	Close()
}

// OpenConfig says which parts a command needs; a client it always has.
type OpenConfig struct {
	DatabaseURL, Namespace string
	Engine                 bool
	Flows                  []flow.Definition // none: no worker
	API                    *api.Config       // nil: no server
	PageProxy              *url.URL          // nil: the page in this binary
	Codec                  sealing.Codec     // nil: payloads are stored as they are
	Webhooks               webhook.Rules
	RunURL                 string
	PollOnly               bool
	Logger                 *slog.Logger
}

// Config is what the commands work on. Open is required.
type Config struct {
	// Name is what the program is called.
	Name string
	// Version is the program's.
	Version string
	// Flows are built in.
	Flows []flow.Definition
	// Open connects to a database and makes the parts.
	Open func(context.Context, OpenConfig) (Process, error)
	// Browse opens an address in the user's browser. Default: as the system does.
	Browse func(ctx context.Context, url string) error
	// Stdin, Stdout and Stderr are the process's; Getenv reads its environment.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
}

// app is one call of the program.
type app struct {
	Config
	flags struct {
		url, tokenFile, profile                              string
		databaseURL, dataDir, namespace, logLevel, logFormat string
		pollOnly                                             bool
		namespaceGiven                                       func() bool
	}
	session  *session  // of the command, while it has one
	asked    target    // where it was, last
	starting *starting // what `run start` was asked
}

// Run runs the command that args name and returns the exit code. When ctx ends, what runs drains and waiting ends.
func Run(ctx context.Context, cfg Config, args []string) int {
	if cfg.Browse == nil {
		cfg.Browse = browse
	}
	a := &app{Config: cfg}
	root := a.root()
	root.SetArgs(args)
	defer func() {
		if a.session != nil {
			a.session.close()
		}
	}()
	cmd := root
	err := a.foresee(ctx, root, args)
	if err == nil {
		cmd, err = root.ExecuteContextC(ctx)
	}
	if err == nil {
		return ExitOK
	}
	if text := plainText(err); text != "" {
		a.complain("%s: %s", a.Name, text)
	}
	command := cmd.CommandPath()
	if cmd.Name() == "start" && a.starting.flow != "" {
		command += " " + a.starting.flow
	}
	if next := a.next(err, command); next != "" {
		a.complain("next: %s", next)
	}
	return exitCode(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   a.Name,
		Short: "A workflow engine for data teams, on PostgreSQL",
		Long: "A workflow engine for data teams, on PostgreSQL.\n\n" +
			"Commands that look at AX and steer it ask a server, if --url, AX_URL or a profile names one, with the token of --token-file, AX_TOKEN or the profile.\n" +
			"Else they work on the database that --database-url or AX_DATABASE_URL names. Without one, `" + a.Name + " dev` runs a PostgreSQL of its own,\n" +
			"which the other commands then find by themselves.\n\nExit codes: " + exitCodes,
		SilenceUsage: true, SilenceErrors: true,
		Args: a.noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(a.flagError)
	f := root.PersistentFlags()
	f.StringVar(&a.flags.url, "url", "", "the AX server to ask, such as https://ax.example.com (default $AX_URL, else work on a database)")
	f.StringVar(&a.flags.tokenFile, "token-file", "", "file with the token for the server (default $AX_TOKEN)")
	f.StringVar(&a.flags.profile, "profile", "", "the profile that names server or database (default $AX_PROFILE, else what 'profile use' chose)")
	f.StringVar(&a.flags.databaseURL, "database-url", "", "the PostgreSQL database (default $AX_DATABASE_URL)")
	f.StringVar(&a.flags.dataDir, "data-dir", "", "folder of the embedded PostgreSQL (default $AX_DATA_DIR, else the user's data folder)")
	f.StringVar(&a.flags.namespace, "namespace", "default", "the namespace of flows and runs, on a database")
	a.flags.namespaceGiven = func() bool { return f.Changed("namespace") }
	f.StringVar(&a.flags.logLevel, "log-level", "", "debug, info, warn or error (default info where something runs, else warn)")
	f.StringVar(&a.flags.logFormat, "log-format", "text", "text or json")
	f.BoolVar(&a.flags.pollOnly, "poll-only", false, "do without LISTEN and NOTIFY, for transaction poolers")
	server, worker := a.serverCommand(), a.workerCommand()
	server.AddCommand(a.serverInfoCommand())
	worker.AddCommand(a.workerListCommand(), a.workerDrainCommand())
	root.AddGroup(&cobra.Group{ID: "work", Title: "Runs and flows:"}, &cobra.Group{ID: "operate", Title: "Operating:"},
		&cobra.Group{ID: "serve", Title: "Running AX:"}, &cobra.Group{ID: "access", Title: "Access:"})
	grouped(root, "work", a.runCommand(), a.flowCommand(), a.shardCommand(), a.whyCommand(), a.adviseCommand(), a.dlqCommand(), a.eventsCommand())
	grouped(root, "operate", a.queueCommand(), a.poolCommand(), a.circuitCommand(), a.holdCommand(), a.settingCommand(), a.webhookCommand(), a.auditCommand(), a.doctorCommand(), a.benchCommand())
	grouped(root, "serve", a.devCommand(), server, worker, a.migrateCommand())
	grouped(root, "access", a.tokenCommand(), a.meCommand(), a.profileCommand())
	root.AddCommand(a.manCommand(), a.versionCommand())
	return root
}

// grouped adds commands under a heading.
func grouped(root *cobra.Command, id string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = id
	}
	root.AddCommand(commands...)
}

// flagError says more about a flag that is unknown.
func (a *app) flagError(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return usageError{err}
	}
	var names []string
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	hint := didYouMean("--"+name, names)
	if cmd.Name() == "start" && len(a.starting.fields) == 0 {
		hint += "; the flow comes before the flags of its params"
	}
	return usagef("%w%s", err, hint)
}

// noSuchCommand refuses what is no sub-command, with what may have been meant.
func (a *app) noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("there is no command %q", cmd.CommandPath()+" "+args[0])
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usagef("%s", text)
}

// takes makes a command take the named arguments, all of them.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == len(names):
			return nil
		case len(names) == 0:
			return usagef("`%s` takes no arguments, got %q", cmd.CommandPath(), args)
		case len(args) < len(names):
			return usagef("`%s` needs %s", cmd.CommandPath(), strings.Join(names[len(args):], " and "))
		default:
			return usagef("`%s` takes only %s, got %q as well", cmd.CommandPath(), strings.Join(names, " and "), args[len(names):])
		}
	}
}

// logger writes to w; def is the level when none was asked for.
func (a *app) logger(w io.Writer, def slog.Level) (*slog.Logger, error) {
	level := def
	if text := a.flags.logLevel; text != "" {
		if err := level.UnmarshalText([]byte(text)); err != nil {
			return nil, usagef("log level %q is unknown: use debug, info, warn or error", text)
		}
	}
	opts := &slog.HandlerOptions{Level: level}
	switch a.flags.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	default:
		return nil, usagef("log format %q is unknown: use text or json", a.flags.logFormat)
	}
}

// say writes a line of the command's answer.
func (a *app) say(format string, args ...any) { _, _ = fmt.Fprintf(a.Stdout, format+"\n", args...) }

// complain writes a line for people beside the answer.
func (a *app) complain(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Stderr, format+"\n", args...)
}
