package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/internal/watch"
)

// group makes a command that only holds others.
func (a *app) group(use, short string, sub ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: a.noSuchCommand, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(sub...)
	return cmd
}

// asking is a command that reads something of the API and tells it, for people or as the API's JSON.
type asking struct {
	use, short, long string
	args             cobra.PositionalArgs // nil: none
	complete         completer            // of the arguments
	flags            func(*cobra.Command)
	// ask reads; it returns the API's document and what writes it for people.
	ask func(ctx context.Context, s *session, args []string) (document []byte, people func() error, err error)
}

func (a *app) asking(x asking) *cobra.Command {
	var asJSON bool
	if x.args == nil {
		x.args = takes()
	}
	cmd := &cobra.Command{Use: x.use, Short: x.short, Long: x.long, Args: x.args, ValidArgsFunction: a.completing(x.complete),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(ctx context.Context, s *session) error {
				document, people, err := x.ask(ctx, s, args)
				if err != nil {
					return err
				}
				if asJSON {
					return a.json(document)
				}
				return people()
			})
		}}
	addJSON(cmd, &asJSON)
	if x.flags != nil {
		x.flags(cmd)
	}
	return cmd
}

// listing is a command that reads a list and tells it as a table.
type listing[T any] struct {
	use, short, long string
	none             string // said of an empty list
	args             cobra.PositionalArgs
	complete         completer
	flags            func(*cobra.Command)
	least            int // lines unless said otherwise; 0: the list is not paged
	page             func(ctx context.Context, s *session, args []string, limit *int, cursor *string) (answer, error)
	head             []string
	row              func(T) []string
}

func list[T any](a *app, x listing[T]) *cobra.Command {
	var p paging
	if x.args == nil {
		x.args = takes()
	}
	args := func(cmd *cobra.Command, args []string) error {
		if err := x.args(cmd, args); err != nil || x.least == 0 {
			return err
		}
		return p.check()
	}
	return a.asking(asking{use: x.use, short: x.short, long: x.long, args: args, complete: x.complete,
		flags: func(cmd *cobra.Command) {
			if x.least > 0 {
				p.add(cmd, x.least)
			}
			if x.flags != nil {
				x.flags(cmd)
			}
		},
		ask: func(ctx context.Context, s *session, args []string) ([]byte, func() error, error) {
			if x.least == 0 {
				p = paging{limit: 1, all: true}
			}
			items, document, next, err := pages[T](p, func(limit *int, cursor *string) (answer, error) { return x.page(ctx, s, args, limit, cursor) })
			if err != nil {
				return nil, nil, err
			}
			return document, func() error {
				if len(items) == 0 {
					a.say("%s", x.none)
					return nil
				}
				t := table{x.head}
				for _, item := range items {
					t = append(t, x.row(item))
				}
				if err := t.write(a.Stdout); err != nil {
					return err
				}
				if next != "" {
					a.complain("there are more: --cursor %s goes on, --all tells all", next)
				}
				return nil
			}, nil
		}})
}

// changing is a command that changes something that is no run.
type changing struct {
	use, short string
	args       []string // names of the arguments
	complete   completer
	check      func(args []string) error // what is wrong with them; nil: nothing can be
	flags      func(*cobra.Command)
	do         func(ctx context.Context, s *session, args []string, act gen.Act) (got[gen.ActResult], error)
}

func (a *app) changing(x changing) *cobra.Command {
	var act acting
	cmd := &cobra.Command{Use: x.use, Short: x.short, ValidArgsFunction: a.completing(x.complete),
		Args: func(cmd *cobra.Command, args []string) error {
			if err := takes(x.args...)(cmd, args); err != nil || x.check == nil {
				return err
			}
			return x.check(args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(ctx context.Context, s *session) error {
				r, err := x.do(ctx, s, args, act.body())
				if err != nil {
					return err
				}
				return a.acted(r, act.json)
			})
		}}
	act.add(cmd)
	if x.flags != nil {
		x.flags(cmd)
	}
	return cmd
}

// acting are the flags that every act takes.
type acting struct {
	reason string
	dryRun bool
	json   bool
}

func (x *acting) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&x.reason, "reason", "", "why; the journal and the audit keep it")
	cmd.Flags().BoolVar(&x.dryRun, "dry-run", false, "tell what would be touched, and touch nothing")
	addJSON(cmd, &x.json)
}

func (x *acting) body() gen.Act { return gen.Act{Reason: opt(x.reason), DryRun: opt(x.dryRun)} }

func addJSON(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "json", false, "answer in JSON, as the API does")
}

// age tells how long ago a time was.
func age(t *time.Time) string {
	if t == nil {
		return ""
	}
	return watch.Duration(max(0, time.Since(*t))) + " ago"
}

// seconds is a duration that the API tells.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func clockTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
