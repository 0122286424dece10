package cli

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	axsql "axflow/sql"
	"axflow/sql/history"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON, ended bool
	var grace time.Duration
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what the database holds against what AX promises",
		Long: "Check what the database holds against what AX promises: no shard lost or finished twice, stored counts equal to the rows, nothing satisfied that\n" +
			"still waits, no write by a leader that had lost its lease. It only reads; on a large database it takes its time. Exit code 1 if it finds anything.",
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			log, err := a.logger(a.Stderr, slog.LevelWarn)
			if err != nil {
				return err
			}
			d, err := a.database(ctx, found, log)
			if err != nil {
				return err
			}
			defer d.close(ctx)
			pool, err := pgxpool.New(ctx, d.url)
			if err != nil {
				return fmt.Errorf("connecting: %w", err)
			}
			defer pool.Close()
			if err := axsql.Check(ctx, pool); err != nil {
				return err
			}
			violations, err := history.Check(ctx, pool, history.Options{Ended: ended, Grace: grace})
			if err != nil {
				return err
			}
			return a.diagnose(violations, asJSON, d.where)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer in JSON")
	cmd.Flags().BoolVar(&ended, "ended", false, "hold it against a run that it has not ended")
	cmd.Flags().DurationVar(&grace, "grace", 0, "how long what is satisfied may wait (default 2s)")
	return cmd
}

func (a *app) diagnose(violations []history.Violation, asJSON bool, where string) error {
	if asJSON {
		type violation struct {
			Rule   string     `json:"rule"`
			Run    *uuid.UUID `json:"run,omitempty"`
			Detail string     `json:"detail"`
		}
		list := make([]violation, len(violations))
		for i, v := range violations {
			list[i] = violation{Rule: v.Rule, Detail: v.Detail}
			if v.Run != uuid.Nil {
				list[i].Run = &v.Run
			}
		}
		if err := a.jsonOf(list); err != nil {
			return err
		}
	} else {
		for _, v := range violations {
			a.say("%s", v)
		}
	}
	if len(violations) > 0 {
		return fmt.Errorf("%d violations in %s", len(violations), where)
	}
	if !asJSON {
		a.say("nothing found in %s", where)
	}
	return nil
}
