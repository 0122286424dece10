package cli

import (
	"context"

	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/stage"
)

// queueFlags are a queue's settings.
type queueFlags struct {
	capacity, concurrency, version int
	weights                        []int
	decay                          float64
	alert, refuse, pause, resume   float64
	core, low                      string
}

func (q *queueFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&q.capacity, "capacity", 0, "tasks that may wait or run before starts are refused; 0: no limit, and no backpressure")
	f.IntVar(&q.concurrency, "concurrency", 0, "tasks that may run at once in the cluster; 0: no limit")
	f.IntSliceVar(&q.weights, "weights", nil, "shares of P0..P5, six numbers such as 40,25,15,10,6,4")
	f.Float64Var(&q.decay, "decay", 0, "levels that waiting work rises a second; 0: it does not")
	f.Float64Var(&q.alert, "alert-at", 0, "share of capacity from which low levels are demoted (default 0.6)")
	f.Float64Var(&q.refuse, "refuse-at", 0, "share of capacity from which starts of non-core levels are refused (default 0.8)")
	f.Float64Var(&q.pause, "pause-at", 0, "share of capacity from which low levels pause (default 0.95)")
	f.Float64Var(&q.resume, "resume-at", 0, "share of capacity below which paused levels go on (default 0.4)")
	f.StringVar(&q.core, "core-level", "", "the least urgent level that is started until the queue is full (default P1)")
	f.StringVar(&q.low, "low-level", "", "the most urgent level that is demoted and paused under pressure (default P3)")
	f.IntVar(&q.version, "version", 0, "the settings' version that you have read: refuse if somebody else changed them (default: the newest)")
}

// config is what the queue is to be: as it is, with what was given.
func (q *queueFlags) config(now *gen.Queue, given func(string) bool) (gen.QueueConfig, error) {
	c := gen.QueueConfig{Capacity: &now.Capacity, Concurrency: &now.Concurrency, Weights: now.Weights, Decay: now.Decay,
		AlertAt: &now.AlertAt, RefuseAt: &now.RefuseAt, PauseAt: &now.PauseAt, ResumeAt: &now.ResumeAt, CoreLevel: &now.CoreLevel, LowLevel: &now.LowLevel}
	if now.Version > 0 {
		c.Version = &now.Version // so that nobody's change meanwhile is undone
	}
	for flag, set := range map[string]func(){
		"capacity": func() { c.Capacity = &q.capacity }, "concurrency": func() { c.Concurrency = &q.concurrency },
		"weights": func() { c.Weights = q.weights }, "decay": func() { c.Decay = &q.decay },
		"alert-at": func() { c.AlertAt = &q.alert }, "refuse-at": func() { c.RefuseAt = &q.refuse },
		"pause-at": func() { c.PauseAt = &q.pause }, "resume-at": func() { c.ResumeAt = &q.resume },
		"version": func() { c.Version = &q.version },
	} {
		if given(flag) {
			set()
		}
	}
	for flag, x := range map[string]struct {
		text string
		into **gen.Level
	}{"core-level": {q.core, &c.CoreLevel}, "low-level": {q.low, &c.LowLevel}} {
		if !given(flag) {
			continue
		}
		l, err := stage.ParseLevel(x.text)
		if err != nil {
			return c, usagef("--%s: %w", flag, err)
		}
		*x.into = opt(gen.Level(l.String()))
	}
	return c, nil
}

func (a *app) queueSetCommand() *cobra.Command {
	var q queueFlags
	var cmd *cobra.Command
	cmd = a.changing(changing{use: "set QUEUE", short: "Configure a queue; what is not given stays as it is", args: []string{"QUEUE"}, complete: nth(queueNames), flags: q.add,
		do: func(ctx context.Context, s *session, args []string, act gen.Act) (got[gen.ActResult], error) {
			now, err := take(s.api.GetQueueWithResponse(ctx, args[0]))
			if err != nil {
				return got[gen.ActResult]{}, err
			}
			c, err := q.config(now.is, cmd.Flags().Changed)
			if err != nil {
				return got[gen.ActResult]{}, err
			}
			c.Reason, c.DryRun = act.Reason, act.DryRun
			return take(s.api.SetQueueWithResponse(ctx, args[0], c))
		}})
	return cmd
}
