package cli

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/api/gen"
)

func (a *app) failuresCommand() *cobra.Command {
	var stage string
	return list(a, listing[gen.Attempt]{use: "failures RUN", short: "List failed attempts of a run, the newest first", none: "nothing of it has failed",
		args: takes("RUN"), complete: nth(recentRuns), least: 50,
		flags: func(cmd *cobra.Command) { cmd.Flags().StringVar(&stage, "stage", "", "only of this stage") },
		page: ofRun(func(ctx context.Context, s *session, id uuid.UUID, limit *int, cursor *string) (answer, error) {
			return s.api.ListFailuresWithResponse(ctx, id, &gen.ListFailuresParams{Stage: opt(stage), Limit: limit, Cursor: cursor})
		}),
		head: []string{"STAGE", "SHARD", "ATTEMPT", "OUTCOME", "AT", "TOOK", "WORKER", "CODE", "ERROR"},
		row: func(x gen.Attempt) []string {
			f := value(x.Failure)
			return []string{x.Stage, shardText(x.Shard), attemptText(x), words(string(x.Outcome)), clockTime(x.FinishedAt), took(x.FinishedAt.Sub(x.StartedAt)),
				workerText(x.Worker), f.Code, oneLine(f.Message)}
		}})
}

func (a *app) journalCommand() *cobra.Command {
	return list(a, listing[gen.JournalLine]{use: "journal RUN", short: "List what operators and the engine did to a run, the oldest first", none: "nothing was done to it",
		args: takes("RUN"), complete: nth(recentRuns), least: 100,
		page: ofRun(func(ctx context.Context, s *session, id uuid.UUID, limit *int, cursor *string) (answer, error) {
			return s.api.ListJournalWithResponse(ctx, id, &gen.ListJournalParams{Limit: limit, Cursor: cursor})
		}),
		head: []string{"AT", "ACTOR", "WHAT", "STAGE", "DETAIL"},
		row: func(x gen.JournalLine) []string {
			stage := value(x.Stage)
			if g := value(x.Generation); g > 1 {
				stage += fmt.Sprintf(" (generation %d)", g)
			}
			return []string{clockTime(x.At), x.Actor, words(x.Kind), stage, oneLine(oneLineJSON(value(x.Detail)))}
		}})
}

// ofRun is a page of something of the run that the first argument names.
func ofRun(page func(ctx context.Context, s *session, id uuid.UUID, limit *int, cursor *string) (answer, error)) func(context.Context, *session, []string, *int, *string) (answer, error) {
	return func(ctx context.Context, s *session, args []string, limit *int, cursor *string) (answer, error) {
		id, err := s.findRun(ctx, args[0])
		if err != nil {
			return nil, err
		}
		return page(ctx, s, id, limit, cursor)
	}
}

// attemptText is an attempt's number, and how often it was handed out.
func attemptText(x gen.Attempt) string {
	if x.Delivery > 1 {
		return fmt.Sprintf("%d (delivery %d)", x.Attempt, x.Delivery)
	}
	return fmt.Sprint(x.Attempt)
}

// workerText is a worker's id; an operator has none.
func workerText(id *uuid.UUID) string {
	if id == nil || *id == uuid.Nil {
		return "an operator"
	}
	return id.String()
}

// shardText is a shard's index; the plan is named.
func shardText(index int) string {
	if index < 0 {
		return "plan"
	}
	return fmt.Sprint(index)
}
