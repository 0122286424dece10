package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/engine/control"
)

func (a *app) runCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Start runs, look at them, steer them",
		Args:  a.noSuchCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.startCommand(), a.listCommand(), a.showCommand(), a.watchCommand(), a.cancelCommand(), a.pauseCommand(), a.resumeCommand(),
		a.retryCommand(), a.rerunCommand(), a.skipCommand(), a.succeedCommand(), a.priorityCommand())
	return cmd
}

// withClient calls act with a client of the database, whose news to the engine is sent before it returns.
func (a *app) withClient(ctx context.Context, act func(context.Context, *control.Client) error) error {
	log, err := a.logger(a.Stderr, slog.LevelWarn)
	if err != nil {
		return err
	}
	d, err := a.database(ctx, found, log)
	if err != nil {
		return err
	}
	defer d.close(ctx)
	p, err := a.Open(ctx, OpenConfig{DatabaseURL: d.url, Namespace: a.flags.namespace, PollOnly: a.flags.pollOnly, Logger: log})
	if err != nil {
		return err
	}
	defer p.Close()
	runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ran := make(chan error, 1)
	go func() { ran <- p.Run(runCtx) }()
	err = act(ctx, p.Client())
	stop()
	if runErr := <-ran; runErr != nil {
		log.Warn("sending hints", "error", runErr)
	}
	return err
}

// withRun is withClient for a command whose first argument is a run.
func (a *app) withRun(cmd *cobra.Command, args []string, act func(context.Context, *control.Client, uuid.UUID) error) error {
	if _, err := readRunID(args[0]); err != nil {
		return err
	}
	return a.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
		id, err := findRun(ctx, c, args[0])
		if err != nil {
			return err
		}
		return act(ctx, c, id)
	})
}

// withStages adds the names of a run's stages to the error that one is unknown.
func (a *app) withStages(ctx context.Context, c *control.Client, id uuid.UUID, err error) error {
	p, progressErr := c.Progress(ctx, id)
	if progressErr != nil || !isNotFound(err) {
		return err
	}
	names := make([]string, len(p.Stages))
	for i, s := range p.Stages {
		names[i] = s.Name
	}
	return fmt.Errorf("%w; its stages are %s", err, listed(names))
}
