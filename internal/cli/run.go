package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/user"

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
	cmd.AddCommand(a.startCommand(), a.listCommand(), a.showCommand(), a.watchCommand(), a.cancelCommand(), a.retryCommand(), a.rerunCommand())
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

// steering adds --reason to a command that the journal keeps.
func steering(cmd *cobra.Command, act func(*cobra.Command, []string, control.Who) error) *cobra.Command {
	reason := cmd.Flags().String("reason", "", "why; the run's journal keeps it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return act(cmd, args, control.Who{Actor: actor(), Reason: *reason})
	}
	return cmd
}

// actor names the user for the journal.
func actor() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return "cli:" + name
	}
	return "cli:" + name + "@" + host
}

func (a *app) cancelCommand() *cobra.Command {
	force := false
	cmd := steering(&cobra.Command{
		Use:   "cancel RUN",
		Short: "Cancel a run: what has not started never will, what runs is asked to stop",
		Args:  takes("RUN"),
	}, func(cmd *cobra.Command, args []string, who control.Who) error {
		return a.withRun(cmd, args, func(ctx context.Context, c *control.Client, id uuid.UUID) error {
			if _, err := c.Cancel(ctx, id, force, who); err != nil {
				return err
			}
			if force {
				a.say("run %s is being cancelled; reports of what still runs are refused", id)
			} else {
				a.say("run %s is being cancelled; what runs is asked to stop (--force does not wait for it)", id)
			}
			return nil
		})
	})
	cmd.Flags().BoolVar(&force, "force", false, "take running work away at once; what its handlers still do is not undone")
	return cmd
}

func (a *app) retryCommand() *cobra.Command {
	return steering(&cobra.Command{
		Use:   "retry RUN",
		Short: "Give a run's failed shards and stages as many further attempts as their policy has",
		Args:  takes("RUN"),
	}, func(cmd *cobra.Command, args []string, who control.Who) error {
		return a.withRun(cmd, args, func(ctx context.Context, c *control.Client, id uuid.UUID) error {
			touched, err := c.Retry(ctx, id, who)
			if err != nil {
				return err
			}
			a.say("run %s goes on: %d failed pieces of work run again; `%s run watch %s` shows them", id, control.Indices(touched), a.Name, id)
			return nil
		})
	})
}

func (a *app) rerunCommand() *cobra.Command {
	return steering(&cobra.Command{
		Use:   "rerun RUN STAGE",
		Short: "Run a stage and all that follow it again, from the start",
		Args:  takes("RUN", "STAGE"),
	}, func(cmd *cobra.Command, args []string, who control.Who) error {
		return a.withRun(cmd, args, func(ctx context.Context, c *control.Client, id uuid.UUID) error {
			if _, err := c.Rerun(ctx, id, args[1], who); err != nil {
				return a.withStages(ctx, c, id, err)
			}
			a.say("run %s: stage %s and all that follow it run again; `%s run watch %s` shows them", id, args[1], a.Name, id)
			return nil
		})
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
