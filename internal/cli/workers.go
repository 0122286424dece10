package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/internal/watch"
)

func (a *app) workerListCommand() *cobra.Command {
	return list(a, listing[gen.Worker]{use: "list", short: "List workers as their newest heartbeats tell", none: "no worker runs",
		page: func(ctx context.Context, s *session, _ []string, _ *int, _ *string) (answer, error) {
			return s.api.ListWorkersWithResponse(ctx)
		},
		head: []string{"WORKER", "HOST", "STATE", "CPU", "MEMORY", "TASKS", "HANDLERS", "LABELS", "SEEN", "UP"},
		row: func(w gen.Worker) []string {
			return []string{w.Id.String(), fmt.Sprintf("%s/%d", w.Host, w.Pid), string(w.State), fmt.Sprintf("%.0f %%", 100*w.Cpu), fmt.Sprintf("%.0f %%", 100*w.Memory),
				fmt.Sprint(w.Tasks), fmt.Sprint(len(w.Handlers)), strings.Join(slices.Sorted(slices.Values(w.Labels)), ","), age(&w.SeenAt), watch.Duration(w.SeenAt.Sub(w.StartedAt))}
		}})
}

func (a *app) workerDrainCommand() *cobra.Command {
	return a.changing(changing{use: "drain WORKER", short: "Hand a worker nothing more: it finishes what runs, and ends", args: []string{"WORKER"}, complete: nth(workerIDs),
		check: func(args []string) error {
			if _, err := uuid.Parse(args[0]); err != nil {
				return usagef("%q is no worker's id: `worker list` shows them", args[0])
			}
			return nil
		},
		do: func(ctx context.Context, s *session, args []string, act gen.Act) (got[gen.ActResult], error) {
			id, err := uuid.Parse(args[0])
			if err != nil {
				return got[gen.ActResult]{}, err
			}
			return take(s.api.DrainWorkerWithResponse(ctx, id, act))
		}})
}

// workerIDs proposes workers.
func workerIDs(ctx context.Context, s *session, _ []string, _ string) []string {
	r, err := take(s.api.ListWorkersWithResponse(ctx))
	if err != nil {
		return nil
	}
	ids := make([]string, len(r.is.Items))
	for i, w := range r.is.Items {
		ids[i] = fmt.Sprintf("%s\t%s/%d, %s", w.Id, w.Host, w.Pid, w.State)
	}
	return ids
}
