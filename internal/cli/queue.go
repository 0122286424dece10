package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/internal/watch"
)

func (a *app) queueCommand() *cobra.Command {
	return a.group("queue", "Queues: capacity, limits, weights, pausing",
		a.queueListCommand(), a.queueShowCommand(), a.queueSetCommand(),
		a.changing(changing{use: "clear QUEUE", short: "Take a queue's settings back to the defaults", args: []string{"QUEUE"}, complete: nth(queueNames),
			do: func(ctx context.Context, s *session, args []string, act gen.Act) (got[gen.ActResult], error) {
				return take(s.api.ClearQueueWithResponse(ctx, args[0], &gen.ClearQueueParams{Reason: act.Reason, DryRun: act.DryRun}))
			}}),
		a.holdQueue(gen.HoldVerbPause, "Hold a queue: nothing of it starts until it is resumed"),
		a.holdQueue(gen.HoldVerbResume, "Let a paused queue go on"))
}

func (a *app) holdQueue(verb gen.HoldVerb, short string) *cobra.Command {
	return a.changing(changing{use: string(verb) + " QUEUE", short: short, args: []string{"QUEUE"}, complete: nth(queueNames),
		do: func(ctx context.Context, s *session, args []string, act gen.Act) (got[gen.ActResult], error) {
			return take(s.api.HoldQueueWithResponse(ctx, args[0], verb, act))
		}})
}

func (a *app) queueListCommand() *cobra.Command {
	return list(a, listing[gen.Queue]{use: "list", short: "List queues with what waits and runs in them", none: "no queue is configured or holds work",
		page: func(ctx context.Context, s *session, _ []string, _ *int, _ *string) (answer, error) {
			return s.api.ListQueuesWithResponse(ctx)
		},
		head: []string{"QUEUE", "READY", "RUNNING", "IN FLIGHT", "CAPACITY", "PRESSURE", "OLDEST", "HELD"},
		row: func(q gen.Queue) []string {
			running, capacity, oldest := fmt.Sprint(q.Running), "", ""
			if q.Concurrency > 0 {
				running = fmt.Sprintf("%d/%d", q.Running, q.Concurrency)
			}
			if q.Capacity > 0 {
				capacity = fmt.Sprintf("%d/%d", q.Depth, q.Capacity)
			}
			if q.OldestS > 0 {
				oldest = watch.Duration(seconds(q.OldestS))
			}
			return []string{q.Name, fmt.Sprint(q.Ready), running, fmt.Sprint(q.InFlight), capacity, string(q.Pressure), oldest, heldText(q.Hold)}
		}})
}

// heldText says who has paused something, and why.
func heldText(h *gen.Hold) string {
	if h == nil {
		return ""
	}
	text := "paused by " + h.Actor
	if h.Reason != nil {
		text += ": " + *h.Reason
	}
	return text
}

func (a *app) queueShowCommand() *cobra.Command {
	return a.asking(asking{use: "show QUEUE", short: "Show a queue's settings and figures", args: takes("QUEUE"), complete: nth(queueNames),
		ask: func(ctx context.Context, s *session, args []string) ([]byte, func() error, error) {
			r, err := take(s.api.GetQueueWithResponse(ctx, args[0]))
			if err != nil {
				return nil, nil, err
			}
			return r.raw, func() error { a.queue(r.is); return nil }, nil
		}})
}

func (a *app) queue(q *gen.Queue) {
	limit := func(n int) string {
		if n == 0 {
			return "no limit"
		}
		return watch.Count(n)
	}
	fact := func(name, format string, args ...any) { a.say("%-14s%s", name, fmt.Sprintf(format, args...)) }
	fact("queue", "%s", q.Name)
	if q.Hold != nil {
		fact("held", "%s, since %s", heldText(q.Hold), clockTime(q.Hold.HeldAt))
	}
	fact("waiting", "%s, the oldest for %s", plural(q.Ready, "task"), watch.Duration(seconds(q.OldestS)))
	fact("running", "%s of %s; in flight %s", watch.Count(q.Running), limit(q.Concurrency), watch.Count(q.InFlight))
	fact("capacity", "%s; depth %s, pressure %s", limit(q.Capacity), watch.Count(q.Depth), q.Pressure)
	fact("thresholds", "alert at %g, refuse at %g, pause at %g, resume at %g of the capacity", q.AlertAt, q.RefuseAt, q.PauseAt, q.ResumeAt)
	fact("levels", "%s and above start until it is full; %s and below are demoted and paused under pressure", q.CoreLevel, q.LowLevel)
	if len(q.Weights) > 0 {
		fact("weights", "%v", q.Weights)
	}
	if q.Decay != nil {
		fact("decay", "%g levels a second", *q.Decay)
	}
	if q.Configured {
		fact("version", "%d", q.Version)
	} else {
		fact("version", "0: nobody has configured it")
	}
}
