package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"axflow/api/gen"
)

func (a *app) deadReplayCommand() *cobra.Command {
	var flags deadFlags
	var act acting
	var perSecond float64
	var canary int
	cmd := &cobra.Command{Use: "replay", Short: "Have dead letters run again: throttled, and after a canary if asked for", Args: takes(),
		Long: "Have dead letters run again, as many further attempts as their stage's policy has.\n\nThe leader carries it out: --per-second throttles it, " +
			"--canary replays a few first and stops if one of them dies again. To replay one run or some of its shards at once, use `run retry`.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !flags.given() {
				return usagef("say what to replay: --flow, --stage, --fingerprint, --code, --run, --since or --until; `dlq list` shows what there is")
			}
			return a.with(cmd.Context(), func(ctx context.Context, s *session) error {
				f, err := flags.read(ctx, s)
				if err != nil {
					return err
				}
				r, err := takeAny[gen.Replay](answered(s.api.ReplayDeadLettersWithResponse(ctx, gen.NewReplay{Filter: f, PerSecond: opt(perSecond), Canary: opt(canary),
					Reason: opt(act.reason), DryRun: opt(act.dryRun)})))
				switch {
				case err != nil:
					return err
				case act.json:
					return a.json(r.raw)
				case r.is.Id == nil:
					a.say("dry run: nothing was changed; it would replay %s", plural(r.is.Total, "task"))
				default:
					a.say("replay %s: %s to run again; `%s dlq replays` shows how far it is", *r.is.Id, plural(r.is.Total, "task"), a.Name)
				}
				return nil
			})
		}}
	flags.add(a, cmd)
	act.add(cmd)
	cmd.Flags().Float64Var(&perSecond, "per-second", 0, "tasks a second that run again (default: as fast as it goes)")
	cmd.Flags().IntVar(&canary, "canary", 0, "tasks that run again first; the rest follows when all of them have succeeded")
	return cmd
}

func (a *app) replaysCommand() *cobra.Command {
	cmd := list(a, listing[gen.Replay]{use: "replays", short: "List replays, the newest first", none: "nothing has been replayed by filter", least: 50,
		page: func(ctx context.Context, s *session, _ []string, limit *int, cursor *string) (answer, error) {
			return s.api.ListReplaysWithResponse(ctx, &gen.ListReplaysParams{Limit: limit, Cursor: cursor})
		},
		head: []string{"REPLAY", "STATE", "TASKS", "MOVED", "CANARY FAILED", "STARTED", "BY", "NOTE"},
		row: func(j gen.Replay) []string {
			by := value(j.Actor)
			if j.Reason != nil {
				by += ": " + *j.Reason
			}
			id := ""
			if j.Id != nil {
				id = j.Id.String()
			}
			return []string{id, string(j.State), fmt.Sprint(j.Total), fmt.Sprint(j.Moved), fmt.Sprint(j.Failed), age(j.CreatedAt), by, value(j.Note)}
		}})
	cmd.Aliases = []string{"jobs"}
	return cmd
}

// replayArg takes one argument, a replay's id.
func replayArg(cmd *cobra.Command, args []string) error {
	if err := takes("REPLAY")(cmd, args); err != nil {
		return err
	}
	_, err := replayID(args[0])
	return err
}

func (a *app) replayShowCommand() *cobra.Command {
	return a.asking(asking{use: "status REPLAY", short: "Show how far a replay is", args: replayArg, complete: nth(replayIDs),
		ask: func(ctx context.Context, s *session, args []string) ([]byte, func() error, error) {
			id, err := replayID(args[0])
			if err != nil {
				return nil, nil, err
			}
			r, err := take(s.api.GetReplayWithResponse(ctx, id))
			if err != nil {
				return nil, nil, err
			}
			return r.raw, func() error {
				a.say("replay %s is %s: %d of %s moved, %d of the canary failed", args[0], r.is.State, r.is.Moved, plural(r.is.Total, "task"), r.is.Failed)
				if note := value(r.is.Note); note != "" {
					a.say("%s", note)
				}
				return nil
			}, nil
		}})
}

func (a *app) cancelReplayCommand() *cobra.Command {
	return a.changing(changing{use: "cancel REPLAY", short: "End a replay; what it has moved goes on", args: []string{"REPLAY"}, complete: nth(replayIDs),
		check: func(args []string) error { _, err := replayID(args[0]); return err },
		do: func(ctx context.Context, s *session, args []string, act gen.Act) (got[gen.ActResult], error) {
			id, err := replayID(args[0])
			if err != nil {
				return got[gen.ActResult]{}, err
			}
			return take(s.api.CancelReplayWithResponse(ctx, id, act))
		}})
}

// replayIDs proposes replays.
func replayIDs(ctx context.Context, s *session, _ []string, _ string) []string {
	r, err := take(s.api.ListReplaysWithResponse(ctx, &gen.ListReplaysParams{}))
	if err != nil {
		return nil
	}
	var ids []string
	for _, x := range r.is.Items {
		if x.Id != nil {
			ids = append(ids, x.Id.String()+"\t"+string(x.State))
		}
	}
	return ids
}
