package cli

import (
	"context"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/engine/control"
	"axflow/shard"
)

// act is what a verb is called with beside its run.
type act struct {
	args   []string // after RUN
	shards shard.Set
	who    control.Who
}

// stage is the stage among the arguments, or "".
func (x act) stage() string {
	if len(x.args) == 0 {
		return ""
	}
	return x.args[0]
}

// verb is a command that steers one run, or all that a filter picks.
type verb struct {
	name, short, long string
	args              []string // names of what comes after RUN
	optional          bool     // the last of args may be left out
	shards            bool     // it takes --shards
	flags             func(*cobra.Command)
	check             func(act) error // what is wrong with the arguments; nil: nothing can be
	one               func(context.Context, *control.Client, uuid.UUID, act) ([]control.Touch, error)
	many              func(context.Context, *control.Client, control.Filter, act) (control.Sweep, error) // nil: by id only
	done              string                                                                             // said after it has acted on one run, with the run's id for %s; "" says nothing
}

func (a *app) steering(v verb) *cobra.Command {
	var filter filterFlags
	var x act
	var shards string
	var asJSON bool
	cmd := &cobra.Command{Use: v.use(), Short: v.short, Long: v.long, RunE: func(cmd *cobra.Command, args []string) error {
		run, rest, err := v.split(cmd, args, &filter)
		if err != nil {
			return err
		}
		x.args, x.who.Actor = rest, actor()
		if x.shards, err = readShards(shards); err != nil {
			return err
		}
		if !x.shards.Empty() && (x.stage() == "" || run == "") {
			return usagef("--shards needs RUN and STAGE: shards are those of one stage of one run")
		}
		if v.check != nil {
			if err := v.check(x); err != nil {
				return err
			}
		}
		if run == "" {
			f, err := filter.read(time.Now())
			if err != nil {
				return err
			}
			return a.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				sweep, err := v.many(ctx, c, f, x)
				if err != nil {
					return err
				}
				return a.swept(sweep, x.who.DryRun, asJSON)
			})
		}
		return a.withRun(cmd, []string{run}, func(ctx context.Context, c *control.Client, id uuid.UUID) error {
			touched, err := v.one(ctx, c, id, x)
			if err != nil {
				return a.withStages(ctx, c, id, err)
			}
			if err := a.touched(touched, x.who.DryRun, asJSON); err != nil || asJSON || x.who.DryRun || v.done == "" {
				return err
			}
			a.say(v.done, id)
			return nil
		})
	}}
	cmd.Args = func(cmd *cobra.Command, args []string) error { _, _, err := v.split(cmd, args, &filter); return err }
	addWho(cmd, &x.who)
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer in JSON")
	if v.shards {
		cmd.Flags().StringVar(&shards, "shards", "", "only these shards of the stage, such as 3,7-9")
	}
	if v.many != nil {
		filter.add(cmd)
	}
	if v.flags != nil {
		v.flags(cmd)
	}
	return cmd
}

// addWho adds the flags that every act takes.
func addWho(cmd *cobra.Command, who *control.Who) {
	cmd.Flags().StringVar(&who.Reason, "reason", "", "why; the journal and the audit keep it")
	cmd.Flags().BoolVar(&who.DryRun, "dry-run", false, "tell what would be touched, and touch nothing")
}

func (v *verb) use() string {
	words := slices.Clone(v.args)
	if v.optional {
		words[len(words)-1] = "[" + words[len(words)-1] + "]"
	}
	run := "RUN"
	if v.many != nil {
		run = "{RUN | --flow … --state … --queue … --tag … --since …}"
	}
	return strings.Join(append([]string{v.name, run}, words...), " ")
}

// split parts the arguments into the run ("" when a filter picks) and what comes after it.
func (v *verb) split(cmd *cobra.Command, args []string, f *filterFlags) (run string, rest []string, err error) {
	names := v.args
	if !f.given() {
		names = append([]string{"RUN"}, v.args...)
	}
	if v.optional && len(args) == len(names)-1 {
		names = names[:len(names)-1]
	}
	if err := takes(names...)(cmd, args); err != nil {
		if v.many != nil && !f.given() && len(args) == 0 {
			return "", nil, usagef("`%s` needs RUN, or flags that pick runs: --flow, --state, --queue, --tag, --since, --until", cmd.CommandPath())
		}
		return "", nil, err
	}
	if f.given() {
		return "", args, nil
	}
	return args[0], args[1:], nil
}

// actor names the user for journal and audit.
func actor() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return "cli:" + name
	}
	return "cli:" + name + "@" + host
}
