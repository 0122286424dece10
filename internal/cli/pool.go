package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"axflow/engine/control"
	"axflow/internal/watch"
)

// listedPool is one handler's pools in JSON.
type listedPool struct {
	Handler string  `json:"handler"` // flow/stage
	Workers int     `json:"workers"`
	Slots   int     `json:"slots"`
	Busy    int     `json:"busy"`
	Share   float64 `json:"share"`
	Flagged bool    `json:"flagged,omitempty"`
	Set     int     `json:"set,omitempty"` // slots a worker
	SetBy   string  `json:"set_by,omitempty"`
}

func (a *app) poolCommand() *cobra.Command {
	return a.group("pool", "Pools: the workers' slots for each handler",
		a.listing("list", "List pools with what of them is busy", "no worker runs, and no pool is set", nil, listPools),
		checked(a.changing("set FLOW/STAGE SLOTS", "Set how many tasks of a stage each worker runs at once", []string{"FLOW/STAGE", "SLOTS"}, nil,
			func(ctx context.Context, c *control.Client, args []string, who control.Who) ([]control.Touch, error) {
				flow, stage, slots, err := poolSize(args)
				if err != nil {
					return nil, err
				}
				return c.SetPool(ctx, flow, stage, slots, who)
			}), func(args []string) error { _, _, _, err := poolSize(args); return err }),
		checked(a.changing("clear FLOW/STAGE", "Leave the number of slots to the workers again", []string{"FLOW/STAGE"}, nil,
			func(ctx context.Context, c *control.Client, args []string, who control.Who) ([]control.Touch, error) {
				flow, stage, err := handlerName(args[0])
				if err != nil {
					return nil, err
				}
				return c.ClearPool(ctx, flow, stage, who)
			}), func(args []string) error { _, _, err := handlerName(args[0]); return err }))
}

// poolSize reads FLOW/STAGE and SLOTS.
func poolSize(args []string) (flow, stage string, slots int, err error) {
	if flow, stage, err = handlerName(args[0]); err != nil {
		return "", "", 0, err
	}
	if slots, err = strconv.Atoi(args[1]); err != nil {
		return "", "", 0, usagef("%q is no number of slots", args[1])
	}
	return flow, stage, slots, nil
}

func handlerName(text string) (flow, stage string, err error) {
	flow, stage, ok := strings.Cut(text, "/")
	if !ok || flow == "" || stage == "" {
		return "", "", usagef("%q names no stage of a flow: write FLOW/STAGE", text)
	}
	return flow, stage, nil
}

func listPools(ctx context.Context, c *control.Client) (table, any, error) {
	pools, err := c.Pools(ctx)
	if err != nil {
		return nil, nil, err
	}
	t := table{{"FLOW/STAGE", "WORKERS", "BUSY", "SHARE", "SET"}}
	list := make([]listedPool, 0, len(pools))
	for _, p := range pools {
		l := listedPool{p.Flow + "/" + p.Stage, p.Workers, p.Slots, p.Busy, p.Share, p.Flagged, p.Set, p.SetBy}
		list = append(list, l)
		share, set := fmt.Sprintf("%.0f %%", 100*p.Share), ""
		if p.Flagged {
			share += " (busy)"
		}
		if p.Set > 0 {
			set = fmt.Sprintf("%d a worker, by %s", p.Set, p.SetBy)
		}
		t = append(t, []string{l.Handler, fmt.Sprint(p.Workers), fmt.Sprintf("%d/%d", p.Busy, p.Slots), share, set})
	}
	return t, list, nil
}

func (a *app) workerListCommand() *cobra.Command {
	return a.listing("list", "List workers as their newest heartbeats tell", "no worker runs", nil, listWorkers)
}

// listedWorker is one worker in JSON.
type listedWorker struct {
	Worker   string         `json:"worker"`
	Host     string         `json:"host"`
	PID      int            `json:"pid"`
	State    string         `json:"state"`
	CPU      float64        `json:"cpu"`
	Memory   float64        `json:"memory"`
	Tasks    int            `json:"tasks"`
	Labels   []string       `json:"labels"`
	Handlers map[string]int `json:"handlers"`
	SeenAt   string         `json:"seen_at"`
}

func listWorkers(ctx context.Context, c *control.Client) (table, any, error) {
	workers, err := c.Workers(ctx)
	if err != nil {
		return nil, nil, err
	}
	t := table{{"WORKER", "HOST", "STATE", "CPU", "MEMORY", "TASKS", "HANDLERS", "LABELS", "SEEN", "UP"}}
	list := make([]listedWorker, 0, len(workers))
	for _, w := range workers {
		labels := slices.Sorted(slices.Values(w.Labels))
		list = append(list, listedWorker{w.ID.String(), w.Host, w.PID, w.State, w.CPU, w.Memory, w.Tasks, labels, w.Handlers, w.SeenAt.UTC().Format("2006-01-02T15:04:05.000Z")})
		t = append(t, []string{w.ID.String(), fmt.Sprintf("%s/%d", w.Host, w.PID), w.State, fmt.Sprintf("%.0f %%", 100*w.CPU), fmt.Sprintf("%.0f %%", 100*w.Memory),
			fmt.Sprint(w.Tasks), fmt.Sprint(len(w.Handlers)), strings.Join(labels, ","), age(&w.SeenAt), watch.Duration(w.SeenAt.Sub(w.StartedAt))})
	}
	return t, list, nil
}
