package cli

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/engine/control"
	"axflow/stage"
)

func (a *app) cancelCommand() *cobra.Command {
	force := false
	return a.steering(verb{
		name: "cancel", short: "Cancel runs: what has not started never will, what runs is asked to stop",
		long: "Cancel runs: what has not started never will, what runs is asked to stop.\n\n" +
			"Uninterruptible stages finish what they have started, teardown stages still take down what was set up, and runs of\n" +
			"sub-flows are cancelled too. --force takes running work away at once and runs no teardown; what handlers still do is not undone.",
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&force, "force", false, "take running work away at once; what its handlers still do is not undone")
		},
		one: func(ctx context.Context, c *control.Client, id uuid.UUID, x act) ([]control.Touch, error) {
			return c.Cancel(ctx, id, force, x.who)
		},
		many: func(ctx context.Context, c *control.Client, f control.Filter, x act) (control.Sweep, error) {
			return c.CancelWhere(ctx, f, force, x.who)
		},
		done: "run %s is being cancelled",
	})
}

func (a *app) retryCommand() *cobra.Command {
	return a.steering(verb{
		name: "retry", args: []string{"STAGE"}, optional: true, shards: true,
		short: "Give failed shards and stages as many further attempts as their policy has",
		one: func(ctx context.Context, c *control.Client, id uuid.UUID, x act) ([]control.Touch, error) {
			if x.stage() == "" {
				return c.Retry(ctx, id, x.who)
			}
			return c.RetryShards(ctx, id, x.stage(), x.shards, x.who)
		},
		many: func(ctx context.Context, c *control.Client, f control.Filter, x act) (control.Sweep, error) {
			if x.stage() != "" {
				return control.Sweep{}, usagef("retrying one stage needs RUN: by filter all failed work of the runs is retried")
			}
			return c.RetryWhere(ctx, f, x.who)
		},
		done: "run %s goes on: `run watch` shows it",
	})
}

func (a *app) rerunCommand() *cobra.Command {
	return a.steering(verb{
		name: "rerun", args: []string{"STAGE"}, shards: true,
		short: "Run a stage and all that follow it again, from the start",
		long: "Run a stage and all that follow it again, from the start; the outputs of what comes before stay.\n\n" +
			"With --shards, only shards that have succeeded run again, and downstream only what depends on them: the same shards\n" +
			"of aligned stages, else the stages that join them.",
		one: func(ctx context.Context, c *control.Client, id uuid.UUID, x act) ([]control.Touch, error) {
			if !x.shards.Empty() {
				return c.RerunShards(ctx, id, x.stage(), x.shards, x.who)
			}
			return c.Rerun(ctx, id, x.stage(), x.who)
		},
		many: func(ctx context.Context, c *control.Client, f control.Filter, x act) (control.Sweep, error) {
			return c.RerunWhere(ctx, f, x.stage(), x.who)
		},
		done: "run %s goes on: `run watch` shows it",
	})
}

func (a *app) pauseCommand() *cobra.Command {
	return a.steering(verb{
		name: "pause", short: "Hold runs: nothing of them starts until they are resumed, what runs goes on",
		one: func(ctx context.Context, c *control.Client, id uuid.UUID, x act) ([]control.Touch, error) {
			return c.Pause(ctx, control.HoldRun, id.String(), x.who)
		},
		many: func(ctx context.Context, c *control.Client, f control.Filter, x act) (control.Sweep, error) {
			return c.PauseWhere(ctx, f, x.who)
		},
	})
}

func (a *app) resumeCommand() *cobra.Command {
	return a.steering(verb{
		name: "resume", short: "Let paused runs go on",
		one: func(ctx context.Context, c *control.Client, id uuid.UUID, x act) ([]control.Touch, error) {
			return c.Resume(ctx, control.HoldRun, id.String(), x.who)
		},
		many: func(ctx context.Context, c *control.Client, f control.Filter, x act) (control.Sweep, error) {
			return c.ResumeWhere(ctx, f, x.who)
		},
	})
}

func (a *app) skipCommand() *cobra.Command {
	return a.steering(verb{
		name: "skip", args: []string{"STAGE"}, shards: true,
		short: "Skip a stage, or shards of it: what of it has not succeeded never runs",
		one: func(ctx context.Context, c *control.Client, id uuid.UUID, x act) ([]control.Touch, error) {
			if !x.shards.Empty() {
				return c.SkipShards(ctx, id, x.stage(), x.shards, x.who)
			}
			return c.Skip(ctx, id, x.stage(), x.who)
		},
		many: func(ctx context.Context, c *control.Client, f control.Filter, x act) (control.Sweep, error) {
			return c.SkipWhere(ctx, f, x.stage(), x.who)
		},
	})
}

func (a *app) succeedCommand() *cobra.Command {
	var output string
	bytes := func() []byte {
		if output == "" {
			return nil
		}
		return []byte(output)
	}
	return a.steering(verb{
		name: "mark-success", args: []string{"STAGE"}, shards: true,
		short: "Count a stage, or shards of it, as succeeded with a given output, as if a worker had said so",
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&output, "output", "", "the output, as JSON (default none)")
		},
		check: func(act) error {
			if output != "" && !json.Valid([]byte(output)) {
				return usagef("--output %q is no JSON: a text is written as '\"text\"'", output)
			}
			return nil
		},
		one: func(ctx context.Context, c *control.Client, id uuid.UUID, x act) ([]control.Touch, error) {
			return c.MarkSuccess(ctx, id, x.stage(), x.shards, bytes(), x.who)
		},
		many: func(ctx context.Context, c *control.Client, f control.Filter, x act) (control.Sweep, error) {
			return c.MarkSuccessWhere(ctx, f, x.stage(), bytes(), x.who)
		},
	})
}

func (a *app) priorityCommand() *cobra.Command {
	var stageName string
	level := func(x act) (*stage.Level, error) {
		switch x.args[0] {
		case "up", "down", "declared":
			return nil, nil
		}
		l, err := stage.ParseLevel(x.args[0])
		if err != nil {
			return nil, usagef("%w, `up` or `down` by one, or `declared` to take an operator's level back", err)
		}
		return &l, nil
	}
	return a.steering(verb{
		name: "priority", args: []string{"LEVEL"},
		short: "Give open runs, or one stage of them, another level: P0 (most urgent) to P5, up, down, or declared",
		long: "Give open runs, or one stage of them, another level, for what waits and for what comes.\n\nLEVEL is P0 (most urgent) to P5, " +
			"`up` or `down` by one level, or `declared` to go back to what the flow and the start said.",
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&stageName, "stage", "", "only this stage")
		},
		check: func(x act) error { _, err := level(x); return err },
		one: func(ctx context.Context, c *control.Client, id uuid.UUID, x act) ([]control.Touch, error) {
			switch x.args[0] {
			case "up":
				return c.Expedite(ctx, id, stageName, x.who)
			case "down":
				return c.Demote(ctx, id, stageName, x.who)
			}
			l, err := level(x)
			if err != nil {
				return nil, err
			}
			return c.SetLevel(ctx, id, stageName, l, x.who)
		},
		many: func(ctx context.Context, c *control.Client, f control.Filter, x act) (control.Sweep, error) {
			if x.args[0] == "up" || x.args[0] == "down" {
				return control.Sweep{}, usagef("by filter, name the level: calling `%s` twice would move runs twice", x.args[0])
			}
			l, err := level(x)
			if err != nil {
				return control.Sweep{}, err
			}
			return c.SetLevelWhere(ctx, f, stageName, l, x.who)
		},
	})
}
