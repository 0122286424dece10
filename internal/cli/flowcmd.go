package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"axflow/api/gen"
)

func (a *app) flowCommand() *cobra.Command {
	return a.group("flow", "Flows: what they are made of, their versions, pausing",
		a.flowListCommand(), a.flowShowCommand(), a.flowVersionsCommand(),
		a.holdFlow(gen.HoldVerbPause, "Hold a flow: nothing of any of its runs starts until it is resumed"),
		a.holdFlow(gen.HoldVerbResume, "Let a paused flow go on"))
}

func (a *app) holdFlow(verb gen.HoldVerb, short string) *cobra.Command {
	return a.changing(changing{use: string(verb) + " FLOW", short: short, args: []string{"FLOW"}, complete: nth(flowNames),
		do: func(ctx context.Context, s *session, args []string, act gen.Act) (got[gen.ActResult], error) {
			r, err := take(s.api.HoldFlowWithResponse(ctx, args[0], verb, act))
			return r, a.noFlow(ctx, s, args[0], err)
		}})
}

func (a *app) flowListCommand() *cobra.Command {
	return list(a, listing[gen.FlowSummary]{use: "list [PART]", short: "List flows by name, all or those whose name has a part",
		none: "there are no flows: start a worker that has some", least: 200, complete: nth(flowNames),
		args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return takes("PART")(cmd, args)
		},
		page: func(ctx context.Context, s *session, args []string, limit *int, cursor *string) (answer, error) {
			p := gen.ListFlowsParams{Limit: limit, Cursor: cursor}
			if len(args) > 0 {
				p.Q = &args[0]
			}
			return s.api.ListFlowsWithResponse(ctx, &p)
		},
		head: []string{"FLOW", "STAGES", "OPEN RUNS", "LAST RUN", "OWNER", "DESCRIPTION"},
		row: func(f gen.FlowSummary) []string {
			last := ""
			if l := f.LastRun; l != nil {
				last = string(l.State) + ", " + age(&l.CreatedAt)
			}
			name := f.Name
			if f.Paused {
				name += " (paused)"
			}
			open := some(value(f.OpenRuns))
			if value(f.OpenRuns) >= 1000 {
				open = "1000 or more"
			}
			return []string{name, fmt.Sprint(f.Stages), open, last, value(f.Owner), oneLine(value(f.Description))}
		}})
}

func (a *app) flowVersionsCommand() *cobra.Command {
	return list(a, listing[gen.FlowVersion]{use: "versions FLOW", short: "List the versions of a flow, the newest first", none: "there are none",
		args: takes("FLOW"), complete: nth(flowNames), least: 50,
		page: func(ctx context.Context, s *session, args []string, limit *int, cursor *string) (answer, error) {
			r, err := s.api.ListFlowVersionsWithResponse(ctx, args[0], &gen.ListFlowVersionsParams{Limit: limit, Cursor: cursor})
			if err != nil {
				return nil, err
			}
			return r, a.noFlow(ctx, s, args[0], checkAnswer(r))
		},
		head: []string{"VERSION", "REGISTERED", ""},
		row: func(v gen.FlowVersion) []string {
			newest := ""
			if v.Newest {
				newest = "newest"
			}
			return []string{v.Version, clockTime(v.CreatedAt), newest}
		}})
}
