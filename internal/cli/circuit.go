package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"axflow/api/gen"
)

func (a *app) circuitCommand() *cobra.Command {
	return a.group("circuit", "Circuit breakers of handlers and downstreams",
		a.circuitListCommand(),
		a.circuitMove("open", "Open a circuit by hand: its work waits until it is closed by hand"),
		a.circuitMove("close", "Close a circuit, whoever opened it"))
}

func (a *app) circuitMove(move, short string) *cobra.Command {
	return a.changing(changing{use: move + " {DOWNSTREAM | FLOW/STAGE}", short: short, args: []string{"DOWNSTREAM or FLOW/STAGE"}, complete: nth(circuitNames),
		do: func(ctx context.Context, s *session, args []string, act gen.Act) (got[gen.ActResult], error) {
			kind := gen.CircuitKindDownstream
			if strings.Contains(args[0], "/") {
				kind = gen.CircuitKindHandler
			}
			return take(s.api.MoveCircuitWithResponse(ctx, move, gen.MoveCircuitJSONRequestBody{Kind: kind, Name: args[0], Reason: act.Reason, DryRun: act.DryRun}))
		}})
}

func (a *app) circuitListCommand() *cobra.Command {
	return list(a, listing[gen.Circuit]{use: "list", short: "List circuits that are not closed or have been open before",
		none: "every circuit is closed, and none has been open before",
		page: func(ctx context.Context, s *session, _ []string, _ *int, _ *string) (answer, error) {
			return s.api.ListCircuitsWithResponse(ctx)
		},
		head: []string{"KIND", "NAME", "STATE", "FAILURES", "OPENED", "PROBES", "BY", "LAST ERROR"},
		row: func(x gen.Circuit) []string {
			by, until := value(x.Actor), ""
			if x.Reason != nil {
				by += ": " + *x.Reason
			}
			switch {
			case x.State == gen.CircuitStateOpen && x.Manual:
				until = "when closed by hand"
			case x.State == gen.CircuitStateOpen && x.Until != nil:
				until = "at " + x.Until.Local().Format(time.TimeOnly)
			}
			return []string{string(x.Kind), x.Name, string(x.State), fmt.Sprint(x.Failures), age(x.OpenedAt), until, by, oneLine(value(x.LastError))}
		}})
}

// circuitNames proposes the circuits that are listed.
func circuitNames(ctx context.Context, s *session, _ []string, _ string) []string {
	r, err := take(s.api.ListCircuitsWithResponse(ctx))
	if err != nil {
		return nil
	}
	names := make([]string, len(r.is.Items))
	for i, c := range r.is.Items {
		names[i] = c.Name + "\t" + string(c.State)
	}
	return names
}

// oneLine cuts a text at a length and at its first line's end, and takes out what a terminal would heed.
func oneLine(text string) string {
	text, _, cut := strings.Cut(harmless(strings.TrimSpace(text)), "\n")
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	if cut {
		return text + " …"
	}
	return text
}
