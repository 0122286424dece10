package cli

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/engine/control"
)

func (a *app) watchCommand() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "watch RUN",
		Short: "Show a run's progress until its end",
		Long: "Show a run's progress until its end: redrawn in place in a terminal, a line a change elsewhere. Ctrl-C stops the watching, not the run.\n" +
			"Exit code 3 unless the run succeeds, 4 when the watching ended first.",
		Args: takes("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRun(cmd, args, func(ctx context.Context, c *control.Client, id uuid.UUID) error {
				state, err := a.await(ctx, c, id, starting{watch: true, timeout: timeout})
				if err != nil {
					return err
				}
				return a.verdict(id, state)
			})
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "watch no longer than this")
	return cmd
}
