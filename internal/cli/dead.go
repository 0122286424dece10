package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/api/gen"
)

// deadFlags are the flags that pick dead letters.
type deadFlags struct {
	flow, stage, fingerprint, code, run, since, until string
}

func (f *deadFlags) add(a *app, cmd *cobra.Command) {
	l := cmd.Flags()
	l.StringVar(&f.flow, "flow", "", "only of this flow")
	l.StringVar(&f.stage, "stage", "", "only of this stage")
	l.StringVar(&f.fingerprint, "fingerprint", "", "only of this error, as 'dlq list' shows it")
	l.StringVar(&f.code, "code", "", "only of errors with this code")
	l.StringVar(&f.run, "run", "", "only of this run")
	l.StringVar(&f.since, "since", "", "only what died at or after this time (2026-01-31, 2026-01-31T08:00:00Z, or an age such as 2h)")
	l.StringVar(&f.until, "until", "", "only what died before this time")
	a.completeFlag(cmd, "flow", flowNames)
	a.completeFlag(cmd, "run", recentRuns)
}

func (f *deadFlags) given() bool { return *f != deadFlags{} }

func (f *deadFlags) read(ctx context.Context, s *session) (gen.DeadFilter, error) {
	out := gen.DeadFilter{Flow: opt(f.flow), Stage: opt(f.stage), Fingerprint: opt(f.fingerprint), Code: opt(f.code)}
	if f.run != "" {
		id, err := s.findRun(ctx, f.run)
		if err != nil {
			return out, err
		}
		out.Run = &id
	}
	var err error
	if out.Since, err = readTime("--since", f.since, time.Now()); err != nil {
		return out, err
	}
	out.Until, err = readTime("--until", f.until, time.Now())
	return out, err
}

func (a *app) dlqCommand() *cobra.Command {
	return a.group("dlq", "Dead letters: work that is out of attempts",
		a.deadListCommand(), a.deadLettersCommand(), a.shardShowCommand("show RUN STAGE [SHARD]"), a.deadReplayCommand(), a.deadDiscardCommand(),
		a.replaysCommand(), a.replayShowCommand(), a.cancelReplayCommand())
}

func (a *app) deadListCommand() *cobra.Command {
	var flags deadFlags
	var most int
	return list(a, listing[gen.DeadGroup]{use: "list", short: "List dead letters by flow, stage and error, the largest group first", none: "there are no dead letters",
		flags: func(cmd *cobra.Command) {
			flags.add(a, cmd)
			cmd.Flags().IntVar(&most, "limit", 100, "how many groups at most")
		},
		page: func(ctx context.Context, s *session, _ []string, _ *int, _ *string) (answer, error) {
			if most < 1 || most > maxPage {
				return nil, usagef("--limit %d is outside 1..%d", most, maxPage)
			}
			f, err := flags.read(ctx, s)
			if err != nil {
				return nil, err
			}
			return s.api.GroupDeadLettersWithResponse(ctx, &gen.GroupDeadLettersParams{Flow: f.Flow, Stage: f.Stage, Fingerprint: f.Fingerprint, Run: f.Run, Code: f.Code,
				Since: f.Since, Until: f.Until, Limit: &most})
		},
		head: []string{"FLOW", "STAGE", "FINGERPRINT", "TASKS", "RUNS", "LAST", "ERROR"},
		row: func(g gen.DeadGroup) []string {
			return []string{g.Flow, g.Stage, g.Fingerprint, fmt.Sprint(g.Count), fmt.Sprint(g.Runs), age(&g.Last), oneLine(g.Example.Message)}
		}})
}

func (a *app) deadLettersCommand() *cobra.Command {
	var flags deadFlags
	return list(a, listing[gen.DeadLetter]{use: "letters", short: "List dead letters one by one, the newest first", none: "there are no dead letters", least: 50,
		flags: func(cmd *cobra.Command) { flags.add(a, cmd) },
		page: func(ctx context.Context, s *session, _ []string, limit *int, cursor *string) (answer, error) {
			f, err := flags.read(ctx, s)
			if err != nil {
				return nil, err
			}
			return s.api.ListDeadLettersWithResponse(ctx, &gen.ListDeadLettersParams{Flow: f.Flow, Stage: f.Stage, Fingerprint: f.Fingerprint, Run: f.Run, Code: f.Code,
				Since: f.Since, Until: f.Until, Limit: limit, Cursor: cursor})
		},
		head: []string{"RUN", "STAGE", "SHARDS", "ATTEMPT", "WHY", "DIED", "FINGERPRINT", "ERROR"},
		row: func(x gen.DeadLetter) []string {
			return []string{x.Run.String(), x.Stage, shortShards(x.Shards, 0), fmt.Sprint(x.Attempt), string(x.Reason), age(&x.DiedAt), value(x.Fingerprint), oneLine(x.Failure.Message)}
		}})
}

func (a *app) deadDiscardCommand() *cobra.Command {
	var flags deadFlags
	var act acting
	cmd := &cobra.Command{Use: "discard", Short: "Give dead letters up: they stay failed and are listed no more", Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !flags.given() {
				return usagef("say what to discard: --flow, --stage, --fingerprint, --code, --run, --since or --until; `dlq list` shows what there is")
			}
			return a.with(cmd.Context(), func(ctx context.Context, s *session) error {
				f, err := flags.read(ctx, s)
				if err != nil {
					return err
				}
				r, err := take(s.api.DiscardDeadLettersWithResponse(ctx, gen.DiscardDead{Filter: f, Reason: opt(act.reason), DryRun: opt(act.dryRun)}))
				if err != nil {
					return err
				}
				return a.swept(r, act.json)
			})
		}}
	flags.add(a, cmd)
	act.add(cmd)
	return cmd
}

// replayID reads a replay's id.
func replayID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return id, usagef("%q is no replay's id: `dlq replays` shows them", text)
	}
	return id, nil
}
