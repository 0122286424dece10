package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"axflow/engine/control"
)

// listedCircuit is one circuit breaker in JSON.
type listedCircuit struct {
	Kind      string     `json:"kind"`
	Name      string     `json:"name"`
	State     string     `json:"state"`
	Manual    bool       `json:"manual,omitempty"`
	Failures  int        `json:"failures"`
	OpenedAt  *time.Time `json:"opened_at,omitempty"`
	Until     *time.Time `json:"until,omitempty"`
	LastError string     `json:"last_error,omitempty"`
	Actor     string     `json:"actor"`
	Reason    string     `json:"reason,omitempty"`
}

func (a *app) circuitCommand() *cobra.Command {
	return a.group("circuit", "Circuit breakers of handlers and downstreams",
		a.listing("list", "List circuits that are not closed or have been open before", "every circuit is closed, and none has been open before", nil, listCircuits),
		a.circuitChange("open", "Open a circuit by hand: its work waits until it is closed by hand", (*control.Client).OpenCircuit),
		a.circuitChange("close", "Close a circuit, whoever opened it", (*control.Client).CloseCircuit))
}

func (a *app) circuitChange(name, short string,
	do func(*control.Client, context.Context, control.CircuitKind, string, control.Who) ([]control.Touch, error)) *cobra.Command {
	const what = "{DOWNSTREAM | FLOW/STAGE}"
	return a.changing(name+" "+what, short, []string{"DOWNSTREAM or FLOW/STAGE"}, nil,
		func(ctx context.Context, c *control.Client, args []string, who control.Who) ([]control.Touch, error) {
			kind := control.CircuitDownstream
			if strings.Contains(args[0], "/") {
				kind = control.CircuitHandler
			}
			return do(c, ctx, kind, args[0], who)
		})
}

func listCircuits(ctx context.Context, c *control.Client) (table, any, error) {
	circuits, err := c.Circuits(ctx)
	if err != nil {
		return nil, nil, err
	}
	t := table{{"KIND", "NAME", "STATE", "FAILURES", "OPENED", "PROBES", "BY", "LAST ERROR"}}
	list := make([]listedCircuit, 0, len(circuits))
	for _, x := range circuits {
		list = append(list, listedCircuit{string(x.Kind), x.Name, x.State, x.Manual, x.Failures, x.OpenedAt, x.Until, x.LastError, x.Actor, x.Reason})
		by, until := x.Actor, ""
		if x.Reason != "" {
			by += ": " + x.Reason
		}
		switch {
		case x.State == "open" && x.Manual:
			until = "when closed by hand"
		case x.State == "open" && x.Until != nil:
			until = "at " + x.Until.Local().Format(time.TimeOnly)
		}
		t = append(t, []string{string(x.Kind), x.Name, x.State, fmt.Sprint(x.Failures), age(x.OpenedAt), until, by, oneLine(x.LastError)})
	}
	return t, list, nil
}

// oneLine cuts a text at a length and at its first line's end.
func oneLine(text string) string {
	text, _, cut := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	if cut {
		return text + " …"
	}
	return text
}
