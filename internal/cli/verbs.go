package cli

import (
	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/stage"
)

// goesOn is said of a run that a verb has set going again.
const goesOn = "run %s goes on: `run watch` shows it"

func (a *app) cancelCommand() *cobra.Command {
	return a.steering(verb{
		name: "cancel", short: "Cancel runs: what has not started never will, what runs is asked to stop",
		long: "Cancel runs: what has not started never will, what runs is asked to stop.\n\n" +
			"Uninterruptible stages finish what they have started, teardown stages still take down what was set up, and runs of\n" +
			"sub-flows are cancelled too. --force takes running work away at once and runs no teardown; what handlers still do is not undone.",
		flags: func(cmd *cobra.Command, o *order) {
			cmd.Flags().BoolVar(&o.force, "force", false, "take running work away at once; what its handlers still do is not undone")
		},
		done: "run %s is being cancelled",
	})
}

func (a *app) retryCommand() *cobra.Command {
	return a.steering(verb{
		name: "retry", args: []string{"STAGE"}, optional: true, shards: true,
		short: "Give failed shards and stages as many further attempts as their policy has",
		done:  goesOn,
	})
}

func (a *app) rerunCommand() *cobra.Command {
	return a.steering(verb{
		name: "rerun", args: []string{"STAGE"}, shards: true,
		short: "Run a stage and all that follow it again, from the start",
		long: "Run a stage and all that follow it again, from the start; the outputs of what comes before stay.\n\n" +
			"With --shards, only shards that have succeeded run again, and downstream only what depends on them: the same shards\n" +
			"of aligned stages, else the stages that join them.",
		done: goesOn,
	})
}

func (a *app) pauseCommand() *cobra.Command {
	return a.steering(verb{name: "pause", short: "Hold runs: nothing of them starts until they are resumed, what runs goes on"})
}

func (a *app) resumeCommand() *cobra.Command {
	return a.steering(verb{name: "resume", short: "Let paused runs go on"})
}

func (a *app) skipCommand() *cobra.Command {
	return a.steering(verb{
		name: "skip", args: []string{"STAGE"}, shards: true,
		short: "Skip a stage, or shards of it: what of it has not succeeded never runs",
	})
}

func (a *app) succeedCommand() *cobra.Command {
	return a.steering(verb{
		name: "mark-success", args: []string{"STAGE"}, shards: true,
		short: "Count a stage, or shards of it, as succeeded with a given output, as if a worker had said so",
		flags: func(cmd *cobra.Command, o *order) {
			cmd.Flags().StringVar(&o.output, "output", "", "the output, as JSON (default none)")
		},
	})
}

// ofStage adds the flag that makes a level's verb one of a stage.
func ofStage(cmd *cobra.Command, o *order) {
	cmd.Flags().StringVar(&o.stage, "stage", "", "only this stage")
}

func (a *app) levelCommand() *cobra.Command {
	return a.steering(verb{
		name: "level", aliases: []string{"priority"}, args: []string{"LEVEL"},
		short: "Give open runs, or one stage of them, another level: P0 (most urgent) to P5, or declared",
		long: "Give open runs, or one stage of them, another level, for what waits and for what comes.\n\nLEVEL is P0 (most urgent) to P5, " +
			"or `declared` to go back to what the flow and the start said. `expedite` and `demote` move it by one.",
		flags: ofStage,
		read: func(args []string, o *order) error {
			if args[0] == "declared" {
				o.declared = true
				return nil
			}
			l, err := stage.ParseLevel(args[0])
			if err != nil {
				return usagef("%w, or `declared` to take an operator's level back", err)
			}
			o.level = gen.Level(l.String())
			return nil
		},
	})
}

// byOne is a verb that moves levels by one.
func (a *app) byOne(name, short string) *cobra.Command {
	return a.steering(verb{
		name: name, short: short, flags: ofStage,
		read: func([]string, *order) error { return nil },
	})
}

func (a *app) expediteCommand() *cobra.Command {
	return a.byOne("expedite", "Move open runs, or one stage of them, one level up")
}

func (a *app) demoteCommand() *cobra.Command {
	return a.byOne("demote", "Move open runs, or one stage of them, one level down")
}
