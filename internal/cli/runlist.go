package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/internal/watch"
)

func (a *app) listCommand() *cobra.Command {
	var flow string
	cmd := list(a, listing[gen.Run]{
		use: "list [TERM...]", short: "Find runs, the newest first",
		long: "Find runs, the newest first. All terms must hold; each may have several values, with commas:\n\n" +
			"  flow:daily-recon  state:failed  queue:nightly  level:P0,P1  trigger:api  tag:team=etl  version:…\n" +
			"  since:24h  until:2026-11-01  (a duration back from now, a date or a time, of the run's start)\n" +
			"  param.date:2026-11-29  (a param that the flow declares searchable)\n" +
			"  parent:01937f2e-…  (the whole id of a run: those that its sub-flows have started)\n" +
			"  0192f1c2  (a run's id, or its beginning)\n\n" +
			"state:open is running and cancelling, state:ended the others. A value with blanks stands in double quotes.",
		none: "no run matches: `" + a.Name + " run start FLOW` starts one", args: anything, complete: searchTerms, least: 20,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&flow, "flow", "", "the same as flow:…")
			a.completeFlag(cmd, "flow", flowNames)
		},
		page: func(ctx context.Context, s *session, args []string, limit *int, cursor *string) (answer, error) {
			q := searchText(args)
			if flow != "" {
				q = strings.TrimSpace(q + " flow:" + flow)
			}
			return s.api.ListRunsWithResponse(ctx, &gen.ListRunsParams{Q: opt(q), Limit: limit, Cursor: cursor})
		},
		head: []string{"RUN", "FLOW", "STATE", "LEVEL", "STAGES", "TRIGGER", "STARTED", "TOOK"},
		row: func(r gen.Run) []string {
			return []string{r.Id.String(), r.Flow, stateText(r), string(r.Level), tallyText(r), r.Trigger, clockTime(r.CreatedAt), tookText(r)}
		},
	})
	cmd.Example = fmt.Sprintf("  %[1]s run list flow:daily-recon state:failed since:24h\n  %[1]s run list state:open tag:team=etl --json", a.Name)
	return cmd
}

// anything takes any arguments.
func anything(*cobra.Command, []string) error { return nil }

// searchText joins the arguments; one that the shell has kept together although it has blanks gets its quotes again.
func searchText(args []string) string {
	terms := make([]string, len(args))
	for i, x := range args {
		name, value, ok := strings.Cut(x, ":")
		if ok && !strings.ContainsAny(name, " \"") && strings.Contains(value, " ") && !strings.Contains(value, `"`) && !strings.Contains(value, ":") {
			x = name + `:"` + value + `"`
		}
		terms[i] = x
	}
	return strings.Join(terms, " ")
}

// searchTerms proposes terms, and values of those that have few.
func searchTerms(ctx context.Context, s *session, args []string, begun string) []string {
	name, _, ok := strings.Cut(begun, ":")
	if !ok {
		return []string{"flow:", "state:", "tag:", "since:", "until:", "queue:", "level:", "trigger:", "version:", "parent:"}
	}
	var values []string
	switch name {
	case "flow":
		values = flowNames(ctx, s, nil, "")
	case "queue":
		values = queueNames(ctx, s, nil, "")
	case "state":
		values = []string{"open", "ended", "running", "cancelling", "succeeded", "failed", "cancelled"}
	case "level":
		values = []string{"P0", "P1", "P2", "P3", "P4", "P5"}
	}
	for i, v := range values {
		values[i] = name + ":" + v
	}
	return values
}

// stateText is a run's state and what is odd about it.
func stateText(r gen.Run) string {
	text := string(r.State)
	switch {
	case r.Stuck != nil:
		text += " (stuck: " + *r.Stuck + ")"
	case value(r.Paused):
		text += " (paused)"
	case value(r.Late):
		text += " (late)"
	}
	return text
}

// tallyText is how many stages are decided.
func tallyText(r gen.Run) string {
	if r.Stages == nil {
		return ""
	}
	decided, all := 0, 0
	for state, n := range *r.Stages {
		all += n
		switch gen.StageState(state) {
		case gen.StageStateSucceeded, gen.StageStateFailed, gen.StageStateCancelled, gen.StageStateSkipped, gen.StageStateUpstreamFailed:
			decided += n
		}
	}
	return fmt.Sprintf("%d/%d", decided, all)
}

func tookText(r gen.Run) string {
	if r.FinishedAt == nil {
		return ""
	}
	return watch.Duration(r.FinishedAt.Sub(r.CreatedAt))
}
