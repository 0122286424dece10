package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/api/gen"
)

func (a *app) paramsCommand() *cobra.Command {
	return a.payload(payloadCommand{use: "params RUN", short: "Print the params that a run was started with", args: takes("RUN"),
		read: func(ctx context.Context, s *session, id uuid.UUID, _ []string) ([]byte, error) {
			r, err := take(s.api.GetRunParamsWithResponse(ctx, id))
			return r.raw, err
		}})
}

func (a *app) outputCommand() *cobra.Command {
	return a.payload(payloadCommand{use: "output RUN STAGE [SHARD]", short: "Print what a stage, or one of its shards, returned",
		args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			if err := takes("RUN", "STAGE", "SHARD")(cmd, args); err != nil {
				return err
			}
			_, err := strconv.ParseUint(args[2], 10, 31)
			if err != nil {
				return usagef("%q is no shard: give its number", args[2])
			}
			return nil
		},
		read: func(ctx context.Context, s *session, id uuid.UUID, args []string) ([]byte, error) {
			var p gen.GetOutputParams
			if len(args) == 2 {
				index, err := strconv.Atoi(args[1])
				if err != nil {
					return nil, err
				}
				p.Shard = &index
			}
			r, err := take(s.api.GetOutputWithResponse(ctx, id, args[0], &p))
			return r.raw, err
		}})
}

// payloadCommand is a command that prints JSON of a user's.
type payloadCommand struct {
	use, short string
	args       cobra.PositionalArgs
	read       func(ctx context.Context, s *session, id uuid.UUID, rest []string) ([]byte, error)
}

func (a *app) payload(p payloadCommand) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: p.use, Short: p.short, Args: p.args, ValidArgsFunction: a.completing(nth(recentRuns, stagesOf)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRun(cmd, args[0], func(ctx context.Context, s *session, id uuid.UUID) error {
				raw, err := p.read(ctx, s, id, args[1:])
				if err != nil {
					stage := ""
					if len(args) > 1 {
						stage = args[1]
					}
					return a.noStage(ctx, s, id, stage, err)
				}
				return a.json(raw)
			})
		}}
	addJSON(cmd, &asJSON)
	return cmd
}

func (a *app) resultCommand() *cobra.Command {
	var asJSON, wait bool
	var timeout time.Duration
	cmd := &cobra.Command{Use: "result RUN", Short: "Show how a run ended: the outputs of its last stages, or what failed",
		Long: "Show how a run ended: the outputs of its last stages, or what failed. With --wait the exit code is 3 unless the run succeeds.",
		Args: takes("RUN"), ValidArgsFunction: a.completing(nth(recentRuns)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRun(cmd, args[0], func(ctx context.Context, s *session, id uuid.UUID) error {
				if !wait {
					r, err := take(s.api.GetRunResultWithResponse(ctx, id, &gen.GetRunResultParams{}))
					if err != nil {
						return a.noStage(ctx, s, id, "", err)
					}
					return a.result(r, asJSON)
				}
				return a.finish(ctx, s, id, finishing{wait: true, json: asJSON, timeout: timeout})
			})
		}}
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the run's end; exit code 3 unless it succeeds")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "wait no longer than this; exit code 4 when it is over (the run goes on)")
	return cmd
}

// result tells how a run stands.
func (a *app) result(r got[gen.RunResult], asJSON bool) error {
	if asJSON {
		return a.json(r.raw)
	}
	if !r.is.Ended {
		a.say("run %s of %s has not ended: %s", r.is.Run, r.is.Flow, r.is.State)
	} else {
		a.say("run %s of %s has %s", r.is.Run, r.is.Flow, past(r.is.State))
	}
	for _, name := range sortedKeys(r.is.Outputs) {
		a.say("\n%s", name)
		if err := a.json(r.is.Outputs[name]); err != nil {
			return err
		}
	}
	if r.is.State == gen.RunStateSucceeded { // what failed on the way did not matter
		return nil
	}
	for i, x := range r.is.Failures {
		if i == 0 {
			a.say("\nlast errors, the newest first")
		}
		a.say("  %s", failureLine(x, x.Shard > 0, time.Now()))
	}
	return nil
}

// past says that a run has come to a state.
func past(state gen.RunState) string {
	if state == gen.RunStateCancelled {
		return "been cancelled"
	}
	return string(state)
}
