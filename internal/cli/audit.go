package cli

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/engine/control"
)

func (a *app) auditCommand() *cobra.Command {
	var f control.AuditFilter
	var since string
	return a.listing("audit", "List who did what, the newest first", "nobody has done anything", func(cmd *cobra.Command) {
		l := cmd.Flags()
		l.StringVar(&f.Actor, "actor", "", "only of this actor")
		l.StringVar(&f.Verb, "verb", "", "only this verb, such as cancel")
		l.StringVar(&f.Target, "target", "", "only on this target or what begins with it, such as run/ID or queue/")
		l.StringVar(&since, "since", "", "only at or after this time (2026-01-31, 2026-01-31T08:00:00Z, or an age such as 2h)")
		l.IntVar(&f.Most, "limit", 100, "how many at most")
	}, func(ctx context.Context, c *control.Client) (table, any, error) {
		var err error
		if f.Since, err = readTime("--since", since, time.Now()); err != nil {
			return nil, nil, err
		}
		lines, err := c.Audit(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		type listed struct {
			ID     uuid.UUID       `json:"id"`
			At     time.Time       `json:"at"`
			Actor  string          `json:"actor"`
			Verb   string          `json:"verb"`
			Target string          `json:"target"`
			Reason string          `json:"reason,omitempty"`
			Detail json.RawMessage `json:"detail,omitempty"`
		}
		t := table{{"AT", "ACTOR", "VERB", "TARGET", "REASON", "DETAIL"}}
		list := make([]listed, 0, len(lines))
		for _, l := range lines {
			list = append(list, listed{l.ID, l.At, l.Actor, l.Verb, l.Target, l.Reason, l.Detail})
			t = append(t, []string{clockTime(l.At), l.Actor, l.Verb, l.Target, l.Reason, oneLine(string(l.Detail))})
		}
		return t, list, nil
	})
}
