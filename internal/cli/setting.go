package cli

import (
	"context"

	"github.com/spf13/cobra"

	"axflow/api/gen"
)

func (a *app) settingCommand() *cobra.Command {
	return a.group("setting", "Kill switches: parts of the engine that can be turned off while it runs",
		list(a, listing[gen.Setting]{use: "list", short: "List the switches and what each turns off", none: "there are none",
			page: func(ctx context.Context, s *session, _ []string, _ *int, _ *string) (answer, error) {
				return s.api.ListSettingsWithResponse(ctx)
			},
			head: []string{"SWITCH", "IS", "WHAT IT DOES"},
			row: func(x gen.Setting) []string {
				is := "off"
				if x.On {
					is = "on"
				}
				return []string{x.Name, is, x.Says}
			}}),
		a.changing(changing{use: "set NAME {on|off}", short: "Turn a part of the engine on or off", args: []string{"NAME", "on or off"},
			complete: nth(settingNames, fixed("on", "off")),
			check: func(args []string) error {
				if args[1] != "on" && args[1] != "off" {
					return usagef("%q is neither on nor off", args[1])
				}
				return nil
			},
			do: func(ctx context.Context, s *session, args []string, act gen.Act) (got[gen.ActResult], error) {
				return take(s.api.SetSettingWithResponse(ctx, args[0], gen.SetSettingJSONRequestBody{On: args[1] == "on", Reason: act.Reason, DryRun: act.DryRun}))
			}}))
}

// settingNames proposes the switches.
func settingNames(ctx context.Context, s *session, _ []string, _ string) []string {
	r, err := take(s.api.ListSettingsWithResponse(ctx))
	if err != nil {
		return nil
	}
	names := make([]string, len(r.is.Items))
	for i, x := range r.is.Items {
		names[i] = x.Name + "\t" + x.Says
	}
	return names
}
