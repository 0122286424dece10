package cli

import (
	"context"

	"github.com/spf13/cobra"

	"axflow/engine/control"
)

func (a *app) settingCommand() *cobra.Command {
	return a.group("setting", "Kill switches: parts of the engine that can be turned off while it runs",
		a.listing("list", "List the switches and what each turns off", "there are none", nil, listSettings),
		checked(a.changing("set NAME {on|off}", "Turn a part of the engine on or off", []string{"NAME", "on or off"}, nil,
			func(ctx context.Context, c *control.Client, args []string, who control.Who) ([]control.Touch, error) {
				return c.SetSetting(ctx, args[0], args[1] == "on", who)
			}), func(args []string) error {
			if args[1] != "on" && args[1] != "off" {
				return usagef("%q is neither on nor off", args[1])
			}
			return nil
		}))
}

func listSettings(ctx context.Context, c *control.Client) (table, any, error) {
	settings, err := c.Settings(ctx)
	if err != nil {
		return nil, nil, err
	}
	type listed struct {
		Name    string `json:"name"`
		On      bool   `json:"on"`
		Default bool   `json:"default"`
		Says    string `json:"says"`
	}
	t := table{{"SWITCH", "IS", "WHAT IT DOES"}}
	list := make([]listed, 0, len(settings))
	for _, s := range settings {
		list = append(list, listed{s.Name, s.On, s.Default, s.Says})
		is := "off"
		if s.On {
			is = "on"
		}
		t = append(t, []string{s.Name, is, s.Says})
	}
	return t, list, nil
}
