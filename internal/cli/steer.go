package cli

import (
	"context"
	"encoding/json"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/api/gen"
)

// order is what a verb is called with beside its run.
type order struct {
	acting
	verb          string // as the API calls it
	stage, shards string
	force         bool
	level         gen.Level
	declared      bool // in place of a level
	output        string
}

// verb is a command that steers one run, or all that a filter picks.
type verb struct {
	name, short, long string
	aliases           []string
	args              []string // names of what comes after RUN
	optional          bool     // the last of args may be left out
	shards            bool     // it takes --shards
	flags             func(*cobra.Command, *order)
	// read takes the arguments after RUN into the order, which has the flags already. nil: the only one is the stage.
	read func(args []string, o *order) error
	done string // said after it has acted on one run, with the run's id for %s; "" says nothing
}

func (a *app) steering(v verb) *cobra.Command {
	var filter filterFlags
	o := order{verb: v.name}
	cmd := &cobra.Command{Use: v.use(), Aliases: v.aliases, Short: v.short, Long: v.long, ValidArgsFunction: a.completing(nth(recentRuns, stagesOf)),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, rest, err := v.split(cmd, args, &filter)
			if err != nil {
				return err
			}
			if err := v.order(rest, &o); err != nil {
				return err
			}
			if o.shards != "" && (o.stage == "" || run == "") {
				return usagef("--shards needs RUN and STAGE: shards are those of one stage of one run")
			}
			if run == "" {
				return a.sweep(cmd, &filter, o)
			}
			return a.withRun(cmd, run, func(ctx context.Context, s *session, id uuid.UUID) error {
				r, err := o.one(ctx, s, id)
				if err != nil {
					return a.refused(ctx, s, id, o.stage, err)
				}
				if err := a.acted(r, o.json); err != nil || o.json || o.dryRun || v.done == "" {
					return err
				}
				a.say(v.done, id)
				return nil
			})
		}}
	cmd.Args = func(cmd *cobra.Command, args []string) error { _, _, err := v.split(cmd, args, &filter); return err }
	o.add(cmd)
	if v.shards {
		cmd.Flags().StringVar(&o.shards, "shards", "", "only these shards of the stage, such as 3,7-9")
	}
	filter.add(a, cmd)
	if v.flags != nil {
		v.flags(cmd, &o)
	}
	return cmd
}

// order reads what comes after RUN and checks it.
func (v *verb) order(args []string, o *order) (err error) {
	if o.shards, err = readShards(o.shards); err != nil {
		return err
	}
	if o.output != "" && !json.Valid([]byte(o.output)) {
		return usagef("--output %q is no JSON: a text is written as '\"text\"'", o.output)
	}
	if v.read != nil {
		return v.read(args, o)
	}
	if len(args) > 0 {
		o.stage = args[0]
	}
	return nil
}

// one gives the order for one run.
func (o order) one(ctx context.Context, s *session, id uuid.UUID) (got[gen.ActResult], error) {
	if o.stage == "" {
		return take(s.api.ActOnRunWithResponse(ctx, id, o.verb, gen.RunAct{Reason: opt(o.reason), DryRun: opt(o.dryRun), Force: opt(o.force), Level: opt(o.level), Declared: opt(o.declared)}))
	}
	return take(s.api.ActOnStageWithResponse(ctx, id, o.stage, o.verb, gen.StageAct{Reason: opt(o.reason), DryRun: opt(o.dryRun), Shards: opt(o.shards),
		Output: o.outputJSON(), Level: opt(o.level), Declared: opt(o.declared)}))
}

func (o order) outputJSON() *gen.Json {
	if o.output == "" {
		return nil
	}
	raw := gen.Json(o.output)
	return &raw
}

// sweep gives the order for all runs that the filter picks.
func (a *app) sweep(cmd *cobra.Command, filter *filterFlags, o order) error {
	f, err := filter.read(time.Now())
	if err != nil {
		return err
	}
	return a.with(cmd.Context(), func(ctx context.Context, s *session) error {
		r, err := take(s.api.ActOnRunsWithResponse(ctx, o.verb, gen.BulkAct{Filter: f, Stage: opt(o.stage), Force: opt(o.force),
			Level: opt(o.level), Declared: opt(o.declared), Output: o.outputJSON(), Reason: opt(o.reason), DryRun: opt(o.dryRun)}))
		if err != nil {
			return err
		}
		return a.swept(r, o.json)
	})
}

// refused says more about an act that was refused.
func (a *app) refused(ctx context.Context, s *session, id uuid.UUID, stage string, err error) error {
	if isCode(err, gen.ProblemCodeConflict) {
		return &hintedError{err, "`" + a.Name + " run show " + id.String() + "` shows how it stands"}
	}
	return a.noStage(ctx, s, id, stage, err)
}

func (v *verb) use() string {
	words := slices.Clone(v.args)
	if v.optional {
		words[len(words)-1] = "[" + words[len(words)-1] + "]"
	}
	return strings.Join(append([]string{v.name, "{RUN | --flow … --state … --queue … --tag … --since …}"}, words...), " ")
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
		if !f.given() && len(args) == 0 {
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
