package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"axflow/api/gen"
)

func (a *app) auditCommand() *cobra.Command {
	var actor, verb, target, since, until string
	return list(a, listing[gen.AuditLine]{use: "audit", short: "List who did what, the newest first", none: "nobody has done anything", least: 100,
		flags: func(cmd *cobra.Command) {
			l := cmd.Flags()
			l.StringVar(&actor, "actor", "", "only of this actor")
			l.StringVar(&verb, "verb", "", "only this verb, such as cancel")
			l.StringVar(&target, "target", "", "only on this target or what begins with it, such as run/ID or queue/")
			l.StringVar(&since, "since", "", "only at or after this time (2026-01-31, 2026-01-31T08:00:00Z, or an age such as 2h)")
			l.StringVar(&until, "until", "", "only before this time")
		},
		page: func(ctx context.Context, s *session, _ []string, limit *int, cursor *string) (answer, error) {
			p := gen.ListAuditParams{Actor: opt(actor), Verb: opt(verb), Target: opt(target), Limit: limit, Cursor: cursor}
			var err error
			if p.Since, err = readTime("--since", since, time.Now()); err != nil {
				return nil, err
			}
			if p.Until, err = readTime("--until", until, time.Now()); err != nil {
				return nil, err
			}
			return s.api.ListAuditWithResponse(ctx, &p)
		},
		head: []string{"AT", "ACTOR", "VERB", "TARGET", "REASON", "DETAIL"},
		row: func(l gen.AuditLine) []string {
			return []string{clockTime(l.At), l.Actor, l.Verb, l.Target, value(l.Reason), oneLine(oneLineJSON(value(l.Detail)))}
		}})
}
