package cli

import (
	"log/slog"

	"github.com/spf13/cobra"

	axsql "axflow/sql"
)

func (a *app) migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema up to this binary's",
		Long:  "Bring the database's schema up to this binary's. Safe to call from any number of places at once; a newer schema is left alone.",
		Args:  takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := a.logger(a.Stderr, slog.LevelWarn)
			if err != nil {
				return err
			}
			d, err := a.database(cmd.Context(), found, log)
			if err != nil {
				return err
			}
			defer d.close(cmd.Context())
			if err := axsql.Migrate(cmd.Context(), d.url); err != nil {
				return err
			}
			a.say("the schema of %s is up to date", d.where)
			return nil
		},
	}
}
