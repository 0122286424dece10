package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axflow/engine/control"
	"axflow/internal/watch"
	"axflow/stage"
)

// pressures are the names of a queue's pressure, by number.
var pressures = [...]string{"normal", "alert", "refuse", "pause"}

func pressure(n int) string {
	if n < 0 || n >= len(pressures) {
		return fmt.Sprintf("unknown(%d)", n)
	}
	return pressures[n]
}

// listedQueue is one queue in JSON.
type listedQueue struct {
	Queue       string  `json:"queue"`
	Held        string  `json:"held,omitempty"`
	Ready       int     `json:"ready"`
	InFlight    int     `json:"in_flight"`
	Running     int     `json:"running"`
	Concurrency int     `json:"concurrency,omitempty"`
	Capacity    int     `json:"capacity,omitempty"`
	Depth       int     `json:"depth,omitempty"`
	Pressure    string  `json:"pressure"`
	OldestS     float64 `json:"oldest_s"`
	Weights     []int   `json:"weights,omitempty"`
	Version     int     `json:"version,omitempty"`
}

func (a *app) queueCommand() *cobra.Command {
	return a.group("queue", "Queues: capacity, limits, weights, pausing",
		a.listing("list", "List queues with what waits and runs in them", "no queue is configured or holds work", nil, listQueues),
		a.queueSetCommand(),
		a.changing("clear QUEUE", "Take a queue's settings back to the defaults", []string{"QUEUE"}, nil,
			func(ctx context.Context, c *control.Client, args []string, who control.Who) ([]control.Touch, error) {
				return c.ClearQueue(ctx, args[0], who)
			}),
		a.holdCommand("pause", "Hold a queue: nothing of it starts until it is resumed", control.HoldQueue, (*control.Client).Pause),
		a.holdCommand("resume", "Let a paused queue go on", control.HoldQueue, (*control.Client).Resume))
}

func (a *app) flowCommand() *cobra.Command {
	return a.group("flow", "Flows: pausing",
		a.holdCommand("pause", "Hold a flow: nothing of any of its runs starts until it is resumed", control.HoldFlow, (*control.Client).Pause),
		a.holdCommand("resume", "Let a paused flow go on", control.HoldFlow, (*control.Client).Resume))
}

func (a *app) holdCommand(name, short string, kind control.HoldKind,
	do func(*control.Client, context.Context, control.HoldKind, string, control.Who) ([]control.Touch, error)) *cobra.Command {
	what := strings.ToUpper(string(kind))
	return a.changing(name+" "+what, short, []string{what}, nil,
		func(ctx context.Context, c *control.Client, args []string, who control.Who) ([]control.Touch, error) {
			return do(c, ctx, kind, args[0], who)
		})
}

func listQueues(ctx context.Context, c *control.Client) (table, any, error) {
	queues, err := c.Queues(ctx)
	if err != nil {
		return nil, nil, err
	}
	t := table{{"QUEUE", "READY", "RUNNING", "IN FLIGHT", "CAPACITY", "PRESSURE", "OLDEST", "HELD"}}
	list := make([]listedQueue, 0, len(queues))
	for _, q := range queues {
		l := listedQueue{Queue: q.Name, Ready: q.Ready, InFlight: q.InFlight, Running: q.Running, Concurrency: q.Concurrency, Capacity: q.Capacity,
			Depth: q.Depth, Pressure: pressure(q.Pressure), OldestS: q.Oldest.Seconds(), Weights: q.Weights, Version: q.Version}
		running, capacity, oldest := fmt.Sprint(q.Running), "", ""
		if q.Concurrency > 0 {
			running = fmt.Sprintf("%d/%d", q.Running, q.Concurrency)
		}
		if q.Capacity > 0 {
			capacity = fmt.Sprintf("%d/%d", q.Depth, q.Capacity)
		}
		if q.Oldest > 0 {
			oldest = watch.Duration(q.Oldest)
		}
		if q.Held != nil {
			l.Held = heldText(q.Held)
		}
		list = append(list, l)
		t = append(t, []string{q.Name, fmt.Sprint(q.Ready), running, fmt.Sprint(q.InFlight), capacity, l.Pressure, oldest, l.Held})
	}
	return t, list, nil
}

func heldText(h *control.Hold) string {
	text := "paused by " + h.Actor
	if h.Reason != "" {
		text += ": " + h.Reason
	}
	return text
}

func (a *app) queueSetCommand() *cobra.Command {
	var capacity, concurrency, version int
	var weights []int
	var decay, alert, refuse, pause, resume float64
	var core, low string
	var cmd *cobra.Command
	cmd = a.changing("set QUEUE", "Configure a queue; what is not given stays as it is", []string{"QUEUE"}, func(cmd *cobra.Command) {
		f := cmd.Flags()
		f.IntVar(&capacity, "capacity", 0, "tasks that may wait or run before starts are refused; 0: no limit, and no backpressure")
		f.IntVar(&concurrency, "concurrency", 0, "tasks that may run at once in the cluster; 0: no limit")
		f.IntSliceVar(&weights, "weights", nil, "shares of P0..P5, six numbers such as 40,25,15,10,6,4")
		f.Float64Var(&decay, "decay", 0, "levels that waiting work rises a second; 0: it does not")
		f.Float64Var(&alert, "alert-at", 0, "share of capacity from which low levels are demoted (default 0.6)")
		f.Float64Var(&refuse, "refuse-at", 0, "share of capacity from which starts of non-core levels are refused (default 0.8)")
		f.Float64Var(&pause, "pause-at", 0, "share of capacity from which low levels pause (default 0.95)")
		f.Float64Var(&resume, "resume-at", 0, "share of capacity below which paused levels go on (default 0.4)")
		f.StringVar(&core, "core-level", "", "the least urgent level that is started until the queue is full (default P1)")
		f.StringVar(&low, "low-level", "", "the most urgent level that is demoted and paused under pressure (default P3)")
		f.IntVar(&version, "version", 0, "the settings' version that you have read: refuse if somebody else changed them (default: whatever it is)")
	}, func(ctx context.Context, c *control.Client, args []string, who control.Who) ([]control.Touch, error) {
		now, err := c.Queue(ctx, args[0])
		if err != nil {
			return nil, err
		}
		q := now.QueueConfig
		q.Version = version
		given := cmd.Flags().Changed
		for _, x := range []struct {
			flag string
			set  func()
		}{
			{"capacity", func() { q.Capacity = capacity }}, {"concurrency", func() { q.Concurrency = concurrency }},
			{"weights", func() { q.Weights = weights }}, {"decay", func() { q.Decay = &decay }},
			{"alert-at", func() { q.AlertAt = alert }}, {"refuse-at", func() { q.RefuseAt = refuse }},
			{"pause-at", func() { q.PauseAt = pause }}, {"resume-at", func() { q.ResumeAt = resume }},
		} {
			if given(x.flag) {
				x.set()
			}
		}
		for _, x := range []struct {
			flag, text string
			into       **stage.Level
		}{{"core-level", core, &q.CoreLevel}, {"low-level", low, &q.LowLevel}} {
			if given(x.flag) {
				l, err := stage.ParseLevel(x.text)
				if err != nil {
					return nil, usagef("--%s: %w", x.flag, err)
				}
				*x.into = &l
			}
		}
		return c.SetQueue(ctx, q, who)
	})
	return cmd
}
