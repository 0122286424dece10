package axflow

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"axflow/flow"
	"axflow/internal/cli"
)

// Version is the program's version in `version`; builds set it with -ldflags "-X axflow.Version=…". Empty means
// what the Go toolchain has recorded of the build.
var Version string

// Main turns a program into one with AX's commands: dev, server, worker, migrate, doctor, run, version. It reads
// the process's arguments, ends it with the command's exit code and does not return.
//
// The first SIGINT or SIGTERM ends the command in good order: a worker hands back what has not started and lets
// what runs finish. The second ends the process at once.
func Main(flows ...flow.Definition) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		stop()
		<-signals
		_, _ = fmt.Fprintln(os.Stderr, "stopped at once: what ran here runs again elsewhere, once this process is seen to be gone")
		os.Exit(cli.ExitKilled)
	}()
	os.Exit(Run(ctx, os.Args[1:], os.Stdout, os.Stderr, flows...))
}

// Run is Main for tests and for programs that handle signals themselves: it runs the command that args (without
// the program's name) say, ends in good order when ctx does, and returns the exit code: 0 done, 1 failed, 2 called
// wrongly, 3 the run that was waited for has failed or was cancelled, 4 the waiting ended before the run did.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, flows ...flow.Definition) int {
	return cli.Run(ctx, cli.Config{Name: programName(), Version: version(), Flows: flows, Open: open, Stdin: os.Stdin, Stdout: stdout,
		Stderr: stderr, Getenv: os.Getenv}, args)
}

func open(ctx context.Context, cfg cli.OpenConfig) (cli.Process, error) {
	p, err := Open(ctx, Config{DatabaseURL: cfg.DatabaseURL, Namespace: cfg.Namespace, Engine: cfg.Engine, Flows: cfg.Flows,
		API: cfg.API, PageProxy: cfg.PageProxy, Codec: cfg.Codec, Webhooks: cfg.Webhooks, RunURL: cfg.RunURL, PollOnly: cfg.PollOnly, Logger: cfg.Logger})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// programName is what the program is called in its own texts.
func programName() string {
	name := filepath.Base(os.Args[0])
	if strings.HasSuffix(name, ".test") {
		return "ax"
	}
	return strings.TrimSuffix(name, ".exe")
}

func version() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
