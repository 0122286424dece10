package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"axflow/api/gen"
)

func (a *app) poolCommand() *cobra.Command {
	return a.group("pool", "Pools: the workers' slots for each handler",
		list(a, listing[gen.Pool]{use: "list", short: "List pools with what of them is busy", none: "no worker runs, and no pool is set",
			page: func(ctx context.Context, s *session, _ []string, _ *int, _ *string) (answer, error) {
				return s.api.ListPoolsWithResponse(ctx)
			},
			head: []string{"FLOW/STAGE", "WORKERS", "BUSY", "SHARE", "SET"},
			row: func(p gen.Pool) []string {
				share, set := fmt.Sprintf("%.0f %%", 100*p.Share), ""
				if p.Flagged {
					share += " (busy)"
				}
				if n := value(p.Set); n > 0 {
					set = fmt.Sprintf("%d a worker, by %s", n, value(p.SetBy))
				}
				return []string{p.Flow + "/" + p.Stage, fmt.Sprint(p.Workers), fmt.Sprintf("%d/%d", p.Busy, p.Slots), share, set}
			}}),
		a.changing(changing{use: "set FLOW/STAGE SLOTS", short: "Set how many tasks of a stage each worker runs at once", args: []string{"FLOW/STAGE", "SLOTS"},
			complete: nth(handlerNames),
			check:    func(args []string) error { _, _, _, err := poolSize(args); return err },
			do: func(ctx context.Context, s *session, args []string, act gen.Act) (got[gen.ActResult], error) {
				flow, stage, slots, err := poolSize(args)
				if err != nil {
					return got[gen.ActResult]{}, err
				}
				return take(s.api.SetPoolWithResponse(ctx, flow, stage, gen.SetPoolJSONRequestBody{Slots: slots, Reason: act.Reason, DryRun: act.DryRun}))
			}}),
		a.changing(changing{use: "clear FLOW/STAGE", short: "Leave the number of slots to the workers again", args: []string{"FLOW/STAGE"}, complete: nth(handlerNames),
			check: func(args []string) error { _, _, err := handlerName(args[0]); return err },
			do: func(ctx context.Context, s *session, args []string, act gen.Act) (got[gen.ActResult], error) {
				flow, stage, err := handlerName(args[0])
				if err != nil {
					return got[gen.ActResult]{}, err
				}
				return take(s.api.ClearPoolWithResponse(ctx, flow, stage, &gen.ClearPoolParams{Reason: act.Reason, DryRun: act.DryRun}))
			}}))
}

// poolSize reads FLOW/STAGE and SLOTS.
func poolSize(args []string) (flow, stage string, slots int, err error) {
	if flow, stage, err = handlerName(args[0]); err != nil {
		return "", "", 0, err
	}
	if slots, err = strconv.Atoi(args[1]); err != nil {
		return "", "", 0, usagef("%q is no number of slots", args[1])
	}
	return flow, stage, slots, nil
}

func handlerName(text string) (flow, stage string, err error) {
	flow, stage, ok := strings.Cut(text, "/")
	if !ok || flow == "" || stage == "" {
		return "", "", usagef("%q names no stage of a flow: write FLOW/STAGE", text)
	}
	return flow, stage, nil
}

// handlerNames proposes handlers that workers have.
func handlerNames(ctx context.Context, s *session, _ []string, _ string) []string {
	r, err := take(s.api.ListPoolsWithResponse(ctx))
	if err != nil {
		return nil
	}
	names := make([]string, len(r.is.Items))
	for i, p := range r.is.Items {
		names[i] = p.Flow + "/" + p.Stage
	}
	return names
}
