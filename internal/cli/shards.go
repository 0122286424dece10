package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"axflow/api/gen"
)

func (a *app) shardCommand() *cobra.Command {
	return a.group("shard", "Shards of a stage, and every attempt of one", a.shardListCommand(), a.shardShowCommand("show RUN STAGE [SHARD]"))
}

func (a *app) shardListCommand() *cobra.Command {
	var states, indices string
	return list(a, listing[gen.ShardItem]{use: "list RUN STAGE", short: "List shards by index, with their newest attempt", none: "no shard is like that",
		args: takes("RUN", "STAGE"), complete: nth(recentRuns, stagesOf), least: 50,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&states, "state", "", "only in these states, with commas, such as dead,retrying")
			cmd.Flags().StringVar(&indices, "shards", "", "only these shards, such as 3,7-9")
			a.completeFlag(cmd, "state", fixed("waiting", "ready", "delayed", "retrying", "in_flight", "aligned", "child", "succeeded", "dead", "expired", "discarded", "cancelled", "skipped", "upstream_failed"))
		},
		page: func(ctx context.Context, s *session, args []string, limit *int, cursor *string) (answer, error) {
			set, err := readShards(indices)
			if err != nil {
				return nil, err
			}
			id, err := s.findRun(ctx, args[0])
			if err != nil {
				return nil, err
			}
			r, err := s.api.ListShardsWithResponse(ctx, id, args[1], &gen.ListShardsParams{State: opt(states), Indices: opt(set), Limit: limit, Cursor: cursor})
			if err != nil {
				return nil, err
			}
			if err := checkAnswer(r); err != nil {
				return nil, a.noStage(ctx, s, id, args[1], err)
			}
			return r, nil
		},
		head: []string{"SHARD", "KEY", "STATE", "ATTEMPT", "OUTCOME", "TOOK", "WORKER", "ERROR"},
		row: func(x gen.ShardItem) []string {
			row := []string{shardText(x.Index), value(x.Key), words(string(x.State)), some(value(x.Attempt)), "", "", "", ""}
			if x.Worker != nil {
				row[6] = x.Worker.String()
			}
			if l := x.Last; l != nil {
				row[4], row[5] = words(string(l.Outcome)), took(l.FinishedAt.Sub(l.StartedAt))
				if row[6] == "" {
					row[6] = workerText(l.Worker)
				}
				row[7] = oneLine(value(l.Failure).Message)
			}
			return row
		}})
}

// shardIndex reads a shard's number, or "plan".
func shardIndex(text string) (int, error) {
	if text == "plan" {
		return -1, nil
	}
	index, err := strconv.Atoi(text)
	if err != nil || index < -1 {
		return 0, usagef("%q is no shard: give its number, or plan", text)
	}
	return index, nil
}

// shardShowCommand shows one task; an unsharded stage has only one.
func (a *app) shardShowCommand(use string) *cobra.Command {
	return a.asking(asking{use: use, short: "Show every attempt of one task, with its errors", complete: nth(recentRuns, stagesOf),
		args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			if err := takes("RUN", "STAGE", "SHARD")(cmd, args); err != nil {
				return err
			}
			_, err := shardIndex(args[2])
			return err
		},
		ask: func(ctx context.Context, s *session, args []string) ([]byte, func() error, error) {
			index := 0
			if len(args) == 3 {
				var err error
				if index, err = shardIndex(args[2]); err != nil {
					return nil, nil, err
				}
			}
			id, err := s.findRun(ctx, args[0])
			if err != nil {
				return nil, nil, err
			}
			r, err := take(s.api.GetShardWithResponse(ctx, id, args[1], index))
			if err != nil {
				return nil, nil, a.noStage(ctx, s, id, args[1], err)
			}
			return r.raw, func() error { return a.task(r.is) }, nil
		}})
}

func (a *app) task(x *gen.ShardDetail) error {
	key := ""
	if x.Key != nil {
		key = fmt.Sprintf(" (key %s)", *x.Key)
	}
	a.say("run %s stage %s shard %s%s, generation %d: %s", x.Run, x.Stage, shardText(x.Index), key, x.Generation, words(string(x.State)))
	if x.NotBefore != nil {
		a.say("due at %s", clockTime(*x.NotBefore))
	}
	if len(x.Attempts) == 0 {
		a.say("it has not run yet")
		return nil
	}
	t := table{{"GENERATION", "ATTEMPT", "OUTCOME", "STARTED", "TOOK", "WAITED", "WORKER", "ERROR"}}
	for _, y := range x.Attempts {
		t = append(t, []string{fmt.Sprint(y.Generation), attemptText(y), words(string(y.Outcome)), clockTime(y.StartedAt), took(y.FinishedAt.Sub(y.StartedAt)),
			took(max(0, y.StartedAt.Sub(y.ReadyAt))), workerText(y.Worker), oneLine(value(y.Failure).Message)})
	}
	if err := t.write(a.Stdout); err != nil {
		return err
	}
	if last := x.Attempts[len(x.Attempts)-1].Failure; last != nil && last.Message != "" {
		a.say("\nlast error (%s):\n%s", last.Code, harmless(last.Message))
		if stack := value(last.Stack); stack != "" {
			a.say("\n%s", harmless(stack))
		}
	}
	return nil
}
