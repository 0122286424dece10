package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/internal/watch"
)

func (a *app) meCommand() *cobra.Command {
	return a.asking(asking{use: "me", short: "Say who the credential is, where, and what it may do",
		ask: func(ctx context.Context, s *session, _ []string) ([]byte, func() error, error) {
			r, err := take(s.api.GetMeWithResponse(ctx))
			if err != nil {
				return nil, nil, err
			}
			return r.raw, func() error {
				a.fact("at", s.where+fromText(s.target.from))
				a.fact("actor", r.is.Actor)
				a.fact("namespace", r.is.Namespace)
				a.fact("role", string(r.is.Role))
				may := make([]string, len(r.is.Permissions))
				for i, p := range r.is.Permissions {
					may[i] = string(p)
				}
				a.fact("may", strings.Join(may, " "))
				if r.is.ExpiresAt != nil {
					a.fact("until", clockTime(*r.is.ExpiresAt))
				}
				return nil
			}, nil
		}})
}

// fromText says what named a place.
func fromText(from string) string {
	if from == "" || from == "nothing" {
		return ""
	}
	return " (by " + from + ")"
}

func (a *app) serverInfoCommand() *cobra.Command {
	return a.asking(asking{use: "info", short: "Say which server answers, who leads, and the database's time",
		ask: func(ctx context.Context, s *session, _ []string) ([]byte, func() error, error) {
			r, err := take(s.api.GetServerWithResponse(ctx))
			if err != nil {
				return nil, nil, err
			}
			return r.raw, func() error {
				a.fact("at", s.where+fromText(s.target.from))
				a.fact("version", r.is.Version)
				a.fact("auth", string(r.is.Auth))
				a.fact("time", fmt.Sprintf("%s by the database, %s by this machine", clockTime(r.is.Now), clockTime(time.Now())))
				a.fact("leader", leaderText(r.is.Leader, r.is.Now))
				return nil
			}, nil
		}})
}

// leaderText says who leads.
func leaderText(l *gen.Leader, now time.Time) string {
	switch {
	case l == nil:
		return "none has ever led this database"
	case l.ExpiresAt.Before(now):
		return fmt.Sprintf("none: %s led until %s ago, epoch %d", l.Holder, watch.Duration(now.Sub(l.ExpiresAt)), l.Epoch)
	default:
		return fmt.Sprintf("%s, epoch %d, renewed %s ago", l.Holder, l.Epoch, watch.Duration(max(0, now.Sub(l.RenewedAt))))
	}
}

func (a *app) holdCommand() *cobra.Command {
	return a.group("hold", "What is paused",
		list(a, listing[gen.Hold]{use: "list", short: "List what is paused: queues, flows and runs", none: "nothing is paused",
			page: func(ctx context.Context, s *session, _ []string, _ *int, _ *string) (answer, error) {
				return s.api.ListHoldsWithResponse(ctx)
			},
			head: []string{"KIND", "NAME", "BY", "SINCE", "REASON"},
			row: func(h gen.Hold) []string {
				return []string{string(h.Kind), h.Name, h.Actor, clockTime(h.HeldAt), value(h.Reason)}
			}}))
}
