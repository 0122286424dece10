package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/internal/rails"
	"axflow/internal/watch"
)

func (a *app) flowShowCommand() *cobra.Command {
	var version string
	return a.asking(asking{use: "show FLOW", short: "Show a flow: its graph, drawn from top to bottom, and its params", args: takes("FLOW"), complete: nth(flowNames),
		long: "Show a flow: its graph, drawn from top to bottom, and its params.\n\nA line leads from a stage down to those that come after it: it branches off to each, and lines " +
			"that end at the same stage\njoin. Stages whose lines only cross have nothing to do with each other.",
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&version, "version", "", "this content version (default the newest)")
		},
		ask: func(ctx context.Context, s *session, args []string) ([]byte, func() error, error) {
			r, err := take(s.api.GetFlowWithResponse(ctx, args[0], &gen.GetFlowParams{Version: opt(version)}))
			if err != nil {
				return nil, nil, a.noFlow(ctx, s, args[0], err)
			}
			return r.raw, func() error { return a.flow(r.is) }, nil
		}})
}

func (a *app) flow(f *gen.Flow) error {
	version := f.Version
	if !f.Newest {
		version += " (not the newest)"
	}
	a.fact("flow", f.Name+", version "+version)
	a.fact("about", value(f.Description))
	a.fact("owner", value(f.Owner))
	a.fact("held", heldText(f.Hold))
	if s := value(f.LateAfterS); s > 0 {
		a.fact("late", "after "+watch.Duration(seconds(s)))
	}
	a.fact("search", strings.Join(f.Searchable, ", "))
	a.say("")
	t := watch.Detect(a.Stdout, a.Getenv)
	width := 0 // as wide as it gets, where it is not a terminal
	if t.Size != nil {
		width, _ = t.Size()
	}
	nodes := make([]rails.Node, len(f.Graph.Stages))
	for i, x := range f.Graph.Stages {
		nodes[i] = rails.Node{Name: x.Name, After: x.Upstreams, Mark: marks(x), Wide: x.Kind == gen.StageKindSharded}
	}
	for _, line := range rails.Draw(nodes, rails.Style{Width: width, ASCII: t.ASCII, Color: t.Color}) {
		a.say("%s", line)
	}
	fields := fieldsOf(value(f.ParamsSchema))
	if len(fields) == 0 {
		return nil
	}
	a.say("")
	params := table{{"PARAM", "TYPE", ""}}
	for _, x := range fields {
		kind := (&paramFlag{field: x}).Type()
		if x.array {
			kind = "list of " + kind
		}
		params = append(params, []string{x.name(), kind, x.usage()})
	}
	return params.write(a.Stdout)
}

// marks say what is special about a stage.
func marks(x gen.GraphStage) string {
	var m []string
	add := func(is bool, format string, args ...any) {
		if is {
			m = append(m, fmt.Sprintf(format, args...))
		}
	}
	add(x.Kind == gen.StageKindSharded && x.AlignedTo == nil, "sharded")
	add(x.AlignedTo != nil, "sharded like %s", value(x.AlignedTo))
	add(x.Child != nil, "runs flow %s", value(x.Child))
	add(x.TeardownOf != nil, "teardown of %s", value(x.TeardownOf))
	add(x.Rule != "" && x.Rule != "all_success" && x.TeardownOf == nil, "%s", words(x.Rule))
	add(value(x.Conditional), "conditional")
	add(value(x.Disabled), "disabled")
	add(value(x.FailFast), "fails fast")
	add(value(x.Tx), "in a transaction")
	add(value(x.Limit) > 0, "at most %d at once", value(x.Limit))
	add(x.Rate != nil, "%s", value(x.Rate))
	add(x.Key != nil, "one at a time by %s", value(x.Key))
	add(x.Queue != nil, "queue %s", value(x.Queue))
	add(x.Level != nil, "%s", value(x.Level))
	add(len(x.Downstreams) > 0, "calls %s", strings.Join(x.Downstreams, ", "))
	add(len(x.Requires) > 0, "on %s", strings.Join(x.Requires, ", "))
	return strings.Join(m, ", ")
}
