package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/engine/advise"
	"axflow/internal/watch"
)

func (a *app) adviseCommand() *cobra.Command {
	var window time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "advise [FLOW]",
		Short: "Suggest time-outs and capacity from what was observed",
		Long: "Suggest time-outs and capacity from what was observed, for one flow or all.\n\n" +
			"A stage's Execution time-out should be 1.5 to 2 times the P99 of its attempts; it is suggested from 100 attempts on.\n" +
			"Slots: tasks that come a second times the time that one takes, and 30 to 50 % more.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("`%s` takes only FLOW, got %q as well", cmd.CommandPath(), args[1:])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if window < time.Second || window > 24*time.Hour {
				return usagef("--window %v is outside 1s..24h", window)
			}
			p := gen.GetAdviceParams{WindowS: opt(window.Seconds())}
			name := ""
			if len(args) > 0 {
				name = args[0]
				p.Flow = &name
			}
			return a.with(cmd.Context(), func(ctx context.Context, s *session) error {
				r, err := take(s.api.GetAdviceWithResponse(ctx, &p))
				if err != nil {
					return a.noFlow(ctx, s, name, err)
				}
				if asJSON {
					return a.json(r.raw)
				}
				return a.advise(r.is)
			})
		},
	}
	cmd.Flags().DurationVar(&window, "window", 10*time.Minute, "how far back arrivals are counted")
	addJSON(cmd, &asJSON)
	return cmd
}

// advise writes advice for people.
func (a *app) advise(x *advise.Advice) error {
	if len(x.Timeouts) == 0 {
		a.say("no flows in namespace %s: nothing was observed", a.flags.namespace)
		return nil
	}
	a.say("execution time-outs, by the newest runs of each flow")
	if err := timeoutTable(x.Timeouts).write(a.Stdout); err != nil {
		return err
	}
	if len(x.Handlers) == 0 {
		a.say("\nno work has come or is pending in the last %s: no advice on capacity", watch.Duration(x.Window))
		return nil
	}
	more := ""
	if x.Partial {
		more = "; more has come than was looked at, so that the true rates are higher"
	}
	a.say("\ncapacity by stage, of the last %s%s", watch.Duration(x.Window), more)
	if err := handlerTable(x.Handlers).write(a.Stdout); err != nil {
		return err
	}
	a.say("\ncapacity by queue")
	return queueTable(x.Queues).write(a.Stdout)
}

func timeoutTable(stages []advise.Timeout) table {
	t := table{{"FLOW", "STAGE", "SAMPLES", "FAIL", "P50", "P99", "MAX", "TIME-OUT", "SUGGESTED", "VERDICT"}}
	for _, s := range stages {
		row := []string{s.Flow, s.Stage, watch.Count(s.Samples), "", "", "", "", watch.Duration(s.Current), "", ""}
		if s.Samples > 0 {
			row[3] = fmt.Sprintf("%.1f %%", 100*s.FailedShare())
			row[4], row[5], row[6] = took(s.P50), took(s.P99), took(s.Max)
		}
		if s.To > 0 {
			row[8] = between(watch.Duration(s.From), watch.Duration(s.To))
		}
		switch s.Fit {
		case advise.FitUnknown:
			row[9] = fmt.Sprintf("too few samples: %d of %d", s.Samples, advise.MinSamples)
		case advise.FitTight:
			row[9] = "too tight: healthy attempts may be cut off"
			if s.TimedOut > 0 {
				row[9] = fmt.Sprintf("too tight: %d attempts were cut off", s.TimedOut)
			}
		case advise.FitLoose:
			row[9] = "too loose: what hangs is found late"
		default:
			row[9] = "good"
		}
		if share := s.FailedShare(); s.Samples >= advise.MinSamples && share >= 0.1 {
			row[9] += fmt.Sprintf("; %.0f %% of attempts fail, %s tasks were saved by a retry", 100*share, watch.Count(s.Saved))
		}
		t = append(t, row)
	}
	return t
}

func handlerTable(handlers []advise.Handler) table {
	t := table{{"STAGE", "COME/S", "WAIT", "TAKE", "WAITING", "EXPECTED", "NEEDED AT ONCE", "SLOTS", "SUGGESTED", "VERDICT"}}
	for _, h := range handlers {
		suggested, verdict := between(watch.Count(h.SlotsFrom), watch.Count(h.SlotsTo))+" slots", "enough"
		if h.WorkersTo > 0 {
			suggested += fmt.Sprintf(" (workers of %d: %s)", h.Each, between(watch.Count(h.WorkersFrom), watch.Count(h.WorkersTo)))
		}
		switch {
		case h.Workers == 0:
			verdict = "no live worker has it"
		case h.Short:
			verdict = "too few slots: the backlog grows"
		case h.Samples == 0:
			verdict = "nothing has finished yet"
		}
		t = append(t, []string{h.Flow + "/" + h.Stage, perSecond(h.PerSecond), took(h.Wait), took(h.Exec), watch.Count(h.Waiting),
			fmt.Sprintf("%.1f", h.Expected), fmt.Sprintf("%.1f", h.Needed), fmt.Sprintf("%d on %s", h.Slots, plural(h.Workers, "worker")), suggested, verdict})
	}
	return t
}

func queueTable(queues []advise.Queue) table {
	t := table{{"QUEUE", "COME/S", "WAIT", "TAKE", "WAITING", "EXPECTED", "NEEDED AT ONCE", "LIMIT", "CAPACITY", "VERDICT"}}
	bound := func(n *int) string {
		if n == nil {
			return "none"
		}
		return watch.Count(*n)
	}
	for _, q := range queues {
		verdict := "enough"
		switch {
		case q.Short:
			verdict = fmt.Sprintf("the limit is too low: give %s", between(watch.Count(q.SlotsFrom), watch.Count(q.SlotsTo)))
		case q.Small:
			verdict = "the expected work fills more than 60 % of the capacity"
		}
		t = append(t, []string{q.Name, perSecond(q.PerSecond), took(q.Wait), took(q.Exec), watch.Count(q.Waiting),
			fmt.Sprintf("%.1f", q.Expected), fmt.Sprintf("%.1f", q.Needed), bound(q.Limit), bound(q.Capacity), verdict})
	}
	return t
}

func perSecond(n float64) string {
	if n >= 100 {
		return watch.Count(int(n + 0.5))
	}
	return fmt.Sprintf("%.2f", n)
}

// between writes "4 to 6", or "4" when both are the same.
func between(from, to string) string {
	if from == to {
		return from
	}
	return from + " to " + to
}

// took writes how long something took; short times in milliseconds.
func took(d time.Duration) string {
	if d > 0 && d < time.Second {
		return fmt.Sprintf("%.3gms", float64(d)/float64(time.Millisecond))
	}
	return watch.Duration(d)
}
