package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"axflow/api/client"
	"axflow/internal/watch"
)

func (a *app) eventsCommand() *cobra.Command {
	var runs, flows []string
	cmd := &cobra.Command{Use: "events", Short: "Print changes as they happen, one JSON object a line, until Ctrl-C", Args: takes(),
		Long: "Print changes as they happen, one JSON object a line, until Ctrl-C: of the runs and flows that are named, else of all runs.\n" +
			"`kind` says what it is: `snapshot` (a run in full), `delta` (what has changed of it), `run` (a run that came or changed), `lost` (changes were missed).",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(ctx context.Context, s *session) error {
				w := client.Watch{Flows: flows, Lost: func(err error, pause time.Duration) {
					a.complain("the stream was lost, again in %s: %v", watch.Duration(pause), err)
				}}
				for _, text := range runs {
					id, err := s.findRun(ctx, text)
					if err != nil {
						return err
					}
					w.Runs = append(w.Runs, id)
				}
				for e, err := range client.Events(ctx, s.cfg, w) {
					if errors.Is(err, context.Canceled) {
						return nil
					}
					if err != nil {
						return err
					}
					if err := a.jsonLine(eventLine(e)); err != nil {
						return err
					}
				}
				return nil
			})
		}}
	f := cmd.Flags()
	f.StringSliceVar(&runs, "run", nil, "of these runs, stage by stage")
	f.StringSliceVar(&flows, "flow", nil, "of the runs of these flows")
	f.Bool("json", true, "as it always does")
	_ = f.MarkHidden("json") // it is there
	a.completeFlag(cmd, "run", recentRuns)
	a.completeFlag(cmd, "flow", flowNames)
	return cmd
}

// eventLine is an event as it is printed.
func eventLine(e client.Event) map[string]any {
	line := map[string]any{"kind": e.Kind}
	switch {
	case e.Live != nil:
		line["live"] = e.Live
	case e.Run != nil:
		line["run"] = e.Run
	case e.Kind == client.EventLost:
		line["flows"] = e.Flows
	}
	return line
}
