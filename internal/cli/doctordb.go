package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	axsql "axflow/sql"
	"axflow/sql/history"
)

// violation is a promise that the database's content breaks.
type violation struct {
	Rule   string     `json:"rule"`
	Run    *uuid.UUID `json:"run,omitempty"`
	Detail string     `json:"detail"`
}

func (v violation) String() string {
	if v.Run == nil {
		return v.Rule + ": " + v.Detail
	}
	return fmt.Sprintf("%s: run %s: %s", v.Rule, *v.Run, v.Detail)
}

// examineDatabase looks at what is stored.
func (a *app) examineDatabase(ctx context.Context, s *session, d *diagnosis, o history.Options) error {
	pool := s.local.Pool()
	if err := axsql.Check(ctx, pool); err != nil {
		return err
	}
	d.add("schema", checkOK, "", "it is this program's")
	var last *time.Time
	err := pool.QueryRow(ctx, "SELECT max(day)::timestamp AT TIME ZONE 'UTC' FROM ax.partition").Scan(&last)
	switch {
	case err != nil:
		return fmt.Errorf("looking at the partitions: %w", err)
	case last == nil || !last.After(axsql.Day(time.Now())):
		d.add("partitions", checkBad, fmt.Sprintf("start an engine, which makes them: `%s server`", a.Name), "there are none for tomorrow: starts will fail")
	default:
		d.add("partitions", checkOK, "", "made until %s", last.UTC().Format(time.DateOnly))
	}
	found, err := history.Check(ctx, pool, o)
	if err != nil {
		return err
	}
	for _, v := range found {
		x := violation{Rule: v.Rule, Detail: v.Detail}
		if v.Run != uuid.Nil {
			x.Run = &v.Run
		}
		d.Violations = append(d.Violations, x)
	}
	if n := len(found); n > 0 {
		d.add("history", checkBad, "keep the database as it is, and report what is listed", "%s of what AX promises", plural(n, "violation"))
	} else {
		d.add("history", checkOK, "", "what is stored is as AX promises")
	}
	return nil
}
