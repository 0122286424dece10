package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"axflow/engine/control"
	"axflow/internal/watch"
)

// group makes a command that only holds others.
func (a *app) group(use, short string, sub ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: a.noSuchCommand, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(sub...)
	return cmd
}

// changing makes a command that changes something that is no run; args names its arguments, flags adds to it.
func (a *app) changing(use, short string, args []string, flags func(*cobra.Command), do func(context.Context, *control.Client, []string, control.Who) ([]control.Touch, error)) *cobra.Command {
	var who control.Who
	var asJSON bool
	cmd := &cobra.Command{Use: use, Short: short, Args: takes(args...), RunE: func(cmd *cobra.Command, args []string) error {
		who.Actor = actor()
		return a.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
			touched, err := do(ctx, c, args, who)
			if err != nil {
				return err
			}
			return a.touched(touched, who.DryRun, asJSON)
		})
	}}
	addWho(cmd, &who)
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer in JSON")
	if flags != nil {
		flags(cmd)
	}
	return cmd
}

// checked makes a command look at its arguments before it connects.
func checked(cmd *cobra.Command, check func([]string) error) *cobra.Command {
	count := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := count(cmd, args); err != nil {
			return err
		}
		return check(args)
	}
	return cmd
}

// listing makes a command that reads rows and tells them as a table, or as JSON. rows returns both.
func (a *app) listing(use, short, none string, flags func(*cobra.Command), rows func(context.Context, *control.Client) (table, any, error)) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: use, Short: short, Args: takes(), RunE: func(cmd *cobra.Command, _ []string) error {
		return a.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
			t, list, err := rows(ctx, c)
			if err != nil {
				return err
			}
			if asJSON {
				return a.jsonOf(list)
			}
			if len(t) <= 1 {
				a.say("%s", none)
				return nil
			}
			return t.write(a.Stdout)
		})
	}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer in JSON")
	if flags != nil {
		flags(cmd)
	}
	return cmd
}

// age tells how long ago a time was.
func age(t *time.Time) string {
	if t == nil {
		return ""
	}
	return watch.Duration(max(0, time.Since(*t))) + " ago"
}
